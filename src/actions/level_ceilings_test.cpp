// Whoever is told that nobody can go for a task finds nobody on any node, whatever has been
// evicted, placed and taken back meanwhile.
#include "actions/level_ceilings.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "actions/victim_search.h"
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

constexpr int kNodes = 12;
constexpr int kRunning = 12;  // jobs of four pods, one on each of four nodes
constexpr int kWaiting = 6;   // jobs of six pods
constexpr VictimRule kRule{.whose = VictimRule::Whose::kOtherJobsOfQueue};

std::string Gang(const std::string& name, int pods, const std::string& priority, int first_node) {
  const bool runs = first_node >= 0;
  std::string all = PodGroupYaml({.name = name,
                                  .queue = "a",
                                  .min_member = runs ? 1 : pods,
                                  .priority = priority,
                                  .phase = runs ? "Running" : "Inqueue"});
  for (int i = 0; i < pods; ++i)
    all += PodYaml({.name = name + "-" + std::to_string(i),
                    .group = name,
                    .node = runs ? "n" + std::to_string((first_node + i) % kNodes) : "",
                    .phase = runs && first_node % 3 == 0 ? "Pending" : "",  // only bound
                    .priority = priority});
  return all;
}

// Full of running gangs; some of those that wait are more important than some that run.
std::string FullCluster(std::mt19937& random) {
  const auto priority = [&] { return random() % 4 == 0 ? "low" : "mid"; };
  std::string all = PriorityClassesYaml() + QueueYaml({.name = "a"});
  for (int i = 0; i < kNodes; ++i) all += NodeYaml({.name = "n" + std::to_string(i)});
  for (int job = 0; job < kRunning; ++job)
    all += Gang("run" + std::to_string(job), 4, priority(), job);
  for (int job = 0; job < kWaiting; ++job)
    all += Gang("new" + std::to_string(job), 6, priority(), -1);
  return all;
}

bool SomebodyIsNamed(Session& session, TaskId task) {
  std::vector<TaskId> candidates;
  for (const NodeId node : session.cluster.nodes_by_name) {
    CollectCandidates(session, node, task, kRule, candidates);
    if (!candidates.empty() && !session.Preemptable(task, candidates).tasks.empty()) return true;
  }
  return false;
}

// Who may go is a matter of shares alone.
struct SharesOnly {
  explicit SharesOnly(const std::string& profile)
      : cycle({.cluster = FullCluster(random),
               .config = ConfigYaml({.tiers = {"drf"}}),
               .profile = profile}) {}
  std::mt19937 random{1};
  Cycle cycle;
};

class LevelCeilingsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LevelCeilingsTest, WhereNobodyCanGoNobodyIsNamed) {
  int nobody = 0;
  int somebody = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const Cycle cycle({.cluster = FullCluster(random),
                       .config = ConfigYaml({.tiers = {"priority gang", "drf"}}),
                       .profile = GetParam()});
    Session& session = *cycle.session;
    EvictableTasks evictable(session);
    if (seed % 2 == 0) evictable.MakeAll();
    LevelCeilings ceilings(session, evictable);
    const QueueId queue = session.cluster.jobs[cycle.FindJob("default/new0")].queue;
    // Sometimes they are made when jobs have lost tasks that they will have back.
    const uint64_t begin_at = random() % 18;
    uint64_t asked = 0;
    for (int job = 0; job < kWaiting; ++job) {
      Statement statement(session);
      const std::string name = "default/new" + std::to_string(job) + "-";
      for (int i = 0; i < 6; ++i) {
        const TaskId task = cycle.Find(name + std::to_string(i));
        ASSERT_FALSE(session.node_search().Prepare(task).refused());
        if (asked++ == begin_at) ceilings.NoteNobodyNamed(queue);
        const bool may = ceilings.MayNameSomebody(task);
        const bool does = SomebodyIsNamed(session, task);
        ASSERT_TRUE(may || !does) << session.cluster.TaskKey(task) << ", seed " << seed;
        ++(may ? somebody : nobody);
        // On some node where somebody goes, if there is one.
        for (int tries = 0; tries < 8; ++tries) {
          const NodeId node = session.cluster.nodes_by_name[random() % kNodes];
          if (MakeRoomOnNode(session, statement, task, node, kRule) == MakeRoom::kDone) break;
        }
      }
      if (random() % 3 == 0) {
        statement.Commit();
      } else {
        statement.Discard();
      }
    }
  }
  // It was about something.
  EXPECT_GT(nobody, 50);
  EXPECT_GT(somebody, 50);
}

// A search need not be made again as long as jobs only lose tasks, or have them back.
TEST_P(LevelCeilingsTest, WhatIsTakenBackLeavesThemAsTheyWere) {
  const SharesOnly world(GetParam());
  const Cycle& cycle = world.cycle;
  Session& session = *cycle.session;
  EvictableTasks evictable(session);
  LevelCeilings ceilings(session, evictable);
  const QueueId queue = session.cluster.jobs[cycle.FindJob("default/new0")].queue;
  const TaskId last = cycle.Find("default/new0-4");
  EXPECT_TRUE(ceilings.MayNameSomebody(last)) << "nothing is known yet";
  ceilings.NoteNobodyNamed(queue);
  // Every running job keeps three of its four pods: the fourth task of a gang may still take one.
  EXPECT_TRUE(ceilings.MayNameSomebody(last));
  for (int turn = 0; turn < 3; ++turn) {
    Statement statement(session);
    for (int i = 0; i < 3; ++i) {
      const TaskId task = cycle.Find("default/new0-" + std::to_string(i));
      EXPECT_TRUE(ceilings.MayNameSomebody(task));
      statement.Evict(cycle.Find("default/run" + std::to_string(i) + "-0"), task, kRule.reason(),
                      0);
      statement.Pipeline(task, session.cluster.nodes_by_name[0], true);
    }
    EXPECT_FALSE(ceilings.MayNameSomebody(last)) << "its job would have four, the others three";
    statement.Discard();
    EXPECT_TRUE(ceilings.MayNameSomebody(last));
  }
}

// They are made when every job has lost half of its tasks, and may be asked when all have them
// back.
TEST_P(LevelCeilingsTest, RiseWithJobsThatGainTasks) {
  const SharesOnly world(GetParam());
  const Cycle& cycle = world.cycle;
  Session& session = *cycle.session;
  EvictableTasks evictable(session);
  LevelCeilings ceilings(session, evictable);
  ceilings.NoteNobodyNamed(session.cluster.jobs[cycle.FindJob("default/new0")].queue);
  const TaskId third = cycle.Find("default/new0-2");
  const auto place_two = [&](Statement& statement) {
    for (const char* task : {"default/new0-0", "default/new0-1"})
      statement.Pipeline(cycle.Find(task), session.cluster.nodes_by_name[0], true);
  };
  {
    Statement statement(session);
    for (int job = 0; job < kRunning; ++job)
      for (const char* pod : {"-0", "-1"})
        statement.Evict(cycle.Find("default/run" + std::to_string(job) + pod), third,
                        kRule.reason(), 0);
    place_two(statement);
    EXPECT_FALSE(ceilings.MayNameSomebody(third)) << "its job would have three, the others one";
    statement.Discard();
  }
  Statement statement(session);
  place_two(statement);
  EXPECT_TRUE(SomebodyIsNamed(session, third)) << "its job would have three, and so the others";
  EXPECT_TRUE(ceilings.MayNameSomebody(third));
}

INSTANTIATE_TEST_SUITE_P(Profiles, LevelCeilingsTest, ::testing::Values("volcano", "krafla"));

}  // namespace
}  // namespace krafla
