// How high the levels of a queue's candidates are anywhere (VictimLevels): for a task that needs
// more, no plugin lets anybody go, whichever the node. So a search that was in vain before need not
// ask again the nodes where something has changed.
//
// Levels rise only when a job gains tasks (those of voters who have a state are not asked). A gang
// that fails takes from many jobs and gives all of it back: what a job has lost, or has back, is no
// reason to look at it again.
//
// For preemption between jobs of a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actions/evictable_tasks.h"
#include "session/session.h"

namespace krafla {

class LevelCeilings {
 public:
  LevelCeilings(Session& session, EvictableTasks& evictable)
      : session_(session), evictable_(evictable) {}

  // A task of the queue has asked again, and nobody was named for it anywhere: when many have, to
  // know the ceilings is worth going through all tasks.
  void NoteNobodyNamed(QueueId queue);
  // False: nobody is let go for the task anywhere. True when that is not known.
  bool MayNameSomebody(TaskId task);

 private:
  struct Ceiling {
    const VictimLevels* voter;  // null: may name anybody
    int64_t level;
    double exact_level;
  };
  const std::vector<VotingTier>& Tiers() const { return session_.voting_tiers(Asking::kPreempt); }
  void Begin();
  void CatchUp();
  void LookAt(TaskId task);
  static bool IsWithin(const Ceiling& ceiling, TaskId task);

  Session& session_;
  EvictableTasks& evictable_;
  QueueId queue_;                  // whose tasks ask
  size_t in_vain_ = 0;             // for so many of them nobody was named
  bool is_known_ = false;          // what follows is good
  std::vector<Ceiling> ceilings_;  // by voter, tier after tier
  size_t synced_ = 0;              // of the session's task changes
  // By TaskId: whether it holds more or less than when its job was last looked at. It loses and
  // gains in turn, so that this is never far from zero.
  std::vector<int8_t> gained_;
  static constexpr int8_t kOther = 64;  // cannot be told
  std::vector<TaskId> may_have_more_;   // of one call; kept for its memory
};

}  // namespace krafla
