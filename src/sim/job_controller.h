// Stands for Volcano's controllers: makes the pods of jobs, makes those anew that were evicted or
// have failed, and clears away what has finished.
//
// What it does by default, as Volcano's does where a job has no policies of its own:
//   - A pod that was evicted, or failed, is made anew under its name, with a new UID, after
//     `recreate_after`. Nothing else of the job is touched: pods that run go on, also when fewer
//     than minAvailable are left; the PodGroup's phase then follows from what the scheduler sees,
//     and the scheduler brings the gang back to its minimum or not at all.
//   - A job is complete when each of its pods has succeeded. It and its pods are then removed.
//   - A bare pod has nobody who makes it anew.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "model/disruption_budget.h"

#include "sim/draws.h"
#include "sim/event_queue.h"
#include "sim/event_teller.h"
#include "sim/world.h"

namespace krafla {

class JobController {
 public:
  JobController(World& world, EventQueue& queue, EventTeller& events, const Draws& draws,
                const Timestamp& now, int64_t recreate_after_ns, BudgetRules budget_rules)
      : world_(world),
        queue_(queue),
        events_(events),
        draws_(draws),
        now_(now),
        recreate_after_ns_(recreate_after_ns),
        budget_rules_(budget_rules) {}

  // A job comes, with all of its pods.
  SimJobId Submit(const JobTemplate& made_of, StrId name, const RunTime& run_time, bool keeps_work);
  // Without the pods: whoever applies a manifest makes them one by one.
  SimJobId AddJob(const JobTemplate& made_of, StrId name, const RunTime& run_time, bool keeps_work);
  // Without the pods: once the job is admitted, they are created one by one, `every_ns` apart.
  SimJobId SubmitSlowly(const JobTemplate& made_of, StrId name, const RunTime& run_time,
                        bool keeps_work, int64_t every_ns);
  void OnAdmitted(SimJobId job);
  // Makes a pod, pending, as the next of its name.
  void Create(SimPodId pod);

  // Told by the kubelets.
  void OnSucceeded(SimPodId pod);
  // It is gone, or has failed.
  void OnLost(SimPodId pod);

  int64_t jobs_submitted() const { return submitted_; }
  int64_t jobs_completed() const { return completed_; }
  int64_t pods_created() const { return created_; }

 private:
  int32_t BudgetFloor(const SimJob& job) const;

  World& world_;
  EventQueue& queue_;
  EventTeller& events_;
  const Draws& draws_;
  const Timestamp& now_;
  const int64_t recreate_after_ns_;
  const BudgetRules budget_rules_;
  std::unordered_map<SimJobId, int64_t> create_every_ns_;  // of jobs that are not admitted yet
  uint64_t uids_given_ = 0;
  int64_t submitted_ = 0;
  int64_t completed_ = 0;
  int64_t created_ = 0;
};

}  // namespace krafla
