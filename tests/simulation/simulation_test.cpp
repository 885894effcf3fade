// The simulated cluster itself: what kubelets, controller and faults do, to the second; that a run
// can be repeated; that time in which nothing happens may be skipped.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "simulation/decision_judge.h"
#include "simulation/simulated_run.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;
using Kind = SimEventKind;

const std::string kPlain = R"(
start: 2026-03-10 12:00
until: 1h
kubelet: {startup: 3s, termination: 5s}
recreateAfter: 2s
cluster:
  nodes: {count: 2, name: "n-%d", cpu: 4, memory: 16Gi}
priorityClasses: {low: 10, urgent: 1000}
scheduler:
  actions: "enqueue, allocate, preempt"
  tiers:
  - plugins: [{name: priority}, {name: gang}, {name: cdp}, {name: predicates}]
)";

TEST(Simulation, APodIsBoundStartsRunsAndEnds) {
  const SimulatedRun run =
      RunScenario(kPlain + "workload: [{job: a, at: +10500ms, cpu: 1, memory: 1Gi, runTime: 60s}]");
  ASSERT_EQ(run.problems, "");
  // Submitted between two cycles, bound by the next one.
  EXPECT_EQ(run.Story({Kind::kPodCreated, Kind::kPodBound, Kind::kPodStarted, Kind::kPodSucceeded,
                       Kind::kJobCompleted}),
            "10.5 pod-created default/a-main-0\n"
            "11 pod-bound default/a-main-0 n-1\n"
            "14 pod-started default/a-main-0 n-1\n"
            "74 pod-succeeded default/a-main-0 n-1\n"
            "74 job-completed default/a\n");
  EXPECT_EQ(run.result.jobs_completed, 1);
  EXPECT_LT(run.result.cycles, 10u);
  EXPECT_EQ(run.result.cycles + run.result.skipped_ticks, 3601u);
}

TEST(Simulation, AnEvictedPodTerminatesAndIsMadeAnewUnderItsName) {
  const SimulatedRun run = RunScenario(kPlain + R"(
workload:
- {job: low, priorityClass: low, replicas: 2, minAvailable: 1, cpu: 4, memory: 1Gi, runTime: 100s}
- {job: urgent, at: +20s, priorityClass: urgent, cpu: 4, memory: 1Gi, runTime: 30s}
)");
  ASSERT_EQ(run.problems, "");
  EXPECT_EQ(run.Story({Kind::kPodEvicted, Kind::kPodPipelined, Kind::kPodGone, Kind::kPodCreated,
                       Kind::kPodBound, Kind::kPodSucceeded}),
            "0 pod-created default/low-main-0\n"
            "0 pod-created default/low-main-1\n"
            "0 pod-bound default/low-main-0 n-1\n"
            "0 pod-bound default/low-main-1 n-2\n"
            "20 pod-created default/urgent-main-0\n"
            "20 pod-evicted default/low-main-0 n-1\n"
            "20 pod-pipelined default/urgent-main-0 n-1\n"
            "25 pod-gone default/low-main-0 n-1\n"
            "25 pod-bound default/urgent-main-0 n-1\n"
            "27 pod-created default/low-main-0\n"
            "58 pod-succeeded default/urgent-main-0 n-1\n"
            "58 pod-bound default/low-main-0 n-1\n"
            "103 pod-succeeded default/low-main-1 n-2\n"
            "161 pod-succeeded default/low-main-0 n-1\n");
  for (const SimEvent& event : run.events) {
    if (event.kind != Kind::kPodEvicted) continue;
    EXPECT_EQ(event.for_pod, "default/urgent-main-0");
    EXPECT_EQ(event.for_job, "default/urgent");
    EXPECT_EQ(event.reason, "priority");
    EXPECT_EQ(event.count, 17);  // seconds of work that are lost
    EXPECT_NE(event.text.find("default/urgent-main-0"), std::string::npos) << event.text;
  }
}

TEST(Simulation, WorkThatIsKeptNeedNotBeDoneAgain) {
  const SimulatedRun run = RunScenario(kPlain + R"(
workload:
- {job: low, priorityClass: low, replicas: 2, minAvailable: 1, cpu: 4, memory: 1Gi, runTime: 100s, keepsWork: true}
- {job: urgent, at: +20s, priorityClass: urgent, cpu: 4, memory: 1Gi, runTime: 30s}
)");
  ASSERT_EQ(run.problems, "");
  // 17 of 100 seconds were done when it was evicted; it starts again at 61.
  EXPECT_NE(run.Story({Kind::kPodSucceeded}).find("144 pod-succeeded default/low-main-0"),
            std::string::npos)
      << run.Story({Kind::kPodSucceeded});
}

TEST(Simulation, AJobBelowItsMinimumKeepsWhatRuns) {
  const SimulatedRun run = RunScenario(kPlain + R"(
workload: [{job: gang, replicas: 2, cpu: 3, memory: 1Gi, runTime: 100s}]
faults: [{nodeLost: n-1, at: +50s, for: 200s}]
)");
  ASSERT_EQ(run.problems, "");
  EXPECT_EQ(run.Story({Kind::kPodFailed, Kind::kNodeLost, Kind::kNodeAdded, Kind::kPodCreated,
                       Kind::kPodBound, Kind::kPodSucceeded, Kind::kJobCompleted}),
            "0 node-added n-1\n"
            "0 node-added n-2\n"
            "0 pod-created default/gang-main-0\n"
            "0 pod-created default/gang-main-1\n"
            "0 pod-bound default/gang-main-0 n-1\n"
            "0 pod-bound default/gang-main-1 n-2\n"
            "50 node-lost n-1\n"
            "50 pod-failed default/gang-main-0 n-1\n"
            "52 pod-created default/gang-main-0\n"
            "103 pod-succeeded default/gang-main-1 n-2\n"
            "103 pod-bound default/gang-main-0 n-2\n"
            "206 pod-succeeded default/gang-main-0 n-2\n"
            "206 job-completed default/gang\n"
            "250 node-added n-1\n");
}

TEST(Simulation, ADrainSaysWhatHoldsItAfterEachStepAndAtEveryClosing) {
  const auto held = [](const std::string& budget) {
    const SimulatedRun run = RunScenario(
        "start: 2026-03-10 20:30\nuntil: 25h\n"
        "cluster: {nodes: {count: 2, name: \"z-%d\", cpu: 8, memory: 32Gi, zone: rz1}}\n"
        "scheduler:\n  actions: \"enqueue, allocate, preempt\"\n"
        "  tiers: [{plugins: [{name: tdm, arguments: {tdm.revocable-zone.rz1: \"08:00-21:00\", "
        "tdm.evict.period: 1m}}, {name: gang}, {name: predicates}]}]\n"
        "workload: [{job: t/guest, replicas: 4, minAvailable: 1, cpu: 1, memory: 1Gi, "
        "preemptable: true, revocableZone: \"*\"" +
        budget + "}]\n");
    EXPECT_EQ(run.problems, "");
    std::string told;
    for (const SimEvent& event : run.events)
      if (event.kind == Kind::kDrainHeld) told += fmt::format("{} {}\n", event.count, event.text);
    return told;
  };
  const std::string one_goes = "3 t/guest it has no budget and one goes per evict period\n";
  EXPECT_EQ(held(""), one_goes + one_goes);
  // Two of four go, and then none may until they are back, which is when the zone opens.
  const std::string none_goes = "2 t/guest its budget maxUnavailable 2 allows 0 more now\n";
  EXPECT_EQ(held(", budget: {maxUnavailable: 2}"), none_goes + none_goes);
}

// Somebody should go, and nobody does: that is not "nobody had to go".
TEST(Simulation, AZoneThatNobodyLeavesSaysWhy) {
  const auto held = [](const std::string& actions, const std::string& more_plugins,
                       const std::string& ns) {
    const SimulatedRun run = RunScenario(
        "start: 2026-03-10 20:30\nuntil: 2h\n"
        "cluster: {nodes: {name: z, cpu: 8, memory: 32Gi, zone: rz1}}\n"
        "scheduler:\n  actions: \"" +
        actions +
        "\"\n"
        "  tiers: [{plugins: [{name: tdm, arguments: {tdm.revocable-zone.rz1: \"08:00-21:00\"}}, "
        "{name: gang}, {name: predicates}" +
        more_plugins + "]}]\nworkload: [{job: " + ns +
        "/guest, replicas: 2, minAvailable: 1, cpu: 1, memory: 1Gi, "
        "preemptable: true, revocableZone: \"*\"}]\n");
    EXPECT_EQ(run.problems, "");
    EXPECT_EQ(run.Count(Kind::kPodEvicted), 0);
    std::string told;
    for (const SimEvent& event : run.events)
      if (event.kind == Kind::kDrainHeld) told += fmt::format("{} {}\n", event.count, event.text);
    return told;
  };
  EXPECT_EQ(held("enqueue, allocate", "", "t"),
            "2 nothing empties it: that takes tdm, and preempt or shuffle among the actions\n");
  EXPECT_EQ(held("enqueue, allocate, preempt", ", {name: conformance}", "kube-system"),
            "2 kube-system/guest kube-system/guest-main-0 is protected: conformance or a "
            "PodDisruptionBudget holds it\n");
}

// With a cycle every millisecond nobody is asked a thousand times a second.
TEST(Simulation, ARefusedPodIsAskedAboutAfterAWhileThatGrows) {
  const SimulatedRun run = RunScenario(
      "start: 2026-03-10 12:00\nuntil: 10m\nschedulePeriod: 1ms\n"
      "cluster: {nodes: {name: n, cpu: 8, memory: 32Gi}}\n"
      "workload: [{job: t/a, cpu: 1, memory: 1Gi}]\n"
      "faults: [{bindFails: \"*\", for: 5m}]\n");
  ASSERT_EQ(run.problems, "");
  EXPECT_EQ(run.Story({Kind::kBindFailed, Kind::kPodBound}),
            "0 bind-failed t/a-main-0 n\n1 bind-failed t/a-main-0 n\n"
            "3 bind-failed t/a-main-0 n\n7 bind-failed t/a-main-0 n\n"
            "15 bind-failed t/a-main-0 n\n31 bind-failed t/a-main-0 n\n"
            "63 bind-failed t/a-main-0 n\n123 bind-failed t/a-main-0 n\n"
            "183 bind-failed t/a-main-0 n\n243 bind-failed t/a-main-0 n\n"
            "303 pod-bound t/a-main-0 n\n");
  EXPECT_LT(run.result.cycles, 60u);
}

TEST(Simulation, RunTimesDoNotDependOnWhatElseIsDrawn) {
  const std::string job =
      "- {job: a, replicas: 2, cpu: 1, memory: 1Gi, runTime: {exponential: 5m}}";
  const auto ends = [](const SimulatedRun& run) {
    std::map<std::string, int64_t> at;
    for (const SimEvent& event : run.events)
      if (event.kind == Kind::kPodSucceeded && event.job == "default/a")
        at[event.pod] = event.at.ns;
    return at;
  };
  const auto alone = ends(RunScenario(kPlain + "workload:\n" + job));
  const auto in_company = ends(RunScenario(
      kPlain +
      "workload:\n- {job: b, replicas: 3, cpu: 1, memory: 1Gi, runTime: {exponential: 1m}}\n" +
      job));
  EXPECT_EQ(alone.size(), 2u);
  EXPECT_EQ(alone, in_company);
}

TEST(Simulation, WrongJobsAreNamedBeforeAnythingRuns) {
  const SimulatedRun run = RunScenario(kPlain + R"(
workload:
- {job: a, queue: defalt, cpu: 1, memory: 1Gi}
- {job: b, priorityClass: urgend, cpu: 1, memory: 1Gi}
- {job: c, cpu: 1, memory: 1Gi, replicas: 2, minAvailable: 3}
- {job: d, cpu: 1, memory: 1Gi}
- {job: d, cpu: 1, memory: 1Gi}
)");
  EXPECT_TRUE(run.events.empty());
  for (const char* const part :
       {"scenario.yaml:15", "\"defalt\"", "did you mean \"default\"?", "scenario.yaml:16",
        "did you mean \"urgent\"?", "scenario.yaml:17", "scenario.yaml:19"})
    EXPECT_NE(run.problems.find(part), std::string::npos) << part << " in\n" << run.problems;
}

// ---- the clock

std::vector<fs::path> ScenarioFiles() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(testing::SourceDir()) / "tests/scenarios"))
    if (entry.path().extension() == ".yaml" && entry.path().parent_path().filename() != "files")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Simulation, EveryScenarioFileGivesTheSameBytesTwice) {
  int files = 0;
  for (const fs::path& file : ScenarioFiles()) {
    const SimulatedRun run = RunScenarioFile(file);
    ASSERT_EQ(run.problems, "") << file;
    EXPECT_TRUE(run.log == RunScenarioFile(file).log) << file;
    ++files;
  }
  EXPECT_GT(files, 10);
}

TEST(Simulation, SkippingIdleTimeGivesTheBytesOfEveryCycle) {
  int files = 0;
  for (const fs::path& file : ScenarioFiles()) {
    const SimulatedRun run = RunScenarioFile(file);
    ASSERT_EQ(run.problems, "") << file;
    if (run.result.cycles + run.result.skipped_ticks > 4 * 3600) continue;  // for the time it takes
    const SimulatedRun ticking = RunScenarioFile(file, {.every_tick = true});
    EXPECT_EQ(ticking.result.skipped_ticks, 0u);
    // What was left out is what was not due there: its cycles ran, and decided nothing.
    EXPECT_EQ(run.result.due_cycles, run.result.cycles) << file;
    EXPECT_EQ(ticking.result.due_cycles, run.result.cycles) << file;
    EXPECT_TRUE(run.log == ticking.log) << file;
    ++files;
  }
  EXPECT_GT(files, 10);
}

// ---- the judges can say no

std::string Judged(const std::string& plugins, const std::string& workload) {
  DecisionJudge judge({});
  const SimulatedRun run = RunScenario(
      "start: 2026-03-10 12:00\nuntil: 1h\ncluster: {nodes: {count: 2, name: \"n-%d\", cpu: 4, "
      "memory: "
      "16Gi}}\npriorityClasses: {low: 10, urgent: 1000}\nscheduler:\n  actions: \"enqueue, "
      "allocate, "
      "preempt\"\n  tiers:\n  - plugins: [" +
          plugins + "]\nworkload:\n" + workload,
      {.witness = &judge}, {&judge});
  return run.problems + judge.complaint();
}

TEST(DecisionJudge, NoticesAGangThatIsNotWhole) {
  const std::string workload = "- {job: gang, replicas: 3, cpu: 4, memory: 1Gi}\n";
  EXPECT_EQ(Judged("{name: gang}, {name: predicates}", workload), "");
  EXPECT_NE(Judged("{name: predicates}", workload).find("which had 0 and needs 3"),
            std::string::npos)
      << Judged("{name: predicates}", workload);
}

TEST(DecisionJudge, NoticesACooldownThatIsNotKept) {
  const std::string workload =
      "- {job: low, priorityClass: low, replicas: 2, minAvailable: 1, cpu: 4, memory: 1Gi, "
      "cooldown: 5m}\n"
      "- {job: urgent, at: +1m, priorityClass: urgent, cpu: 4, memory: 1Gi}\n";
  EXPECT_EQ(Judged("{name: priority}, {name: gang}, {name: cdp}, {name: predicates}", workload),
            "");
  EXPECT_NE(Judged("{name: priority}, {name: gang}, {name: predicates}", workload)
                .find("its cooldown is 300 s"),
            std::string::npos);
}

// Judged without cdp, whose rules are then nobody's; with them in the configuration of a plugin
// that does not decide.
TEST(DecisionJudge, NoticesInheritedCooldownsAndTooManyEvictions) {
  const std::string workload =
      "- {job: low, priorityClass: low, replicas: 2, minAvailable: 1, cpu: 4, memory: 1Gi}\n"
      "- {job: urgent, at: +1m, priorityClass: urgent, cpu: 4, memory: 1Gi, runTime: 1m}\n"
      "- {job: again, at: +10m, priorityClass: urgent, cpu: 4, memory: 1Gi, runTime: 1m}\n";
  const auto judged = [&](const std::string& arguments, bool decides) {
    return Judged("{name: priority}, {name: gang}, {name: cdp" +
                      std::string(decides ? "" : ", enablePreemptable: false") + ", arguments: {" +
                      arguments + "}}, {name: predicates}",
                  workload);
  };
  EXPECT_EQ(judged("cdp.default-cooldown: 5m", true), "");
  EXPECT_NE(judged("cdp.default-cooldown: 5m", false).find("its cooldown is 300 s"),
            std::string::npos);
  EXPECT_EQ(judged("cdp.max-evictions: 1", true), "");
  EXPECT_NE(judged("cdp.max-evictions: 1", false).find("made room for others 1 times of late"),
            std::string::npos);
  EXPECT_NE(
      judged("cdp.default-cooldown: 30s, cdp.backoff: 100", false).find("its cooldown is 3000 s"),
      std::string::npos)
      << judged("cdp.default-cooldown: 30s, cdp.backoff: 100", false);
}

}  // namespace
}  // namespace krafla::testing
