// The hot pieces of a cycle one by one, on a full cluster made in memory: 1,000 nodes with five
// pods each, of one queue, and a waiting pod of higher priority. Run by `make bench-micro`.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "actions/victim_search.h"
#include "app/warm_cluster.h"
#include "kube/cluster_mirror.h"
#include "manifest/parcel_decoder.h"
#include "manifest/read_cluster.h"
#include "manifest/reduced_object.h"
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
    benchmark::DoNotOptimize(world.session->node_search().RankForPreemption(world.waiting));
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

// A running pod as an API server sends it: two containers, mounts, environment, conditions, managed
// fields; about 7 KB.
std::string PodEvent(int pod, int version, std::string_view phase) {
  const std::string name = fmt::format("train-{}-worker-{}", pod / 10, pod % 10);
  std::string managed;
  for (const char* manager : {"kube-controller-manager", "krafla", "kubelet"})
    managed += fmt::format(
        R"({}{{"manager":"{}","operation":"Update","apiVersion":"v1","time":"2026-03-10T12:00:00Z",)"
        R"("fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:annotations":{{".":{{}},)"
        R"("f:scheduling.k8s.io/group-name":{{}},"f:volcano.sh/task-spec":{{}}}},"f:labels":{{".":{{}},)"
        R"("f:app":{{}},"f:job":{{}},"f:index":{{}}}},"f:ownerReferences":{{".":{{}},)"
        R"("k:{{\"uid\":\"7bb1c30f-5a64-4c4e-9d3a-0c1d0d5b4a51\"}}":{{}}}}}},"f:spec":{{)"
        R"("f:containers":{{"k:{{\"name\":\"main\"}}":{{".":{{}},"f:image":{{}},)"
        R"("f:imagePullPolicy":{{}},"f:name":{{}},"f:resources":{{".":{{}},"f:limits":{{".":{{}},)"
        R"("f:cpu":{{}},"f:memory":{{}}}},"f:requests":{{".":{{}},"f:cpu":{{}},"f:memory":{{}}}}}},)"
        R"("f:env":{{".":{{}},"k:{{\"name\":\"RANK\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}}}},)"
        R"("f:terminationMessagePath":{{}},"f:terminationMessagePolicy":{{}}}}}},"f:dnsPolicy":{{}},)"
        R"("f:enableServiceLinks":{{}},"f:restartPolicy":{{}},"f:schedulerName":{{}},)"
        R"("f:securityContext":{{}},"f:terminationGracePeriodSeconds":{{}}}}}}}})",
        managed.empty() ? "" : ",", manager);
  const auto container = [](std::string_view name_of) {
    return fmt::format(
        R"({{"name":"{}","image":"registry.example/team/train:v1.2.3","command":["python","-m","train",)"
        R"("--steps=100000","--checkpoint=/data/ckpt"],"env":[{{"name":"RANK","value":"3"}},)"
        R"({{"name":"WORLD_SIZE","value":"10"}},{{"name":"TOKEN","valueFrom":{{"secretKeyRef":)"
        R"({{"name":"t","key":"token"}}}}}}],"resources":{{"limits":{{"cpu":"2","memory":"4Gi"}},)"
        R"("requests":{{"cpu":"2","memory":"4Gi"}}}},"volumeMounts":[{{"name":"scratch","mountPath":)"
        R"("/scratch"}},{{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":)"
        R"("/var/run/secrets/kubernetes.io/serviceaccount"}}],"terminationMessagePath":)"
        R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}})",
        name_of);
  };
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{0}","namespace":"team-a",)"
      R"("uid":"0f0f0f0f-0000-4000-8000-{1:012}","resourceVersion":"{2}","creationTimestamp":)"
      R"("2026-03-10T12:00:00Z","labels":{{"app":"train","job":"train-{3}","index":"{4}",)"
      R"("volcano.sh/queue-name":"q"}},"annotations":{{"scheduling.k8s.io/group-name":"train-{3}",)"
      R"("volcano.sh/task-spec":"worker","example.com/note":"written by somebody else"}},)"
      R"("ownerReferences":[{{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"train-{3}",)"
      R"("uid":"7bb1c30f-5a64-4c4e-9d3a-0c1d0d5b4a51","controller":true,"blockOwnerDeletion":true}}],)"
      R"("managedFields":[{5}]}},"spec":{{"volumes":[{{"name":"scratch","emptyDir":{{}}}},)"
      R"({{"name":"kube-api-access-x7k2p","projected":{{"sources":[{{"serviceAccountToken":)"
      R"({{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt",)"
      R"("items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}}],"defaultMode":420}}}}],"containers":[{6},{7}],)"
      R"("restartPolicy":"OnFailure","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
      R"("serviceAccountName":"default","nodeName":"n{8:04}","securityContext":{{}},"schedulerName":)"
      R"("volcano","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":)"
      R"("NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":)"
      R"("Exists","effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,)"
      R"("preemptionPolicy":"PreemptLowerPriority"}},"status":{{"phase":"{9}","conditions":[{{"type":)"
      R"("Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-10T12:00:01Z"}},)"
      R"({{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":)"
      R"("2026-03-10T12:00:05Z"}},{{"type":"PodScheduled","status":"True","lastProbeTime":null,)"
      R"("lastTransitionTime":"2026-03-10T12:00:01Z"}}],"hostIP":"10.0.0.1","podIP":"10.1.0.1",)"
      R"("startTime":"2026-03-10T12:00:01Z","containerStatuses":[{{"name":"main","state":{{"running":)"
      R"({{"startedAt":"2026-03-10T12:00:04Z"}}}},"lastState":{{}},"ready":true,"restartCount":0,)"
      R"("image":"registry.example/team/train:v1.2.3","imageID":"sha256:0123456789abcdef","containerID":)"
      R"("containerd://0123456789abcdef","started":true}}],"qosClass":"Guaranteed"}}}})",
      name, pod, version, pod / 10, pod % 10, managed, container("main"), container("log"),
      pod * 7 % kNodes, phase);
}

DecodeOptions LiveOptions() {
  return {.lenient = true, .finds_odd_words = false};
}

// The watch's thread: a line of the stream becomes facts, and a text of the fields that are used.
void ReadPodEvent(benchmark::State& state) {
  ApiTextParser parser;
  ParcelDecoder decoder(LiveOptions());
  const std::string line =
      fmt::format(R"({{"type":"MODIFIED","object":{}}})", PodEvent(7, 1, "Running"));
  size_t bytes = 0;
  for (auto _ : state) {
    const Result<WatchLine> event = parser.ParseWatchLine(line);
    const std::string reduced = Padded(*ReduceObject("Pod", event->object));
    bytes = reduced.size();
    benchmark::DoNotOptimize(decoder.Decode(reduced, "Pod"));
    decoder.NoteSent();
  }
  state.counters["bytes_in"] = static_cast<double>(line.size());
  state.counters["bytes_kept"] = static_cast<double>(bytes);
}
BENCHMARK(ReadPodEvent);

// The scheduling thread: such messages reach the tables; 5,000 pods that run are said to have
// failed, or to run again. Arg: 0 objects as they came, 1 cut down, 2 decoded by the watch's
// thread.
void ApplyPodEvent(benchmark::State& state) {
  ClusterMirror mirror({});
  ApiTextParser parser;
  ParcelDecoder decoder(LiveOptions());
  uint64_t version = 0;
  const auto message = [&](const std::string& object, WatchedKind kind) {
    ObjectMessage made{ObjectMessage::What::kSeen, kind, Padded(object), {}};
    made.head = parser.ParseHead(made.object).value();
    made.head.resource_version = std::to_string(++version);
    if (state.range(0) > 0) {
      made.object = Padded(ReduceObject(InfoOf(kind).name, made.object).value());
      made.reduced = true;
    }
    if (state.range(0) > 1 && kind == WatchedKind::kPod) {
      made.parcel = decoder.Decode(made.object, "Pod");
      decoder.NoteSent();
    }
    return made;
  };
  for (int n = 0; n < kNodes; ++n)
    mirror.Apply(message(
        fmt::format(
            R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n{:04}","uid":"n{}"}},)"
            R"("status":{{"allocatable":{{"cpu":"64","memory":"256Gi","pods":"110"}}}}}})",
            n, n),
        WatchedKind::kNode));
  constexpr int kPods = kNodes * kPodsPerNode;
  std::vector<std::string> running;
  std::vector<std::string> failed;
  for (int pod = 0; pod < kPods; ++pod) {
    running.push_back(PodEvent(pod, 1, "Running"));
    failed.push_back(PodEvent(pod, 2, "Failed"));
    mirror.Apply(message(running.back(), WatchedKind::kPod));
  }
  benchmark::DoNotOptimize(mirror.live().cluster());
  bool fail = true;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<ObjectMessage> events;
    for (const std::string& object : fail ? failed : running)
      events.push_back(message(object, WatchedKind::kPod));
    fail = !fail;
    state.ResumeTiming();
    for (ObjectMessage& event : events) mirror.Apply(std::move(event));
  }
  state.counters["per_event"] =
      benchmark::Counter(static_cast<double>(kPods) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (mirror.live().rebuilds() != 1) state.SkipWithError("the tables were built anew");
}
BENCHMARK(ApplyPodEvent)->Arg(0)->Arg(1)->Arg(2);

}  // namespace
}  // namespace krafla

BENCHMARK_MAIN();
