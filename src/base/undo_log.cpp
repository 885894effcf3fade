#include "base/undo_log.h"

namespace krafla {

void UndoLog::RollbackTo(Mark mark) {
  while (entries_.size() > mark) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    entry.undo(*this, entry);
  }
}

}  // namespace krafla
