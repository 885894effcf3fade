// When a cluster that changes has to be rid of what nobody names any more: strings, label sets,
// specs and classes of pods that are gone. What is alive is counted when it is got rid of, and
// estimated in between by the number of objects; more than twice as much, and a floor, is too much.
// So what is kept is bounded by the cluster, and getting rid of it costs a bounded part of each
// change.
#pragma once

#include <cstddef>

#include "model/cluster.h"

namespace krafla {

class Crowding {
 public:
  // Nothing but what is alive is there now.
  void NoteAllAlive(const Cluster& cluster, size_t objects) {
    alive_ = SizesOf(cluster);
    objects_then_ = objects;
  }
  // The tables were built anew: with them the classes.
  void NoteBuilt(const Cluster& cluster) { alive_.classes = cluster.classes.size(); }

  bool IsTooMuch(const Cluster& cluster, size_t objects) const {
    const Sizes now = SizesOf(cluster);
    const auto exceeds = [&](size_t have, size_t alive, const Limit& limit) {
      // Objects that came since: so much for each. Objects that went took their part along.
      const size_t estimate = objects >= objects_then_
                                  ? alive + limit.per_object * (objects - objects_then_)
                                  : alive * objects / objects_then_;
      return have > limit.floor + 2 * estimate;
    };
    return exceeds(now.strings, alive_.strings, kStrings) ||
           exceeds(now.label_sets, alive_.label_sets, kLabelSets) ||
           exceeds(now.specs, alive_.specs, kSpecs) ||
           now.classes > kMostClasses + 2 * alive_.classes;
  }

  // What may be there of each beside twice the living, and what an object is expected to bring.
  struct Limit {
    size_t floor;
    size_t per_object;
  };
  static constexpr Limit kStrings{1 << 16, 4};
  static constexpr Limit kLabelSets{1 << 13, 1};
  static constexpr Limit kSpecs{1 << 12, 0};
  static constexpr size_t kMostClasses = 1 << 12;

 private:
  struct Sizes {
    size_t strings = 0;
    size_t label_sets = 0;
    size_t specs = 0;
    size_t classes = 0;
  };
  static Sizes SizesOf(const Cluster& cluster) {
    return {cluster.strings.size(), cluster.label_sets.size(), cluster.specs.size(),
            cluster.classes.size()};
  }

  Sizes alive_;
  size_t objects_then_ = 0;
};

}  // namespace krafla
