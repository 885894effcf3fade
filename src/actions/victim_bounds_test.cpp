// Whatever bounds leave out would have been tried in vain: every node is tried, and the bounds,
// which follow the session through places that are kept and places that are taken back, have left
// those that do.
#include "actions/victim_bounds.h"

#include <gtest/gtest.h>

#include <random>
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
using testing::PriorityClassesYaml;
using testing::QueueYaml;

constexpr int kNodes = 70;  // more than a word of bits

class Crowd {
 public:
  explicit Crowd(uint32_t seed) : random_(seed) {}

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  // Nodes that are nearly full of gangs of two queues, and gangs that wait.
  std::string Yaml() {
    std::string all = PriorityClassesYaml() + QueueYaml({.name = "a", .capability = "cpu 190"}) +
                      QueueYaml({.name = "b", .weight = 2});
    for (int i = 0; i < kNodes; ++i) all += NodeYaml({.name = "n" + std::to_string(i)});
    int at = 0;
    for (int job = 0; job < 64; ++job) {
      const std::string name = "run" + std::to_string(job);
      const int size = 1 + Below(6);
      ns_ = Below(8) == 0 ? "kube-system" : "default";
      all += Group(name, Below(size), "Running");
      const std::string asks = Asks();
      for (int i = 0; i < size; ++i)
        all += PodYaml({.name = name + "-" + std::to_string(i),
                        .group = name,
                        .ns = ns_,
                        .node = "n" + std::to_string(at++ % kNodes),
                        .asks = asks,
                        .priority = priority_});
    }
    ns_ = "default";
    for (int job = 0; job < 20; ++job) {
      const std::string name = "new" + std::to_string(job);
      all += Group(name, 1, "Inqueue");
      const std::string asks = Asks();
      for (int i = 0; i < 4; ++i)
        all += PodYaml({.name = name + "-" + std::to_string(i),
                        .group = name,
                        .asks = asks,
                        .priority = priority_});
    }
    return all;
  }

 private:
  std::string Group(const std::string& name, int min_member, const std::string& phase) {
    priority_ = Below(2) == 0 ? "low" : "high";
    return PodGroupYaml({.name = name,
                         .ns = ns_,
                         .queue = Below(3) == 0 ? "b" : "a",
                         .min_member = min_member,
                         .priority = priority_,
                         .phase = phase});
  }
  std::string Asks() {
    return "cpu " + std::to_string(250 * (1 + Below(9))) + "m, memory " +
           std::to_string(1 + Below(24)) + "Gi";
  }

  std::mt19937 random_;
  // Of the group that was last drawn.
  std::string ns_;
  std::string priority_;
};

struct Counts {
  int left_out = 0;
  int do_ = 0;
};

// Whether bounds leave every node on which room can be made for a task. Gives back those where
// somebody has to go.
std::vector<NodeId> TryEverywhere(Session& session, VictimBounds& bounds, TaskId task,
                                  const VictimRule& rule, Counts& counts) {
  std::vector<uint64_t> nodes{~uint64_t{0}, (uint64_t{1} << (kNodes - 64)) - 1};
  bounds.Start(task, rule);
  bounds.NarrowAll(nodes);
  std::vector<bool> might(kNodes);
  for (uint32_t p = 0; p < kNodes; ++p) might[p] = HasBit(nodes, p) && bounds.MightDo(p);
  // One word after the other, as for nodes by name.
  bounds.Start(task, rule);
  std::vector<uint64_t> by_word{bounds.Narrow(0, ~uint64_t{0}),
                                bounds.Narrow(1, (uint64_t{1} << (kNodes - 64)) - 1)};
  std::vector<NodeId> with_evictions;
  for (uint32_t p = 0; p < kNodes; ++p) {
    const NodeId node = session.cluster.nodes_by_name[p];
    Statement statement(session);
    RoomMade how;
    const bool done = MakeRoomOnNode(session, statement, task, node, rule, &how) == MakeRoom::kDone;
    statement.Discard();
    EXPECT_TRUE(might[p] || !done) << session.cluster.TaskKey(task) << " on node " << p;
    EXPECT_TRUE(HasBit(by_word, p) || !done) << session.cluster.TaskKey(task) << " on node " << p;
    counts.left_out += might[p] ? 0 : 1;
    counts.do_ += done ? 1 : 0;
    if (done && !how.evicted.empty()) with_evictions.push_back(node);
  }
  return with_evictions;
}

struct Setting {
  std::string profile;
  VictimRule::Whose whose;
  std::vector<std::string> tiers;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.profile << (setting.whose == VictimRule::Whose::kOtherQueues ? ", reclaim" : "");
  for (const std::string& tier : setting.tiers) *out << ", " << tier;
}

class VictimBoundsTest : public ::testing::TestWithParam<Setting> {};

TEST_P(VictimBoundsTest, WhoeverIsLeftOutWouldNotDo) {
  const VictimRule rule{.whose = GetParam().whose};
  Counts counts;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    Crowd crowd(seed);
    Cycle cycle({.cluster = crowd.Yaml(),
                 .config = ConfigYaml({.tiers = GetParam().tiers}),
                 .profile = GetParam().profile});
    Session& session = *cycle.session;
    VictimBounds bounds(session);
    for (int job = 0; job < 20; ++job) {
      Statement statement(session);
      for (int i = 0; i < 4; ++i) {
        const TaskId task =
            cycle.Find("default/new" + std::to_string(job) + "-" + std::to_string(i));
        ASSERT_FALSE(session.node_search().Prepare(task).refused());
        if (!bounds.Know(task, rule)) continue;
        const std::vector<NodeId> nodes = TryEverywhere(session, bounds, task, rule, counts);
        if (nodes.empty()) continue;
        const NodeId node = nodes[static_cast<size_t>(crowd.Below(static_cast<int>(nodes.size())))];
        EXPECT_EQ(MakeRoomOnNode(session, statement, task, node, rule), MakeRoom::kDone);
      }
      if (crowd.Below(2) == 0) {
        statement.Commit();
        continue;
      }
      // What was found out meanwhile is not true any more.
      statement.Discard();
      for (int other = job; other < 20; ++other) {
        const TaskId task = cycle.Find("default/new" + std::to_string(other) + "-0");
        ASSERT_FALSE(session.node_search().Prepare(task).refused());
        if (bounds.Know(task, rule)) TryEverywhere(session, bounds, task, rule, counts);
      }
      if (HasFailure()) return;
    }
  }
  // It was about something.
  EXPECT_GT(counts.left_out, 1'000);
  EXPECT_GT(counts.do_, 200);
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  const std::vector<std::vector<std::string>> all_tiers{
      {"priority gang conformance", "drf predicates proportion nodeorder"},
      {"drf proportion predicates"},
      {"gang drf", "priority proportion predicates"},
      {"gang", "drf conformance", "proportion predicates"}};
  for (const char* profile : {"volcano", "krafla"})
    for (const auto whose : {VictimRule::Whose::kOtherJobsOfQueue, VictimRule::Whose::kOtherQueues})
      for (const auto& tiers : all_tiers) settings.push_back({profile, whose, tiers});
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Settings, VictimBoundsTest, ::testing::ValuesIn(Settings()));

}  // namespace
}  // namespace krafla
