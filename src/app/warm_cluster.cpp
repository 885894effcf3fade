#include "app/warm_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace krafla {

namespace {

constexpr int kQueues = 4;
constexpr double kNodeCpu = 64000;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kNodeMemory = 256 * kGiB;
constexpr std::string_view kNamespace = "bench";

std::string NodeName(int node) {
  return fmt::format("node-{:05}", node);
}
std::string RunningGroup(int pod) {
  return fmt::format("run-{:06}", pod / WarmCluster::kGangSize);
}

}  // namespace

WarmCluster::WarmCluster(LiveCluster& live, const WarmClusterShape& shape)
    : live_(live), shape_(shape) {
  for (int q = 0; q < kQueues; ++q) {
    QueueFacts facts;
    facts.queue.name = Str(fmt::format("queue-{}", q));
    live_.AddQueue(std::move(facts));
  }
  for (int n = 0; n < shape_.nodes; ++n) live_.AddNode(NodeOf(n));
  const int pods = running_pods();
  for (int pod = 0; pod < pods; ++pod) {
    if (pod % kGangSize == 0)
      AddGroup(RunningGroup(pod), pod / kGangSize % kQueues, std::min(kGangSize, pods - pod), true);
    AddRunning(pod);
  }
  for (int gang = 0; gang < shape_.waiting_gangs; ++gang) {
    const std::string name = fmt::format("wait-{:05}", gang);
    AddGroup(name, gang % kQueues, kGangSize, false);
    for (int i = 0; i < kGangSize; ++i)
      live_.AddPod(PodOf(name, i, RunningCpu()), Origin::kWritten);
  }
}

void WarmCluster::AddGroup(const std::string& name, int queue, int members, bool runs) {
  PodGroupFacts facts;
  facts.job.ns = Str(kNamespace);
  facts.job.name = Str(name);
  facts.job.uid = Str("uid-" + name);
  facts.job.min_available = members;
  facts.job.phase = runs ? JobPhase::kRunning : JobPhase::kPending;
  facts.queue = Str(fmt::format("queue-{}", queue));
  live_.AddPodGroup(std::move(facts), Origin::kWritten);
}

PodFacts WarmCluster::PodOf(const std::string& group, int index, double cpu_milli) {
  PodFacts facts;
  const std::string name = fmt::format("{}-{}", group, index);
  facts.task.ns = Str(kNamespace);
  facts.task.name = Str(name);
  facts.task.uid = Str("uid-" + name);
  facts.task.role = Str("worker");
  facts.task.labels = live_.InternLabels({});
  facts.group = Str(group);
  facts.ours = true;
  PodSpec spec;
  const double cpu = std::floor(cpu_milli);
  spec.request.Set(ResourceKinds::kCpu, cpu);
  spec.request.Set(ResourceKinds::kMemory, kGiB);
  spec.request.Set(ResourceKinds::kPods, 1);
  spec.scored_cpu = spec.nonzero_cpu = spec.placing_cpu = cpu;
  spec.scored_memory = spec.nonzero_memory = spec.placing_memory = kGiB;
  facts.task.spec = live_.InternSpec(std::move(spec));
  return facts;
}

NodeFacts WarmCluster::NodeOf(int node) {
  NodeFacts facts;
  facts.node.name = Str(NodeName(node));
  facts.node.labels = {{Str("kubernetes.io/hostname"), facts.node.name}};
  facts.node.max_pods = 110;
  facts.node.scored_cpu = kNodeCpu;
  facts.node.scored_memory = kNodeMemory;
  facts.allocatable.Set(ResourceKinds::kCpu, kNodeCpu);
  facts.allocatable.Set(ResourceKinds::kMemory, kNodeMemory);
  facts.allocatable.Set(ResourceKinds::kPods, 110);
  return facts;
}

void WarmCluster::AddJob(const std::string& name, bool fits) {
  AddGroup(name, 0, 1, false);
  live_.AddPod(PodOf(name, 0, fits ? 500 : RunningCpu()), Origin::kWritten);
}

void WarmCluster::RemoveJob(const std::string& name) {
  live_.RemovePod(Str(kNamespace), Str(name + "-0"));
  live_.RemovePodGroup(Str(kNamespace), Str(name));
}

void WarmCluster::AddRunning(int pod) {
  PodFacts facts = PodOf(RunningGroup(pod), pod % kGangSize, RunningCpu());
  facts.task.node_name = Str(NodeName(pod % shape_.nodes));
  facts.task.status = TaskStatus::kRunning;
  facts.task.pod_running = true;
  facts.task.preemptable = shape_.preemptable;
  live_.AddPod(std::move(facts), Origin::kWritten);
}

void WarmCluster::RemoveRunning(int pod) {
  live_.RemovePod(Str(kNamespace), Str(fmt::format("{}-{}", RunningGroup(pod), pod % kGangSize)));
}

void WarmCluster::ChangeNode(int node, NodeChange change, bool back) {
  NodeFacts facts = NodeOf(node);
  if (!back) {
    switch (change) {
      case NodeChange::kLabel:
        facts.node.labels.emplace_back(Str("rack"), Str("r1"));
        break;
      case NodeChange::kAllocatable:
        facts.allocatable.Set(ResourceKinds::kCpu, kNodeCpu - 200);
        facts.node.scored_cpu = kNodeCpu - 200;
        break;
      case NodeChange::kCordon:
        facts.node.unschedulable = true;
        break;
    }
  }
  live_.AddNode(std::move(facts));
}

}  // namespace krafla
