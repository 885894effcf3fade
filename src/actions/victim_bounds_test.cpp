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
  int harmless = 0;  // though somebody would be let go there
};

// Nobody matters who would be let go where a try in vain is said to leave nothing behind. What was
// asked about is known.
void AskWhatMatters(Session& session, VictimBounds& bounds, TaskId task, const VictimRule& rule,
                    Counts& counts) {
  std::vector<uint64_t> harmless{~uint64_t{0}, (uint64_t{1} << (kNodes - 64)) - 1};
  bounds.KeepHarmless(harmless);
  for (uint32_t p = 0; p < kNodes; ++p) {
    if (!HasBit(harmless, p)) continue;
    std::vector<TaskId> candidates;
    CollectCandidates(session, session.cluster.nodes_by_name[p], task, rule, candidates);
    if (candidates.empty()) continue;
    const Victims victims = VoteOn(session, task, rule, candidates);
    for (const TaskId victim : victims.tasks)
      EXPECT_FALSE(session.TriedInVainMatters(victim)) << "on node " << p;
    counts.harmless += victims.tasks.empty() ? 0 : 1;
  }
}

// Whether bounds leave every node on which room can be made for a task. Gives back those where
// somebody has to go.
std::vector<NodeId> TryEverywhere(Session& session, VictimBounds& bounds, TaskId task,
                                  const VictimRule& rule, Counts& counts) {
  std::vector<uint64_t> nodes{~uint64_t{0}, (uint64_t{1} << (kNodes - 64)) - 1};
  bounds.Start(task, rule);
  bounds.NarrowAll(nodes);
  std::vector<bool> might(kNodes);
  for (uint32_t p = 0; p < kNodes; ++p) might[p] = HasBit(nodes, p) && bounds.MightDo(p);
  if (rule.asking() == Asking::kPreempt) AskWhatMatters(session, bounds, task, rule, counts);
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

class VictimBoundsTest : public ::testing::TestWithParam<Setting> {
 protected:
  static Cycle CycleOf(Crowd& crowd) {
    return Cycle({.cluster = crowd.Yaml(),
                  .config = ConfigYaml({.tiers = GetParam().tiers}),
                  .profile = GetParam().profile});
  }
};

TEST_P(VictimBoundsTest, WhoeverIsLeftOutWouldNotDo) {
  const VictimRule rule{.whose = GetParam().whose};
  Counts counts;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    Crowd crowd(seed);
    const Cycle cycle = CycleOf(crowd);
    Session& session = *cycle.session;
    EvictableTasks evictable(session);
    if (seed % 2 == 0) evictable.MakeAll();
    VictimBounds bounds(session, evictable);
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
  if (rule.asking() == Asking::kPreempt) {
    EXPECT_GT(counts.harmless, 200);
  }
}

// Whom bounds leave, as bits.
std::vector<bool> LeftBy(VictimBounds& bounds, std::vector<uint64_t> nodes) {
  bounds.NarrowAll(nodes);
  std::vector<bool> left(kNodes);
  for (uint32_t p = 0; p < kNodes; ++p) left[p] = HasBit(nodes, p) && bounds.MightDo(p);
  return left;
}

// A gang's tasks get places one after the other. Bounds that go on, and look again only where they
// say that something has changed, leave the nodes that bounds leave which begin with each task. A
// few more may be left, where levels have fallen and several plugins vote.
TEST_P(VictimBoundsTest, GoingOnLeavesWhatBeginningAnewLeaves) {
  const VictimRule rule{.whose = GetParam().whose};
  const std::vector<uint64_t> all{~uint64_t{0}, (uint64_t{1} << (kNodes - 64)) - 1};
  int went_on = 0;
  int as_they_were = 0;
  int too_many = 0;
  int just_as_many = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    Crowd crowd(seed);
    const Cycle cycle = CycleOf(crowd);
    Session& session = *cycle.session;
    EvictableTasks evictable(session);
    if (seed % 2 == 0) evictable.MakeAll();
    VictimBounds bounds(session, evictable);
    for (int job = 0; job < 20; ++job) {
      Statement statement(session);
      std::vector<bool> left;
      for (int i = 0; i < 4; ++i) {
        const TaskId task =
            cycle.Find("default/new" + std::to_string(job) + "-" + std::to_string(i));
        ASSERT_FALSE(session.node_search().Prepare(task).refused());
        if (!bounds.Know(task, rule)) break;
        VictimBounds anew(session, evictable);
        anew.Start(task, rule);
        const std::vector<bool> expected = LeftBy(anew, all);
        std::vector<uint32_t> changed;
        if (i > 0 && bounds.GoOn(task, changed)) {
          ++went_on;
          std::vector<bool> again(kNodes);
          for (const uint32_t p : changed) again[p] = true;
          for (uint32_t p = 0; p < kNodes; ++p) {
            as_they_were += again[p] ? 0 : 1;
            const bool is_left =
                again[p] ? bounds.IsLeft(p) : left[p] && bounds.StillLeft(p / 64, BitOf(p)) != 0;
            left[p] = is_left && bounds.MightDo(p);
          }
        } else {
          bounds.Start(task, rule);
          left = LeftBy(bounds, all);
        }
        for (uint32_t p = 0; p < kNodes; ++p) {
          ASSERT_TRUE(left[p] || !expected[p])
              << session.cluster.TaskKey(task) << " on node " << p << ", seed " << seed;
          too_many += left[p] && !expected[p] ? 1 : 0;
          just_as_many += expected[p] ? 1 : 0;
        }
        const int first = crowd.Below(kNodes);
        for (int n = 0; n < kNodes; ++n) {
          const auto p = static_cast<uint32_t>((first + n) % kNodes);
          const NodeId node = session.cluster.nodes_by_name[p];
          if (left[p] && MakeRoomOnNode(session, statement, task, node, rule) == MakeRoom::kDone)
            break;
        }
      }
      if (crowd.Below(2) == 0)
        statement.Commit();
      else
        statement.Discard();
    }
  }
  // It was about something.
  EXPECT_GT(went_on, 40);
  EXPECT_GT(as_they_were, 1'600);
  EXPECT_LT(too_many, just_as_many / 20);
}

// Many words are narrowed at a time as they are one by one.
TEST(VictimBounds, ManyWordsAreNarrowedLikeSingleOnes) {
  constexpr int kMany = 1100;
  for (const std::string tier : {"priority gang drf predicates", "priority gang predicates"}) {
    std::string cluster = PriorityClassesYaml() + QueueYaml({.name = "a", .capability = "cpu 900"});
    std::mt19937 random(9);
    for (int i = 0; i < kMany; ++i) {
      const std::string number = std::to_string(i);
      cluster += NodeYaml({.name = "n" + number});
      if (random() % 3 == 0) continue;
      cluster += PodGroupYaml({.name = "g" + number,
                               .queue = "a",
                               .min_member = static_cast<int>(random() % 2),
                               .priority = random() % 2 == 0 ? "low" : "high",
                               .phase = "Running"}) +
                 PodYaml({.name = "p" + number,
                          .group = "g" + number,
                          .node = "n" + number,
                          .asks = "cpu " + std::to_string(1 + random() % 4) + ", memory 1Gi"});
    }
    for (const char* asks : {"cpu 2, memory 1Gi", "cpu 4, memory 1Gi"}) {
      const std::string waiting =
          PodGroupYaml({.name = "w", .queue = "a", .priority = "high", .phase = "Inqueue"}) +
          PodYaml({.name = "w-0", .group = "w", .asks = asks, .priority = "high"});
      Cycle cycle({.cluster = cluster + waiting, .config = ConfigYaml({.tiers = {tier}})});
      const TaskId task = cycle.Find("default/w-0");
      ASSERT_FALSE(cycle.session->node_search().Prepare(task).refused());
      EvictableTasks evictable(*cycle.session);
      VictimBounds bounds(*cycle.session, evictable);
      bounds.Start(task, {.whose = VictimRule::Whose::kOtherJobsOfQueue});
      std::vector<uint64_t> all((kMany + 63) / 64, ~uint64_t{0});
      all.back() = (uint64_t{1} << kMany % 64) - 1;
      std::vector<uint64_t> left = all;
      bounds.NarrowAll(left);
      EXPECT_NE(left, all);
      EXPECT_NE(left, std::vector<uint64_t>(all.size(), 0));
      for (size_t block = 0; block < all.size(); ++block)
        EXPECT_EQ(left[block], bounds.StillLeft(block, all[block])) << tier << ", " << block;
    }
  }
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  const std::vector<std::vector<std::string>> all_tiers{
      {"priority gang conformance", "drf predicates proportion nodeorder"},
      {"drf proportion predicates"},
      {"gang drf", "priority proportion predicates"},
      {"gang", "drf conformance", "proportion predicates"},
      {"conformance proportion predicates"}};
  for (const char* profile : {"volcano", "krafla"})
    for (const auto whose : {VictimRule::Whose::kOtherJobsOfQueue, VictimRule::Whose::kOtherQueues})
      for (const auto& tiers : all_tiers) settings.push_back({profile, whose, tiers});
  return settings;
}

// Of amounts of which a sum loses the last digits nobody is left out for what was lost.
TEST(VictimBounds, LargeAmountsAreNotTakenForTooLittle) {
  for (const char* units : {"80000000000000", "200000000000000", "9000000000000000"}) {
    const std::string has = "cpu 16, memory 64Gi, pods 110, example.com/x " + std::string(units);
    const auto pod = [](const char* name, const char* node, int asks, const char* priority) {
      return PodYaml({.name = std::string(name) + "-0",
                      .group = name,
                      .node = node,
                      .asks = "cpu 1, memory 1Gi, example.com/x " + std::to_string(asks),
                      .priority = priority});
    };
    const auto group = [](const char* name, const char* priority, const char* phase) {
      return PodGroupYaml({.name = name, .queue = "q", .priority = priority, .phase = phase});
    };
    Cycle cycle(
        {.cluster =
             PriorityClassesYaml() + NodeYaml({.name = "n0", .has = has}) +
             NodeYaml({.name = "n1", .has = has}) +
             QueueYaml({.name = "q", .capability = "cpu 64, memory 256Gi, example.com/x 2211"}) +
             group("a", "low", "Running") + group("b", "low", "Running") +
             group("w", "high", "Inqueue") + pod("a", "n0", 10, "low") +
             pod("b", "n1", 2201, "low") + pod("w", "", 2201, "high"),
         .config = ConfigYaml({.tiers = {"priority conformance", "predicates proportion"}})});
    cycle.Run();
    EXPECT_EQ(cycle.Evictions(), std::vector<std::string>{"default/b-0"}) << units;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, VictimBoundsTest, ::testing::ValuesIn(Settings()));

}  // namespace
}  // namespace krafla
