#include "actions/candidate_room.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/words_of_bits.h"
#include "session/node_search.h"
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

constexpr int kQueues = 6;  // of the last one nobody runs
constexpr int kNodes = 70;

std::string Queue(int number) {
  return "q" + std::to_string(number);
}

// On each node a pod of some queues, more of one than of another; and a pod of each queue waits.
std::string ClusterYaml() {
  std::string all;
  for (int n = 0; n < kNodes; ++n)
    all += NodeYaml({.name = "n" + std::to_string(n), .has = "cpu 6, memory 64Gi, pods 110"});
  for (int q = 0; q < kQueues; ++q) {
    all += QueueYaml({.name = Queue(q)});
    all += PodGroupYaml({.name = Queue(q), .queue = Queue(q), .phase = "Running"});
    all += PodGroupYaml({.name = "new-" + Queue(q), .queue = Queue(q), .phase = "Inqueue"});
    all += PodYaml({.name = "new-" + Queue(q), .group = "new-" + Queue(q), .asks = "cpu 2"});
    for (int n = 0; n < kNodes; ++n)
      if (q + 1 < kQueues && n % (q + 2) == 0)
        all += PodYaml({.name = Queue(q) + "-" + std::to_string(n),
                        .group = Queue(q),
                        .node = "n" + std::to_string(n),
                        .asks = "cpu " + std::to_string(1 + n % 3)});
  }
  return all;
}

// What is kept is handed from one queue to the next when there are more of them than may be kept,
// and nothing of the one before is left in it.
TEST(CandidateRoom, IsThatOfTheQueueThatAsksHoweverManyThereAre) {
  const Cycle cycle({.cluster = ClusterYaml(),
                     .config = ConfigYaml({.tiers = {"priority gang"}}),
                     .for_good = true});
  Session& session = *cycle.session;
  ASSERT_LT(session.node_search().limits().groups, size_t{kQueues});
  EvictableTasks evictable(session);
  CandidateRoom room(session, evictable);
  size_t with_room = 0;
  int without_candidates = 0;
  for (const auto whose : {VictimRule::Whose::kOtherJobsOfQueue, VictimRule::Whose::kOtherQueues}) {
    for (int round = 0; round < 2; ++round) {
      for (int q = 0; q < kQueues; ++q) {
        const TaskId task = cycle.Find("default/new-" + Queue(q));
        const VictimRule rule{.whose = whose};
        const std::span<const uint64_t> nodes = room.NodesFor(task, rule);
        bool any = false;
        for (uint32_t p = 0; p < kNodes; ++p) {
          const NodeId node = session.cluster.nodes_by_name[p];
          std::vector<TaskId> candidates;
          CollectCandidates(session, node, task, rule, candidates);
          const bool has_room = VictimsSuffice(session, task, node, candidates) &&
                                (!rule.needs_candidates() || !candidates.empty());
          ASSERT_EQ(HasBit(nodes, p), has_room) << Queue(q) << " on " << p;
          ASSERT_EQ(room.HasCandidates(p), !candidates.empty()) << Queue(q) << " on " << p;
          any |= !candidates.empty();
          with_room += has_room ? 1 : 0;
        }
        ASSERT_EQ(room.HasCandidates(), any) << Queue(q);
        without_candidates += any ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(without_candidates, 2);
  EXPECT_GT(with_room, 100U);
  EXPECT_LT(with_room, size_t{4 * kQueues * kNodes});
}

}  // namespace
}  // namespace krafla
