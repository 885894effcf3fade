// Internal checks that fail in a cycle: what is at fault is left out, everything else is decided as
// if it were not there, and nothing of the failed cycle leaves the loop.
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/recovery.h"
#include "manifest/read_cluster.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

using Lines = std::vector<std::string>;

struct Decisions final : DecisionSink {
  Lines lines;
  std::function<void(Session&)> spoil;
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    const Cluster& c = session.cluster;
    for (const Bind& bind : session.plan.binds)
      lines.push_back(c.TaskKey(bind.task) + " on " + std::string(c.NodeName(bind.node)));
    for (const Eviction& e : session.plan.evictions)
      lines.push_back(c.TaskKey(e.task) + " goes for " + c.TaskKey(e.for_task));
    if (spoil) spoil(session);
  }
};

class FailedChecks : public ::testing::Test {
 protected:
  explicit FailedChecks(std::string_view config_text = kConfig) {
    RecoveryScope::Enable(true);
    Diagnostics diagnostics;
    SchedulerConfig config =
        ReadSchedulerConfig(config_text, BuiltInVocabulary(), {.file_name = "test"}, diagnostics);
    EXPECT_FALSE(diagnostics.HasErrors());
    loop.emplace(live, std::move(config), TimeZone(), log);
    Recover();
    Apply(QueueYaml() + PriorityClassesYaml() +
          NodeYaml({.name = "n1", .has = "cpu 2, memory 8Gi, pods 10"}) +
          NodeYaml({.name = "n2", .has = "cpu 2, memory 8Gi, pods 10"}));
    for (const char* name : {"a", "b", "c"})
      Apply(PodGroupYaml({.name = name, .min_member = 1, .phase = "Inqueue"}) +
            PodYaml({.name = std::string(name) + "-0", .group = name}));
  }
  ~FailedChecks() override { RecoveryScope::Enable(before_); }

  void Recover() {
    loop->RecoverFromFailedChecks({.quarantine =
                                       [this](const SchedulingLoop::BrokenObject& object) {
                                         quarantined.push_back(object.name);
                                         const StrId ns = live.strings().Find(object.ns);
                                         const StrId name = live.strings().Find(object.name);
                                         switch (object.kind) {
                                           case LiveCluster::ObjectName::Kind::kPodGroup:
                                             return live.RemovePodGroup(ns, name);
                                           case LiveCluster::ObjectName::Kind::kPod:
                                             return live.RemovePod(ns, name);
                                           case LiveCluster::ObjectName::Kind::kNode:
                                             return live.RemoveNode(name);
                                           case LiveCluster::ObjectName::Kind::kQueue:
                                             return live.RemoveQueue(name);
                                         }
                                         return false;
                                       },
                                   .on_skip = [this](const Lines& actions) { skipped = actions; },
                                   .on_trial = [this] { ++trials; }});
  }
  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live, yaml, "test.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  }
  // In the middle of a statement: when the pod is placed.
  void FailWhenPlaced(std::function<bool(const Cluster&, TaskId)> fails) {
    loop->SetWrapHooks([this, fails](std::string_view plugin, PluginHooks& hooks) {
      if (plugin != "gang") return;
      hooks.on_allocate = [this, fails, next = std::move(hooks.on_allocate)](TaskId task) {
        KRAFLA_CHECK(!fails(live.TablesAsTheyAre(), task), "on purpose");
        if (next) next(task);
      };
    });
  }
  Lines Cycle(int64_t seconds = 1) {
    now += seconds;
    loop->RunCycle(Timestamp::FromUnixSeconds(now), decisions);
    return std::exchange(decisions.lines, {});
  }
  bool Due(int64_t in_seconds) { return loop->IsDue(Timestamp::FromUnixSeconds(now + in_seconds)); }
  static bool IsOf(const Cluster& c, TaskId task, std::string_view job) {
    return c.JobKey(c.tasks[task].job) == std::string("default/").append(job);
  }

  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  Decisions decisions;
  Lines quarantined;
  Lines skipped;
  int trials = 0;
  int64_t now = 1'700'000'000;

 private:
  const bool before_ = RecoveryScope::Enabled();
};

TEST_F(FailedChecks, TheJobAtFaultIsLeftOutAndTheRestIsPlacedInTheSameCycle) {
  FailWhenPlaced([](const Cluster& c, TaskId task) { return IsOf(c, task, "b"); });
  EXPECT_EQ(Cycle(), (Lines{"default/a-0 on n1", "default/c-0 on n2"}));
  EXPECT_EQ(quarantined, Lines{"b"});
  const auto failures = loop->TakeFailures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].where, "in action allocate at job default/b");
  EXPECT_NE(failures[0].check.find("on purpose"), std::string::npos);
  // The assumptions of that cycle hold.
  EXPECT_EQ(live.cluster().idle[NodeId(0)].cpu(), 1000);
  EXPECT_EQ(Cycle(), Lines{});
}

TEST_F(FailedChecks, ANodeAtFaultIsLeftOutInsteadOfTheJobsThatMeetIt) {
  FailWhenPlaced([](const Cluster& c, TaskId task) {
    return c.tasks[task].node.valid() && c.NodeName(c.tasks[task].node) == "n1";
  });
  EXPECT_EQ(Cycle().size(), 2u) << "as many as n2 takes";
  EXPECT_EQ(quarantined, Lines{"n1"});
}

TEST_F(FailedChecks, AnActionInWhichEveryJobFailsIsSkippedForTenMinutes) {
  bool fails = true;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "more-" + std::to_string(i);
    Apply(PodGroupYaml({.name = name, .min_member = 1, .phase = "Inqueue"}) +
          PodYaml({.name = name + "-0", .group = name}));
  }
  FailWhenPlaced([&](const Cluster&, TaskId) { return fails; });
  EXPECT_EQ(Cycle(), Lines{});
  EXPECT_EQ(quarantined, Lines{}) << "they cannot all be at fault";
  EXPECT_EQ(skipped, (Lines{"allocate", "preempt"})) << "both place pods";
  EXPECT_EQ(loop->trouble().skipped_actions, skipped);
  EXPECT_FALSE(loop->trouble().suspended_since) << "the other actions go on";
  fails = false;
  EXPECT_EQ(Cycle(300), Lines{});
  EXPECT_TRUE(Due(301)) << "the end of the ten minutes is a reason for a cycle";
  EXPECT_EQ(Cycle(301).size(), 4u);
  EXPECT_EQ(skipped, Lines{});
}

TEST_F(FailedChecks, CyclesAreSuspendedWhenNothingHelpsAndResumeWhenItIsOver) {
  bool fails = true;
  loop->SetWrapHooks([&](std::string_view plugin, PluginHooks& hooks) {
    if (plugin == "gang")
      hooks.next_timer = [&]() -> std::optional<Timestamp> {
        KRAFLA_CHECK(!fails, "whatever is there");
        return std::nullopt;
      };
  });
  EXPECT_EQ(Cycle(), Lines{});
  EXPECT_EQ(quarantined, Lines{});
  ASSERT_TRUE(loop->trouble().suspended_since);
  EXPECT_NE(loop->trouble().check.find("whatever is there"), std::string::npos);
  EXPECT_FALSE(Due(0));
  EXPECT_TRUE(Due(1)) << "after a pause that doubles";
  // What changes meanwhile is no reason to fail again at once.
  Apply(PodYaml({.name = "a-1", .group = "a"}));
  EXPECT_FALSE(Due(0));
  const int searched = trials;
  EXPECT_EQ(Cycle(), Lines{});
  EXPECT_FALSE(Due(1));
  EXPECT_TRUE(Due(2));
  EXPECT_EQ(trials, searched) << "the search is not repeated each time";
  for (int i = 0; i < 8; ++i) Cycle(60);
  EXPECT_TRUE(Due(60)) << "never longer than a minute";
  fails = false;
  EXPECT_EQ(Cycle(60).size(), 4u);
  EXPECT_FALSE(loop->trouble().suspended_since);
  EXPECT_EQ(loop->trouble().check, "");
}

TEST_F(FailedChecks, AnotherConfigurationEndsTheSuspension) {
  loop->SetWrapHooks([](std::string_view plugin, PluginHooks& hooks) {
    if (plugin == "gang")
      hooks.next_timer = []() -> std::optional<Timestamp> {
        KRAFLA_CHECK(false, "the plugin");
        return std::nullopt;
      };
  });
  Cycle();
  EXPECT_FALSE(Due(0));
  SchedulerConfig config = loop->config();
  std::erase_if(config.tiers[0].plugins, [](const auto& option) { return option.name == "gang"; });
  loop->SetConfig(std::move(config));
  EXPECT_TRUE(Due(0));
  EXPECT_EQ(Cycle().size(), 3u);
}

// After the decisions have been handed over they hold, whatever fails then.
TEST_F(FailedChecks, DecisionsHoldAlthoughTheirCycleCannotBeConcluded) {
  decisions.spoil = [](Session& session) {
    for (const Bind& bind : session.plan.binds)
      session.cluster.tasks[bind.task].status = TaskStatus::kReleasing;
    session.undo.RollbackTo(0);  // so that the loop's own finds them spoiled
    for (const Bind& bind : session.plan.binds)
      session.cluster.tasks[bind.task].status = TaskStatus::kReleasing;
  };
  const Lines first = Cycle();
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(loop->TakeFailures().size(), 1u);
  decisions.spoil = nullptr;
  EXPECT_EQ(Cycle(), Lines{}) << "all three are bound already";
  double idle = 0;
  for (const NodeId node : live.cluster().nodes_by_name) idle += live.cluster().idle[node].cpu();
  EXPECT_EQ(idle, 1000);
}

TEST_F(FailedChecks, MemoryAndLimitsAreAsBeforeTheFailedCycle) {
  FailWhenPlaced([](const Cluster& c, TaskId task) { return IsOf(c, task, "b"); });
  loop->SetBeforeSession([](CycleMemory& memory) { memory.JobLossOf("default/ghost").size += 1; });
  Cycle();
  // Each attempt begins with the same memory, so that the last one has counted once.
  EXPECT_EQ(loop->memory().JobLossOf("default/ghost").size, 1);
}

// A fault of what is kept from cycle to cycle is gone with it: no object is to blame.
TEST_F(FailedChecks, ACheckThatFailsInAKeptSessionQuarantinesNothing) {
  bool fails = false;
  loop->SetOnStep([&](std::string_view step) {
    if (step == "open") KRAFLA_CHECK(!std::exchange(fails, false), "in a kept session");
  });
  EXPECT_EQ(Cycle().size(), 3u);
  Apply(PodGroupYaml({.name = "d", .min_member = 1, .phase = "Pending"}));
  Cycle();
  const uint64_t kept = loop->cycles_with_kept_session();
  EXPECT_EQ(kept, 1u);
  Apply(PodYaml({.name = "d-0", .group = "d"}));
  fails = true;
  EXPECT_EQ(Cycle(), Lines{"default/d-0 on n2"});
  EXPECT_FALSE(fails);
  EXPECT_EQ(loop->cycles_with_kept_session(), kept) << "the session was recreated";
  EXPECT_EQ(quarantined, Lines{});
  EXPECT_EQ(skipped, Lines{});
  EXPECT_EQ(loop->TakeFailures().size(), 1u);
}

// What the loop sets for a cycle counts in its trials too: here that pods beyond minMember wait.
TEST_F(FailedChecks, TrialsHaveTheMemoryOfTheCycleThatFailed) {
  loop->SetFollowsChanges(true);
  Apply(PodYaml({.name = "a-1", .group = "a"}) +
        PodGroupYaml({.name = "lacks-pods", .min_member = 2, .phase = "Pending"}));
  FailWhenPlaced([](const Cluster& c, TaskId task) {
    return IsOf(c, task, "b") || c.Text(c.tasks[task].name) == "a-1";
  });
  EXPECT_EQ(Cycle(), (Lines{"default/a-0 on n1", "default/c-0 on n2"}));
  EXPECT_EQ(quarantined, Lines{"b"});
}

TEST_F(FailedChecks, ASearchThatTakesTooLongFindsNothingAndTheActionIsSkipped) {
  int64_t steady_ns = 0;
  loop->SetSteadyClock([&] { return steady_ns; });
  FailWhenPlaced([&](const Cluster& c, TaskId task) {
    steady_ns += 21 * Timestamp::kNsPerSecond;
    return IsOf(c, task, "b");
  });
  Cycle();
  EXPECT_EQ(quarantined, Lines{});
  EXPECT_EQ(skipped.front(), "allocate");
  EXPECT_LE(trials, 4);
}

TEST_F(FailedChecks, AClockThatIsSetBackDelaysNoEndOfASkip) {
  bool fails = true;
  int64_t steady_ns = 0;
  loop->SetSteadyClock([&] { return steady_ns; });
  FailWhenPlaced([&](const Cluster&, TaskId) {
    steady_ns += 21 * Timestamp::kNsPerSecond;
    return fails;
  });
  Cycle();
  ASSERT_EQ(skipped, (Lines{"allocate", "preempt"}));
  fails = false;
  loop->ClockWasSet(-3'600 * Timestamp::kNsPerSecond);
  now -= 3'600;
  EXPECT_EQ(Cycle(10), Lines{});
  EXPECT_EQ(skipped, (Lines{"allocate", "preempt"})) << "the ten minutes go on";
  EXPECT_EQ(Cycle(600).size(), 3u);
}

using FailedChecksDeathTest = FailedChecks;

TEST_F(FailedChecksDeathTest, WithoutRecoveryTheProgramAborts) {
  EXPECT_DEATH(
      {
        SchedulingLoop other(live, loop->config(), TimeZone(), log);
        other.SetWrapHooks([](std::string_view, PluginHooks& hooks) {
          hooks.on_allocate = [](TaskId) { KRAFLA_CHECK(false, "as run and simulate do"); };
        });
        other.RunCycle(Timestamp::FromUnixSeconds(now), decisions);
      },
      "as run and simulate do");
}

}  // namespace
}  // namespace krafla::testing
