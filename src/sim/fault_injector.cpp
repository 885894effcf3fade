#include "sim/fault_injector.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/go_duration.h"
#include "sim/name_pattern.h"

namespace krafla {

std::string Describe(const Fault& fault) {
  const std::string match = fault.match.empty() ? "*" : fault.match;
  const std::string delay = FormatShortDuration(fault.delay_ns);
  std::string text;
  switch (fault.kind) {
    case Fault::Kind::kNodeLost:
      text = fmt::format("node {} is lost", match);
      break;
    case Fault::Kind::kCordon:
      text = fmt::format("node {} is cordoned", match);
      break;
    case Fault::Kind::kPodCrash:
      return fmt::format("pods {} crash", match);
    case Fault::Kind::kSlowKubelet:
      text = fmt::format("pods take {} to start on node {}", delay, match);
      break;
    case Fault::Kind::kSlowTermination:
      text = fmt::format("pods take {} to terminate on node {}", delay, match);
      break;
    case Fault::Kind::kBindFails:
      text = fmt::format("binds of {} fail with probability {}", match, fault.probability);
      break;
    case Fault::Kind::kEvictFails:
      text = fmt::format("evictions of {} fail with probability {}", match, fault.probability);
      break;
    case Fault::Kind::kClockJump:
      text = fmt::format("the scheduler's clock is {} ahead", delay);
      break;
  }
  if (fault.for_ns >= 0) text += fmt::format(" for {}", FormatShortDuration(fault.for_ns));
  return text;
}

void FaultInjector::PlanAll() {
  for (uint32_t i = 0; i < faults_.size(); ++i)
    queue_.Plan(faults_[i].at, TimerKind::kFaultBegins, i);
}

std::vector<SimNodeId> FaultInjector::NodesThatMatch(const Fault& fault) const {
  std::vector<SimNodeId> nodes;
  for (SimNodeId id{0}; id.value < world_.nodes().size(); ++id.value)
    if (fault.match.empty() ||
        MatchesPattern(fault.match, world_.Text(world_.nodes()[id].facts.node.name)))
      nodes.push_back(id);
  return nodes;
}

bool FaultInjector::Begin(uint32_t index) {
  const Fault& fault = faults_[index];
  events_.TellText(SimEventKind::kFault, Describe(fault));
  active_.Begin(index);
  if (fault.for_ns >= 0 && fault.kind != Fault::Kind::kPodCrash)
    queue_.Plan(After(fault.at, fault.for_ns), TimerKind::kFaultEnds, index);
  if (fault.kind == Fault::Kind::kNodeLost) Lose(index);
  if (fault.kind == Fault::Kind::kCordon) {
    held_[index] = NodesThatMatch(fault);
    Cordon(index, +1);
  }
  if (fault.kind == Fault::Kind::kPodCrash) CrashPods(index);
  return fault.kind == Fault::Kind::kClockJump;
}

bool FaultInjector::End(uint32_t index) {
  const Fault& fault = faults_[index];
  active_.End(index);
  if (fault.kind == Fault::Kind::kNodeLost) {
    for (const SimNodeId node : held_[index]) {
      world_.SetPresent(node, true);
      SimEvent& event = events_.BeginNode(SimEventKind::kNodeAdded, node);
      event.amounts = world_.Amounts(world_.nodes()[node].facts.allocatable);
      events_.Send();
    }
  } else if (fault.kind == Fault::Kind::kCordon) {
    Cordon(index, -1);
  } else {
    events_.TellText(SimEventKind::kFault, fmt::format("no longer: {}", Describe(fault)));
  }
  return fault.kind == Fault::Kind::kClockJump;
}

// A node that another fault has taken comes back with that one.
void FaultInjector::Lose(uint32_t index) {
  for (const SimNodeId node : NodesThatMatch(faults_[index])) {
    if (!world_.nodes()[node].present) continue;
    held_[index].push_back(node);
    events_.BeginNode(SimEventKind::kNodeLost, node);
    events_.Send();
    kubelet_.LoseNode(node);
  }
}

void FaultInjector::Cordon(uint32_t index, int32_t change) {
  for (const SimNodeId node : held_[index]) {
    const int32_t before = world_.nodes()[node].cordons;
    world_.SetCordons(node, before + change);
    if ((before > 0) == (before + change > 0)) continue;
    events_.BeginNode(SimEventKind::kNodeCordoned, node).count = change > 0 ? 1 : 0;
    events_.Send();
  }
}

void FaultInjector::CrashPods(uint32_t index) {
  const Fault& fault = faults_[index];
  // By name: the order must not depend on which slots pods happen to be in.
  std::vector<std::pair<std::string, SimPodId>> hit;
  for (SimPodId id{0}; id.value < world_.pod_slots(); ++id.value) {
    if (!world_.pod(id).job.valid() || world_.pod(id).state != PodState::kRunning) continue;
    std::string key = world_.PodKey(id);
    if (!fault.match.empty() && !MatchesPattern(fault.match, key)) continue;
    const std::string purpose = fmt::format("crash by fault {}", index);
    if (draws_.Unit(purpose, key, 0) < fault.probability) hit.emplace_back(std::move(key), id);
  }
  std::sort(hit.begin(), hit.end());
  for (const auto& [key, id] : hit) kubelet_.Crash(id, "crash");
}

}  // namespace krafla
