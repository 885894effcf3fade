#include "explain/drain_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/go_duration.h"
#include "cluster_state/derive_sums.h"
#include "model/revocable_access.h"
#include "session/tdm_settings.h"
#include "session/zone_drainer.h"

namespace krafla {

namespace {

constexpr size_t kMostSteps = 500;
// So many periods without any decision: nothing will change by itself.
constexpr size_t kIdleSteps = 3;

class Forecaster {
 public:
  Forecaster(const CycleInputs& inputs, std::string_view zone, Timestamp begin)
      : in_(inputs), borrowed_(inputs.cluster), c_(borrowed_.cluster), memory_(inputs.memory) {
    log_.CaptureTo(&muted_);
    zone_ = c_.strings.Find(zone);
    access_ = AccessRulesOf(in_.config.compatibility);
    tdm_ = ReadTdmSettings(in_.config, in_.zone);
    window_ = tdm_.Find(zone);
    out_.begin = out_.end = begin;
  }

  DrainForecast Run() {
    const int64_t period_ns = std::max(tdm_.evict_period_ns, Timestamp::kNsPerSecond);
    Timestamp at = out_.begin;
    size_t idle = 0;
    for (size_t step = 0; step < kMostSteps; ++step) {
      if (StillThere().empty()) {
        out_.complete = true;
        return std::move(out_);
      }
      if (window_ != nullptr && !tdm_.IsEmptied(*window_, at)) {
        out_.reopened = true;
        break;
      }
      if (in_.OutOfTime()) {
        out_.cut_short = true;
        return std::move(out_);
      }
      const bool decided = Step(at);
      idle = decided ? 0 : idle + 1;
      // Nobody waits for the end of all instants.
      if (idle >= kIdleSteps || __builtin_add_overflow(at.ns, period_ns, &at.ns)) break;
    }
    out_.complete = StillThere().empty();
    out_.stay = StillThere();
    return std::move(out_);
  }

 private:
  bool IsOnZone(JobId job) const {
    return std::any_of(c_.jobs[job].tasks.begin(), c_.jobs[job].tasks.end(), [&](TaskId id) {
      const Task& task = c_.tasks[id];
      return task.node.valid() && c_.nodes[task.node].zone == zone_;
    });
  }

  std::vector<std::string> StillThere() const {
    std::vector<std::string> pods;
    for (NodeId node : c_.nodes_by_name) {
      if (c_.nodes[node].zone != zone_) continue;
      for (TaskId id : c_.nodes[node].tasks) {
        const Task& task = c_.tasks[id];
        if (task.job.valid() && IsPreemptableStatus(task.status) &&
            OffersItself(task, &c_.jobs[task.job], access_))
          pods.push_back(c_.TaskKey(id));
      }
    }
    std::sort(pods.begin(), pods.end());
    return pods;
  }

  // One cycle; whether it decided anything.
  bool Step(Timestamp at) {
    SessionOptions options;
    options.now = at;
    options.zone = in_.zone;
    // A step comes with the limits as they are after a pause.
    if (memory_.allowance)
      memory_.allowance =
          CycleMemory::EvictionAllowance{.limits = memory_.allowance->limits,
                                         .minute_left = memory_.allowance->limits.per_minute,
                                         .cycle_left = memory_.allowance->limits.per_cycle,
                                         .held = false,
                                         .more_at = {}};
    options.memory = &memory_;
    std::set<TaskId> evicted;
    bool decided = false;
    bool went = false;
    std::vector<std::string> after_step;
    {
      Session session(c_, in_.config, options, log_);
      session.RunActions();
      DrainStep step{.at = at, .pods = {}};
      std::set<JobId> jobs;  // that lose a pod on this zone
      for (const Eviction& e : session.plan.evictions) {
        evicted.insert(e.task);
        if (e.for_task.valid()) continue;
        if (e.node.valid() && c_.nodes[e.node].zone == zone_) {
          step.pods.push_back(c_.TaskKey(e.task));
          jobs.insert(c_.tasks[e.task].job);
        }
      }
      for (const Eviction& e : session.plan.evictions)
        if (!e.for_task.valid() && jobs.contains(c_.tasks[e.task].job) &&
            !(e.node.valid() && c_.nodes[e.node].zone == zone_))
          ++step.elsewhere;
      decided = !session.plan.evictions.empty() || !session.plan.binds.empty();
      std::sort(step.pods.begin(), step.pods.end());
      went = !step.pods.empty();
      if (went) {
        out_.end = at;
        out_.steps.push_back(std::move(step));
      }
      out_.held.clear();
      if (const auto* report = dynamic_cast<const DrainReport*>(session.FindPlugin("tdm")))
        for (const HeldDrain& held : report->HeldDrains())
          if (IsOnZone(held.job)) {
            out_.held.push_back(fmt::format("{}: {}", c_.JobKey(held.job), held.why));
            after_step.push_back(fmt::format("{}: {}", c_.JobKey(held.job),
                                             jobs.contains(held.job) && !held.why_after_step.empty()
                                                 ? held.why_after_step
                                                 : held.why));
          }
    }
    Advance(evicted, at);
    if (went && !StillThere().empty()) out_.steps.back().pause = WhyPaused(after_step);
    return decided;
  }

  // What keeps the others until the next step.
  std::string WhyPaused(const std::vector<std::string>& held) const {
    const std::string period =
        fmt::format("the evict period, {}", FormatShortDuration(tdm_.evict_period_ns));
    if (held.empty()) return period;
    std::string text = held.front();
    if (held.size() > 1) text += fmt::format(" (and {} more jobs)", held.size() - 1);
    return text;
  }

  // What the decisions make of the cluster until the next step.
  void Advance(const std::set<TaskId>& evicted, Timestamp at) {
    for (uint32_t i = 0; i < c_.tasks.size(); ++i) {
      Task& task = c_.tasks[TaskId(i)];
      switch (task.status) {
        case TaskStatus::kReleasing:
          // Who was ending anyway is gone for good.
          task.status = evicted.contains(TaskId(i)) ? TaskStatus::kPending : TaskStatus::kSucceeded;
          Unplace(task);
          break;
        case TaskStatus::kPipelined:
        case TaskStatus::kAllocated:
          task.status = TaskStatus::kPending;
          Unplace(task);
          break;
        case TaskStatus::kBinding:
          task.status = TaskStatus::kRunning;
          task.pod_running = true;
          task.scheduled_at = task.started = at;
          if (task.node.valid()) task.node_name = c_.nodes[task.node].name;
          break;
        default:
          break;
      }
    }
    for (NodeId node : c_.nodes_by_name)
      std::erase_if(c_.nodes[node].tasks, [&](TaskId id) { return c_.tasks[id].node != node; });
    DeriveSums(c_);
  }

  static void Unplace(Task& task) {
    task.node = NodeId{};
    task.node_name = task.nominated_node = kEmptyStr;
    task.pod_running = task.terminating_by_preemption = task.eviction_occurred = false;
    task.unready = false;
    task.scheduled_at = task.started = Timestamp{};
  }

  const CycleInputs& in_;
  BorrowedCluster borrowed_;
  Cluster& c_;
  CycleMemory memory_;
  std::string muted_;
  Log log_;
  StrId zone_;
  AccessRules access_;
  TdmSettings tdm_;
  const TdmZone* window_ = nullptr;  // in tdm_; null: the zone is not configured
  DrainForecast out_;
};

}  // namespace

DrainForecast ForecastDrain(const CycleInputs& inputs, std::string_view zone, Timestamp begin) {
  return Forecaster(inputs, zone, begin).Run();
}

}  // namespace krafla
