#include "sim/read_scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "model/well_known.h"
#include "sim/scenario_times.h"

namespace krafla {
namespace {

struct Reading {
  Scenario scenario;
  std::string problems;  // as a user sees them, one per line
};

Reading Read(std::string_view text, const ScenarioOverrides& overrides = {},
             const std::string& file = "s.yaml") {
  Diagnostics diagnostics;
  Reading reading{ReadScenarioText(text, file, overrides, diagnostics), {}};
  for (const Diagnostic& d : diagnostics.items()) reading.problems += ToString(d) + "\n";
  return reading;
}

constexpr std::string_view kCluster = "cluster: {nodes: {cpu: 4, memory: 8Gi}}\n";

std::string WithCluster(std::string_view rest) {
  return std::string(kCluster) + std::string(rest);
}

std::string Clock(const Scenario& scenario, Timestamp time) {
  return FormatLocalTime(time, scenario.zone);
}

// A folder for the files a scenario names.
class ScenarioFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("scenario_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  // The folder's own name is taken out of the messages.
  Reading ReadHere(std::string_view text, const ScenarioOverrides& overrides = {}) {
    Reading reading = Read(text, overrides, (folder_ / "s.yaml").string());
    const std::string prefix = folder_.string() + "/";
    for (size_t at; (at = reading.problems.find(prefix)) != std::string::npos;)
      reading.problems.erase(at, prefix.size());
    return reading;
  }

  std::filesystem::path folder_;
};

TEST(ReadScenario, EverySectionOfAGoodFile) {
  const Reading reading = Read(R"(name: a day
start: 2026-03-10T07:00:00+08:00
timezone: Asia/Shanghai
until: 1d2h
seed: 7
schedulePeriod: 500ms
recreateAfter: 3s
kubelet: {startup: 20s, termination: 30s, jitter: 0.25}
cluster:
  nodes:
  - {count: 3, name: "n-%03d", cpu: 32, memory: 128Gi, pods: 50, labels: {disk: ssd}, zone: rz1,
     taints: ["dedicated=ml:NoSchedule"], resources: {nvidia.com/gpu: 8}}
  - {name: own, cpu: 500m, memory: 1Gi}
queues:
  research: {weight: 3, reclaimable: false, capability: {cpu: 10}, guarantee: {cpu: 2}}
priorityClasses: {urgent: 1000, low: {value: 10, globalDefault: true}}
scheduler:
  actions: "enqueue, allocate"
  tiers:
  - plugins:
    - name: gang
workload:
- name: train
  namespace: team-a
  queue: research
  priorityClass: low
  replicas: 4
  minAvailable: 2
  cpu: 2
  memory: 4Gi
  gpu: 1
  runTime: {uniform: [1h, 3h]}
  preemptable: true
  revocableZone: "*"
  cooldown: 5m
  budget: {maxUnavailable: 25%}
  sla: 1h
  keepsWork: true
  labels: {app: train}
  nodeSelector: {disk: ssd}
- {job: team-a/urgent, at: "12:00", priorityClass: urgent, cpu: 1, runTime: 30m}
- {job: team-b/copy, at: "day 2 08:30", count: 2, cpu: 1}
- name: query
  cpu: 1
  runTime: {exponential: 2m}
  arrivals: {process: poisson, rate: 30/h, from: "09:00", until: "18:00", limit: 100}
- job: team-b/roles
  at: +90m
  minAvailable: 3
  tasks:
  - {name: ps, replicas: 1, cpu: 1, preemptable: false}
  - {name: worker, replicas: 3, minAvailable: 2, cpu: 2}
faults:
- {nodeLost: n-002, at: "10:00", for: 30m}
- {slowKubelet: "n-*", delay: 2m, at: +1h}
- {bindFails: "*", probability: 0.5}
- {clockJump: 1h, at: "11:00"}
expect:
- {bound: team-a/urgent, by: "12:01"}
- {evicted: team-a/train, between: ["21:00", "21:10"], count: 4, action: preempt}
- {share: research, at: "15:00", atLeast: 0.4, atMost: 0.6}
- {drained: rz1, within: 10m}
- {noThrash: "*", atMost: 2}
)");
  EXPECT_EQ(reading.problems, "");
  const Scenario& s = reading.scenario;
  EXPECT_EQ(s.name, "a day");
  EXPECT_EQ(s.seed, 7u);
  EXPECT_EQ(s.zone_name, "Asia/Shanghai");
  EXPECT_EQ(Clock(s, s.start), "2026-03-10 07:00:00");
  EXPECT_EQ(Clock(s, s.until), "2026-03-11 09:00:00");
  EXPECT_EQ(s.schedule_period_ns, 500'000'000);
  EXPECT_EQ(s.recreate_after_ns, 3'000'000'000);
  EXPECT_EQ(s.kubelet.startup_ns, 20'000'000'000);
  EXPECT_EQ(s.kubelet.jitter, 0.25);

  ASSERT_EQ(s.nodes.size(), 2u);
  EXPECT_EQ(s.nodes[0].count, 3);
  EXPECT_EQ(NodeName(s.nodes[0], 12), "n-012");
  EXPECT_EQ(
      s.nodes[0].resources,
      (TextTable{{"cpu", "32"}, {"memory", "128Gi"}, {"nvidia.com/gpu", "8"}, {"pods", "50"}}));
  EXPECT_EQ(s.nodes[0].labels,
            (TextTable{{"disk", "ssd"}, {std::string(keys::kRevocableZone), "rz1"}}));
  EXPECT_EQ(s.nodes[0].taints, std::vector<std::string>{"dedicated=ml:NoSchedule"});
  EXPECT_EQ(s.nodes[1].resources.at("pods"), "110");

  EXPECT_EQ(
      s.queues_yaml,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"research"},"spec":{"weight":3,"reclaimable":false,"capability":{"cpu":"10"},"guarantee":{"resource":{"cpu":"2"}}}}
{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default"},"spec":{"weight":1}}
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"urgent"},"value":1000}
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"low"},"value":10,"globalDefault":true}
)");
  ASSERT_EQ(s.config.actions.size(), 2u);
  EXPECT_EQ(s.config.tiers.at(0).plugins.at(0).name, "gang");

  ASSERT_EQ(s.submissions.size(), 5u);
  const JobShape& train = s.submissions[0].job;
  EXPECT_EQ(train.ns + "/" + train.name, "team-a/train");
  EXPECT_EQ(train.min_available, 2);
  EXPECT_EQ(train.tasks.at(0).replicas, 4);
  EXPECT_EQ(train.tasks.at(0).resources,
            (TextTable{{"cpu", "2"}, {"memory", "4Gi"}, {"nvidia.com/gpu", "1"}}));
  EXPECT_EQ(train.annotations, (TextTable{{"volcano.sh/cooldown-time", "5m0s"},
                                          {"volcano.sh/jdb-max-unavailable", "25%"},
                                          {"volcano.sh/preemptable", "true"},
                                          {"volcano.sh/revocable-zone", "*"},
                                          {"volcano.sh/sla-waiting-time", "1h0m0s"}}));
  EXPECT_TRUE(train.keeps_work);
  EXPECT_EQ(train.run_time.kind, RunTime::Kind::kUniform);
  EXPECT_EQ(train.place.location.line, 23);
  // By time, whatever their order in the file.
  const Submission& roles = s.submissions[1];
  EXPECT_EQ(Clock(s, roles.at), "2026-03-10 08:30:00");
  ASSERT_EQ(roles.job.tasks.size(), 2u);
  EXPECT_EQ(roles.job.tasks[0].annotations.at("volcano.sh/preemptable"), "false");
  EXPECT_EQ(roles.job.tasks[1].min_available, 2);
  EXPECT_EQ(Clock(s, s.submissions[2].at), "2026-03-10 12:00:00");
  EXPECT_EQ(s.submissions[3].job.name, "copy-1");
  EXPECT_EQ(s.submissions[4].job.name, "copy-2");
  EXPECT_EQ(Clock(s, s.submissions[4].at), "2026-03-11 08:30:00");

  ASSERT_EQ(s.arrivals.size(), 1u);
  EXPECT_EQ(s.arrivals[0].process, Arrivals::Process::kPoisson);
  EXPECT_EQ(s.arrivals[0].every_ns, 120'000'000'000);
  EXPECT_EQ(s.arrivals[0].limit, 100);
  EXPECT_EQ(Clock(s, s.arrivals[0].until), "2026-03-10 18:00:00");

  ASSERT_EQ(s.faults.size(), 4u);
  EXPECT_EQ(s.faults[0].kind, Fault::Kind::kBindFails);
  EXPECT_EQ(s.faults[1].delay_ns, 120'000'000'000);
  EXPECT_EQ(s.faults[2].for_ns, 1'800'000'000'000);
  EXPECT_EQ(s.faults[3].delay_ns, 3'600'000'000'000);

  ASSERT_EQ(s.expectations.size(), 5u);
  EXPECT_EQ(s.expectations[0].text, "bound: team-a/urgent, by: 12:01");
  EXPECT_EQ(s.expectations[1].min_count, 4);
  EXPECT_EQ(s.expectations[1].max_count, 4);
  EXPECT_EQ(Clock(s, s.expectations[1].until), "2026-03-10 21:10:00");
  EXPECT_EQ(s.expectations[2].low, 0.4);
  EXPECT_EQ(s.expectations[4].max_count, 2);
}

TEST(ReadScenario, TheSmallestFileHasDefaults) {
  const Reading reading = Read(kCluster);
  EXPECT_EQ(reading.problems, "");
  const Scenario& s = reading.scenario;
  EXPECT_EQ(s.name, "s");
  EXPECT_EQ(Clock(s, s.start), "2026-01-05 00:00:00");
  EXPECT_EQ(ElapsedNs(s.start, s.until), 86'400'000'000'000);
  EXPECT_EQ(NodeName(s.nodes.at(0), 1), "node-1");
  EXPECT_TRUE(s.config.HasAction("allocate"));
  EXPECT_FALSE(s.config.HasAction("preempt"));
}

TEST(ReadScenario, AnInlineConfigurationComplainsAtItsLinesInTheScenario) {
  EXPECT_EQ(Read(WithCluster("scheduler:\n  actions: enqueue, alocate\n  tiers:\n"
                             "  - plugins:\n    - name: gan\n"))
                .problems,
            "s.yaml:3:21: error: actions: unknown action \"alocate\"; did you mean \"allocate\"?\n"
            "s.yaml:6:13: error: unknown plugin \"gan\"; did you mean \"gang\"?\n");
  EXPECT_EQ(Read(WithCluster("scheduler: |\n  actions: \"enqueue, alocate\"\n  tiers:\n"
                             "  - plugins:\n    - name: gan\nseed: 1\n"))
                .problems,
            "s.yaml:3:22: error: actions: unknown action \"alocate\"; did you mean \"allocate\"?\n"
            "s.yaml:6:13: error: unknown plugin \"gan\"; did you mean \"gang\"?\n");
  EXPECT_EQ(Read(WithCluster("scheduler: |\n  actions: [\n  tiers:\n")).problems.substr(0, 17),
            "s.yaml:5:1: error");
}

TEST(ReadScenario, SettingsReachIntoTheFile) {
  ScenarioOverrides overrides;
  overrides.set = {"seed=9",
                   "kubelet.startup=30s",
                   "cluster.nodes[0].count=2",
                   "cluster.nodes[0].name=m-%d",
                   "queues[research].weight=3",
                   "workload[train].cpu=3",
                   "scheduler.tiers[0].plugins[tdm].arguments[tdm.evict.period]=2m"};
  overrides.until = "7d";
  const Reading reading = Read(WithCluster("queues: [{name: research}]\n"
                                           "workload: [{job: team-a/train, cpu: 1}]\n"
                                           "scheduler: |\n"
                                           "  actions: allocate\n"
                                           "  tiers: [{plugins: [{name: tdm}]}]\n"),
                               overrides);
  EXPECT_EQ(reading.problems, "");
  const Scenario& s = reading.scenario;
  EXPECT_EQ(s.seed, 9u);
  EXPECT_EQ(s.kubelet.startup_ns, 30'000'000'000);
  EXPECT_EQ(NodeName(s.nodes.at(0), 2), "m-2");
  EXPECT_NE(s.queues_yaml.find("\"weight\":3"), std::string::npos);
  EXPECT_EQ(s.submissions.at(0).job.tasks.at(0).resources.at("cpu"), "3");
  EXPECT_EQ(s.config.tiers.at(0).plugins.at(0).arguments.GetString("tdm.evict.period"), "2m");
  EXPECT_EQ(ElapsedNs(s.start, s.until), 7 * 86'400'000'000'000);
}

// Whoever means one of several by its name does not get a new one for a slip.
TEST(ReadScenario, AMisspeltQueueOfASettingIsNotANewOne) {
  const auto set = [](std::vector<std::string> settings) {
    ScenarioOverrides overrides;
    overrides.set = std::move(settings);
    return Read(WithCluster("queues: {research: {weight: 1}}\n"), overrides).problems;
  };
  EXPECT_EQ(set({"queues[research].weight=3"}), "");
  for (const char* misspelt : {"queues[reserch]", "queues.reserch"})
    EXPECT_EQ(
        set({std::string(misspelt) + ".weight=3"}),
        "--set " + std::string(misspelt) +
            ".weight=3: error: there is no queue \"reserch\"; did you mean \"research\"? (a new "
            "one is written " +
            misspelt + "={...})\n");
  EXPECT_EQ(set({"queues[reserch]={weight: 3}"}), "");
  EXPECT_EQ(set({"queues[product].weight=2", "queues[product].priority=3"}), "");
  EXPECT_EQ(set({"queues[default].weight=2"}), "");
  EXPECT_EQ(set({"queues[a].weight=2", "queues[b].weight=2"}), "");
  EXPECT_EQ(set({"queues[research][capability].cpu=3"}), "");
}

TEST(ReadScenario, WrongSettingsAreNamedByThemselves) {
  const auto set = [](const std::string& setting) {
    ScenarioOverrides overrides;
    overrides.set = {setting};
    return Read(WithCluster("kubelet: {startup: 1s}\nworkload: [{name: a}]\n"), overrides).problems;
  };
  EXPECT_EQ(set("kubelet.strtup=30s"),
            "--set kubelet.strtup=30s: error: kubelet: unknown key \"strtup\"; did you mean "
            "\"startup\"?\n");
  EXPECT_EQ(set("kubelet.startup=soon"),
            "--set kubelet.startup=soon: error: kubelet.startup: \"soon\" is not a duration; write "
            "90s, 5m, 1h30m or 7d\n");
  EXPECT_EQ(set("workload[3].cpu=1"),
            "--set workload[3].cpu=1: error: \"workload[3]\" does not exist; the list has 1 item, "
            "counted from 0\n");
  EXPECT_EQ(set("workload[b].cpu=1"),
            "--set workload[b].cpu=1: error: \"workload[b]\" does not exist; expected a\n");
  EXPECT_EQ(set("workload.cpu=1"),
            "--set workload.cpu=1: error: \"cpu\" is inside of a list; write [0] or [name] before "
            "it\n");
  EXPECT_EQ(set("kubelet.startup.x=1"),
            "--set kubelet.startup.x=1: error: \"kubelet.startup.x\" does not exist: there is only "
            "the value \"1s\" before it\n");
  EXPECT_EQ(set("kubelet.startup= "),
            "--set kubelet.startup= : error: expected a value after the equals sign, got nothing; "
            "null takes the key back\n");
  EXPECT_EQ(set("kubelet.startup=null"), "");
  EXPECT_EQ(set("until=4000d"),
            "--set until=4000d: error: until: a run lasts 3660 days at most, got \"4000d\"\n");
  EXPECT_EQ(set("until=day 4000 12:00"),
            "--set until=day 4000 12:00: error: until: a run lasts 3660 days at most, got \"day "
            "4000 12:00\"\n");
  EXPECT_EQ(set("until=3660d"), "");
  ScenarioOverrides misspelt;
  misspelt.set = {"workload[batc].cpu=1"};
  EXPECT_EQ(Read(WithCluster("workload: [{job: team-a/batch}]\n"), misspelt).problems,
            "--set workload[batc].cpu=1: error: \"workload[batc]\" does not exist; did you mean "
            "\"batch\"?\n");
  EXPECT_EQ(set("seed"), "--set seed: error: expected key=value, such as seed=7\n");
  ScenarioOverrides overrides;
  overrides.seed = "many";
  EXPECT_EQ(Read(kCluster, overrides).problems,
            "--seed many: error: seed: expected a whole number from 0 to 9223372036854775807, got "
            "\"many\"\n");
}

struct WrongFile {
  const char* text;      // after a good cluster in the first line
  const char* problems;  // without "s.yaml:" and "error: "
};

TEST(ReadScenario, EveryMistakeHasItsPlaceAndItsSentence) {
  const WrongFile cases[] = {
      {"sed: 1\n", "2:1: unknown key \"sed\"; did you mean \"seed\"?\n"},
      {"seed: -1\n",
       "2:7: seed: expected a whole number from 0 to 9223372036854775807, got \"-1\"\n"},
      {"timezone: Asia/Shangai\n",
       "2:11: timezone: \"Asia/Shangai\" is not a time zone of the tz database; write a name like "
       "Asia/Shanghai\n"},
      {"start: yesterday\n",
       "2:8: start: \"yesterday\" is not a time; write 2026-03-10T08:00:00+08:00 or \"2026-03-10 "
       "08:00\"\n"},
      {"start: 2026-03-29 02:30\ntimezone: Europe/Berlin\n",
       "2:8: start: 2026-03-29 02:30:00 does not exist in Europe/Berlin: the clock is set forward "
       "over it\n"},
      {"until: never\n",
       "2:8: until: expected a duration, such as 24h or 7d, or a time, such as \"day 2 08:00\", "
       "got "
       "\"never\"\n"},
      {"until: 0s\n", "2:8: until: the end is not after the start\n"},
      {"schedulePeriod: 0s\n", "2:17: schedulePeriod: expected at least 1ms, got \"0s\"\n"},
      {"kubelet: {startup: -1s}\n", "2:20: kubelet.startup: expected at least 0s, got \"-1s\"\n"},
      {"kubelet: {jitter: 2}\n",
       "2:19: kubelet.jitter: expected a number from 0 to 1, got \"2\"\n"},
      {"kubelet: fast\n", "2:10: kubelet: expected a mapping, got \"fast\"\n"},
      {"queues: {a: {wieght: 3}}\n",
       "2:14: queues.a: unknown key \"wieght\"; did you mean \"weight\"?\n"},
      {"queues: [{weight: 3}]\n", "2:10: queues[0]: expected a mapping with a name\n"},
      {"queues: {a: {capability: {cpu: lots}}}\n",
       "2:32: queues.a.capability.cpu: expected an amount, such as 500m, 4 or 16Gi, got "
       "\"lots\"\n"},
      {"priorityClasses: {a: high}\n",
       "2:22: priorityClasses.a.value: expected a whole number from -2000000000 to 2000000000, got "
       "\"high\"\n"},
      {"workload: [{cpu: 1}]\n",
       "2:12: workload[0].name: expected the name of the job, got nothing\n"},
      {"workload: [{name: A_b}]\n",
       "2:19: workload[0].name: expected a name of small letters, digits, '-' and '.', at most 200 "
       "of them, got \"A_b\"\n"},
      {"workload: [{name: a, queue: reserch}]\nqueues: {research: {}}\n",
       "2:29: workload[0].queue: there is no queue \"reserch\"; did you mean \"research\"?\n"},
      {"workload: [{name: a, priorityClass: urgent}]\n",
       "2:37: workload[0].priorityClass: there is no priority class \"urgent\"\n"},
      {"workload: [{name: a, replicas: 2, minAvailable: 3}]\n",
       "2:49: workload[0].minAvailable: 3 is more than the job's 2 pods\n"},
      {"workload: [{name: a, at: noon}]\n",
       "2:26: workload[0].at: \"noon\" is not a time; write \"12:00\", \"day 2 12:00\", \"Tue "
       "12:00\", \"+90m\", \"2026-03-10 12:00\" or \"2026-03-10T12:00:00+08:00\"\n"},
      {"start: 2026-03-10 08:00\nworkload: [{name: a, at: \"07:00\"}]\n",
       "3:26: workload[0].at: \"07:00\" is before the start, 2026-03-10 08:00:00; of the next day "
       "it is \"day 2 07:00\"\n"},
      {"workload: [{name: a, runTime: long}]\n",
       "2:31: workload[0].runTime: expected a duration, forever, {uniform: [1h, 3h]} or "
       "{exponential: 1h}, got \"long\"\n"},
      {"workload: [{name: a, runTime: {uniform: [3h, 1h]}}]\n",
       "2:41: workload[0].runTime.uniform: expected two durations, the shorter one first: [1h, "
       "3h]\n"},
      {"workload: [{name: a, budget: {minAvailable: half}}]\n",
       "2:45: workload[0].budget.minAvailable: expected a number or a percentage, such as 3 or "
       "50%, "
       "got \"half\"\n"},
      {"workload: [{name: a}, {name: a}]\n",
       "2:23: workload[1]: there is a job \"default/a\" already, at s.yaml:2\n"},
      {"workload: [{name: a, cooldwon: 5m}]\n",
       "2:22: workload[0]: unknown key \"cooldwon\"; did you mean \"cooldown\"?\n"},
      {"workload: [{name: a, tasks: [{name: x, cpus: 1}], replicas: 2}]\n",
       "2:40: workload[0].tasks[0]: unknown key \"cpus\"; did you mean \"cpu\"?\n"
       "2:61: workload[0].replicas: a job with tasks says its replicas there\n"},
      {"workload: [{name: a, arrivals: {process: poison, every: 1m}}]\n",
       "2:42: workload[0].arrivals.process: unknown process \"poison\"; did you mean "
       "\"poisson\"?\n"},
      {"workload: [{name: a, arrivals: {rate: 30}}]\n",
       "2:39: workload[0].arrivals.rate: \"30\" is not a rate; write 30/h, 2/m, 1/s or 500/d\n"},
      {"workload: [{name: a, arrivals: {every: 1ms}}]\n",
       "2:40: workload[0].arrivals.every: about 86400000 jobs would arrive; at most 1000000 are "
       "possible\n"},
      {"workload: [{name: a, replicas: 100, arrivals: {every: 1s}}]\n",
       "2:12: workload[0]: the workload has more than 5000000 pods: about 86400 jobs of 100 arrive "
       "here\n"},
      {"workload: [{trace: no.csv}]\n",
       "2:20: workload[0].trace: \"no.csv\" cannot be read: No such file or directory; files are "
       "looked for beside the scenario\n"},
      {"faults: [{nodeLots: node-1}]\n",
       "2:10: faults[0]: expected one of nodeLost, cordon, podCrash, slowKubelet, slowTermination, "
       "bindFails, evictFails, clockJump, got none\n"
       "2:11: faults[0]: unknown key \"nodeLots\"; did you mean \"nodeLost\"?\n"},
      {"faults: [{nodeLost: node-2}]\n",
       "2:21: faults[0].nodeLost: no node is called \"node-2\"; did you mean \"node-1\"?\n"},
      {"faults: [{slowKubelet: \"*\"}]\n",
       "2:10: faults[0].delay: expected a duration, such as 2m, got nothing\n"},
      {"faults: [{podCrash: web, for: 1m}]\n",
       "2:21: faults[0].podCrash: expected namespace/name of pods, such as team-a/*, got \"web\"\n"
       "2:31: faults[0].for: podCrash does not take this\n"},
      {"expect: [{bund: a/b}]\n",
       "2:10: expect[0]: expected one of bound, notBound, evicted, neverEvicted, drained, share, "
       "noThrash, completed, pods, waiting, loop, got none\n"
       "2:11: expect[0]: unknown key \"bund\"; did you mean \"bound\"?\n"},
      {"expect: [{bound: b, by: \"12:00\"}]\n",
       "2:18: expect[0].bound: expected namespace/name, such as \"default/b\", got \"b\"\n"},
      {"workload: [{name: a, count: 0}]\n",
       "2:29: workload[0].count: expected a whole number from 1 to 100000, got \"0\"\n"},
      {"workload: [{name: a, budget: {maxUnavailable: 150%}}]\n",
       "2:47: workload[0].budget.maxUnavailable: expected at most 100%, got \"150%\"\n"},
      {"expect: [{drained: rz1}]\n", "2:10: expect[0].within: expected a duration, got nothing\n"},
      {"expect: [{share: defult, at: \"12:00\", atLeast: 0.2}]\n",
       "2:18: expect[0].share: there is no queue \"defult\"; did you mean \"default\"?\n"},
      {"expect: [{evicted: a/b, between: [\"12:00\"]}]\n",
       "2:34: expect[0].between: expected two times: [\"21:00\", \"21:10\"]\n"},
      {"expect: [{neverEvicted: a/b, count: 3}]\n",
       "2:37: expect[0].count: neverEvicted does not take this\n"},
      {"scheduler: {}\nschedulerConfig: x.yaml\n",
       "2:12: actions: missing; expected names separated by commas, such as \"enqueue, allocate, "
       "backfill\"\n"
       "2:12: tiers: missing; expected a list of tiers, each with its plugins\n"
       "3:18: schedulerConfig: scheduler says it already; keep one of the two\n"},
  };
  for (const WrongFile& wrong : cases) {
    SCOPED_TRACE(wrong.text);
    std::string expected;
    std::string_view rest = wrong.problems;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      std::string line(rest.substr(0, end));
      line.insert(line.find(": ") + 2, "error: ");
      expected += "s.yaml:" + line + "\n";
      rest.remove_prefix(end + 1);
    }
    EXPECT_EQ(Read(WithCluster(wrong.text)).problems, expected);
  }
}

TEST(ReadScenario, NamesThatNobodyHasAreWarnedOf) {
  EXPECT_EQ(
      Read(WithCluster("queues: {red: {parent: nobody}, blue: {parent: red}, "
                       "green: {parent: root}}\n"))
          .problems,
      "s.yaml:2:24: warning: queues.red.parent: there is no queue \"nobody\"; expected one of "
      "blue, default, green, red\n");
  EXPECT_EQ(Read(WithCluster("queues: [{name: red, parent: blu}, {name: blue}]\n")).problems,
            "s.yaml:2:30: warning: queues[0].parent: there is no queue \"blu\"; did you mean "
            "\"blue\"?\n");
  const auto crash = [](const std::string& match) {
    return Read(WithCluster("workload:\n- {job: a/train, cpu: 1}\n"
                            "- {job: b/q, cpu: 1, arrivals: {every: 1h}}\n"
                            "faults: [{podCrash: \"" +
                            match + "\", at: \"12:00\"}]\n"))
        .problems;
  };
  for (const char* match : {"*", "a/*", "*/q-1-*", "a/train-task0-0", "b/*-0", "a/tr*"})
    EXPECT_EQ(crash(match), "") << match;
  for (const char* match : {"c/*", "a/q-*", "b/train-task0-0"})
    EXPECT_EQ(crash(match),
              fmt::format("s.yaml:5:21: warning: faults[0].podCrash: no job has a pod called "
                          "\"{}\"\n",
                          match));
}

TEST(ReadScenario, ClusterMistakes) {
  EXPECT_EQ(
      Read("workload: []\n").problems,
      "s.yaml:1:1: error: cluster: expected a mapping with nodes or manifests, got nothing\n");
  EXPECT_EQ(Read("cluster: {}\n").problems,
            "s.yaml:1:10: error: cluster: expected nodes or manifests with nodes, got none\n");
  EXPECT_EQ(Read("cluster: {nodes: {count: 3, name: n, cpu: 1, memory: 1Gi}}\n").problems,
            "s.yaml:1:35: error: cluster.nodes.name: 3 nodes need a place for the number; write "
            "\"n-%d\"\n");
  EXPECT_EQ(Read("cluster: {nodes: [{count: 2, name: \"n-%s\", cpu: 1, memory: 1Gi}]}\n").problems,
            "s.yaml:1:36: error: cluster.nodes[0].name: expected one place for the number, %d or "
            "%03d, got \"n-%s\"\n");
  EXPECT_EQ(Read("cluster: {nodes: [{cpu: 1}, {cpu: 1, memory: 1Gi}]}\n").problems,
            "s.yaml:1:19: error: cluster.nodes[0]: expected memory, got nothing\n"
            "s.yaml:1:29: error: cluster.nodes[1].name: there is a node \"node-1\" already\n");
  EXPECT_EQ(Read("cluster: {nodes: {cpu: 1, memory: 1Gi, taints: [a=b:NoSchedul]}}\n").problems,
            "s.yaml:1:48: error: cluster.nodes.taints: unknown effect \"NoSchedul\"; did you mean "
            "\"NoSchedule\"?\n");
}

TEST(ReadScenario, AllProblemsAtOnceInTheOrderOfTheFile) {
  const std::string problems = Read(
                                   "seed: x\nworkload: [{name: a, cpu: y}]\nkubelt: {}\n"
                                   "cluster: {nodes: {cpu: 1, memory: z}}\n")
                                   .problems;
  EXPECT_EQ(
      problems,
      "s.yaml:1:7: error: seed: expected a whole number from 0 to 9223372036854775807, got "
      "\"x\"\n"
      "s.yaml:2:27: error: workload[0].cpu: expected an amount, such as 500m, 4 or 16Gi, got "
      "\"y\"\n"
      "s.yaml:3:1: error: unknown key \"kubelt\"; did you mean \"kubelet\"?\n"
      "s.yaml:4:35: error: cluster.nodes.memory: expected an amount, such as 500m, 4 or 16Gi, "
      "got \"z\"\n");
}

TEST_F(ScenarioFolder, ATraceIsAJobPerRow) {
  Write("jobs.csv",
        "# made by hand\n"
        "arrival,name,namespace,cpu,replicas,runTime,nvidia.com/gpu\n"
        "90.5,first,team-a,2,3,600,\n"
        "\"12:00\",second,,500m,,1h,4\r\n");
  const Reading reading = ReadHere(WithCluster(
      "workload: [{trace: jobs.csv, namespace: team-z, memory: 1Gi, preemptable: true}]\n"));
  EXPECT_EQ(reading.problems, "");
  const Scenario& s = reading.scenario;
  ASSERT_EQ(s.submissions.size(), 2u);
  EXPECT_EQ(ElapsedNs(s.start, s.submissions[0].at), 90'500'000'000);
  const JobShape& first = s.submissions[0].job;
  EXPECT_EQ(first.ns, "team-a");
  EXPECT_EQ(first.tasks.at(0).replicas, 3);
  EXPECT_EQ(first.run_time.mean_ns, 600'000'000'000);
  EXPECT_EQ(first.annotations.at("volcano.sh/preemptable"), "true");
  const JobShape& second = s.submissions[1].job;
  EXPECT_EQ(second.ns, "team-z");
  EXPECT_EQ(second.tasks.at(0).resources,
            (TextTable{{"cpu", "500m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "4"}}));
  EXPECT_EQ(Clock(s, s.submissions[1].at), "2026-01-05 12:00:00");
}

TEST_F(ScenarioFolder, MistakesInATraceHaveItsLines) {
  const auto trace = [&](std::string_view csv) {
    Write("jobs.csv", csv);
    return ReadHere(WithCluster("workload: [{trace: jobs.csv}]\n")).problems;
  };
  EXPECT_EQ(trace(""),
            "jobs.csv:1:1: error: the trace is empty; expected a row with the names of its "
            "columns\n");
  EXPECT_EQ(trace("at,nmae\n1,a\n"),
            "jobs.csv:1:1: error: the column \"name\" is missing\n"
            "jobs.csv:1:4: error: unknown column \"nmae\"; did you mean \"name\"?\n");
  EXPECT_EQ(trace("at,name,cpu\n1,a\nsoon,b,1\n3,c,many\n4,d,\"1\n5,d,1\n"),
            "jobs.csv:2:1: error: expected 3 cells, got 2\n"
            "jobs.csv:3:1: error: at: \"soon\" is not a time; write \"12:00\", \"day 2 12:00\", "
            "\"Tue 12:00\", \"+90m\", \"2026-03-10 12:00\" or \"2026-03-10T12:00:00+08:00\", or "
            "seconds such as 90\n"
            "jobs.csv:4:5: error: cpu: expected an amount, such as 500m, 4 or 16Gi, got \"many\"\n"
            "jobs.csv:5:5: error: the quote is not closed in this line\n"
            "jobs.csv:6:1: error: there is a job \"default/d\" already, at jobs.csv:5\n");
}

TEST_F(ScenarioFolder, OtherFilesAreReadAndChecked) {
  Write("cluster.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: real}\n"
        "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n"
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: research}\n");
  Write("conf.yaml", "actions: alocate\ntiers: []\n");
  const std::string job = Write("job.yaml", "{name: late, cpu: 1}\n");
  const std::string manifest =
      Write("manifest.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: [x]}\n");
  EXPECT_EQ(ReadHere("cluster: {manifests: cluster.yaml}\n"
                     "workload: [{name: a, queue: research}]\nfaults: [{cordon: real}]\n")
                .problems,
            "");
  EXPECT_EQ(ReadHere(WithCluster("schedulerConfig: conf.yaml\n")).problems,
            "conf.yaml:1:10: error: actions: unknown action \"alocate\"; did you mean "
            "\"allocate\"?\n");
  ScenarioOverrides overrides;
  overrides.add = {job + "@12:00"};
  const Reading added = ReadHere(kCluster, overrides);
  EXPECT_EQ(added.problems, "");
  EXPECT_EQ(Clock(added.scenario, added.scenario.submissions.at(0).at), "2026-01-05 12:00:00");
  overrides.add = {job + "@day 9 12:00"};
  EXPECT_EQ(ReadHere(kCluster, overrides).problems,
            "--add job.yaml@day 9 12:00: warning: \"day 9 12:00\" is after the end of the run, "
            "2026-01-06 00:00:00\n");
  overrides.add = {"no-such-job.yaml"};
  overrides.config = "no-such-config.yaml";
  EXPECT_EQ(ReadHere(kCluster, overrides).problems,
            "--config no-such-config.yaml: error: \"no-such-config.yaml\" cannot be read: No such "
            "file or directory; files named by options are looked for in the current directory\n"
            "no-such-job.yaml: error: --add: \"no-such-job.yaml\" cannot be read: No such file or "
            "directory; files named by options are looked for in the current directory\n");
  overrides.config.clear();
  overrides.add = {manifest};
  EXPECT_NE(ReadHere(kCluster, overrides).problems, "");
  overrides.add = {job + "@noonish"};
  EXPECT_NE(ReadHere(kCluster, overrides).problems.find("\"noonish\" is not a time"),
            std::string::npos);
}

}  // namespace
}  // namespace krafla
