// Who could be evicted on each node for tasks of a queue, and what plugins' bounds say of them
// (VictimLevels): looked up once for all sums. Tasks, their jobs and classes lie all over the
// memory, and what follows from them is needed many times.
//
// Those of a node lie one after the other in a single piece, so that whoever looks at a node waits
// for the memory once.
//
// Looked up when asked for; whoever keeps it says which nodes have changed.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actions/evictable_tasks.h"
#include "base/check.h"
#include "base/words_of_bits.h"
#include "session/amount_columns.h"
#include "session/session.h"

namespace krafla {

class CandidatesByNode {
 public:
  CandidatesByNode(Session& session, EvictableTasks& evictable)
      : session_(session), evictable_(evictable) {}

  class Candidate {
   public:
    TaskId task() const { return TaskId(static_cast<uint32_t>(words_[kNames])); }
    QueueId queue() const { return QueueId(static_cast<uint32_t>(words_[kNames] >> 32)); }
    bool first_of_job() const { return (words_[kFlags] & kFirstOfJob) != 0; }
    // Trying in vain would leave nothing behind.
    bool harmless() const { return (words_[kFlags] & kHarmless) != 0; }
    // What a voter's bound says of it; by voter.
    int64_t Level(size_t voter) const { return static_cast<int64_t>(words_[kLevels + voter]); }
    // What a voter who knows it exactly says; by those voters, once it is set.
    double ExactLevel(size_t voter) const {
      const auto level = std::bit_cast<double>(words_[layout_->exact_levels + voter]);
#ifdef KRAFLA_VERIFY
      KRAFLA_CHECK(level == level, "a level is set before it is asked for");
#endif
      return level;
    }
    double Amount(size_t kind) const {
      return std::bit_cast<double>(words_[layout_->amounts + kind]);
    }

   private:
    friend class CandidatesByNode;
    struct Layout {
      size_t exact_levels = 0;
      size_t amounts = 0;
      size_t words = 0;  // of one
    };
    static constexpr size_t kNames = 0;
    static constexpr size_t kFlags = 1;
    static constexpr size_t kLevels = 2;
    static constexpr uint64_t kFirstOfJob = 1;
    static constexpr uint64_t kHarmless = 2;

    Candidate(const uint64_t* words, const Layout* layout) : words_(words), layout_(layout) {}

    const uint64_t* words_;
    const Layout* layout_;
  };

  // Whose they are from now on. False: as before, and what is known is still good.
  bool Begin(QueueId queue, Asking asking);
  void Forget(uint32_t position) { SetBit(is_known_, position, false); }
  // Nothing has changed but the levels of a task, if it counts there.
  void FollowLevels(uint32_t position, TaskId task);
  // Has those of some of a block's nodes looked up, a bit each; or of all blocks.
  void Find(size_t block, uint64_t nodes);
  void FindAll(std::span<const uint64_t> nodes);

  bool IsKnown(uint32_t position) const { return HasBit(is_known_, position); }
  // Aborts when what is known of a node is not as it is.
  void Verify(uint32_t position) const;
  // How many there are on a node, and each of them, in the node's order of tasks.
  size_t Count(uint32_t position) const { return on_[position].count; }
  Candidate At(uint32_t position, size_t at) const {
    return {on_[position].words + at * layout_.words, &layout_};
  }
  // They will be looked at.
  KRAFLA_FETCHES void FetchAt(uint32_t position) const { Fetch(on_[position].words); }
  void SetExactLevel(uint32_t position, size_t at, size_t voter, double level) {
    on_[position].words[at * layout_.words + layout_.exact_levels + voter] =
        std::bit_cast<uint64_t>(level);
  }
  // What will be free there if nobody goes; by kind. Good also where candidates are not known,
  // until the node changes.
  const double* FutureIdle(uint32_t position) const {
    return &future_idle_[position * static_cast<size_t>(session_.cluster.kinds.size())];
  }

  // Where nobody would have to go for tasks of a class; a bit per node, by block. `steps`: of the
  // amounts that are asked for. Followed for the class that asked last.
  std::span<const uint64_t> NodesThatFit(ClassId cls, const AmountSteps& steps);

  // Numbers made in another order may differ in the last bits; a node too many is only asked.
  static constexpr double kSlack = 1;

 private:
  struct OnNode {
    uint64_t* words = nullptr;
    uint32_t count = 0;
    uint32_t capacity = 0;
  };

  void FindAt(std::span<const uint32_t> positions);
  void FindAt(uint32_t position);
  bool IsHarmless(TaskId task) const;
  uint64_t* WriteLevels(TaskId task, uint64_t* words) const;
  void Reserve(OnNode& here, size_t count);
  void FollowIdle(uint32_t position);

  Session& session_;
  EvictableTasks& evictable_;
  EvictableTasks::Side side_;
  std::vector<uint64_t> states_;    // of voters, as of then
  std::vector<uint64_t> is_known_;  // a bit per node; empty before the first Begin
  Candidate::Layout layout_;
  std::vector<OnNode> on_;  // by position
  // Where these words are: chunks of which the last one in use has some left. Whoever needs more
  // moves.
  struct Chunk {
    std::unique_ptr<uint64_t[]> words;
    size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  size_t chunks_used_ = 0;
  uint64_t* free_ = nullptr;
  size_t free_words_ = 0;
  std::vector<double> future_idle_;
  // The same in columns, once somebody has asked.
  AmountColumns idle_;
  ClassId fits_for_;
  std::vector<uint64_t> fits_;
  // Of one call, kept for their memory.
  std::vector<uint32_t> positions_;
  std::vector<JobId> jobs_;
  std::vector<TaskId> found_;
};

// What a voter's bound says of a candidate, and of a task; of those that say nothing, or know it
// exactly, candidates have enough.
int64_t LevelOf(const VictimLevels* voter, TaskId candidate);
int64_t LevelNeededBy(const VictimLevels* voter, TaskId task);

}  // namespace krafla
