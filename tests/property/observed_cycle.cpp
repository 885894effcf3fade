#include "property/observed_cycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/plan_json.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"
#include "session/action.h"

namespace krafla::testing {

namespace {

constexpr std::string_view kObserver = "observer";

std::string ReadInput(const RandomCluster& random, std::string_view text, SchedulerConfig& config,
                      Cluster& cluster) {
  Diagnostics diagnostics;
  config = ReadSchedulerConfig(random.config, BuiltInVocabulary(),
                               {.file_name = "config", .lenient = false, .profile = random.profile},
                               diagnostics);
  ReadClusterOptions options;
  options.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  cluster = ReadClusterFromText(text, "cluster", options, diagnostics);
  std::string problems;
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == Severity::kError) problems += ToString(d) + "\n";
  return problems;
}

SessionOptions OptionsFor(const RandomCluster& random, CycleMemory& memory) {
  SessionOptions options;
  const Result<ZonedTimestamp> now = ParseRfc3339(random.now);
  KRAFLA_CHECK(now.has_value());
  options.now = now->time;
  options.zone = FixedOffset(now->offset_seconds);
  options.memory = &memory;
  return options;
}

}  // namespace

// Everything a session asks between two statements comes past here, which is how commits are
// noticed: an action has to ask about predicates, queues, validity or nominated victims before it
// changes anything again.
class ObservedCycle::Observer final : public Plugin {
 public:
  explicit Observer(ObservedCycle& cycle) : cycle_(cycle) {}

  void Open(Session& session, const PluginOption&, PluginHooks& hooks) override {
    session_ = &session;
    hooks.job_valid = [this](JobId) {
      cycle_.ReportCommit();
      return std::optional<InvalidJob>();
    };
    hooks.overused = [this](QueueId) {
      cycle_.ReportCommit();
      return false;
    };
    hooks.victim_tasks = [this](std::vector<TaskId>&) { cycle_.ReportCommit(); };
    hooks.predicate.emplace();
    hooks.predicate->prepare = [this](TaskId) {
      cycle_.ReportCommit();
      return Refusal{};
    };
    hooks.on_allocate = [this](TaskId task) { Note(task, true); };
    hooks.on_deallocate = [this](TaskId task) { Note(task, false); };
    hooks.on_rollback = [this] { cycle_.moves_.resize(cycle_.move_count_); };
  }

 private:
  void Note(TaskId id, bool allocated) {
    if (cycle_.reporting_) return;  // a judge tries something out
    using Kind = Move::Kind;
    const Task& task = session_->cluster.tasks[id];
    Kind kind = Kind::kTakeBack;
    if (allocated) {
      kind = task.status == TaskStatus::kAllocated   ? Kind::kAllocate
             : task.status == TaskStatus::kPipelined ? Kind::kPipeline
                                                     : Kind::kSpare;
    } else if (task.status == TaskStatus::kReleasing) {
      kind = Kind::kEvict;
    }
    session_->undo.Save(cycle_.move_count_);
    cycle_.moves_.push_back({kind, id, task.node});
    cycle_.move_count_ = cycle_.moves_.size();
    if (cycle_.on_move) cycle_.on_move(cycle_.moves_.back());
  }

  ObservedCycle& cycle_;
  Session* session_ = nullptr;
};

ObservedCycle::ObservedCycle(const RandomCluster& random, std::string_view text, bool observed) {
  complaint = ReadInput(random, text, config, cluster);
  if (!complaint.empty()) return;
  status_at_open_.Reset(cluster.tasks.size());
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t)
    status_at_open_[TaskId(t)] = cluster.tasks[TaskId(t)].status;
  SessionOptions options = OptionsFor(random, memory);
  if (observed) {
    PluginOption option;
    option.name = kObserver;
    config.tiers.insert(config.tiers.begin(), Tier{{option}});
    options.make_plugin = [this](std::string_view name) -> std::unique_ptr<Plugin> {
      if (name == kObserver) return std::make_unique<Observer>(*this);
      for (const PluginEntry& entry : RegisteredPlugins())
        if (entry.name == name) return entry.make();
      return nullptr;
    };
  }
  session = std::make_unique<Session>(cluster, config, options, log_);
}

void ObservedCycle::ReportCommit() {
  if (reporting_) return;
  const Plan& plan = session->plan;
  if (plan.binds.size() == reported_binds_ && plan.evictions.size() == reported_evictions_) return;
  const CommitView view{std::span(moves_).subspan(std::min(reported_moves_, moves_.size())),
                        plan.binds.From(reported_binds_), plan.evictions.From(reported_evictions_)};
  reporting_ = true;
  if (on_commit) on_commit(view);
  reporting_ = false;
  reported_moves_ = moves_.size();
  reported_binds_ = plan.binds.size();
  reported_evictions_ = plan.evictions.size();
}

void ObservedCycle::Run() {
  if (!complaint.empty()) return;
  for (const ActionOption& option : config.actions) {
    for (const ActionEntry& entry : RegisteredActions()) {
      if (entry.name != option.name) continue;
      reported_moves_ = moves_.size();
      entry.make()->Run(*session);
      ReportCommit();
      session->VerifyInvariants();
      if (after_action) after_action();
      if (!complaint.empty()) {
        complaint = fmt::format("in action {}: {}", option.name, complaint);
        return;
      }
    }
  }
  session->Close();
}

bool ObservedCycle::Asks(std::string_view plugin, Switch what) const {
  for (const Tier& tier : config.tiers)
    for (const PluginOption& option : tier.plugins)
      if (option.name == plugin) return option.Enabled(what);
  return false;
}

std::string RunToJson(const RandomCluster& random, std::string_view text) {
  SchedulerConfig config;
  Cluster cluster;
  std::string problems = ReadInput(random, text, config, cluster);
  if (!problems.empty()) return problems;
  CycleMemory memory;
  Log log;
  Session session(cluster, config, OptionsFor(random, memory), log);
  session.RunActions();
  return PlanAsJson(session, std::nullopt);
}

}  // namespace krafla::testing
