// The hot pieces of a cycle one by one, on a full cluster made in memory: 1,000 nodes with five
// pods each, of one queue, and a waiting pod of higher priority. Run by `make bench-micro`.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "actions/victim_search.h"
#include "app/warm_cluster.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"
#include "session/node_search.h"
#include "session/statement.h"

namespace krafla {
namespace {

constexpr int kNodes = 1000;
constexpr int kPodsPerNode = 5;

std::string FullCluster() {
  std::string items =
      R"({"kind":"Queue","apiVersion":"scheduling.volcano.sh/v1beta1","metadata":{"name":"q"},"spec":{"weight":1}})";
  auto job = [&](const std::string& name, int priority) {
    items += fmt::format(
        R"(,{{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{{"name":"p{1}-{0}"}},"value":{1}}})"
        R"(,{{"kind":"PodGroup","apiVersion":"scheduling.volcano.sh/v1beta1","metadata":{{"namespace":"d","name":"{0}"}},)"
        R"("spec":{{"minMember":1,"queue":"q","priorityClassName":"p{1}-{0}"}},"status":{{"phase":"Inqueue"}}}})",
        name, priority);
  };
  auto pod = [&](const std::string& job_name, int index, const std::string& node) {
    items += fmt::format(
        R"(,{{"kind":"Pod","apiVersion":"v1","metadata":{{"namespace":"d","name":"{0}-{1}","uid":"{0}-{1}",)"
        R"("annotations":{{"scheduling.k8s.io/group-name":"{0}","volcano.sh/preemptable":"true"}}}},)"
        R"("spec":{{"schedulerName":"volcano",{2}"containers":[{{"name":"c","image":"i","resources":)"
        R"({{"requests":{{"cpu":"2","memory":"2Gi"}}}}}}]}},"status":{{"phase":"{3}"}}}})",
        job_name, index, node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node),
        node.empty() ? "Pending" : "Running");
  };
  for (int n = 0; n < kNodes; ++n)
    items += fmt::format(
        R"(,{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n{:04}"}},"status":{{"allocatable":)"
        R"({{"cpu":"10","memory":"64Gi","pods":"110"}}}}}})",
        n);
  for (int j = 0; j < kNodes * kPodsPerNode / 10; ++j) {
    const std::string name = fmt::format("run{}", j);
    job(name, 10);
    for (int i = 0; i < 10; ++i) pod(name, i, fmt::format("n{:04}", (j * 10 + i) * 7 % kNodes));
  }
  job("high", 1000);
  pod("high", 0, "");
  return R"({"kind":"List","apiVersion":"v1","items":[)" + items + "]}";
}

constexpr const char* kConfig = R"(actions: "allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

// A session on that cluster, opened and not run.
class World {
 public:
  World() : log_(0) {
    Diagnostics diagnostics;
    config_ =
        ReadSchedulerConfig(kConfig, BuiltInVocabulary(), {.file_name = "config"}, diagnostics);
    cluster_ = ReadClusterFromText(FullCluster(), "cluster", {}, diagnostics);
    for (const Diagnostic& problem : diagnostics.items()) {
      if (problem.severity != Severity::kError) continue;
      std::fprintf(stderr, "error: %s\n", ToString(problem).c_str());
      std::exit(2);
    }
    session = std::make_unique<Session>(cluster_, config_, SessionOptions{}, log_);
    for (uint32_t t = 0; t < cluster_.tasks.size(); ++t)
      if (cluster_.tasks[TaskId(t)].status == TaskStatus::kPending) waiting = TaskId(t);
    (void)session->node_search().Prepare(waiting);
  }

  NodeId Node(size_t index) const { return cluster_.nodes_by_name[index % kNodes]; }
  TaskId PodOn(NodeId node) const { return cluster_.nodes[node].tasks.front(); }

  std::unique_ptr<Session> session;
  TaskId waiting;

 private:
  Cluster cluster_;
  SchedulerConfig config_;
  Log log_;
};

void FitScan(benchmark::State& state) {
  World world;
  for (auto _ : state) {
    FitError error;
    benchmark::DoNotOptimize(
        world.session->node_search().FindForAllocate(world.waiting, NodeId{}, nullptr, error));
  }
}
BENCHMARK(FitScan);

// One node changes; the class's answers and scores follow.
void ScoreUpdate(benchmark::State& state) {
  World world;
  size_t i = 0;
  for (auto _ : state) {
    const NodeId node = world.Node(++i);
    const Session::Mark mark = world.session->MarkNow();
    world.session->MarkReleasing(world.PodOn(node));
    benchmark::DoNotOptimize(
        world.session->node_search().RankForPreemption(world.waiting, nullptr));
    world.session->Rollback(mark);
  }
}
BENCHMARK(ScoreUpdate);

void EvictAndRollback(benchmark::State& state) {
  World world;
  size_t i = 0;
  for (auto _ : state) {
    const Session::Mark mark = world.session->MarkNow();
    world.session->MarkReleasing(world.PodOn(world.Node(++i)));
    world.session->Rollback(mark);
  }
}
BENCHMARK(EvictAndRollback);

// Candidates, votes, one eviction, the place; then all of it taken back.
void VictimSearch(benchmark::State& state) {
  World world;
  size_t i = 0;
  const VictimRule rule{.whose = VictimRule::Whose::kOtherJobsOfQueue};
  for (auto _ : state) {
    Statement statement(*world.session);
    if (MakeRoomOnNode(*world.session, statement, world.waiting, world.Node(++i), rule) !=
        MakeRoom::kDone)
      state.SkipWithError("no room was made");
    statement.Discard();
  }
}
BENCHMARK(VictimSearch);

// What the tables of a running scheduler cost to keep up: a pod ends and comes back, a job comes
// and goes, a node changes; the sums that hang on it are derived anew.
class LiveWorld {
 public:
  LiveWorld() : cluster(live, {.nodes = kNodes, .pods_per_node = kPodsPerNode}) { Look(); }
  void Look() {
    benchmark::DoNotOptimize(live.cluster());
    benchmark::DoNotOptimize(live.TakeChanges());
  }

  LiveCluster live{BuildOptions{}};
  WarmCluster cluster;
};

void ApplyPodChange(benchmark::State& state) {
  LiveWorld world;
  int i = 0;
  for (auto _ : state) {
    const int pod = (i = (i + 7919) % 1000000) % world.cluster.running_pods();
    world.cluster.RemoveRunning(pod);
    world.Look();
    world.cluster.AddRunning(pod);
    world.Look();
  }
  if (world.live.rebuilds() != 1) state.SkipWithError("the tables were built anew");
}
BENCHMARK(ApplyPodChange);

void ApplyJobChange(benchmark::State& state) {
  LiveWorld world;
  for (auto _ : state) {
    world.cluster.AddJob("arrives", true);
    world.Look();
    world.cluster.RemoveJob("arrives");
    world.Look();
  }
  if (world.live.rebuilds() != 1) state.SkipWithError("the tables were built anew");
}
BENCHMARK(ApplyJobChange);

void ApplyNodeChange(benchmark::State& state) {
  LiveWorld world;
  int i = 0;
  for (auto _ : state) {
    const int node = (i = (i + 7919) % 1000000) % kNodes;
    world.cluster.ChangeNode(node, WarmCluster::NodeChange::kAllocatable, false);
    world.Look();
    world.cluster.ChangeNode(node, WarmCluster::NodeChange::kAllocatable, true);
    world.Look();
  }
  if (world.live.rebuilds() != 1) state.SkipWithError("the tables were built anew");
}
BENCHMARK(ApplyNodeChange);

}  // namespace
}  // namespace krafla

BENCHMARK_MAIN();
