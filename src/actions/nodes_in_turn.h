// The nodes on which room is looked for, best first, for the tasks of a gang one after the other.
//
// Each of them finds the session as the one before has left it: room was made on one node, and
// nearly everywhere else everything is as it was. So the next task goes on where the last one has
// stopped, and looks again only at nodes that were tried in vain, or where something has changed.
//
// Some nodes need not be tried for one task but may do for the next: they are passed over when
// their turn comes, and wait in their order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/words_of_bits.h"
#include "session/node_ranking.h"

namespace krafla {

class NodesInTurn {
 public:
  static constexpr uint32_t kEnd = BestFirst::kEnd;

  // A bit per node that may come; filled in before Start, and not touched while any are to come.
  std::vector<uint64_t>& among() { return among_; }
  // Scores are known of allowed nodes among these.
  void Start(const NodeRanking& ranking);
  // The best that has not come yet; kEnd: there is none.
  uint32_t Next();
  // Was tried in vain, and will be again for the next task.
  void KeepForNext(uint32_t position) { kept_.push_back(position); }
  // These, a bit per node, do not come for this task any more.
  void PassOver(std::span<const uint64_t> nodes) { to_pass_.assign(nodes.begin(), nodes.end()); }
  bool IsPassedOver(uint32_t position) const {
    return !to_pass_.empty() && HasBit(to_pass_, position);
  }
  // Those of them whose turn it has been; and some that would not have come in any case.
  std::span<const uint32_t> PassedOver() const { return passed_; }

  // For the next task. The nodes in `again`, of which some may be named twice, are not as they
  // were: whatever is known of them is forgotten. Adds those that were kept.
  void GoOn(std::vector<uint32_t>& again);
  // Which of them are to come in their turn; their scores are known. The ranking is the one there
  // was at Start, with what has changed since. Of the other nodes, which have not come yet or were
  // passed over, `keep`, if it is not null, says which still may come.
  void ComeAgain(std::span<const uint32_t> positions, BestFirst::Keep keep);

 private:
  bool IsBefore(uint32_t a, uint32_t b) const;
  void Wait();

  NodeRanking ranking_;
  std::vector<uint64_t> among_;  // but for those that have come, or are looked at again
  BestFirst rest_;
  uint32_t first_of_rest_ = kEnd;  // has been taken from it already
  std::vector<uint32_t> kept_;
  std::vector<uint32_t> again_;    // the one that comes first is last
  std::vector<uint32_t> waiting_;  // likewise; nothing has changed there since they last could come
  std::vector<uint64_t> to_pass_;  // a bit per node; empty: none
  std::vector<uint32_t> passed_;   // the one that came first is first
  BestFirst::Keep keep_;           // null: all of them
  // Of one call; kept for their memory.
  std::vector<uint64_t> named_;  // a bit per node, all zero in between
  std::vector<uint32_t> merged_;
  std::vector<std::pair<double, uint32_t>> to_sort_;
};

}  // namespace krafla
