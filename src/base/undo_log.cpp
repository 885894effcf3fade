#include "base/undo_log.h"

namespace krafla {

UndoLog::~UndoLog() {
  for (const Entry& entry : entries_)
    if (entry.copied) entry.undo(entry, false);
}

void UndoLog::RollbackTo(Mark mark) {
  while (entries_.size() > mark) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    entry.undo(entry, true);
    if (entry.copied) Free(entry.index);
  }
  last_mark_ = mark;
}

void UndoLog::NextChunk() {
  if (used_.size() == memory_.size())
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkBytes));
  used_.push_back(0);
}

}  // namespace krafla
