#include "session/score_book.h"

#include <algorithm>

namespace krafla {

// Each hook in its turn, so that words of one are not taken for another's.
bool ScoreBook::MakeKey(ClassId cls) {
  key_.clear();
  for (const auto& tier : session_.scores()) {
    for (const auto& entry : tier) {
      if (!entry.call->depends_on) return false;
      const size_t at = key_.size();
      key_.push_back(0);
      entry.call->depends_on(cls, key_);
      key_[at] = key_.size() - at;
    }
  }
  return true;
}

std::shared_ptr<SharedScores> ScoreBook::Find(ClassId cls) {
  const size_t nodes = session_.cluster.nodes_by_name.size();
  if (!MakeKey(cls)) return std::make_shared<SharedScores>(nodes);
  auto found = kept_.find(key_);
  if (found == kept_.end()) {
    MakeRoom();
    found = kept_.emplace(key_, std::make_shared<SharedScores>(nodes)).first;
  }
  return found->second;
}

// Beyond so many bytes those are given up that no class uses at the moment, or else all: whoever
// has them goes on with them.
void ScoreBook::MakeRoom() {
  constexpr size_t kMaxBytes = 64 << 20;
  const size_t nodes = session_.cluster.nodes_by_name.size();
  const size_t most = std::max<size_t>(8, kMaxBytes / (SharedScores::kBytesPerNode * nodes + 1));
  if (kept_.size() < most) return;
  std::erase_if(kept_, [](const auto& entry) { return entry.second.use_count() == 1; });
  if (kept_.size() >= most) kept_.clear();
}

void ScoreBook::Follow(const NodeChanges& node_changes, const std::vector<uint32_t>& position_of) {
  if (last_.empty()) {
    last_.assign(session_.cluster.nodes_by_name.size(), 0);
    followed_ = node_changes.size();
  }
  for (const NodeId node : node_changes.From(followed_)) {
    const uint32_t p = position_of[node.value];
    if (last_[p] > read_) continue;
    changed_.push_back(p);
    last_[p] = static_cast<uint32_t>(changed_.size());
  }
  followed_ = node_changes.size();
}

void ScoreBook::Forget() {
  kept_.clear();
  changed_.clear();
  last_.clear();
  read_ = 0;
}

}  // namespace krafla
