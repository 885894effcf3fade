#include "actions/evictable_tasks.h"

namespace krafla {

void EvictableTasks::MakeAll() {
  if (!tasks_.empty()) return;
  synced_ = session_.task_changes().size();
  tasks_.reserve(session_.cluster.tasks.size());
  for (const Task& task : session_.cluster.tasks) tasks_.push_back({WhoseIs(task), task.cls});
}

void EvictableTasks::CatchUp() {
  if (tasks_.empty()) return;
  const TaskChanges& changes = session_.task_changes();
  for (const auto [task, kind] : changes.From(synced_))
    tasks_[task.value].whose = WhoseIs(session_.cluster.tasks[task]);
  synced_ = changes.size();
}

}  // namespace krafla
