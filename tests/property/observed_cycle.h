// A cycle on a random cluster that can be watched: an observer sits in a tier before all others,
// abstains from everything, and sees every move and every commit at the moment it is made.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "model/cluster.h"
#include "property/random_cluster.h"
#include "session/session.h"

namespace krafla::testing {

struct Move {
  enum class Kind : uint8_t { kAllocate, kPipeline, kTakeBack, kEvict, kSpare };
  Kind kind;
  TaskId task;
  NodeId node;
};

// What became part of the plan at once, seen before anything else changed.
struct CommitView {
  std::span<const Move>
      moves;  // since the last commit or the begin of the action, without what was rolled back
  Plan::Binds::Rest binds;
  Plan::Evictions::Rest evictions;
};

class ObservedCycle {
 public:
  // `text`: the cluster's manifests in whatever order. `complaint` is set when the input cannot be
  // read.
  ObservedCycle(const RandomCluster& random, std::string_view text, bool observed = true);
  explicit ObservedCycle(const RandomCluster& random) : ObservedCycle(random, random.Text()) {}
  ObservedCycle(const ObservedCycle&) = delete;
  ObservedCycle& operator=(const ObservedCycle&) = delete;

  // All actions one by one, verified after each, then the close. Stops at the first complaint.
  void Run();

  // Whether a plugin is configured and this switch of it is on.
  bool Asks(std::string_view plugin, Switch what) const;
  TaskStatus StatusAtOpen(TaskId task) const { return status_at_open_[task]; }
  std::string Key(TaskId task) const { return cluster.TaskKey(task); }

  Cluster cluster;
  SchedulerConfig config;
  CycleMemory memory;
  std::unique_ptr<Session> session;

  std::function<void(const Move&)> on_move;
  std::function<void(const CommitView&)> on_commit;
  std::function<void()> after_action;

  // The first thing that was found wrong.
  void Complain(std::string text) {
    if (complaint.empty()) complaint = std::move(text);
  }
  std::string complaint;

 private:
  class Observer;

  void ReportCommit();

  Log log_;
  Table<TaskId, TaskStatus> status_at_open_;
  std::vector<Move> moves_;
  size_t move_count_ = 0;  // logged: moves beyond it were rolled back
  size_t reported_moves_ = 0;
  size_t reported_binds_ = 0;
  size_t reported_evictions_ = 0;
  bool reporting_ = false;
};

// Reads, runs all actions as a user would, and gives the plan as JSON; complaints of the readers
// come first.
std::string RunToJson(const RandomCluster& random, std::string_view text);

}  // namespace krafla::testing
