// "What if": a single change to the cluster, the configuration or the instant, tried by running the
// cycle again, and whether it gets what was asked about a place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/cycle_run.h"
#include "explain/explanation.h"

namespace krafla {

struct Change {
  std::string kind;  // docs/output.md lists them
  std::string text;
  int size = 0;          // smaller changes are told first: waiting 0, the job itself 1, its victims
                         // 2, queues 3, the configuration 4, another node 5
  double magnitude = 0;  // among changes of one size
  std::function<void(CycleRun&)> apply;
  std::string caution = {};  // what it gives up, when it takes a safeguard away
};

// Who is to get a place: all of a job, or one pod of it.
struct Goal {
  JobId job;
  TaskId pod;  // invalid: the job
};

class WhatIf {
 public:
  // Runs the cycle as it is, for comparison.
  WhatIf(const CycleInputs& inputs, Goal goal);

  // Runs the cycle with the change; its consequences when the goal is reached. Nothing also when
  // there is no run left.
  std::optional<Flip> Try(const Change& change);
  // Changes from the smallest to the largest, each including those before it: finds the smallest
  // that works by halving, after the largest has worked.
  std::optional<Flip> TrySmallest(const std::vector<Change>& changes);

  // What was tried and did not help, as far as nothing like it did: a value that is too small is
  // not told beside one that works.
  const std::vector<VainChange>& in_vain() const { return in_vain_; }
  void ForgetInVain(std::string_view kind);
  size_t runs() const { return runs_; }
  size_t left_out() const { return left_out_; }
  bool exhausted() const { return runs_ >= most_runs_ || inputs_.OutOfTime(); }
  // When, without any change, plugins will answer differently.
  std::optional<Timestamp> next_timer() const { return next_timer_; }

 private:
  struct Outcome {
    int32_t placed = 0;  // pods of the job that have a place, bound or pipelined by the cycle
    bool has_minimum = false;
    bool pod_placed = false;
    bool let_in = false;
    std::vector<TaskId> evicted;                       // sorted
    std::vector<std::pair<TaskId, NodeId>> binds;      // sorted
    std::vector<std::pair<TaskId, NodeId>> pipelined;  // sorted
  };
  Outcome OutcomeOf(const Session& session) const;
  bool Reached(const Outcome& outcome) const;
  std::optional<Flip> Run(const Change& change);
  Flip Describe(const Session& session, const Change& change, const Outcome& outcome) const;

  CycleInputs inputs_;
  Goal goal_;
  Outcome baseline_;
  std::optional<Timestamp> next_timer_;
  std::vector<VainChange> in_vain_;
  size_t runs_ = 0;
  size_t left_out_ = 0;
  size_t most_runs_;
};

}  // namespace krafla
