// Which labels of pods selectors can tell apart. Pods mostly have a label that names their job, and
// some job keeps its own pods apart by it: to that selector all pods of other jobs are the same.
//
// 1. Of a key that no selector names all labels are left out.
// 2. A value counts if some selector names it. One that none names is to all of them as if the
//    label were not there, whether they take or leave out what they name.
// 3. Where a selector asks whether there is such a label at all, every value counts.
//
// Labels and selectors may come later. A selector that names a value that was left out, because its
// pods were there first, makes everything void that was found out by then; all values of such a key
// count from then on, so that it happens once for a key, and not once for each job.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/cluster.h"

namespace krafla {

class LookedAtLabels {
 public:
  // Of the selectors over pods that there are. `whole_keys`: of these all values count; outlives
  // this, to be handed to the next one.
  LookedAtLabels(const Cluster& cluster, std::unordered_set<StrId>& whole_keys);

  // Those that count.
  LabelSet Of(const LabelSet& labels);
  // Hears of more selectors. False: labels count that have been left out.
  bool Cover(const PodSpec& spec);
  bool Cover(const LabelSelector& selector);

 private:
  struct Key {
    bool whole = false;
    std::unordered_set<StrId> values;  // that some selector names
    std::vector<StrId> left_out;       // the others that have come; some several times
  };

  void Add(const LabelSelector& selector);
  bool Cover(const SelectorRequirement& requirement);

  std::unordered_set<StrId>& whole_keys_;
  std::unordered_map<StrId, Key> keys_;
};

}  // namespace krafla
