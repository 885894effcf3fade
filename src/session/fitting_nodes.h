// On which nodes the request of a class of tasks fits, and which of them is best. Kept by
// NodeSearch for classes whose answers depend on each node alone.
//
// By position in nodes_by_name; a bit per node is in words of a block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/words_of_bits.h"
#include "session/block_maxima.h"
#include "session/fit_errors.h"
#include "session/score_column.h"

namespace krafla {

class FittingNodes {
 public:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  bool begun = false;
  size_t synced = 0;            // good up to so many of the session's node changes
  std::vector<uint64_t> later;  // bits: the request fits what will be free
  std::vector<uint64_t> now;    // bits: … and what is free now
  // Whether a node passes is asked when it would be the best. Whoever fits, and is not known to
  // refuse, has a score.
  std::vector<uint64_t> refuses;  // bits: some predicate refuses
  std::vector<uint64_t> passes;   // bits: none does
  // Why nothing fitted, and up to which change that is known: the next task of the class need not
  // ask again.
  FitError failure;
  size_t failure_at = SIZE_MAX;

  uint64_t Now(size_t block) const { return now[block] & ~refuses[block]; }
  uint64_t Later(size_t block) const { return later[block] & ~refuses[block]; }

  void Begin(size_t blocks);
  void ForgetAnswers(uint32_t position);
  void Forget(uint32_t position);
  // Whether to ask all nodes for room, which are many to a word, is less work than to look again at
  // so many.
  bool IsBetterAsked(size_t changes) const;
  // Whether to ask the few again that have answered, of nodes that do not refuse for good, is less
  // work than to take so many changes off one by one.
  bool IsBetterBegun(size_t changes, std::span<const uint64_t> open) const;

  // The first node with the highest score of those where the request fits now; kNowhere: there is
  // none.
  uint32_t Best(const ScoreColumn& scores) const;
  // Everything has changed.
  void FollowAll(const ScoreColumn& scores);
  // Where it fits, who refuses or its score has changed on one node.
  void Follow(uint32_t position, const ScoreColumn& scores);
  // Aborts when that is not so.
  void VerifyBest(const ScoreColumn& scores) const;

 private:
  void FindAnew(size_t block, const ScoreColumn& scores);

  BlockMaxima best_;  // of those where the request fits now, but refusals
  // By block: which of its nodes has its best, of several one. Found out when one changes.
  static constexpr uint8_t kUnknown = UINT8_MAX;
  std::vector<uint8_t> holders_;
};

}  // namespace krafla
