#include "actions/task_line.h"

#include <algorithm>
#include <utility>

namespace krafla {

TaskLine::TaskLine(const Session& session, std::vector<TaskId> tasks) : tasks_(std::move(tasks)) {
  const Before before{&session};
  const auto has_number = [&](TaskId id) { return session.cluster.tasks[id].name_index >= 0; };
  const bool some = std::any_of(tasks_.begin(), tasks_.end(), has_number);
  if (some && !std::all_of(tasks_.begin(), tasks_.end(), has_number)) {
    heap_.emplace(before);
    for (const TaskId task : tasks_) heap_->Push(task);
  } else if (!std::is_sorted(tasks_.begin(), tasks_.end(), before)) {
    std::sort(tasks_.begin(), tasks_.end(), before);
  }
}

}  // namespace krafla
