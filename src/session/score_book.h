// Scores of nodes that depend on the class and the node alone, shared by all classes of tasks the
// scoring plugins cannot tell apart: classes that differ in a label, or in whom they want to be
// near, mostly ask for amounts that others have asked for too.
//
// A score is good until its node changes. Owned by NodeSearch; by position in nodes_by_name.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "session/session.h"
#include "session/words_hash.h"

namespace krafla {

class SharedScores {
 public:
  explicit SharedScores(size_t nodes)
      : scores_(std::make_unique_for_overwrite<double[]>(nodes)), asked_at_(nodes, 0) {}

  // `change`: the last change of the node; not 0.
  bool Knows(uint32_t position, uint32_t change) const { return asked_at_[position] == change; }
  double At(uint32_t position) const { return scores_[position]; }
  uint32_t AskedAt(uint32_t position) const { return asked_at_[position]; }
  double* data() { return scores_.get(); }
  void Set(uint32_t position, uint32_t change, double score) {
    asked_at_[position] = change;
    scores_[position] = score;
  }
  static constexpr size_t kBytesPerNode = sizeof(double) + sizeof(uint32_t);

 private:
  std::unique_ptr<double[]> scores_;  // where they are known
  std::vector<uint32_t> asked_at_;    // as of which change; 0: never
};

class ScoreBook {
 public:
  explicit ScoreBook(Session& session) : session_(session) {}

  // Those of a class; null when some plugin does not say what its scores depend on.
  std::shared_ptr<SharedScores> Find(ClassId cls);

  // Follows the list of changed nodes; comes before questions.
  void CatchUp(const std::vector<NodeId>& node_changes, const std::vector<uint32_t>& position_of);
  // Counts changes: all so far, and the last one of a node.
  uint32_t changes() const { return changes_; }
  uint32_t LastChange(uint32_t position) const { return last_change_[position]; }
  // Nothing that is kept is good any more.
  void Forget();

 private:
  using Key = std::vector<uint64_t>;

  bool MakeKey(ClassId cls);
  void MakeRoom();

  Session& session_;
  std::unordered_map<Key, std::shared_ptr<SharedScores>, WordsHash> kept_;
  Key key_;
  size_t synced_ = 0;  // of the list of changed nodes
  uint32_t changes_ = 1;
  std::vector<uint32_t> last_change_;
};

}  // namespace krafla
