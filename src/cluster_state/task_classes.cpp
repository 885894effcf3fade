#include "cluster_state/task_classes.h"

#include <algorithm>
#include <string>

namespace krafla {

namespace {

void AddKeys(const LabelSelector& selector, std::vector<StrId>& keys) {
  for (const SelectorRequirement& requirement : selector.requirements)
    keys.push_back(requirement.key);
}

void AddKeys(const PodSpec& spec, std::vector<StrId>& keys) {
  for (const auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                            &spec.preferred_affinity, &spec.preferred_anti_affinity})
    for (const PodAffinityTerm& term : *terms) AddKeys(term.selector, keys);
  for (const SpreadConstraint& constraint : spec.spread) AddKeys(constraint.selector, keys);
}

std::vector<StrId> SelectedKeys(const Cluster& cluster) {
  std::vector<StrId> keys;
  for (const PodSpec& spec : cluster.specs) AddKeys(spec, keys);
  for (const PodDisruptionBudget& budget : cluster.budgets) AddKeys(budget.selector, keys);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

TaskClasses::TaskClasses(Cluster& cluster, InternedValues<LabelSetId, LabelSet>& label_index,
                         const BuildOptions& options)
    : cluster_(cluster),
      label_index_(label_index),
      csi_(cluster, options),
      keys_(SelectedKeys(cluster)),
      projected_(cluster.label_sets.size()) {}

void TaskClasses::SetAll() {
  for (Task& task : cluster_.tasks) Set(task);
}

void TaskClasses::Set(Task& task) {
  task.cls = ClassOf(task);
  task.best_effort = cluster_.classes[task.cls].best_effort;
}

bool TaskClasses::Covers(const PodSpec& spec) const {
  std::vector<StrId> keys;
  AddKeys(spec, keys);
  return Covers(keys);
}

bool TaskClasses::Covers(const LabelSelector& selector) const {
  std::vector<StrId> keys;
  AddKeys(selector, keys);
  return Covers(keys);
}

bool TaskClasses::Covers(const std::vector<StrId>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](StrId key) {
    return std::binary_search(keys_.begin(), keys_.end(), key);
  });
}

ClassId TaskClasses::ClassOf(const Task& task) {
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
ClassId TaskClasses::Intern(const Key& key, TaskClass cls) {
  std::vector<ClassId>& same_key = classes_[key];
  for (const ClassId id : same_key)
    if (cluster_.classes[id].request.SameAs(cls.request)) return id;
  same_key.push_back(cluster_.classes.Add(std::move(cls)));
  return same_key.back();
}

StrId TaskClasses::ZonesAsText(const Task& task) {
  if (!task.zones.annotated && !task.annotation_preemptable) return kEmptyStr;
  std::string text = task.annotation_preemptable ? "preemptable" : "";
  if (task.zones.annotated) text += task.zones.all ? ";*" : ";";
  text.append(cluster_.Text(task.zones.names));
  // Who has not long to run may still be let into a zone that closes soon.
  if (task.run_time_ns >= 0) text.append(";").append(std::to_string(task.run_time_ns));
  return cluster_.strings.Intern(text);
}

LabelSetId TaskClasses::Projected(LabelSetId labels) {
  if (projected_.size() <= labels.value) projected_.resize(cluster_.label_sets.size());
  if (projected_[labels.value].valid()) return projected_[labels.value];
  LabelSet kept;
  for (const auto& label : cluster_.label_sets[labels])
    if (std::binary_search(keys_.begin(), keys_.end(), label.first)) kept.push_back(label);
  const LabelSetId id = label_index_.Intern(std::move(kept), cluster_.label_sets);
  projected_[labels.value] = id;
  return id;
}

}  // namespace krafla
