#include "cluster_state/looked_at_labels.h"

#include <algorithm>

namespace krafla {

namespace {

// Calls f with the selectors of a spec until it says false.
template <class F>
bool ForEachSelector(const PodSpec& spec, F&& f) {
  for (const auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                            &spec.preferred_affinity, &spec.preferred_anti_affinity})
    for (const PodAffinityTerm& term : *terms)
      if (!f(term.selector)) return false;
  for (const SpreadConstraint& constraint : spec.spread)
    if (!f(constraint.selector)) return false;
  return true;
}

bool NamesValues(SelectorOp op) {
  return op == SelectorOp::kIn || op == SelectorOp::kNotIn;
}

}  // namespace

LookedAtLabels::LookedAtLabels(const Cluster& cluster, std::unordered_set<StrId>& whole_keys)
    : whole_keys_(whole_keys) {
  for (const PodSpec& spec : cluster.specs)
    ForEachSelector(spec, [&](const LabelSelector& selector) {
      Add(selector);
      return true;
    });
  for (const PodDisruptionBudget& budget : cluster.budgets) Add(budget.selector);
}

void LookedAtLabels::Add(const LabelSelector& selector) {
  for (const SelectorRequirement& requirement : selector.requirements) {
    Key& key = keys_[requirement.key];
    key.whole |= !NamesValues(requirement.op) || whole_keys_.contains(requirement.key);
    key.values.insert(requirement.values.begin(), requirement.values.end());
  }
}

LabelSet LookedAtLabels::Of(const LabelSet& labels) {
  LabelSet kept;
  for (const auto& label : labels) {
    const auto found = keys_.find(label.first);
    if (found == keys_.end()) continue;
    Key& key = found->second;
    if (key.whole || key.values.contains(label.second)) {
      kept.push_back(label);
    } else {
      key.left_out.push_back(label.second);
    }
  }
  return kept;
}

bool LookedAtLabels::Cover(const PodSpec& spec) {
  return ForEachSelector(spec, [this](const LabelSelector& selector) { return Cover(selector); });
}

bool LookedAtLabels::Cover(const LabelSelector& selector) {
  return std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [this](const SelectorRequirement& requirement) { return Cover(requirement); });
}

bool LookedAtLabels::Cover(const SelectorRequirement& requirement) {
  const auto found = keys_.find(requirement.key);
  if (found == keys_.end()) return false;
  Key& key = found->second;
  if (key.whole) return true;
  const auto is_left_out = [&](StrId value) {
    return !key.values.contains(value) &&
           std::find(key.left_out.begin(), key.left_out.end(), value) != key.left_out.end();
  };
  if (NamesValues(requirement.op)) {
    if (std::none_of(requirement.values.begin(), requirement.values.end(), is_left_out)) {
      key.values.insert(requirement.values.begin(), requirement.values.end());
      return true;
    }
  } else if (key.left_out.empty()) {
    key.whole = true;
    return true;
  }
  whole_keys_.insert(requirement.key);
  return false;
}

}  // namespace krafla
