#include "cluster_state/task_classes.h"

#include <string>

namespace krafla {

TaskClasses::TaskClasses(Cluster& cluster, InternedValues<LabelSetId, LabelSet>& label_index,
                         const BuildOptions& options, std::unordered_set<StrId>& whole_keys)
    : cluster_(cluster),
      label_index_(label_index),
      csi_(cluster, options),
      looked_at_(cluster, whole_keys),
      projected_(cluster.label_sets.size()) {}

void TaskClasses::SetAll() {
  for (Task& task : cluster_.tasks) Set(task);
}

void TaskClasses::Set(Task& task) {
  task.cls = ClassOf(task);
  task.best_effort = cluster_.classes[task.cls].best_effort;
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
  const LabelSetId id =
      label_index_.Intern(looked_at_.Of(cluster_.label_sets[labels]), cluster_.label_sets);
  projected_[labels.value] = id;
  return id;
}

}  // namespace krafla
