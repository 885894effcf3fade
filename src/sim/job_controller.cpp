#include "sim/job_controller.h"

#include <algorithm>

#include <fmt/format.h>

namespace krafla {

SimJobId JobController::AddJob(const JobTemplate& made_of, StrId name, const RunTime& run_time,
                               bool keeps_work) {
  const SimJobId id = world_.AddJob(made_of, name, run_time, keeps_work, now_);
  if (!made_of.has_group) return id;
  ++submitted_;
  const SimJob& job = world_.job(id);
  SimEvent& event = events_.BeginJob(SimEventKind::kJobSubmitted, id);
  event.count = static_cast<int64_t>(job.pods.size());
  event.minimum = made_of.group.job.min_available;
  event.budget_floor = BudgetFloor(job);
  events_.Send();
  return id;
}

SimJobId JobController::Submit(const JobTemplate& made_of, StrId name, const RunTime& run_time,
                               bool keeps_work) {
  const SimJobId id = AddJob(made_of, name, run_time, keeps_work);
  for (const SimPodId pod : world_.job(id).pods) Create(pod);
  return id;
}

SimJobId JobController::SubmitSlowly(const JobTemplate& made_of, StrId name,
                                     const RunTime& run_time, bool keeps_work, int64_t every_ns) {
  const SimJobId id = AddJob(made_of, name, run_time, keeps_work);
  create_every_ns_[id] = every_ns;
  return id;
}

void JobController::OnAdmitted(SimJobId id) {
  const auto found = create_every_ns_.find(id);
  if (found == create_every_ns_.end()) return;
  Timestamp at = now_;
  for (const SimPodId pod : world_.job(id).pods) {
    at = After(at, found->second);
    queue_.Plan(at, TimerKind::kPodRecreated, pod.value, world_.pod(pod).token);
  }
  create_every_ns_.erase(found);
}

// What the budget leaves when everybody runs.
int32_t JobController::BudgetFloor(const SimJob& job) const {
  const auto pods = static_cast<int64_t>(job.pods.size());
  std::string complaint;
  const Allowance allowance = AllowedEvictions(
      job.made_of->group.job.budget, {.total = pods, .running = pods}, budget_rules_, complaint);
  if (!allowance.annotated) return -1;
  return static_cast<int32_t>(std::max<int64_t>(0, pods - allowance.count));
}

void JobController::Create(SimPodId id) {
  SimPod& pod = world_.pod(id);
  SimJob& job = world_.job(pod.job);
  const PodFacts& facts = world_.TemplateOf(pod).facts;
  const bool first = !pod.created.Present();
  if (pod.state != PodState::kAbsent) world_.SetState(id, PodState::kAbsent);  // one that failed
  // UIDs sort as they were given. Pods somebody wrote keep theirs for as long as they live.
  pod.uid = first && world_.TemplateOf(pod).has_own_name && facts.admitted
                ? facts.task.uid
                : world_.live().strings().Intern(fmt::format("pod-{:010}", ++uids_given_));
  if (!first) ++pod.life;
  pod.created = first && facts.task.created.Present() ? facts.task.created : ApiTime(now_);
  if (first || !job.keeps_work)
    pod.work_left_ns =
        DrawRunTimeNs(job.run_time, draws_.Unit("run time", world_.PodKey(id), pod.life));
  pod.tries = 0;
  pod.refusals = 0;
  job.waiting_for = 0;  // why it waits is to be said anew
  ++created_;
  world_.SetState(id, PodState::kPending);
  SimEvent& event = events_.BeginPod(SimEventKind::kPodCreated, id);
  event.count = first ? 0 : 1;
  event.amounts = world_.Amounts(world_.RequestOf(pod));
  events_.Send();
}

void JobController::OnSucceeded(SimPodId id) {
  const SimJobId job_id = world_.pod(id).job;
  SimJob& job = world_.job(job_id);
  if (++job.succeeded < static_cast<int32_t>(job.pods.size())) return;
  if (job.made_of->has_group) {
    ++completed_;
    events_.BeginJob(SimEventKind::kJobPhase, job_id).text = ToString(JobPhase::kCompleted);
    events_.Send();
    events_.BeginJob(SimEventKind::kJobCompleted, job_id);
    events_.Send();
  }
  world_.RemoveJob(job_id);
}

void JobController::OnLost(SimPodId id) {
  const SimPod& pod = world_.pod(id);
  if (!world_.job(pod.job).made_of->is_owned) {
    world_.RemoveJob(pod.job);
    return;
  }
  queue_.Plan(After(now_, recreate_after_ns_), TimerKind::kPodRecreated, id.value, pod.token);
}

}  // namespace krafla
