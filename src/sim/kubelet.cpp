#include "sim/kubelet.h"

#include <algorithm>

namespace krafla {

void Kubelet::Bind(SimPodId id, SimNodeId node) {
  SimPod& pod = world_.pod(id);
  pod.scheduled = ApiTime(now_);
  pod.started = {};
  world_.SetState(id, PodState::kBound, node);
  const std::string_view name = world_.Text(world_.nodes()[node].facts.node.name);
  const int64_t delay =
      faults_.DelayNs(Fault::Kind::kSlowKubelet, name)
          .value_or(WithJitterNs(shape_.startup_ns, shape_.jitter,
                                 draws_.Unit("start-up", world_.PodKey(id), pod.life)));
  queue_.Plan(After(now_, delay), TimerKind::kPodStarts, id.value, pod.token);
}

void Kubelet::Start(SimPodId id) {
  world_.pod(id).started = now_;
  world_.SetState(id, PodState::kRunning);
  events_.TellPod(SimEventKind::kPodStarted, id);
  PlanEnd(id);
}

void Kubelet::PlanEnd(SimPodId id) {
  const SimPod& pod = world_.pod(id);
  if (pod.work_left_ns == kForeverNs) return;
  queue_.Plan(After(now_, pod.work_left_ns), TimerKind::kPodEnds, id.value, pod.token);
}

void Kubelet::End(SimPodId id) {
  world_.SetState(id, PodState::kSucceeded);
  events_.TellPod(SimEventKind::kPodSucceeded, id);
  controller_.OnSucceeded(id);
}

int64_t Kubelet::WorkDoneNs(SimPodId id) const {
  const SimPod& pod = world_.pod(id);
  return pod.state == PodState::kRunning ? now_.ns - pod.started.ns : 0;
}

void Kubelet::Evict(SimPodId id) {
  SimPod& pod = world_.pod(id);
  // What is kept is kept when the pod is told to go; it does nothing more after that.
  if (world_.job(pod.job).keeps_work && pod.work_left_ns != kForeverNs)
    pod.work_left_ns = std::max<int64_t>(0, pod.work_left_ns - WorkDoneNs(id));
  world_.SetState(id, PodState::kTerminating);
  const std::string_view name = world_.Text(world_.nodes()[pod.node].facts.node.name);
  const int64_t delay =
      faults_.DelayNs(Fault::Kind::kSlowTermination, name)
          .value_or(WithJitterNs(shape_.termination_ns, shape_.jitter,
                                 draws_.Unit("termination", world_.PodKey(id), pod.life)));
  queue_.Plan(After(now_, delay), TimerKind::kPodGone, id.value, pod.token);
}

void Kubelet::Gone(SimPodId id) {
  events_.TellPod(SimEventKind::kPodGone, id);
  world_.SetState(id, PodState::kAbsent);
  controller_.OnLost(id);
}

void Kubelet::Adopt(SimPodId id) {
  const Task& task = world_.TemplateOf(world_.pod(id)).facts.task;
  const SimNodeId node = world_.FindNode(task.node_name);
  if (task.status == TaskStatus::kSucceeded) return End(id);
  if (task.status == TaskStatus::kFailed) return Crash(id, "failed before");
  if (!node.valid() || !world_.nodes()[node].present) return;

  Bind(id, node);
  if (task.scheduled_at.Present()) world_.pod(id).scheduled = task.scheduled_at;
  events_.TellPod(SimEventKind::kPodBound, id);
  if (task.pod_running) {
    Start(id);
    if (task.started.Present()) world_.pod(id).started = task.started;
    world_.Tell(id);
  }
  if (task.status == TaskStatus::kReleasing) Evict(id);
}

// The work since the start is lost, whatever the job keeps of evicted pods: nobody warned it.
void Kubelet::Crash(SimPodId id, std::string_view why) {
  events_.TellPod(SimEventKind::kPodFailed, id, why);
  world_.SetState(id, PodState::kFailed);
  controller_.OnLost(id);
}

void Kubelet::LoseNode(SimNodeId node) {
  // Whoever is lost leaves the list.
  const std::vector<SimPodId> pods = world_.nodes()[node].pods;
  for (const SimPodId id : pods) {
    if (world_.pod(id).state == PodState::kTerminating) {
      Gone(id);
      continue;
    }
    events_.TellPod(SimEventKind::kPodFailed, id, "node lost");
    world_.SetState(id, PodState::kAbsent);
    controller_.OnLost(id);
  }
  world_.SetPresent(node, false);
}

}  // namespace krafla
