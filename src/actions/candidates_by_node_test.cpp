#include "actions/candidates_by_node.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using testing::ConfigYaml;
using testing::Cycle;
using testing::NodeYaml;
using testing::PodGroupYaml;
using testing::PodYaml;
using testing::QueueYaml;

// Pods of a queue on a node, in two jobs.
std::string PodsYaml(const std::string& queue, const std::string& node, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += PodYaml({.name = queue + "-" + node + "-" + std::to_string(i),
                    .group = queue + std::to_string(i % 2),
                    .node = node,
                    .asks = "cpu " + std::to_string(1 + i % 3) + "m, memory 1Mi"});
  return all;
}

// The next queue may have many more on a node than the one before, and more than fit into a piece
// of memory that others share.
TEST(CandidatesByNode, AreThoseOfTheQueueHoweverManyThereAre) {
  std::string cluster;
  for (const char* node : {"n0", "n1"})
    cluster += NodeYaml({.name = node, .has = "cpu 64, memory 64Gi, pods 5000"});
  for (const char* queue : {"a", "b"}) {
    cluster += QueueYaml({.name = queue});
    for (const char* job : {"0", "1"})
      cluster +=
          PodGroupYaml({.name = queue + std::string(job), .queue = queue, .phase = "Running"});
  }
  cluster += PodsYaml("a", "n0", 1500) + PodsYaml("b", "n0", 3) + PodsYaml("a", "n1", 2) +
             PodsYaml("b", "n1", 40);
  const Cycle cycle(
      {.cluster = cluster, .config = ConfigYaml({.tiers = {"priority gang", "drf"}})});
  Session& session = *cycle.session;
  EvictableTasks evictable(session);
  CandidatesByNode candidates(session, evictable);
  for (const char* name : {"b", "a", "b", "a"}) {
    const QueueId queue =
        session.cluster.jobs[cycle.FindJob(std::string("default/") + name + "0")].queue;
    ASSERT_TRUE(candidates.Begin(queue, Asking::kPreempt));
    EXPECT_FALSE(candidates.Begin(queue, Asking::kPreempt)) << "what is known is still good";
    // Of both nodes at once, or of one and then of all that are left.
    constexpr uint64_t kBoth[] = {3};
    if (std::string_view(name) == "a") {
      candidates.Find(0, 3);
    } else {
      candidates.Find(0, 2);
      EXPECT_FALSE(candidates.IsKnown(0));
      candidates.FindAll(kBoth);
    }
    for (uint32_t p = 0; p < 2; ++p) {
      ASSERT_TRUE(candidates.IsKnown(p));
      std::vector<TaskId> expected;
      for (const TaskId id : session.cluster.nodes[session.cluster.nodes_by_name[p]].tasks)
        if (session.cluster.jobs[session.cluster.tasks[id].job].queue == queue)
          expected.push_back(id);
      ASSERT_EQ(candidates.Count(p), expected.size());
      for (size_t c = 0; c < expected.size(); ++c) {
        candidates.SetExactLevel(p, c, 0, static_cast<double>(c) / 3);
        const CandidatesByNode::Candidate candidate = candidates.At(p, c);
        ASSERT_EQ(candidate.task(), expected[c]);
        ASSERT_EQ(candidate.queue(), queue);
        ASSERT_EQ(candidate.first_of_job(), c < 2);
        ASSERT_EQ(candidate.ExactLevel(0), static_cast<double>(c) / 3);
        for (int kind = 0; kind < session.cluster.kinds.size(); ++kind)
          ASSERT_EQ(candidate.Amount(static_cast<size_t>(kind)),
                    session.cluster.Request(expected[c]).Get(kind));
        size_t voter = 0;
        for (const VotingTier& tier : session.voting_tiers(Asking::kPreempt))
          for (const VictimLevels* levels : tier.voters)
            ASSERT_EQ(candidate.Level(voter++), LevelOf(levels, expected[c]));
      }
    }
  }
}

}  // namespace
}  // namespace krafla
