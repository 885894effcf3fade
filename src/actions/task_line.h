// The tasks of a job that wait, in the order in which they are tried.
//
// Pods of a job are listed by UID, and mostly are in their order already or are soon sorted; the
// next one is then at hand without comparing anything. That is the same order as Volcano's heap of
// them gives as long as "comes before" is an order at all: it is not when some pods of a job have a
// number at the end of their name and others have none, so that two of them are compared by numbers
// and a third with both by age. Only then is there a heap.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/fetch.h"
#include "base/go_heap.h"
#include "session/session.h"

namespace krafla {

class TaskLine {
 public:
  TaskLine(const Session& session, std::vector<TaskId> tasks);

  bool empty() const { return heap_ ? heap_->empty() : next_ == tasks_.size(); }
  TaskId Pop() { return heap_ ? heap_->Pop() : tasks_[next_++]; }
  // Asks for the memory of the next one, where it is known who that is.
  KRAFLA_FETCHES void FetchNext(const Cluster& cluster) const {
    if (heap_ || next_ >= tasks_.size()) return;
    const Task& task = cluster.tasks[tasks_[next_]];
    Fetch(&task);
    static_assert(sizeof(Task) == 128);
    Fetch(reinterpret_cast<const std::byte*>(&task) + 64);  // its second line
  }

 private:
  struct Before {
    const Session* session;
    bool operator()(TaskId l, TaskId r) const { return session->TaskLess(l, r); }
  };

  std::vector<TaskId> tasks_;
  size_t next_ = 0;
  std::optional<GoHeap<TaskId, Before>> heap_;
};

}  // namespace krafla
