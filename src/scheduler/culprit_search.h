// Finds the objects at which a cycle fails an internal check: those without which a trial of the
// same cycle goes well. Begins with the job in hand; then halves lists of PodGroups, pods, nodes
// and queues. The number of trials is bounded. Used by the scheduling loop; knows nothing of how a
// trial is run.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "session/in_hand.h"

namespace krafla {

struct CycleFailure {
  std::string check;  // "src/a.cpp:12: this must hold and does not: …"
  InHand::Step step = InHand::Step::kNone;
  std::string name;                            // of the action or plugin
  std::optional<LiveCluster::ObjectName> job;  // in hand
};

class CulpritSearch {
 public:
  using Name = LiveCluster::ObjectName;
  using Names = std::vector<Name>;
  // A trial of the cycle without these objects; nothing: no check failed.
  using Trial = std::function<std::optional<CycleFailure>(std::span<const Name> left_out)>;

  // Beyond so many jobs, or so many objects of another kind, the fault is not one of objects.
  static constexpr size_t kMostJobs = 32;
  static constexpr size_t kMostCulprits = 4;

  CulpritSearch(std::function<Names(Name::Kind)> names, Trial trial)
      : names_(std::move(names)), trial_(std::move(trial)) {}

  // The objects to leave out; empty: none were found. `doubts_jobs`: several jobs failed the same
  // check before, so that a node, a queue or a pod that all of them meet is looked for first.
  Names Find(const CycleFailure& failure, bool doubts_jobs);

 private:
  bool Passes(const Names& left_out) { return !trial_(left_out); }
  // Leaves out the job in hand, then the one that is in hand then, until the trial passes.
  Names FollowJobsInHand(const CycleFailure& failure);
  // Of one kind, at most so many that together make the trial pass; never all nodes or queues.
  Names FindOfKind(Name::Kind kind, size_t most);
  // The last of the shortest row of names, in order, without which, and without `found`, the trial
  // passes.
  std::optional<Name> FindOne(const Names& names, const Names& found);

  std::function<Names(Name::Kind)> names_;
  Trial trial_;
  bool too_many_jobs_ = false;
};

}  // namespace krafla
