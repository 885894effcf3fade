// Making room for one task on one node by evicting others. Preempt (between jobs, within a job) and
// reclaim are three descriptions handed to the same search.
#pragma once

#include <functional>
#include <string_view>

#include "session/session.h"
#include "session/statement.h"

namespace krafla {

struct VictimRule {
  std::string_view verb;  // in log lines: "preempt", "reclaim"
  // Which tasks on a node are candidates at all.
  std::function<bool(const Task&, TaskId)> is_candidate;
  // The plugins' vote on the candidates.
  Victims (Session::*vote)(TaskId, std::span<const TaskId>);
  // Reclaim leaves a node without candidates alone; preempt may find room that was made for
  // somebody else.
  bool needs_candidates = false;
  // Whether the queue's share and the predicates are looked at before and after each eviction, or
  // room alone.
  bool checks_everything = true;
  std::function<EvictionReason(TaskId victim)> reason;
};

// Candidates on the node, in its order of tasks.
void CollectCandidates(const Session& session, NodeId node, const VictimRule& rule,
                       std::vector<TaskId>& candidates);

// Whether the task would fit if all of `victims` went.
bool VictimsSuffice(const Session& session, TaskId task, NodeId node,
                    std::span<const TaskId> victims);

// Evicts, least important first, until the task fits, and pipelines it; or changes nothing and says
// no.
bool MakeRoomOnNode(Session& session, Statement& statement, TaskId task, NodeId node,
                    const VictimRule& rule);

}  // namespace krafla
