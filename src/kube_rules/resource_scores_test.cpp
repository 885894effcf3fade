#include "kube_rules/resource_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kube_rules/kube_world_test.h"
#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

TEST(ResourceScores, SharesAreCutOffToWholeNumbersAndAveraged) {
  const auto scores = [](const std::string& has, const std::string& asks) {
    KubeWorld world(Objects()
                        .Node("n", "", "", R"("allocatable":{)" + has + R"("pods":"10"})")
                        .Pod("p", "", "", "", asks));
    return std::pair(world.Scores(ScorePart::kLeastAllocated, "p").at(0),
                     world.Scores(ScorePart::kMostAllocated, "p").at(0));
  };
  using Scores = std::pair<int64_t, int64_t>;
  // cpu a third used, memory a hundredth.
  EXPECT_EQ(scores(R"("cpu":"3","memory":"500Mi",)", "cpu: 1, memory: 5Mi"),
            Scores((66 + 99) / 2, (33 + 1) / 2));
  // More than there is: nothing free, all used.
  EXPECT_EQ(scores(R"("cpu":"3","memory":"5Mi",)", "cpu: 4, memory: 5Mi"), Scores(0, 100));
  // A resource the node does not have is left out.
  EXPECT_EQ(scores(R"("cpu":"4",)", "cpu: 1, memory: 7Mi"), Scores(75, 25));
  EXPECT_EQ(scores("", "cpu: 1, memory: 7Mi"), Scores(0, 0));
}

TEST(ResourceScores, PodsThatAskForNothingCountWithDefaults) {
  KubeWorld world(
      Objects()
          .Node("n", "", "", R"("allocatable":{"cpu":"1","memory":"1000Mi","pods":"10"})")
          .Pod("there", "", "n")
          .Pod("new"));
  // 100m and 200 MiB each.
  EXPECT_EQ(world.Scores(ScorePart::kLeastAllocated, "new"), std::vector<int64_t>{(80 + 60) / 2});
  EXPECT_EQ(world.Scores(ScorePart::kMostAllocated, "new"), std::vector<int64_t>{(20 + 40) / 2});
  EXPECT_TRUE(world.Scores(ScorePart::kBalancedAllocation, "new").empty());
}

TEST(ResourceScores, BalanceRewardsEveningOut) {
  constexpr std::string_view kRoom = R"("allocatable":{"cpu":"4","memory":"4Gi","pods":"10"})";
  KubeWorld world(Objects()
                      .Node("cpu-heavy", "", "", kRoom)
                      .Node("empty", "", "", kRoom)
                      .Pod("old", "", "cpu-heavy", "", "cpu: 2")
                      .Pod("memory", "", "", "", "memory: 2Gi")
                      .Pod("even", "", "", "", "cpu: 1, memory: 1Gi"));
  // From a deviation of 1/4 to none, and from none to 1/4.
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "memory"),
            (std::vector<int64_t>{50 + (50 + 100 - 75) / 2, 50 + (50 + 75 - 100) / 2}));
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "even"), (std::vector<int64_t>{75, 75}));
}

TEST(ResourceScores, GpusCountOnlyForPodsThatAskForThem) {
  constexpr std::string_view kRoom =
      R"("allocatable":{"cpu":"4","memory":"4Gi","nvidia.com/gpu":"4","pods":"10"})";
  KubeWorld world(Objects()
                      .Node("n", "", "", kRoom)
                      .Pod("gpu", "", "", "", "cpu: 1, memory: 1Gi, nvidia.com/gpu: 4")
                      .Pod("plain", "", "", "", "cpu: 1, memory: 1Gi"));
  // Shares 1/4, 1/4, 1: deviation 0.3535…
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "gpu"),
            std::vector<int64_t>{50 + (50 + 64 - 100) / 2});
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "plain"), std::vector<int64_t>{75});
}

// Also where a quotient is nearly a whole number. As Kubernetes has it:
int64_t Percent(int64_t part, int64_t whole) {
  return std::min(std::max<int64_t>(part, 0), whole) * 100 / whole;
}

TEST(ResourceScores, AreThoseOfWholeNumbers) {
  std::mt19937_64 random(3);
  constexpr int kNodes = 60;
  std::string cluster = QueueYaml({});
  std::vector<int64_t> memory(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    // From a few bytes to more than quotients are exact for (16 TiB).
    memory[static_cast<size_t>(i)] = static_cast<int64_t>(random() >> (random() % 40 + 18)) + 1000;
    cluster += NodeYaml({.name = "n" + std::to_string(i + 100),
                         .has = "cpu " + std::to_string(1 + random() % 999) + "m, memory " +
                                std::to_string(memory[static_cast<size_t>(i)])});
  }
  constexpr int kPods = 40;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "p" + std::to_string(i);
    // Nearly so many hundredths of some node's memory.
    const int64_t whole = memory[static_cast<size_t>(random() % kNodes)];
    const int64_t part =
        whole / 100 * static_cast<int64_t>(random() % 100) + static_cast<int64_t>(random() % 3);
    cluster += PodGroupYaml({.name = name, .phase = "Inqueue"}) +
               PodYaml({.name = name,
                        .group = name,
                        .asks = "cpu " + std::to_string(1 + random() % 999) + "m, memory " +
                                std::to_string(part + 1)});
  }
  Cycle cycle({.cluster = cluster, .config = ConfigYaml({.tiers = {"gang nodeorder"}})});
  Session& session = *cycle.session;
  session.kube.EnsureBuilt();
  const ResourceScores scores(session.cluster, session.kube);
  for (int i = 0; i < kPods; ++i) {
    const TaskId task = cycle.Find("default/p" + std::to_string(i));
    const ResourceScores::Asked asked = scores.AskedBy(session.cluster.tasks[task].cls);
    for (const NodeId node : session.cluster.nodes_by_name) {
      const Node& facts = session.cluster.nodes[node];
      const auto cpu_room = static_cast<int64_t>(facts.scored_cpu);
      const auto memory_room = static_cast<int64_t>(facts.scored_memory);
      const auto cpu = static_cast<int64_t>(asked.placing_cpu);
      const auto bytes = static_cast<int64_t>(asked.placing_memory);
      EXPECT_EQ(
          scores.LeastAllocated(asked, node),
          (Percent(cpu_room - cpu, cpu_room) + Percent(memory_room - bytes, memory_room)) / 2);
      EXPECT_EQ(scores.MostAllocated(asked, node),
                (Percent(cpu, cpu_room) + Percent(bytes, memory_room)) / 2);
    }
  }
}

// Scores of many nodes are made in another way than those of one; also of nodes that lack a kind,
// have more than quotients are exact for, or are asked for GPUs.
TEST(ResourceScores, OfManyNodesAreThoseOfEach) {
  std::mt19937_64 random(9);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  std::string cluster = QueueYaml({});
  constexpr int kNodes = 90;
  for (int i = 0; i < kNodes; ++i) {
    std::string has;
    if (below(8) != 0) has += "cpu " + std::to_string(below(20000)) + "m, ";
    if (below(8) != 0)
      has += "memory " + std::to_string(below(8) == 0 ? int64_t{1} << 50 : below(1 << 20)) + ", ";
    if (below(2) == 0) has += "nvidia.com/gpu 8, ";
    cluster += NodeYaml({.name = "n" + std::to_string(i + 100), .has = has + "pods 20"});
  }
  const auto asks = [&] {
    std::string text =
        "cpu " + std::to_string(below(9000)) + "m, memory " + std::to_string(below(1 << 19));
    return below(5) == 0 ? text + ", nvidia.com/gpu 2" : text;
  };
  constexpr int kPods = 120;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "p" + std::to_string(i);
    const std::string node = i % 3 == 0 ? "" : "n" + std::to_string(100 + below(kNodes));
    cluster += PodGroupYaml({.name = name, .phase = node.empty() ? "Inqueue" : "Running"}) +
               PodYaml({.name = name, .group = name, .node = node, .asks = asks()});
  }
  Cycle cycle({.cluster = cluster, .config = ConfigYaml({.tiers = {"gang nodeorder"}})});
  Session& session = *cycle.session;
  session.kube.EnsureBuilt();
  const ResourceScores scores(session.cluster, session.kube);
  const std::vector<NodeId>& nodes = session.cluster.nodes_by_name;
  for (int i = 0; i < kPods; i += 3) {
    const TaskId task = cycle.Find("default/p" + std::to_string(i));
    const ResourceScores::Asked asked = scores.AskedBy(session.cluster.tasks[task].cls);
    const ResourceScores::Weights weights{
        .least_allocated = below(3), .most_allocated = below(3), .balanced = below(3)};
    // Any number of them, from any of them on.
    const auto first = static_cast<size_t>(below(i % 2 == 0 ? 1 : kNodes - 9));
    const std::span<const NodeId> some =
        std::span(nodes).subspan(first, first == 0 ? nodes.size() : static_cast<size_t>(below(9)));
    std::vector<double> found(some.size(), 0.5);
    scores.AddAll(asked, weights, 300, some, found);
    for (size_t n = 0; n < some.size(); ++n)
      EXPECT_EQ(found[n],
                0.5 + static_cast<double>(
                          300 + weights.least_allocated * scores.LeastAllocated(asked, some[n]) +
                          weights.most_allocated * scores.MostAllocated(asked, some[n]) +
                          weights.balanced * scores.Balanced(asked, some[n])));
  }
}

// Whatever nodes have and use, and whatever the weights. One thing is strange at a time: four nodes
// are looked at together, and what is strange of one must not be hidden by another.
TEST(ResourceScores, OfManyNodesAreThoseOfEachAlsoWhereAmountsAreStrange) {
  constexpr size_t kNodes = 64;
  std::string cluster = QueueYaml({});
  for (size_t i = 0; i < kNodes; ++i)
    cluster += NodeYaml({.name = "n" + std::to_string(i + 100), .has = "cpu 4, memory 1000"});
  Cycle cycle({.cluster = cluster, .config = ConfigYaml({.tiers = {"gang nodeorder"}})});
  Session& session = *cycle.session;
  session.kube.EnsureBuilt();
  ResourceScores scores(session.cluster, session.kube);
  const std::span<const NodeId> nodes = session.cluster.nodes_by_name;
  std::mt19937_64 random(12);
  const auto below = [&](uint64_t n) { return static_cast<double>(random() % n); };
  enum Strange { kNothing, kRoom, kFractions, kLessThanNothing, kHuge, kWeights, kKinds };
  for (int round = 0; round < 300 * kKinds; ++round) {
    const int strange = round % kKinds;
    for (const NodeId node : nodes) {
      Node& facts = session.cluster.nodes[node];
      const auto room = [&]() -> double {
        if (strange == kRoom && random() % 4 == 0)
          return random() % 3 == 0 ? 0 : 0x1p44 - 2 + below(5) * below(uint64_t{1} << 40);
        return 100 * (1 + below(random() % 2 == 0 ? 640 : uint64_t{1} << 36));
      };
      facts.scored_cpu = room();
      facts.scored_memory = room();
      // Some percent of it, and one unit less or more.
      const auto part = [&](double of) -> double {
        if (strange == kLessThanNothing && random() % 2 == 0) return -std::floor(of * below(3) / 2);
        if (strange == kHuge && random() % 4 == 0) return 0x1p62 * (1 + below(5));
        const double fraction = strange == kFractions ? below(4) / 4 : 0;
        return std::max(0.0, std::floor(of * below(110) / 100) - 1 + below(3)) + fraction;
      };
      auto& sums = const_cast<KubeView::Sums&>(session.kube.SumsOf(node));
      sums = {.cpu = part(facts.scored_cpu),
              .memory = part(facts.scored_memory),
              .nonzero_cpu = part(facts.scored_cpu),
              .nonzero_memory = part(facts.scored_memory)};
      const_cast<KubeView::Room&>(session.kube.RoomOf(node)) = {.cpu = facts.scored_cpu,
                                                                .memory = facts.scored_memory};
    }
    const auto asks = [&] { return random() % 2 == 0 ? below(3) : below(uint64_t{1} << 36) * 200; };
    const ResourceScores::Asked asked{.placing_cpu = asks(),
                                      .placing_memory = asks(),
                                      .cpu = asks(),
                                      .memory = asks(),
                                      .gpus = 0};
    const auto weight = [&]() -> int64_t {
      if (random() % 4 == 0) return 0;
      const int64_t most = strange == kWeights ? int64_t{1} << random() % 54 : 10;
      return static_cast<int64_t>(random()) % most;
    };
    const ResourceScores::Weights weights{
        .least_allocated = weight(), .most_allocated = weight(), .balanced = weight()};
    const int64_t more = weight();
    std::vector<double> found(nodes.size(), 0);
    scores.AddAll(asked, weights, more, nodes, found);
    for (size_t n = 0; n < nodes.size(); ++n) {
      const int64_t sum = more + weights.least_allocated * scores.LeastAllocated(asked, nodes[n]) +
                          weights.most_allocated * scores.MostAllocated(asked, nodes[n]) +
                          weights.balanced * scores.Balanced(asked, nodes[n]);
      ASSERT_EQ(found[n], static_cast<double>(sum)) << "round " << round << ", node " << n;
    }
  }
}

}  // namespace
}  // namespace krafla::testing
