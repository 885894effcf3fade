#include "base/undo_log.h"

#include <algorithm>

namespace krafla {

UndoLog::~UndoLog() {
  Forget();
}

void UndoLog::Forget() {
  for (const Entry& entry : entries_)
    if (entry.copied) entry.undo(entry, false);
  last_mark_ = forgotten_ = End();
  entries_.clear();
  used_.clear();
}

void UndoLog::RollbackTo(Mark mark) {
  KRAFLA_CHECK(mark >= forgotten_, "the mark was not held");
  while (End() > mark) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    entry.undo(entry, true);
    if (entry.copied) Free(entry.index);
  }
  last_mark_ = mark;
}

void UndoLog::Entries::Grow() {
  constexpr size_t kFirst = 256;
  const size_t capacity = capacity_ == 0 ? kFirst : 2 * capacity_;
  auto larger = std::make_unique_for_overwrite<Entry[]>(capacity);
  std::copy(begin(), end(), larger.get());
  entries_ = std::move(larger);
  capacity_ = capacity;
}

void UndoLog::NextChunk() {
  if (used_.size() == memory_.size()) memory_.push_back(std::make_unique_for_overwrite<Chunk>());
  used_.push_back(0);
}

}  // namespace krafla
