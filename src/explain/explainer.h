// Answers "why" about one object of a cluster at one instant: runs the cycle on copies of it,
// listens, and puts what it hears into an Explanation.
//
// Owned by whoever asks; one thread. Nothing outside of it is changed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explain/cycle_run.h"
#include "explain/explanation.h"
#include "explain/job_gates.h"
#include "explain/what_if.h"

namespace krafla {

class Explainer {
 public:
  // `when`: instant, time zone and, when there is one, the memory of earlier cycles (copied).
  Explainer(Cluster cluster, SchedulerConfig config, const SessionOptions& when);

  // By "namespace/name", "name" for queues and zones. An unknown name is an error with the nearest
  // one that exists.
  Result<Explanation> ExplainJob(std::string_view name);
  Result<Explanation> ExplainPod(std::string_view name);
  Result<Explanation> ExplainQueue(std::string_view name);
  Result<Explanation> ExplainZone(std::string_view name);
  // Asked between the cycles of a search, which ends and says so when it returns true.
  void SetOutOfTime(std::function<bool()> out_of_time) { out_of_time_ = std::move(out_of_time); }
  // `kind`: job, pod, queue or zone.
  Result<Explanation> Explain(std::string_view kind, std::string_view name);

  const Cluster& cluster() const { return cluster_; }

 private:
  // The cycle as it is, on a cluster of its own, and what was heard about one job.
  struct Baseline {
    Cluster cluster;
    CycleMemory memory;
    std::string muted;
    Log log;
    std::unique_ptr<CycleProbe> probe;
    std::unique_ptr<Session> session;
  };
  std::unique_ptr<Baseline> RunBaseline(JobId job);
  CycleInputs Inputs() {
    return {cluster_,   config_, when_.now,
            when_.zone, memory_, out_of_time_ ? &out_of_time_ : nullptr};
  }

  std::vector<RoomLook> LookAtAttempts(JobId job, const std::vector<EvictionAttempt>& attempts,
                                       TaskId pod);
  // Gates, answer and flips of a job, or of one pod of it that waits.
  void ExplainWaiting(JobId job, TaskId pod, Explanation& explanation);
  void DescribeJob(const Session& session, JobId job, const JobGates& gates, TaskId pod,
                   Explanation& explanation) const;
  // Whether the job is what a pod without PodGroup is, by the pod's name.
  bool IsGroupOfPod(JobId job, std::string_view pod) const;
  // Whether cdp counts evictions, and what is known of them.
  void AddHistory(Explanation& explanation) const;

  Cluster cluster_;
  SchedulerConfig config_;
  SessionOptions when_;
  CycleMemory memory_;
  std::function<bool()> out_of_time_;
};

}  // namespace krafla
