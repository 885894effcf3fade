// What NodeSearch can say of a class of tasks before it looks at any node: on what the answers of
// the plugins depend.
#include "session/node_search.h"

#include <utility>

namespace krafla {

// The only predicate of which an answer is not fixed, if it speaks of many nodes at once: with
// several, the first in the order of tiers would have to be found for each node.
const PredicateHook* NodeSearch::TheOneThatSpeaksOfMany() const {
  const PredicateHook* found = nullptr;
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier) {
      if (!entry.call->current) continue;
      if (found != nullptr) return nullptr;
      found = &*entry.call;
    }
  return found != nullptr && found->current_of_many ? found : nullptr;
}

bool NodeSearch::StaysRefused(TaskId task, NodeId node) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->prepared_refuses && entry.call->prepared_refuses(task, node)) return true;
  return false;
}

void NodeSearch::AddStaysRefused(TaskId task, std::span<uint64_t> nodes) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->prepared_refuses_where) entry.call->prepared_refuses_where(task, nodes);
}

bool NodeSearch::IsNodeLocal(ClassId cls) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->current_is_node_local && !entry.call->current_is_node_local(cls))
        return false;
  return true;
}

// Whether only lasting answers can be of a kind that evictions do not lift. Answers that depend on
// the node alone are such.
bool NodeSearch::IsLiftable(ClassId cls) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->current_is_node_local && !entry.call->current_is_node_local(cls) &&
          !(entry.call->current_is_liftable && entry.call->current_is_liftable(cls)))
        return false;
  return true;
}

bool NodeSearch::IsNodeLocal(TaskId task) {
  return IsNodeLocal(cluster_.tasks[task].cls);
}

bool NodeSearch::ScoresAreNodeLocal(ClassId cls) const {
  for (const auto& tier : session_.scores())
    for (const auto& entry : tier)
      if (entry.call->batch &&
          !(entry.call->batch_is_node_local && entry.call->batch_is_node_local(cls)))
        return false;
  return true;
}

bool NodeSearch::RefusalsOnlyGrow(TaskId task) {
  return IsNodeLocal(task) && RoleHasOneClass(task);
}

bool NodeSearch::RoleHasOneClass(TaskId task) {
  const Task& t = cluster_.tasks[task];
  // A gang's tasks ask one after the other.
  if (std::exchange(role_classes_of_, t.job) != t.job || last_role_classes_ == nullptr)
    last_role_classes_ = &role_classes_[t.job];
  std::vector<ClassId>& class_of_role = *last_role_classes_;
  const Job& job = cluster_.jobs[t.job];
  if (class_of_role.empty()) {
    // All tasks count, also those placed meanwhile: they may have refused nodes for the rest.
    class_of_role.assign(job.roles.size(), ClassId{});
    std::vector<bool> mixed(job.roles.size(), false);
    for (TaskId other : job.tasks) {
      const Task& o = cluster_.tasks[other];
      ClassId& seen = class_of_role[o.role_index];
      if (seen.valid() && seen != o.cls) mixed[o.role_index] = true;
      seen = o.cls;
    }
    for (size_t r = 0; r < mixed.size(); ++r)
      if (mixed[r]) class_of_role[r] = ClassId{};
  }
  return class_of_role[t.role_index].valid();
}

}  // namespace krafla
