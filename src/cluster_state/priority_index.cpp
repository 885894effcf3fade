#include "cluster_state/priority_index.h"

namespace krafla {

PriorityIndex::PriorityIndex(std::span<const PriorityClassFacts> classes) {
  for (const PriorityClassFacts& entry : classes) {
    by_name_.emplace(entry.name, &entry);
    if (entry.global_default && (default_ == nullptr || entry.value > default_->value))
      default_ = &entry;
  }
}

const PriorityClassFacts* PriorityIndex::Find(StrId name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second : nullptr;
}

bool PriorityIndex::Apply(const PodDetails& pod, Task& task) const {
  const PriorityClassFacts* priority_class = Find(task.priority_class);
  if (pod.admitted) {
    // An API server that copies the policy has done so; the class is the authority where it has
    // not.
    if (!pod.has_policy && priority_class != nullptr)
      task.preemption_policy = priority_class->preemption_policy;
    return true;
  }
  if (priority_class == nullptr && task.priority_class == kEmptyStr) priority_class = default_;
  if (priority_class == nullptr) return task.priority_class == kEmptyStr || pod.has_priority;
  if (!pod.has_priority) {
    task.pod_priority = priority_class->value;
    if (!pod.has_task_priority) task.priority = priority_class->value;
  }
  if (!pod.has_policy) task.preemption_policy = priority_class->preemption_policy;
  return true;
}

}  // namespace krafla
