// How it measures: the cluster is made and scheduled until nothing happens any more. Then, round
// after round, one change is made and one cycle run, and the processor time of both together is
// taken; what brings the cluster back to where it was, with a cycle of its own, is not counted.
// Every round checks that the decision was the expected one.
#include "app/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <map>
#include <ostream>
#include <vector>

#include "app/command_inputs.h"
#include "app/warm_cluster.h"
#include "base/json_writer.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"

namespace krafla {

namespace {

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
  - name: tdm
  - name: cdp
  - name: pdb
)";

constexpr std::array<WarmKindInfo, 7> kKinds = {{
    {"pod", "a pod arrives and finds a place"},
    {"full", "a pod arrives, there is no place for it and nobody may be evicted"},
    {"node", "a node changes: a label, what it has, a cordon, in turn"},
    {"finish", "a pod ends and one that waits takes its place"},
    {"idle", "nothing changes, nobody waits"},
    {"stuck", "nothing changes, gangs wait that find no place"},
    {"crowd", "gangs wait that find no place, and a pod arrives that finds one"},
}};

int64_t CpuNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// What the last cycle decided and how long its steps took.
class LastCycle final : public DecisionSink {
 public:
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    decided_at_ns_ = CpuNs();
    binds_ = session.plan.binds.size();
    evictions_ = session.plan.evictions.size();
    if (binds_ > 0)
      bound_ = session.cluster.Text(session.cluster.tasks[session.plan.binds[0].task].name);
    steps_.clear();
    for (const StepTime& step : session.step_times)
      steps_.emplace_back(step.name, step.cpu_ms * 1e6);
  }
  void OnNothingNew() override {
    decided_at_ns_ = CpuNs();
    binds_ = evictions_ = 0;
    steps_.clear();
  }
  size_t binds() const { return binds_; }
  size_t evictions() const { return evictions_; }
  int64_t decided_at_ns() const { return decided_at_ns_; }
  const std::string& bound() const { return bound_; }
  const std::vector<std::pair<std::string, double>>& steps() const { return steps_; }

 private:
  int64_t decided_at_ns_ = 0;
  size_t binds_ = 0;
  size_t evictions_ = 0;
  std::string bound_;
  std::vector<std::pair<std::string, double>> steps_;
};

template <class T>
T Quantile(std::vector<T> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

class WarmBench {
 public:
  WarmBench(const BenchCommandOptions& options, SchedulerConfig config)
      : options_(options),
        cluster_(live_, {.nodes = options.nodes,
                         .pods_per_node = options.pods_per_node,
                         .waiting_gangs = GangsWait() ? options.waiting_gangs : 0,
                         .preemptable = !Is("full")}),
        loop_(live_, std::move(config), TimeZone(), log_) {}

  // What went wrong, empty when nothing did.
  std::string Run();
  void Write(JsonWriter& json) const;

 private:
  bool Is(std::string_view kind) const { return options_.warm == kind; }
  bool GangsWait() const { return Is("stuck") || Is("crowd"); }
  void Cycle() {
    now_.ns += Timestamp::kNsPerSecond / 100;
    loop_.RunCycle(now_, last_);
  }
  std::string WhatMightDo() const;
  void Settle();
  void Change(int round);
  void Restore(int round);
  size_t ExpectedBinds() const { return Is("pod") || Is("finish") || Is("crowd") ? 1 : 0; }
  int Pod(int round) const {
    return static_cast<int>(int64_t{round} * 7919 % cluster_.running_pods());
  }
  int Node(int round) const { return static_cast<int>(int64_t{round} * 7919 % options_.nodes); }
  WarmCluster::NodeChange NodeChangeOf(int round) const {
    return static_cast<WarmCluster::NodeChange>(round / 2 % 3);
  }

  const BenchCommandOptions& options_;
  LiveCluster live_{BuildOptions{}};
  WarmCluster cluster_;
  Log log_{0};
  SchedulingLoop loop_;
  LastCycle last_;
  Timestamp now_ = Timestamp::FromUnixSeconds(1'750'000'000);

  double first_ns_ = 0;
  std::vector<double> total_ns_;
  std::vector<double> change_ns_;
  std::map<std::string, std::vector<double>> step_ns_;
  std::vector<std::string> step_names_;
};

void WarmBench::Settle() {
  if (Is("finish"))
    for (int i = 0; i < 10; ++i) cluster_.AddJob(fmt::format("next-{}", i), false);
  const int64_t begin = CpuNs();
  Cycle();
  first_ns_ = static_cast<double>(CpuNs() - begin);
  for (int i = 0; i < 20 && loop_.IsDue(now_); ++i) Cycle();
}

void WarmBench::Change(int round) {
  if (Is("pod") || Is("crowd")) cluster_.AddJob("arrives", true);
  if (Is("full")) cluster_.AddJob("arrives", false);
  if (Is("node")) cluster_.ChangeNode(Node(round / 2 * 2), NodeChangeOf(round), round % 2 == 1);
  if (Is("finish")) cluster_.RemoveRunning(Pod(round));
}

void WarmBench::Restore(int round) {
  if (Is("pod") || Is("crowd") || Is("full")) {
    cluster_.RemoveJob("arrives");
    Cycle();
  }
  if (Is("finish")) {
    const std::string job = last_.bound().substr(0, last_.bound().rfind('-'));
    cluster_.RemoveJob(job);
    cluster_.AddRunning(Pod(round));
    cluster_.AddJob(job, false);
    Cycle();
  }
}

std::string WarmBench::WhatMightDo() const {
  if (!options_.config.empty())
    return fmt::format("{} must bind a pod that fits, and evict nobody for one that does not",
                       options_.config);
  return fmt::format("more than --nodes {}, fewer than --pods-per-node {}{} may do", options_.nodes,
                     options_.pods_per_node,
                     GangsWait() ? fmt::format(" or --gangs {}", options_.waiting_gangs) : "");
}

std::string WarmBench::Run() {
  Settle();
  for (int round = 0; round < options_.rounds; ++round) {
    const int64_t begin = CpuNs();
    Change(round);
    const int64_t changed = CpuNs();
    Cycle();
    total_ns_.push_back(static_cast<double>(last_.decided_at_ns() - begin));
    change_ns_.push_back(static_cast<double>(changed - begin));
    for (const auto& [name, ns] : last_.steps()) {
      std::vector<double>& times = step_ns_[name];
      if (times.empty()) step_names_.push_back(name);
      times.push_back(ns);
    }
    if (last_.binds() != ExpectedBinds() || last_.evictions() != 0)
      return fmt::format(
          "bench: --warm {} cannot be measured so: a round should have {} binds and no evictions, "
          "and round {} had {} and {}; {}",
          options_.warm, ExpectedBinds(), round, last_.binds(), last_.evictions(), WhatMightDo());
    Restore(round);
  }
  return {};
}

void WarmBench::Write(JsonWriter& json) const {
  const auto whole = [&](std::string_view key, double value) {
    json.Key(key).Integer(static_cast<int64_t>(value));
  };
  json.BeginObject();
  json.Key("kind").String(options_.warm);
  json.Key("nodes").Integer(options_.nodes);
  json.Key("running_pods").Integer(cluster_.running_pods());
  json.Key("waiting_gangs").Integer(GangsWait() ? options_.waiting_gangs : 0);
  json.Key("rounds").Integer(options_.rounds);
  whole("first_cycle_ns", first_ns_);
  json.Key("change_to_decision_ns").BeginObject();
  whole("min", Quantile(total_ns_, 0));
  whole("median", Quantile(total_ns_, 0.5));
  whole("p99", Quantile(total_ns_, 0.99));
  whole("max", Quantile(total_ns_, 1));
  json.EndObject();
  json.Key("median_ns").BeginObject();
  whole("change", Quantile(change_ns_, 0.5));
  for (const std::string& name : step_names_) whole(name, Quantile(step_ns_.at(name), 0.5));
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::span<const WarmKindInfo> WarmKinds() {
  return kKinds;
}

int BenchCommand(const BenchCommandOptions& options, std::ostream& out, std::ostream& err) {
  Diagnostics diagnostics;
  SchedulerConfig config =
      options.config.empty()
          ? ReadSchedulerConfig(
                kConfig, BuiltInVocabulary(),
                {.file_name = "bench configuration", .profile = options.compatibility}, diagnostics)
          : ReadConfig(options.config, false, options.compatibility, diagnostics);
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;
  WarmBench bench(options, std::move(config));
  if (const std::string problem = bench.Run(); !problem.empty()) {
    err << "error: " << problem << "\n";
    return kWrongInput;
  }
  JsonWriter json;
  bench.Write(json);
  out << json.text() << "\n";
  out.flush();
  if (!out) {
    err << "error: the figures could not be written\n";
    return kNotWritten;
  }
  return 0;
}

}  // namespace krafla
