#include "cluster_state/cluster_builder.h"

#include <gtest/gtest.h>

#include "cluster_state/derive_sums.h"
#include "cluster_state/name_index.h"
#include "cluster_state/name_order.h"

namespace krafla {
namespace {

class Building {
 public:
  StrId Id(std::string_view text) { return builder.strings().Intern(text); }

  PodFacts Pod(std::string_view name, double cpu_milli = 0) {
    PodSpec spec;
    spec.request.Set(ResourceKinds::kCpu, cpu_milli);
    spec.request.Set(ResourceKinds::kPods, 1);
    PodFacts pod;
    pod.task.ns = Id("ns");
    pod.task.name = Id(name);
    pod.task.uid = Id(std::string("uid-") + std::string(name));
    pod.task.spec = builder.InternSpec(std::move(spec));
    pod.task.labels = builder.InternLabels({});
    pod.group = Id("pg");
    pod.ours = true;
    return pod;
  }
  PodGroupFacts Group(std::string_view name) {
    PodGroupFacts group;
    group.job.ns = Id("ns");
    group.job.name = Id(name);
    return group;
  }
  void AddFrame() {
    QueueFacts queue;
    queue.queue.name = Id("default");
    builder.AddQueue(std::move(queue));
    builder.AddPodGroup(Group("pg"), Origin::kWritten);
    NodeFacts node;
    node.node.name = Id("n1");
    node.allocatable.Set(ResourceKinds::kCpu, 4000);
    builder.AddNode(std::move(node));
  }

  ClusterBuilder builder{BuildOptions{}};
};

TEST(ClusterBuilder, EqualValuesAreStoredOnce) {
  Building b;
  const LabelSet labels = {{b.Id("a"), b.Id("x")}};
  EXPECT_EQ(b.builder.InternLabels(labels), b.builder.InternLabels(labels));
  EXPECT_NE(b.builder.InternLabels(labels), b.builder.InternLabels({}));
  EXPECT_EQ(b.Pod("p", 5).task.spec, b.Pod("q", 5).task.spec);
  EXPECT_NE(b.Pod("p", 5).task.spec, b.Pod("q", 6).task.spec);
}

TEST(ClusterBuilder, SpecsThatDifferInOneFieldAreNotShared) {
  Building b;
  const PodSpecId plain = b.builder.InternSpec({});
  const auto differs = [&](auto change) {
    PodSpec spec;
    change(spec);
    EXPECT_NE(b.builder.InternSpec(std::move(spec)), plain);
  };
  differs([](PodSpec& s) { s.request.Set(5, 0); });
  differs([](PodSpec& s) { s.scored_cpu = 1; });
  differs([](PodSpec& s) { s.nonzero_memory = 1; });
  differs([](PodSpec& s) { s.placing_cpu = 1; });
  differs([&](PodSpec& s) { s.node_selector = {{b.Id("a"), b.Id("x")}}; });
  differs([](PodSpec& s) { s.has_required_node_affinity = true; });
  differs([](PodSpec& s) { s.preferred_node_terms_broken = true; });
  differs([](PodSpec& s) { s.preferred_node_terms = {{.weight = 1}}; });
  differs([](PodSpec& s) { s.tolerations = {{.op = TolerationOp::kExists}}; });
  differs([](PodSpec& s) { s.host_ports = {{.port = 80}}; });
  differs([&](PodSpec& s) { s.preferred_anti_affinity = {{.topology_key = b.Id("zone")}}; });
  differs([&](PodSpec& s) { s.spread = {{.topology_key = b.Id("zone")}}; });
  differs([&](PodSpec& s) { s.claims = {{.claim = b.Id("c")}}; });
  differs([&](PodSpec& s) { s.images = {b.Id("i")}; });
  differs([](PodSpec& s) { s.container_count = 2; });
  differs([&](PodSpec& s) { s.scheduling_gates = {b.Id("g")}; });
}

TEST(ClusterBuilder, WrittenObjectsReplaceExpandedOnesInEitherOrder) {
  using Added = ClusterBuilder::Added;
  Building b;
  b.AddFrame();
  EXPECT_EQ(b.builder.AddPod(b.Pod("p", 1), Origin::kExpanded), Added::kYes);
  EXPECT_EQ(b.builder.AddPod(b.Pod("p", 2), Origin::kWritten), Added::kYes);
  EXPECT_EQ(b.builder.AddPod(b.Pod("p", 3), Origin::kExpanded), Added::kSuperseded);
  EXPECT_EQ(b.builder.AddPod(b.Pod("p", 4), Origin::kWritten), Added::kDuplicate);
  EXPECT_EQ(b.builder.AddPod(b.Pod("q", 1), Origin::kExpanded), Added::kYes);
  EXPECT_EQ(b.builder.AddPod(b.Pod("q", 1), Origin::kExpanded), Added::kDuplicate);
  EXPECT_EQ(b.builder.AddPodGroup(b.Group("pg"), Origin::kExpanded), Added::kSuperseded);
  EXPECT_EQ(b.builder.AddPodGroup(b.Group("pg"), Origin::kWritten), Added::kDuplicate);
  Diagnostics diagnostics;
  const Cluster cluster = std::move(b.builder).Build(diagnostics);
  ASSERT_EQ(cluster.tasks.size(), 2u);
  EXPECT_EQ(cluster.Request(TaskId(0)).cpu(), 2);
}

TEST(ClusterBuilder, TasksOfAJobStandByUidAndOfANodeByName) {
  Building b;
  b.AddFrame();
  for (const auto& [name, uid] : {std::pair("c", "1"), std::pair("a", "3"), std::pair("b", "2")}) {
    PodFacts pod = b.Pod(name, 1000);
    pod.task.uid = b.Id(uid);
    pod.task.node_name = b.Id("n1");
    pod.task.status = TaskStatus::kRunning;
    b.builder.AddPod(std::move(pod), Origin::kWritten);
  }
  Diagnostics diagnostics;
  const Cluster cluster = std::move(b.builder).Build(diagnostics);
  std::string by_uid;
  for (const TaskId id : cluster.jobs[JobId(0)].tasks)
    by_uid += cluster.Text(cluster.tasks[id].name);
  EXPECT_EQ(by_uid, "cba");
  std::string by_name;
  for (const TaskId id : cluster.nodes[NodeId(0)].tasks)
    by_name += cluster.Text(cluster.tasks[id].name);
  EXPECT_EQ(by_name, "abc");
  EXPECT_EQ(cluster.tasks_by_name, 3U);
  EXPECT_EQ(cluster.idle[NodeId(0)].cpu(), 1000);
}

TEST(ClusterBuilder, KindsAreNumberedByName) {
  Building b;
  const int late = b.builder.kinds().Intern("z.com/x");
  const int early = b.builder.kinds().Intern("a.com/x");
  NodeFacts node;
  node.node.name = b.Id("n1");
  node.allocatable.Set(late, 1);
  node.allocatable.Set(early, 2);
  b.builder.AddNode(std::move(node));
  QueueFacts queue;
  queue.queue.name = b.Id("default");
  queue.queue.capability.emplace().Set(late, 3);
  b.builder.AddQueue(std::move(queue));
  Diagnostics diagnostics;
  const Cluster cluster = std::move(b.builder).Build(diagnostics);
  EXPECT_EQ(cluster.kinds.Name(3), "a.com/x");
  EXPECT_EQ(cluster.kinds.Name(4), "z.com/x");
  EXPECT_EQ(cluster.allocatable[NodeId(0)].Get(3), 2);
  EXPECT_EQ(cluster.allocatable[NodeId(0)].Get(4), 1);
  EXPECT_FALSE(cluster.queues[QueueId(0)].capability->Has(3));
  EXPECT_EQ(cluster.queues[QueueId(0)].capability->Get(4), 3);
  // A resource that names no scalar does not start to.
  EXPECT_TRUE(cluster.used[NodeId(0)].scalars_nil());
}

TEST(DeriveSums, FollowsStatusesOfASession) {
  Building b;
  b.AddFrame();
  for (const char* name : {"a", "b", "c"}) b.builder.AddPod(b.Pod(name, 1000), Origin::kWritten);
  Diagnostics diagnostics;
  Cluster cluster = std::move(b.builder).Build(diagnostics);
  const auto put = [&](uint32_t id, TaskStatus status) {
    cluster.tasks[TaskId(id)].status = status;
    cluster.tasks[TaskId(id)].node = NodeId(0);
    cluster.nodes[NodeId(0)].tasks.push_back(TaskId(id));
  };
  put(0, TaskStatus::kAllocated);
  put(1, TaskStatus::kPipelined);
  put(2, TaskStatus::kReleasing);
  DeriveSums(cluster);
  EXPECT_EQ(cluster.idle[NodeId(0)].cpu(), 2000);
  EXPECT_EQ(cluster.used[NodeId(0)].cpu(), 2000);
  EXPECT_EQ(cluster.pipelined[NodeId(0)].cpu(), 1000);
  EXPECT_EQ(cluster.releasing[NodeId(0)].cpu(), 1000);
  const Job& job = cluster.jobs[JobId(0)];
  EXPECT_EQ(job.allocated.cpu(), 1000);
  EXPECT_EQ(job.total_request.cpu(), 3000);
  EXPECT_EQ(job.Waiting(), 1);
  EXPECT_EQ(job.Ready(), 1);
}

TEST(NameIndex, RemembersWhatWasAdded) {
  NameIndex index;
  for (uint32_t i = 0; i < 10'000; ++i) EXPECT_TRUE(index.Add(uint64_t{i} << 20, i).second);
  for (uint32_t i = 0; i < 10'000; ++i) {
    const auto [number, is_new] = index.Add(uint64_t{i} << 20, 0);
    EXPECT_FALSE(is_new);
    EXPECT_EQ(*number, i);
  }
}

TEST(NameOrder, TheSlashBelongsToTheName) {
  EXPECT_TRUE(NamespacedLess("team-a", "x", "team", "x"));
  EXPECT_FALSE(NamespacedLess("team", "x", "team-a", "x"));
  EXPECT_TRUE(NamespacedLess("team", "x", "team0", "x"));
  EXPECT_TRUE(NamespacedLess("a", "y", "b", "x"));
  EXPECT_TRUE(NamespacedLess("a", "x", "a", "y"));
  EXPECT_FALSE(NamespacedLess("a", "x", "a", "x"));
}

}  // namespace
}  // namespace krafla
