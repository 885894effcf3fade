// The rules that combine the plugins' answers, one group of tests per rule, with plugins made for
// the occasion.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session/node_search.h"
#include "session/session.h"

namespace krafla {
namespace {

using Fill = std::function<void(PluginHooks&)>;

class FakePlugin final : public Plugin {
 public:
  explicit FakePlugin(Fill fill) : fill_(std::move(fill)) {}
  void Open(Session&, const PluginOption&, PluginHooks& hooks) override { fill_(hooks); }

 private:
  Fill fill_;
};

constexpr QueueId kQueueA(0);
constexpr QueueId kQueueB(1);
constexpr JobId kJobA(0);
constexpr JobId kJobB(1);
constexpr TaskId kTask0(0);
constexpr TaskId kTask1(1);
constexpr TaskId kTask2(2);
constexpr TaskId kTask3(3);
constexpr NodeId kNodeA(0);
constexpr NodeId kNodeB(1);

// Two queues, a job in each, two tasks in each job, two nodes; alike in everything but names.
Cluster SmallCluster() {
  Cluster cluster;
  const StrId ns = cluster.strings.Intern("ns");
  cluster.label_sets.Add({});
  cluster.specs.Add({});
  TaskClass task_class;
  task_class.spec = PodSpecId(0);
  task_class.labels = LabelSetId(0);
  task_class.ns = ns;
  cluster.classes.Add(task_class);
  for (const char* name : {"a", "b"}) {
    Node node;
    node.name = cluster.strings.Intern(name);
    cluster.nodes_by_name.push_back(cluster.nodes.Add(node));
    Queue queue;
    queue.name = node.name;
    cluster.queues_by_name.push_back(cluster.queues.Add(queue));
    Job job;
    job.ns = ns;
    job.name = node.name;
    job.queue = cluster.queues_by_name.back();
    job.roles.push_back({.name = kEmptyStr});
    cluster.jobs_by_name.push_back(cluster.jobs.Add(std::move(job)));
  }
  for (auto* amounts :
       {&cluster.allocatable, &cluster.idle, &cluster.used, &cluster.releasing, &cluster.pipelined})
    amounts->Reset(cluster.nodes.size());
  for (const auto& [name, job] : {std::pair("t0", kJobA), std::pair("t1", kJobA),
                                  std::pair("t2", kJobB), std::pair("t3", kJobB)}) {
    Task task;
    task.ns = ns;
    task.name = task.uid = cluster.strings.Intern(name);
    task.job = job;
    task.cls = ClassId(0);
    task.spec = PodSpecId(0);
    task.labels = LabelSetId(0);
    cluster.jobs[job].tasks.push_back(cluster.tasks.Add(task));
    ++cluster.jobs[job].count[static_cast<size_t>(TaskStatus::kPending)];
    ++cluster.jobs[job].roles[0].count[static_cast<size_t>(TaskStatus::kPending)];
  }
  return cluster;
}

// A session of plugins that say what a test wants them to, tier by tier: p0, p1, … in order.
class Council {
 public:
  explicit Council(
      const std::vector<std::vector<Fill>>& tiers, Compatibility compat = Compatibility::Krafla(),
      const std::function<void(PluginOption&)>& edit = [](PluginOption&) {})
      : cluster(SmallCluster()) {
    config.compatibility = compat;
    for (const auto& tier : tiers) {
      Tier& added = config.tiers.emplace_back();
      for (const Fill& fill : tier) {
        PluginOption option;
        option.name = "p" + std::to_string(fills_.size());
        edit(option);
        fills_.emplace(option.name, fill);
        added.plugins.push_back(std::move(option));
      }
    }
    SessionOptions options;
    options.make_plugin = [this](std::string_view name) -> std::unique_ptr<Plugin> {
      const auto it = fills_.find(std::string(name));
      if (it == fills_.end()) return nullptr;
      return std::make_unique<FakePlugin>(it->second);
    };
    session_ = std::make_unique<Session>(cluster, config, options, log_);
  }

  Session* operator->() { return session_.get(); }
  Session& operator*() { return *session_; }

  Cluster cluster;
  SchedulerConfig config;

 private:
  std::map<std::string, Fill> fills_;
  Log log_;
  std::unique_ptr<Session> session_;
};

// The order of the answer, whoever is compared.
template <class Member>
Fill Orders(Member PluginHooks::* member, int answer) {
  return [=](PluginHooks& hooks) { hooks.*member = [=](auto...) { return answer; }; };
}
template <class Member, class Answer>
Fill Says(Member PluginHooks::* member, Answer answer) {
  return [=](PluginHooks& hooks) { hooks.*member = [=](auto...) { return answer; }; };
}
const Fill kSilent = [](PluginHooks&) {};

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

// ---- victims per tier

using Names = std::vector<uint32_t>;

constexpr uint64_t Bit(int plugin) {
  return uint64_t{1} << plugin;
}

// What is said about preemption is said about the other two as well.
void AnswerAllAlike(PluginHooks& hooks) {
  hooks.reclaimable = hooks.preemptable;
  hooks.unified_evictable = [ask = hooks.preemptable](const EvictionContext&,
                                                      std::span<const TaskId> candidates,
                                                      std::vector<TaskId>& victims) {
    return ask(TaskId{}, candidates, victims);
  };
}

// Answers every question about victims with those candidates that are named.
Fill Chooses(Names names, bool guard = false) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = guard;
    hooks.preemptable = [=](TaskId, std::span<const TaskId> candidates,
                            std::vector<TaskId>& victims) {
      for (TaskId candidate : candidates)
        if (std::find(names.begin(), names.end(), candidate.value) != names.end())
          victims.push_back(candidate);
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

// Has an answer on its lips and abstains.
Fill Abstains(bool guard = false) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = guard;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      victims.push_back(candidates.front());
      return Vote::kAbstain;
    };
    AnswerAllAlike(hooks);
  };
}

// The three questions follow one rule: they must agree.
Victims Vote3(Council& council) {
  const std::vector<TaskId> all{kTask0, kTask1, kTask2, kTask3};
  const Victims victims = council->Preemptable(TaskId{}, all);
  const Victims reclaimed = council->Reclaimable(TaskId{}, all);
  const Victims unified = council->UnifiedEvictable({kJobA, false}, all);
  EXPECT_EQ(victims.tasks, reclaimed.tasks);
  EXPECT_EQ(victims.tasks, unified.tasks);
  EXPECT_EQ(victims.permitted_by, reclaimed.permitted_by);
  EXPECT_EQ(victims.permitted_by, unified.permitted_by);
  return victims;
}

Names NamesOf(const Victims& victims) {
  Names names;
  for (TaskId task : victims.tasks) names.push_back(task.value);
  return names;
}

Compatibility Without(bool Compatibility::* member) {
  Compatibility compat;
  compat.*member = false;
  return compat;
}

TEST(VictimsPerTier, NobodyAskedIsNobody) {
  Council council({{kSilent}, {}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{});
  EXPECT_EQ(Vote3(council).permitted_by, 0u);
}

TEST(VictimsPerTier, AbstainingIsNoAnswer) {
  Council council({{Abstains(), Chooses({1, 2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  EXPECT_EQ(Vote3(council).permitted_by, Bit(1));
  Council whole_tier({{Abstains(), Abstains()}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(whole_tier)), Names{3});
}

TEST(VictimsPerTier, AnswersOfATierAreIntersected) {
  Council council({{Chooses({0, 1, 2}), Chooses({2, 1, 3}), Chooses({1, 2, 3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  EXPECT_EQ(Vote3(council).permitted_by, Bit(0) | Bit(1) | Bit(2));
}

TEST(VictimsPerTier, TheFirstTierWithAResultDecides) {
  Council council({{}, {Chooses({3})}, {Chooses({0, 1})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(0));
}

TEST(VictimsPerTier, AnEmptyAnswerEmptiesItsTier) {
  for (const bool D16 : {true, false}) {
    Compatibility compat;
    compat.empty_intersection = D16;
    Council council({{Chooses({1}), Chooses({}), Chooses({1, 2})}, {Chooses({3})}}, compat);
    EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
    EXPECT_EQ(Vote3(council).permitted_by, Bit(3));
  }
}

TEST(VictimsPerTier, AnEmptyIntersectionEndsTheTier) {
  Council council({{Chooses({0}), Chooses({1}), Chooses({2})}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(3));
}

TEST(VictimsPerTier, VolcanoForgetsAnEmptyIntersection) {
  const Compatibility volcano = Without(&Compatibility::empty_intersection);
  Council council({{Chooses({0}), Chooses({1}), Chooses({2})}, {Chooses({3})}}, volcano);
  EXPECT_EQ(NamesOf(Vote3(council)), Names{2});
  Council at_the_end({{Chooses({0}), Chooses({1})}, {Chooses({3})}}, volcano);
  EXPECT_EQ(NamesOf(Vote3(at_the_end)), Names{3});
}

TEST(Guards, TheirVetoOutlivesTheirTier) {
  // The guard lets 0 and 1 go, its neighbour 2 and 3: the tier ends empty, and the next one would
  // take 2 as well.
  const std::vector<std::vector<Fill>> tiers = {{Chooses({0, 1}, true), Chooses({2, 3})},
                                                {Chooses({0, 2})}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{0});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), (Names{0, 2}));
}

TEST(Guards, TheirVetoHoldsInTiersBeforeTheirOwn) {
  const std::vector<std::vector<Fill>> tiers = {{Chooses({2, 3})}, {Chooses({3}, true)}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{3});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), (Names{2, 3}));
}

TEST(Guards, ATierThatTheyEmptyDoesNotDecide) {
  Council council({{Chooses({2})}, {Chooses({3}, true)}, {Chooses({1, 3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(1));
}

TEST(Guards, AGuardThatLetsNobodyGoLeavesNobody) {
  Council council({{Chooses({0, 1})}, {Chooses({}, true)}, {Chooses({2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{});
}

TEST(Guards, AnAbstainingGuardHoldsNobody) {
  Council council({{Abstains(true), Chooses({0, 2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 2}));
}

TEST(Guards, SeveralGuardsAllHold) {
  Council council({{Chooses({0, 1, 2}, true)}, {Chooses({1, 2, 3}, true)}, {Chooses({0, 3})}});
  // The first tier decides: what it lets go, without what the second guard holds.
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
}

// Lets so many go, the first of those it is asked about: a budget.
Fill AllowsFirst(size_t count) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = hooks.guard_counts = true;
    hooks.preemptable = [=](TaskId, std::span<const TaskId> candidates,
                            std::vector<TaskId>& victims) {
      const auto allowed = candidates.subspan(0, std::min(count, candidates.size()));
      victims.assign(allowed.begin(), allowed.end());
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

TEST(Guards, ABudgetIsNotUsedUpByPodsThatStayAnyway) {
  const std::vector<std::vector<Fill>> tiers = {{AllowsFirst(1), Chooses({2, 3})}, {Chooses({0})}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{2});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), Names{0});  // its 0 and their 2 and 3 have nothing in common
}

// The same budget of a plugin that is no guard.
Fill CountsFirst(size_t count) {
  return [fill = AllowsFirst(count)](PluginHooks& hooks) {
    fill(hooks);
    hooks.is_guard = hooks.guard_counts = false;
    hooks.counts_victims = true;
  };
}

// Lets one go of {0, 1} and one of {2, 3}: a budget per job.
Fill CountsOnePerJob() {
  return [](PluginHooks& hooks) {
    hooks.counts_victims = true;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      for (const uint32_t job : {0U, 1U})
        for (TaskId candidate : candidates)
          if (candidate.value / 2 == job) {
            victims.push_back(candidate);
            break;
          }
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

// A guard with one disruption for {0, 2} and none for {1}; 3 is free.
Fill AllowsOneOf02AndNot1() {
  return [](PluginHooks& hooks) {
    hooks.is_guard = hooks.guard_counts = true;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      bool used = false;
      for (TaskId candidate : candidates) {
        if (candidate == kTask1) continue;
        if (candidate != kTask3 && std::exchange(used, true)) continue;
        victims.push_back(candidate);
      }
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

TEST(CountingPlugins, ABudgetIsNotUsedUpByPodsThatTheTierSpares) {
  for (const auto& tier : {std::vector<Fill>{CountsFirst(1), Chooses({2, 3})},
                           std::vector<Fill>{Chooses({2, 3}), CountsFirst(1)}}) {
    Council council({tier, {Chooses({0})}});
    EXPECT_EQ(NamesOf(Vote3(council)), Names{2});
    EXPECT_EQ(Vote3(council).permitted_by, Bit(0) | Bit(1));
  }
}

TEST(CountingPlugins, AnEmptyAnswerEmptiesTheTier) {
  Council council({{CountsFirst(0), Chooses({2, 3})}, {Chooses({1})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{1});
  Council spared({{CountsFirst(2), Chooses({})}, {Chooses({1})}});
  EXPECT_EQ(NamesOf(Vote3(spared)), Names{1});
}

TEST(CountingPlugins, AloneInATierTheyDecideIt) {
  Council council({{CountsFirst(2)}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 1}));
}

// One by one: 0 goes and uses up the guard's budget, 1 is held by it, 2 too, 3 is free; the job of
// 2 and 3 has given nobody yet.
TEST(CountingPlugins, TwoBudgetsDoNotUseUpEachOther) {
  for (const auto& tier : {std::vector<Fill>{CountsOnePerJob(), AllowsOneOf02AndNot1()},
                           std::vector<Fill>{AllowsOneOf02AndNot1(), CountsOnePerJob()}}) {
    Council council({tier});
    EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 3}));
  }
}

TEST(Guards, ABudgetAloneInATierDecidesThatTier) {
  Council council({{AllowsFirst(2)}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 1}));
}

TEST(Guards, ABudgetHoldsInEveryTier) {
  Council council({{Chooses({1, 2, 3})}, {AllowsFirst(2), Chooses({0})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  Council exhausted({{Chooses({1, 2, 3})}, {AllowsFirst(0)}, {Chooses({0})}});
  EXPECT_EQ(NamesOf(Vote3(exhausted)), Names{});
}

// ---- nominate, then filter

Fill Nominates(Names names) {
  return [=](PluginHooks& hooks) {
    hooks.victim_tasks = [=](std::vector<TaskId>& nominated) {
      for (uint32_t name : names) nominated.push_back(TaskId(name));
    };
  };
}

Fill Spares(Names names) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = true;
    hooks.spare_victims = [=](std::vector<TaskId>& nominated) {
      std::erase_if(nominated, [&](TaskId task) {
        return std::find(names.begin(), names.end(), task.value) != names.end();
      });
    };
  };
}

TEST(NominateThenFilter, GuardsOfEveryTierTakeOffTheList) {
  Council council({{Spares({0})}, {Nominates({0, 1, 2})}, {Spares({2})}});
  EXPECT_EQ(NamesOf(council->VictimTasks()), Names{1});
}

TEST(NominateThenFilter, NobodyNominatedNobodyEvicted) {
  Council council({{Spares({0})}, {Spares({1})}});
  EXPECT_EQ(NamesOf(council->VictimTasks()), Names{});
  Council nobody({{Nominates({})}, {kSilent}});
  EXPECT_EQ(NamesOf(nobody->VictimTasks()), Names{});
}

TEST(NominateThenFilter, VolcanoTakesTheUnionOfTheFirstTierThatNamesAny) {
  const Compatibility volcano = Compatibility::Volcano();
  Council council({{Nominates({})}, {Nominates({1, 0}), Nominates({0, 3})}, {Nominates({2})}},
                  volcano);
  EXPECT_EQ(NamesOf(council->VictimTasks()), (Names{1, 0, 3}));
  EXPECT_EQ(council->VictimTasks().permitted_by, Bit(1) | Bit(2));
}

TEST(NominateThenFilter, VolcanoAsksNoGuard) {
  const std::vector<std::vector<Fill>> tiers = {{Nominates({0, 1}), Spares({0})}};
  Council volcano(tiers, Without(&Compatibility::drain_guards));
  EXPECT_EQ(NamesOf(volcano->VictimTasks()), (Names{0, 1}));
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
