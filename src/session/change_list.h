// What has changed in a session, in order, for whoever keeps things that were computed from it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/piece_list.h"
#include "model/ids.h"

namespace krafla {

// A task's status changed, and with it what its job has.
struct TaskChange {
  enum class Kind : uint8_t {
    kLost,    // to an eviction, or back to the waiting
    kGained,  // the reverse
    kOther,
  };
  TaskId task;
  Kind kind = Kind::kOther;
};

inline NodeId Reversed(NodeId node) {
  return node;
}
inline TaskChange Reversed(TaskChange change) {
  using Kind = TaskChange::Kind;
  if (change.kind != Kind::kOther)
    change.kind = change.kind == Kind::kLost ? Kind::kGained : Kind::kLost;
  return change;
}

template <class Change>
class ChangeList {
 public:
  using Changes = PieceList<Change, 1 << 12>;

  size_t size() const { return changes_.size(); }
  void Clear() {
    changes_.clear();
    looked_at_ = 0;
  }
  void push_back(Change change) { changes_.push_back(change); }

  // Whoever looks may remember how far.
  const Changes& Look() const {
    looked_at_ = changes_.size();
    return changes_;
  }

  // Everything since `mark` was taken back: as if it had never been, when nobody has looked since;
  // otherwise it has changed once more, in the reverse order.
  void TakeBack(size_t mark) {
    if (looked_at_ <= mark) {
      changes_.Shorten(mark);
      return;
    }
    for (size_t i = changes_.size(); i-- > mark;) {
      const Change change = changes_[i];
      changes_.push_back(Reversed(change));
    }
  }

 private:
  Changes changes_;
  mutable size_t looked_at_ = 0;
};

using NodeChanges = ChangeList<NodeId>::Changes;
using TaskChanges = ChangeList<TaskChange>::Changes;

}  // namespace krafla
