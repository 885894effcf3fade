// Which classes of tasks have the same scores (shared_scores.h): those the scoring plugins cannot
// tell apart. Classes that differ in a label, or in whom they want to be near, mostly ask for
// amounts that others have asked for too.
//
// Owned by NodeSearch.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "session/session.h"
#include "session/shared_scores.h"
#include "session/words_hash.h"

namespace krafla {

class ScoreBook {
 public:
  explicit ScoreBook(Session& session)
      : session_(session), changed_(session.cluster.nodes_by_name.size()) {}

  // Those of a class; new ones of its own when some plugin does not say what its scores depend on.
  std::shared_ptr<SharedScores> Find(ClassId cls);
  // Follows the session's list of changed nodes; comes before CatchUp.
  void Follow(const NodeChanges& node_changes, const std::vector<uint32_t>& position_of);
  // Brings scores up to what has been followed.
  void CatchUp(SharedScores& scores) {
    scores.CatchUp(changed_);
    read_ = changed_.size();
  }
  // How long the list is that scores follow.
  size_t changes() const { return changed_.size(); }
  // Nothing that is kept is good any more.
  void Forget();

 private:
  using Key = std::vector<uint64_t>;

  bool MakeKey(ClassId cls);
  void MakeRoom();

  Session& session_;
  std::unordered_map<Key, std::shared_ptr<SharedScores>, WordsHash> kept_;
  Key key_;
  size_t followed_ = 0;  // of the session's list
  // Positions of nodes that have changed. Many do several times in a row: once is enough for all
  // that nobody has read yet.
  ChangedPositions changed_;
  size_t read_ = 0;             // how much of it somebody has
  std::vector<uint32_t> last_;  // by position: one behind its last place there
};

}  // namespace krafla
