// Label sets, and the selectors Kubernetes writes over them. Strings are ids of the cluster's
// StringPool.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/string_pool.h"

namespace krafla {

// Sorted by key id; keys are unique.
using LabelSet = std::vector<std::pair<StrId, StrId>>;

// The value of a key, or an invalid id.
StrId FindLabel(const LabelSet& labels, StrId key);

enum class SelectorOp : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

struct SelectorRequirement {
  StrId key;
  SelectorOp op = SelectorOp::kIn;
  std::vector<StrId> values;  // sorted by id
  int64_t number = 0;         // for kGreater and kLess
  bool operator==(const SelectorRequirement&) const = default;
};

// metav1.LabelSelector: all requirements must hold. A selector that was not given at all selects
// nothing; one that was given and is empty selects everything.
struct LabelSelector {
  bool given = false;
  std::vector<SelectorRequirement> requirements;  // matchLabels are kIn with one value
  bool operator==(const LabelSelector&) const = default;
};

bool Matches(const LabelSelector& selector, const LabelSet& labels);

// v1.NodeSelectorTerm: a term without any expression matches no node.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> expressions;
  std::vector<SelectorRequirement> name_fields;  // matchFields on metadata.name (kIn, kNotIn)
  bool operator==(const NodeSelectorTerm&) const = default;
};

// One requirement against a label set; kGreater and kLess compare the label's text as a whole
// number.
bool Matches(const SelectorRequirement& requirement, const LabelSet& labels,
             const StringPool& pool);
// Kubernetes' rule for a node: every expression and every field; nothing at all matches nothing.
bool Matches(const NodeSelectorTerm& term, const LabelSet& labels, StrId node_name,
             const StringPool& pool);

}  // namespace krafla
