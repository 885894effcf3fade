#include "model/selectors.h"

#include <algorithm>
#include <charconv>

namespace krafla {

StrId FindLabel(const LabelSet& labels, StrId key) {
  auto it = std::lower_bound(labels.begin(), labels.end(), key,
                             [](const auto& pair, StrId k) { return pair.first < k; });
  return it != labels.end() && it->first == key ? it->second : StrId{};
}

namespace {

bool Contains(const std::vector<StrId>& sorted, StrId value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// The four operators that need no look at the text.
bool MatchesSet(const SelectorRequirement& r, StrId value) {
  switch (r.op) {
    case SelectorOp::kIn:
      return value.valid() && Contains(r.values, value);
    case SelectorOp::kNotIn:
      return !value.valid() || !Contains(r.values, value);
    case SelectorOp::kExists:
      return value.valid();
    case SelectorOp::kDoesNotExist:
      return !value.valid();
    default:
      return false;
  }
}

}  // namespace

bool Matches(const LabelSelector& selector, const LabelSet& labels) {
  if (!selector.given) return false;
  return std::all_of(
      selector.requirements.begin(), selector.requirements.end(),
      [&](const SelectorRequirement& r) { return MatchesSet(r, FindLabel(labels, r.key)); });
}

bool Matches(const SelectorRequirement& requirement, const LabelSet& labels,
             const StringPool& pool) {
  const StrId value = FindLabel(labels, requirement.key);
  if (requirement.op != SelectorOp::kGreater && requirement.op != SelectorOp::kLess)
    return MatchesSet(requirement, value);
  if (!value.valid()) return false;
  const std::string_view text = pool.Text(value);
  int64_t number = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  return requirement.op == SelectorOp::kGreater ? number > requirement.number
                                                : number < requirement.number;
}

bool Matches(const NodeSelectorTerm& term, const LabelSet& labels, StrId node_name,
             const StringPool& pool) {
  if (term.expressions.empty() && term.name_fields.empty()) return false;
  for (const SelectorRequirement& r : term.expressions)
    if (!Matches(r, labels, pool)) return false;
  for (const SelectorRequirement& r : term.name_fields)
    if (!MatchesSet(r, node_name)) return false;
  return true;
}

}  // namespace krafla
