// Gangs of one kind that fail one after the other take the same steps; later ones are not searched
// for (actions/repeated_steps.h). With log lines for every node switched on everything is searched
// for, so the same cycle with and without must decide the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt, reclaim, backfill"
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

class ClusterText {
 public:
  std::string text =
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: 10\n"
      "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
      "100\n";

  void Queue(std::string_view name) {
    text += fmt::format(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {}}}\n"
        "spec: {{weight: 1}}\nstatus: {{state: Open}}\n",
        name);
  }
  void Node(int number, int cpus) {
    text += fmt::format(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{}}}\nstatus:\n"
        "  allocatable: {{cpu: \"{}\", memory: 64Gi, pods: \"110\"}}\n"
        "  conditions: [{{type: Ready, status: \"True\"}}]\n",
        number, cpus);
  }
  void Job(std::string_view name, std::string_view queue, std::string_view priority, int min,
           std::string_view phase) {
    text += fmt::format(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
        "metadata: {{name: {}, namespace: a, creationTimestamp: \"2026-03-10T10:00:{:02}Z\"}}\n"
        "spec: {{minMember: {}, queue: {}, priorityClassName: {}}}\nstatus: {{phase: {}}}\n",
        name, second_++ % 60, min, queue, priority, phase);
  }
  // `node` negative: it waits.
  void Pod(std::string_view job, int number, int cpus, std::string_view priority, int node) {
    text += fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {0}-{1}\n  namespace: a\n"
        "  annotations: {{scheduling.k8s.io/group-name: {0}, volcano.sh/task-spec: work,\n"
        "    volcano.sh/preemptable: \"{2}\"}}\n"
        "spec:\n  schedulerName: volcano\n  priorityClassName: {3}\n  priority: {4}\n{5}"
        "  containers:\n  - {{name: c, image: i, resources: {{requests: {{cpu: \"{6}\", memory: "
        "1Gi}}}}}}\nstatus: {{phase: {7}}}\n",
        job, number, node >= 0, priority, priority == "low" ? 10 : 100,
        node >= 0 ? fmt::format("  nodeName: n{}\n", node) : "", cpus,
        node >= 0 ? "Running" : "Pending");
  }

 private:
  int second_ = 0;
};

// Full nodes, gangs of two kinds that want more than there is, and behind them some that do not.
std::string StuckCluster(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<uint32_t>(most - least + 1));
  };
  ClusterText cluster;
  cluster.Queue("q");
  cluster.Queue("r");
  const int nodes = draw(3, 7);
  const int per_node = draw(2, 4);
  int placed = 0;
  const int size = draw(2, 5);
  for (int node = 0; node < nodes; ++node) {
    cluster.Node(node, per_node + (draw(0, 3) == 0 ? 1 : 0));
    for (int i = 0; i < per_node; ++i, ++placed) {
      const std::string job = fmt::format("run-{}", placed / size);
      if (placed % size == 0)
        cluster.Job(job, draw(0, 3) == 0 ? "r" : "q", "low", draw(1, 2), "Running");
      cluster.Pod(job, placed % size, 1, "low", node);
    }
  }
  const std::string_view priority = draw(0, 1) == 0 ? "low" : "high";
  for (int gang = 0; gang < 6; ++gang) {
    const bool large = draw(0, 2) == 0;
    const int pods = nodes * per_node + (large ? 2 : 1);
    const std::string name = fmt::format("wait-{}", gang);
    cluster.Job(name, "q", priority, pods, "Inqueue");
    for (int i = 0; i < pods; ++i) cluster.Pod(name, i, large ? 2 : 1, priority, -1);
  }
  for (int gang = 0; gang < 3; ++gang) {
    const int pods = draw(1, 3);
    const std::string name = fmt::format("zlast-{}", gang);
    cluster.Job(name, gang == 2 ? "r" : "q", gang == 1 ? "high" : "low", pods, "Inqueue");
    for (int i = 0; i < pods; ++i) cluster.Pod(name, i, 1, gang == 1 ? "high" : "low", -1);
  }
  return cluster.text;
}

std::string Decisions(const std::string& cluster, std::string_view profile, int verbosity) {
  Cycle cycle({.cluster = cluster,
               .config = std::string(kConfig),
               .profile = std::string(profile),
               .verbosity = verbosity});
  cycle.Run();
  return Summary(cycle);
}

TEST(RepeatedGangs, DecideAsIfEachWereSearchedFor) {
  size_t with_evictions = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    const std::string cluster = StuckCluster(seed);
    for (const std::string_view profile : {"volcano", "krafla"}) {
      const std::string known = Decisions(cluster, profile, 0);
      EXPECT_EQ(known, Decisions(cluster, profile, 3)) << profile << ", seed " << seed;
      with_evictions += known.find("zlast") != std::string::npos;
    }
  }
  EXPECT_GT(with_evictions, 60u) << "the clusters are too easy";
}

// p-0 finds no room: j-critical is spared, because its job may lose one pod and has one that runs;
// and for j-bound, which was only bound, there is room but no share. In Volcano's profile that try
// leaves j-bound running. So p-1, which asks the same right afterwards, gets another answer.
TEST(RepeatedGangs, ATryThatLeavesSomethingBehindIsNotTheEndOfIt) {
  const std::string cluster =
      PriorityClassesYaml() +
      tiny::Document("scheduling.k8s.io/v1", "PriorityClass",
                     "metadata: {name: system-cluster-critical}\nvalue: 5\n") +
      QueueYaml({.capability = "cpu 10"}) +
      NodeYaml({.name = "n1", .has = "cpu 2, memory 64Gi, pods 110"}) +
      NodeYaml({.name = "n2", .has = "cpu 2, memory 64Gi, pods 110"}) +
      NodeYaml({.name = "n3", .has = "cpu 7500m, memory 64Gi, pods 110"}) +
      PodGroupYaml({.name = "j",
                    .priority = "low",
                    .phase = "Running",
                    .annotations = {{"volcano.sh/jdb-max-unavailable", "1"}}}) +
      PodYaml({.name = "j-critical",
               .group = "j",
               .node = "n1",
               .asks = "cpu 2, memory 64Mi",
               .priority = "system-cluster-critical",
               .annotations = {{"volcano.sh/preemptable", "true"}}}) +
      PodYaml({.name = "j-bound",
               .group = "j",
               .node = "n2",
               .phase = "Pending",
               .asks = "cpu 500m, memory 64Mi",
               .priority = "low",
               .annotations = {{"volcano.sh/preemptable", "true"}}}) +
      PodGroupYaml({.name = "f", .priority = "high", .phase = "Running"}) +
      PodYaml({.name = "f-0",
               .group = "f",
               .node = "n3",
               .asks = "cpu 7500m, memory 64Mi",
               .priority = "high",
               .annotations = {{"volcano.sh/preemptable", "false"}}}) +
      PodGroupYaml({.name = "p", .priority = "high"}) +
      PodYaml({.name = "p-0",
               .group = "p",
               .asks = "cpu 2, memory 64Mi",
               .role = "work",
               .priority = "high",
               .annotations = {{"volcano.sh/preemptable", "false"}}}) +
      PodYaml({.name = "p-1",
               .group = "p",
               .asks = "cpu 2, memory 64Mi",
               .role = "work",
               .priority = "high",
               .annotations = {{"volcano.sh/preemptable", "false"}}});
  for (const int verbosity : {0, 3}) {
    Cycle cycle({.cluster = cluster,
                 .config = "actions: preempt\ntiers:\n- plugins:\n  - name: conformance\n"
                           "- plugins:\n  - name: tdm\n    arguments:\n"
                           "      tdm.revocable-zone.rz1: \"00:00-01:00\"\n"
                           "  - name: predicates\n  - name: proportion\n  - name: gang\n",
                 .profile = "volcano",
                 .verbosity = verbosity});
    cycle.Run();
    EXPECT_EQ(cycle.Evictions(), std::vector<std::string>{"default/j-critical"}) << verbosity;
    EXPECT_EQ(cycle.Pipelined(), (std::map<std::string, std::string>{{"default/p-1", "n1"}}))
        << verbosity;
  }
}

}  // namespace
}  // namespace krafla::testing
