// Making room for one task on one node by evicting others. Preempt (between jobs, within a job) and
// reclaim are three descriptions handed to the same search.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/candidacy.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

struct VictimRule {
  using Whose = VictimsFrom;
  Whose whose;
  // Whether the queue's share and the predicates are looked at before and after each eviction, or
  // room alone.
  bool checks_everything = true;

  Asking asking() const {
    return whose == Whose::kOtherQueues ? Asking::kReclaim : Asking::kPreempt;
  }
  EvictionReason reason() const {
    return whose == Whose::kOwnJob        ? EvictionReason::kWithinJob
           : whose == Whose::kOtherQueues ? EvictionReason::kReclaim
                                          : EvictionReason::kPreempt;
  }
  // In log lines.
  std::string_view verb() const { return asking() == Asking::kReclaim ? "reclaim" : "preempt"; }
  // Reclaim leaves a node without candidates alone; preempt may find room that was made for
  // somebody else.
  bool needs_candidates() const { return asking() == Asking::kReclaim; }
};

// Candidates on the node, in its order of tasks.
void CollectCandidates(const Session& session, NodeId node, TaskId for_task, const VictimRule& rule,
                       std::vector<TaskId>& candidates);

// The plugins' vote on candidates.
Victims VoteOn(Session& session, TaskId for_task, const VictimRule& rule,
               std::span<const TaskId> candidates);

// Whether the task would fit if all of `victims` went.
bool VictimsSuffice(const Session& session, TaskId task, NodeId node,
                    std::span<const TaskId> victims);

enum class MakeRoom : uint8_t {
  kDone,
  kNo,
  // A no that depends on the node and lasts while jobs of candidates only lose tasks elsewhere.
  kNoForTheNode,
  // Only a predicate refused.
  kNoForThePredicate,
};
// How room was made.
struct RoomMade {
  NodeId node;  // invalid: there was none
  std::vector<TaskId> evicted;
  uint64_t permitted_by = 0;
  bool frees_something = false;  // some of them had asked for resources
};
// Evicts, least important first, until the task fits, and pipelines it; or changes nothing and says
// no. `how` is filled in when it is done. `known`: the candidates there, when somebody has
// collected them before.
MakeRoom MakeRoomOnNode(Session& session, Statement& statement, TaskId task, NodeId node,
                        const VictimRule& rule, RoomMade* how = nullptr,
                        const std::vector<TaskId>* known = nullptr);

}  // namespace krafla
