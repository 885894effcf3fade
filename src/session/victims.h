// What a vote on victims leaves, and who votes.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "session/hooks.h"

namespace krafla {

// The victims a vote left, and who agreed in the tier that decided.
struct Victims {
  std::vector<TaskId> tasks;
  uint64_t permitted_by = 0;
  // Nobody is let go, and it stays so while the candidates' jobs only lose tasks: every tier was
  // ended by a plugin that named nobody.
  bool stays_empty = false;
};

// What votes have in common.
struct VictimVoting {
  // A bit per plugin.
  uint64_t guards = 0;           // their veto holds in every tier
  uint64_t counting_guards = 0;  // … and depends on who else is on the list
  // Of the vote that is being held. Votes are many and short, so their memory is kept.
  std::vector<TaskId> allowed;  // by guards
  std::vector<TaskId> victims;
  std::vector<TaskId> answer;
};

// Those who vote in one tier.
struct VotingTier {
  std::vector<const VictimLevels*> voters;  // null: may name anybody
  // Where every voter names somebody, nobody else has a say in whether anybody goes.
  bool decides = false;
  // Voters are asked about all candidates on a node: not only about those whom guards, or others of
  // the tier, have left.
  bool offers_all = true;
};

}  // namespace krafla
