// Tasks that no predicate and no scorer can tell apart share a class: the same spec and namespace,
// the same amounts with their CSI volumes, the same say about revocable zones, and the same labels
// as far as any selector in the cluster looks at labels of pods.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "cluster_state/assemble.h"
#include "cluster_state/csi_claims.h"

namespace krafla {

namespace {

void AddKeys(const LabelSelector& selector, std::vector<StrId>& keys) {
  for (const SelectorRequirement& requirement : selector.requirements)
    keys.push_back(requirement.key);
}

// The label keys that selectors over pods name, sorted.
std::vector<StrId> SelectedKeys(const Cluster& cluster) {
  std::vector<StrId> keys;
  for (const PodSpec& spec : cluster.specs) {
    for (const auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                              &spec.preferred_affinity, &spec.preferred_anti_affinity})
      for (const PodAffinityTerm& term : *terms) AddKeys(term.selector, keys);
    for (const SpreadConstraint& constraint : spec.spread) AddKeys(constraint.selector, keys);
  }
  for (const PodDisruptionBudget& budget : cluster.budgets) AddKeys(budget.selector, keys);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

class Classes {
 public:
  Classes(ClusterDraft& draft, InternedValues<LabelSetId, LabelSet>& label_index)
      : cluster_(draft.cluster),
        label_index_(label_index),
        csi_(draft.cluster, draft.options),
        keys_(SelectedKeys(draft.cluster)),
        projected_(draft.cluster.label_sets.size()) {}

  void Run() {
    for (Task& task : cluster_.tasks) {
      task.cls = ClassOf(task);
      task.best_effort = cluster_.classes[task.cls].best_effort;
    }
  }

 private:
  struct Key {
    PodSpecId spec;
    LabelSetId labels;
    StrId ns;
    StrId zones;  // what the pod says about revocable zones, as one text
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t low = (uint64_t{key.spec.value} << 32) | key.ns.value;
      const uint64_t high = (uint64_t{key.labels.value} << 16) ^ (uint64_t{key.zones.value} << 40);
      return (low ^ high) * 0x9e3779b97f4a7c15ULL;
    }
  };

  ClassId ClassOf(const Task& task) {
    const PodSpec& spec = cluster_.specs[task.spec];
    const Key key{task.spec, Projected(task.labels), task.ns, ZonesAsText(task)};
    if (spec.claims.empty() && key == last_key_) return last_;
    TaskClass cls{.spec = key.spec, .labels = key.labels, .ns = key.ns, .request = spec.request};
    for (const StrId driver : csi_.DriversOf(task, spec)) {
      const int kind = cluster_.kinds.Find(AttachLimitName(cluster_.Text(driver)));
      if (kind >= 0) cls.request.AddTo(kind, 1);
    }
    cls.best_effort = cls.request.IsEmpty();
    last_key_ = key;
    last_ = Intern(key, std::move(cls));
    return last_;
  }

  // Two classes of one key differ in what is attached, which is rare.
  ClassId Intern(const Key& key, TaskClass cls) {
    std::vector<ClassId>& same_key = classes_[key];
    for (const ClassId id : same_key)
      if (cluster_.classes[id].request.SameAs(cls.request)) return id;
    same_key.push_back(cluster_.classes.Add(std::move(cls)));
    return same_key.back();
  }

  StrId ZonesAsText(const Task& task) {
    if (!task.zones.annotated && !task.annotation_preemptable) return kEmptyStr;
    std::string text = task.annotation_preemptable ? "preemptable" : "";
    if (task.zones.annotated) text += task.zones.all ? ";*" : ";";
    for (const StrId zone : task.zones.names) text.append(cluster_.Text(zone)).append(",");
    // Who has not long to run may still be let into a zone that closes soon.
    if (task.run_time_ns >= 0) text.append(";").append(std::to_string(task.run_time_ns));
    return cluster_.strings.Intern(text);
  }

  LabelSetId Projected(LabelSetId labels) {
    LabelSetId& known = projected_[labels.value];
    if (known.valid()) return known;
    LabelSet kept;
    for (const auto& label : cluster_.label_sets[labels])
      if (std::binary_search(keys_.begin(), keys_.end(), label.first)) kept.push_back(label);
    known = label_index_.Intern(std::move(kept), cluster_.label_sets);
    return known;
  }

  Cluster& cluster_;
  InternedValues<LabelSetId, LabelSet>& label_index_;
  CsiClaims csi_;
  std::vector<StrId> keys_;
  std::vector<LabelSetId> projected_;  // by the full set
  std::unordered_map<Key, std::vector<ClassId>, Hash> classes_;
  Key last_key_;
  ClassId last_;
};

}  // namespace

void AssembleClasses(ClusterDraft& draft, InternedValues<LabelSetId, LabelSet>& label_index) {
  Classes(draft, label_index).Run();
}

}  // namespace krafla
