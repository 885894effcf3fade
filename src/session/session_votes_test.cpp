// The rules that combine the plugins' answers, one group of tests per rule, with plugins made for
// the occasion.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "session/node_search.h"
#include "session/session.h"
#include "support/council.h"

namespace krafla {
namespace {

// The order of the answer, whoever is compared.
template <class Member>
Fill Orders(Member PluginHooks::* member, int answer) {
  return [=](PluginHooks& hooks) { hooks.*member = [=](auto...) { return answer; }; };
}
template <class Member, class Answer>
Fill Says(Member PluginHooks::* member, Answer answer) {
  return [=](PluginHooks& hooks) { hooks.*member = [=](auto...) { return answer; }; };
}

// ---- first non-zero, then creation time, then UID

TEST(OrderRule, TheFirstOpinionInTierOrderCounts) {
  using H = PluginHooks;
  Council council(
      {{Orders(&H::job_order, 0), Orders(&H::job_order, 1)}, {Orders(&H::job_order, -1)}});
  EXPECT_EQ(council->CompareJobs(kJobA, kJobB), 1);
  EXPECT_FALSE(council->JobLess(kJobA, kJobB));
  Council next_tier({{Orders(&H::job_order, 0), kSilent}, {Orders(&H::job_order, 1)}});
  EXPECT_FALSE(next_tier->JobLess(kJobA, kJobB));
}

TEST(OrderRule, HoldsForEveryOrder) {
  using H = PluginHooks;
  Council council({{Orders(&H::queue_order, 0), Orders(&H::task_order, 0),
                    Orders(&H::victim_queue_order, 0), Orders(&H::sub_job_order, 0)},
                   {Orders(&H::queue_order, 1), Orders(&H::task_order, 1),
                    Orders(&H::victim_queue_order, -1), Orders(&H::sub_job_order, 1)},
                   {Orders(&H::queue_order, -1), Orders(&H::task_order, -1),
                    Orders(&H::victim_queue_order, 1), Orders(&H::sub_job_order, -1)}});
  EXPECT_FALSE(council->QueueLess(kQueueA, kQueueB));
  EXPECT_FALSE(council->TaskLess(kTask0, kTask1));
  EXPECT_TRUE(council->VictimQueueLess(kQueueA, kQueueB, kQueueB));
  EXPECT_EQ(council->CompareSubJobs(kJobA, kJobB), 1);
}

TEST(OrderRule, CreationTimeAndThenNamesBreakTies) {
  Council council({{kSilent}});
  EXPECT_EQ(council->CompareJobs(kJobA, kJobB), 0);
  EXPECT_TRUE(council->JobLess(kJobA, kJobB));
  EXPECT_FALSE(council->JobLess(kJobB, kJobA));
  EXPECT_TRUE(council->QueueLess(kQueueA, kQueueB));
  EXPECT_TRUE(council->TaskLess(kTask0, kTask1));

  const Timestamp early = Timestamp::FromUnixSeconds(1000);
  const Timestamp late = Timestamp::FromUnixSeconds(2000);
  council.cluster.jobs[kJobA].created = late;
  council.cluster.jobs[kJobB].created = early;
  council.cluster.queues[kQueueA].created = late;
  council.cluster.queues[kQueueB].created = early;
  council.cluster.tasks[kTask0].created = late;
  council.cluster.tasks[kTask1].created = early;
  EXPECT_TRUE(council->JobLess(kJobB, kJobA));
  EXPECT_TRUE(council->QueueLess(kQueueB, kQueueA));
  EXPECT_TRUE(council->TaskLess(kTask1, kTask0));
}

TEST(OrderRule, TheNumberInATasksNameGoesBeforeItsAge) {
  Council council({{kSilent}});
  council.cluster.tasks[kTask0].created = Timestamp::FromUnixSeconds(2000);
  council.cluster.tasks[kTask1].created = Timestamp::FromUnixSeconds(1000);
  council.cluster.tasks[kTask0].name_index = 2;
  council.cluster.tasks[kTask1].name_index = 10;
  EXPECT_TRUE(council->TaskLess(kTask0, kTask1));
  council.cluster.tasks[kTask1].name_index = -1;  // one without a number: age decides
  EXPECT_TRUE(council->TaskLess(kTask1, kTask0));
}

TEST(OrderRule, QueuesWithoutAnOpinionOnVictimsAreReversed) {
  Council council({{kSilent}});
  EXPECT_FALSE(council->VictimQueueLess(kQueueA, kQueueB, kQueueB));
  EXPECT_TRUE(council->VictimQueueLess(kQueueB, kQueueA, kQueueB));
}

TEST(OrderRule, ASwitchedOffPluginIsNotAsked) {
  using H = PluginHooks;
  Council council({{Orders(&H::job_order, 1), Orders(&H::job_order, -1)}}, {},
                  [](PluginOption& option) {
                    if (option.name == "p0")
                      option.enabled.reset(static_cast<size_t>(Switch::kJobOrder));
                  });
  EXPECT_EQ(council->CompareJobs(kJobA, kJobB), -1);
}

TEST(OrderRule, APluginThatDoesNotExistIsLeftOut) {
  using H = PluginHooks;
  Council council({{Orders(&H::job_order, 1)}});
  PluginOption unknown;
  unknown.name = "unknown";
  SchedulerConfig config = council.config;
  config.tiers[0].plugins.insert(config.tiers[0].plugins.begin(), unknown);
  Log log;
  SessionOptions options;
  options.make_plugin = [](std::string_view name) -> std::unique_ptr<Plugin> {
    if (name != "p0") return nullptr;
    return std::make_unique<FakePlugin>(Orders(&H::job_order, 1));
  };
  Session session(council.cluster, config, options, log);
  EXPECT_EQ(session.plugin_names(), std::vector<std::string>{"p0"});
  EXPECT_EQ(session.CompareJobs(kJobA, kJobB), 1);
}

// ---- all must say yes

TEST(AllMustSayYes, OneNoInAnyTierIsEnough) {
  using H = PluginHooks;
  for (const bool last : {true, false}) {
    auto fill = [&](bool answer) {
      return [answer](H& hooks) {
        hooks.job_ready = [=](JobId) { return answer; };
        hooks.allocatable = [=](QueueId, TaskId) { return answer; };
        hooks.preemptive = [=](QueueId, TaskId) { return answer; };
        hooks.simulate_allocatable = [=](QueueId, TaskId) { return answer; };
      };
    };
    Council council({{fill(true), kSilent}, {fill(true), fill(last)}});
    EXPECT_EQ(council->JobReady(kJobA), last);
    EXPECT_EQ(council->Allocatable(kQueueA, kTask0), last);
    EXPECT_EQ(council->Preemptive(kQueueA, kTask0), last);
    EXPECT_EQ(council->SimulateAllocatable(kQueueA, kTask0), last);
  }
}

TEST(AllMustSayYes, NobodyAskedIsYes) {
  Council council({{kSilent}});
  EXPECT_TRUE(council->JobReady(kJobA));
  EXPECT_TRUE(council->Allocatable(kQueueA, kTask0));
  EXPECT_TRUE(council->Preemptive(kQueueA, kTask0));
  EXPECT_TRUE(council->SimulateAllocatable(kQueueA, kTask0));
  EXPECT_FALSE(council->SimulatePredicate(kTask0, kNodeA).refused());
  EXPECT_FALSE(council->JobInvalid(kJobA).has_value());
}

TEST(AllMustSayYes, TheFirstInvalidityIsReported) {
  auto invalid = [](std::optional<InvalidJob> answer) {
    return [=](PluginHooks& hooks) { hooks.job_valid = [=](JobId) { return answer; }; };
  };
  Council council({{invalid(std::nullopt)},
                   {invalid(InvalidJob{"First", "the first"}), invalid(InvalidJob{"Second", ""})}});
  ASSERT_TRUE(council->JobInvalid(kJobA).has_value());
  EXPECT_EQ(council->JobInvalid(kJobA)->reason, "First");
}

Fill Refuses(uint8_t codes, ReasonCode reason) {
  return [=](PluginHooks& hooks) {
    hooks.predicate.emplace();
    hooks.predicate->current = [=](TaskId, NodeId node) {
      return node == kNodeA ? Refusal{codes, reason} : Refusal{};
    };
    hooks.simulate_predicate = [=](TaskId, NodeId node) {
      return node == kNodeA ? Refusal{codes, reason} : Refusal{};
    };
  };
}

TEST(AllMustSayYes, TheFirstRefusalOfANodeCounts) {
  Council council({{Refuses(0, 0), Refuses(Refusal::kUnschedulable, 7)},
                   {Refuses(Refusal::kUnschedulableAndUnresolvable, 8)}});
  EXPECT_EQ(council->node_search().Check(kTask0, kNodeA).reason, 7);
  EXPECT_FALSE(council->node_search().Check(kTask0, kNodeA).unresolvable());
  EXPECT_FALSE(council->node_search().Check(kTask0, kNodeB).refused());
  EXPECT_EQ(council->SimulatePredicate(kTask0, kNodeA).reason, 7);
  EXPECT_FALSE(council->SimulatePredicate(kTask0, kNodeB).refused());
}

// ---- any yes

TEST(AnyYes, OneQueueLimitIsEnough) {
  using H = PluginHooks;
  Council council({{Says(&H::overused, false)}, {kSilent, Says(&H::overused, true)}});
  EXPECT_TRUE(council->Overused(kQueueA));
  Council nobody({{Says(&H::overused, false)}, {Says(&H::overused, false)}});
  EXPECT_FALSE(nobody->Overused(kQueueA));
  Council silent({{kSilent}});
  EXPECT_FALSE(silent->Overused(kQueueA));
}

// ---- sum of scores

TEST(SumOfScores, NodeAndBatchScoresOfAllPluginsAreAdded) {
  auto scorer = [](double by_node, double by_batch) {
    return [=](PluginHooks& hooks) {
      hooks.score.emplace();
      hooks.score->node = [=](ClassId, NodeId node) { return node == kNodeA ? by_node : 0.0; };
      hooks.score->batch = [=](TaskId, std::span<const NodeId> nodes, std::span<double> scores) {
        for (size_t i = 0; i < nodes.size(); ++i) scores[i] += nodes[i] == kNodeB ? by_batch : 0;
      };
    };
  };
  Council council({{scorer(1, 10), kSilent}, {scorer(2, 20)}});
  std::vector<double> scores;
  council->node_search().Score(kTask0, std::vector<uint32_t>{0, 1}, scores);
  EXPECT_EQ(scores, (std::vector<double>{3, 30}));
}

// ---- vote per tier

struct VoteCase {
  std::vector<std::vector<Vote>> tiers;
  bool expected;
};

TEST(VotePerTier, FollowsTheTable) {
  constexpr Vote kNo = Vote::kReject;
  constexpr Vote kSkip = Vote::kAbstain;
  constexpr Vote kYes = Vote::kPermit;
  const VoteCase cases[] = {
      {{}, true},
      {{{kSkip}, {kSkip}}, true},
      {{{kYes}}, true},
      {{{kNo}}, false},
      {{{kYes, kNo}}, false},  // a Reject beats a Permit of its tier, whatever their order
      {{{kNo, kYes}}, false},
      {{{kSkip, kYes}, {kNo}}, true},  // a Permit ends the voting
      {{{kSkip, kSkip}, {kNo}}, false},
      {{{kSkip}, {kYes}, {kNo}}, true},
      {{{}, {kYes}}, true},
      {{{}, {kSkip}, {kNo}}, false},
  };
  for (const VoteCase& c : cases) {
    std::vector<std::vector<Fill>> tiers;
    for (const auto& tier : c.tiers) {
      auto& fills = tiers.emplace_back();
      for (Vote vote : tier)
        fills.push_back([vote](PluginHooks& hooks) {
          hooks.job_pipelined = [vote](JobId) { return vote; };
          hooks.job_enqueueable = [vote](JobId) { return vote; };
        });
    }
    Council council(tiers);
    EXPECT_EQ(council->JobPipelined(kJobA), c.expected) << "case " << (&c - cases);
    EXPECT_EQ(council->JobEnqueueable(kJobA), c.expected) << "case " << (&c - cases);
  }
}

// ---- starving per tier

TEST(StarvingPerTier, TheFirstTierWithAVoterDecidesAndMustAgree) {
  const std::pair<std::vector<std::vector<bool>>, bool> cases[] = {
      {{}, false},
      {{{}, {}}, false},
      {{{true}}, true},
      {{{true, false}}, false},
      {{{false, true}}, false},
      {{{true, true}, {false}}, true},
      {{{false}, {true}}, false},
      {{{}, {true}}, true},
      {{{}, {false}, {true}}, false},
  };
  for (const auto& [votes, expected] : cases) {
    std::vector<std::vector<Fill>> tiers;
    for (const auto& tier : votes) {
      auto& fills = tiers.emplace_back();
      for (const bool vote : tier) fills.push_back(Says(&PluginHooks::job_starving, vote));
    }
    Council council(tiers);
    EXPECT_EQ(council->JobStarving(kJobA), expected);
  }
}

// ---- first that names one

TEST(FirstThatNamesOne, ChoosesTheNode) {
  using H = PluginHooks;
  const std::vector<NodeId> nodes{kNodeA, kNodeB};
  const std::vector<double> scores{1, 2};
  Council council({{Says(&H::best_node, NodeId{}), Says(&H::best_node, kNodeB)},
                   {Says(&H::best_node, kNodeA)}});
  EXPECT_EQ(council->BestNode(kTask0, nodes, scores), kNodeB);
  Council nobody({{Says(&H::best_node, NodeId{})}});
  EXPECT_FALSE(nobody->BestNode(kTask0, nodes, scores).valid());
}

// ---- all run

TEST(AllRun, EveryPluginHearsOfEverything) {
  std::string heard;
  auto listener = [&heard](char name) {
    return [&heard, name](PluginHooks& hooks) {
      auto hear = [&heard, name](std::string_view what) { (heard += name) += what; };
      hooks.job_enqueued = [=](JobId) { hear("q "); };
      hooks.simulate_add = [=](TaskId, TaskId) { hear("+ "); };
      hooks.simulate_remove = [=](TaskId, TaskId) { hear("- "); };
      hooks.on_allocate = [=](TaskId) { hear("a "); };
      hooks.on_deallocate = [=](TaskId) { hear("d "); };
      hooks.on_rollback = [=] { hear("r "); };
      hooks.predicate.emplace();
      hooks.predicate->prepare = [=](TaskId) {
        hear("p ");
        return Refusal{};
      };
    };
  };
  Council council({{listener('x')}, {}, {listener('y'), listener('z')}});
  auto said = [&] { return std::exchange(heard, ""); };
  council->JobEnqueued(kJobA);
  EXPECT_EQ(said(), "xq yq zq ");
  council->SimulateAdd(kTask0, kTask1);
  EXPECT_EQ(said(), "x+ y+ z+ ");
  council->SimulateRemove(kTask0, kTask1);
  EXPECT_EQ(said(), "x- y- z- ");
  EXPECT_FALSE(council->node_search().Prepare(kTask0).refused());
  EXPECT_EQ(said(), "xp yp zp ");
  const Session::Mark mark = council->MarkNow();
  council->Place(kTask0, kNodeA, TaskStatus::kAllocated);
  EXPECT_EQ(said(), "xa ya za ");
  council->Unplace(kTask0);
  EXPECT_EQ(said(), "xd yd zd ");
  council->Rollback(mark);
  EXPECT_EQ(said(), "xr yr zr ");
}

TEST(AllRun, TheFirstRefusalToPrepareIsReturned) {
  auto prepares = [](ReasonCode reason) {
    return [=](PluginHooks& hooks) {
      hooks.predicate.emplace();
      hooks.predicate->prepare = [=](TaskId) {
        return reason == 0 ? Refusal{} : Refusal{Refusal::kUnschedulable, reason};
      };
    };
  };
  Council council({{prepares(0)}, {prepares(5), prepares(6)}});
  EXPECT_EQ(council->node_search().Prepare(kTask0).reason, 5);
}

TEST(AllRun, ThePluginNamedTwiceHearsEventsOnce) {
  int heard = 0;
  int asked = 0;
  Council council({{[&](PluginHooks& hooks) {
    hooks.on_allocate = [&](TaskId) { ++heard; };
    hooks.job_order = [&](JobId, JobId) {
      ++asked;
      return 0;
    };
  }}});
  SchedulerConfig config = council.config;
  config.tiers.push_back(config.tiers[0]);
  Log log;
  SessionOptions options;
  options.make_plugin = [&](std::string_view) {
    return std::make_unique<FakePlugin>([&](PluginHooks& hooks) {
      hooks.on_allocate = [&](TaskId) { ++heard; };
      hooks.job_order = [&](JobId, JobId) {
        ++asked;
        return 0;
      };
    });
  };
  Session session(council.cluster, config, options, log);
  EXPECT_EQ(session.plugin_names().size(), 1u);
  session.CompareJobs(kJobA, kJobB);
  EXPECT_EQ(asked, 2);
  session.Place(kTask0, kNodeA, TaskStatus::kAllocated);
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace krafla
