#include "app/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/text_table.h"

namespace krafla {

namespace {

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Red(std::string_view text) const { return Wrap("31", text); }
  std::string Green(std::string_view text) const { return Wrap("32", text); }
  std::string Yellow(std::string_view text) const { return Wrap("33", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool color_;
};

std::string Bytes(double bytes) {
  static constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return bytes == std::floor(bytes) ? fmt::format("{}{}", bytes, kUnits[unit])
                                    : fmt::format("{:.1f}{}", bytes, kUnits[unit]);
}

std::string Plain(double milli) {
  const double whole = milli / 1000;
  return whole == std::floor(whole) ? fmt::format("{}", whole) : fmt::format("{:.2f}", whole);
}

// "4 cpu, 8Gi memory, 1 nvidia.com/gpu"
std::string Amounts(const Resource& resource, const ResourceKinds& kinds) {
  std::string text =
      fmt::format("{} cpu, {} memory", Plain(resource.cpu()), Bytes(resource.memory()));
  for (int kind = ResourceKinds::kPods + 1; kind < kinds.size(); ++kind)
    if (resource.Get(kind) > 0)
      text += fmt::format(", {} {}", Plain(resource.Get(kind)), kinds.Name(kind));
  return text;
}

class PlanText {
 public:
  PlanText(const Session& session, bool color) : s_(session), c_(session.cluster), paint_(color) {}

  std::string Render() {
    Queues();
    Actions();
    Pipelined();
    Waiting();
    if (s_.plan.binds.empty() && s_.plan.evictions.empty() && !any_pipelined_)
      text_ += fmt::format("\nNothing to do: no pod is bound, evicted or moved by this cycle.\n");
    return text_;
  }

 private:
  void Heading(std::string_view text) {
    if (!text_.empty()) text_ += '\n';
    text_ += paint_.Bold(text) + '\n';
  }

  void Queues() {
    TextTable table;
    table.Row({"QUEUE", "STATE", "SHARE", "DESERVED", "ALLOCATED"});
    for (QueueId id : c_.queues_by_name) {
      const QueueReport& report = s_.queue_reports[id];
      if (!report.known) {
        table.Row({std::string(c_.QueueName(id)), std::string(ToString(c_.queues[id].state)), "-", "-",
                   "-"});
        continue;
      }
      table.Row({std::string(c_.QueueName(id)), std::string(ToString(c_.queues[id].state)),
                 fmt::format("{:.0f}%", report.share * 100), Amounts(report.deserved, c_.kinds),
                 Amounts(report.allocated, c_.kinds)});
    }
    text_ += table.Render("");
  }

  // Why this pod had to go, and who agreed.
  std::string Why(const Eviction& e) {
    const Task& victim = c_.tasks[e.task];
    std::string why;
    switch (e.reason) {
      case EvictionReason::kPriority:
        why = fmt::format("job priority {} over {}", c_.jobs[c_.tasks[e.for_task].job].priority,
                          c_.jobs[victim.job].priority);
        break;
      case EvictionReason::kFairShare:
        why = "its job has the larger share";
        break;
      case EvictionReason::kWithinJob:
        why = fmt::format("task priority {} over {}", c_.tasks[e.for_task].priority, victim.priority);
        break;
      case EvictionReason::kReclaim:
        why = fmt::format("queue {} has more than it deserves",
                          c_.QueueName(c_.jobs[victim.job].queue));
        break;
      case EvictionReason::kZoneClosed:
        why = fmt::format("zone {} is closed", c_.Text(c_.nodes[e.node].zone));
        break;
      case EvictionReason::kBudget:
        why = "its disruption budget allows it";
        break;
    }
    std::string agreed;
    for (size_t i = 0; i < s_.plugin_names().size(); ++i)
      if ((e.permitted_by >> i & 1) != 0) agreed += (agreed.empty() ? "" : ", ") + s_.plugin_names()[i];
    return agreed.empty() ? why : fmt::format("{} (allowed by {})", why, agreed);
  }

  void Actions() {
    std::vector<std::string_view> done;
    for (const ActionOption& action : s_.config.actions) {
      if (std::find(done.begin(), done.end(), action.name) != done.end()) continue;
      done.push_back(action.name);
      TextTable rows;
      size_t binds = 0;
      size_t evictions = 0;
      for (const Bind& b : s_.plan.binds) {
        if (b.action != action.name) continue;
        ++binds;
        rows.Row({"bind", c_.TaskKey(b.task), "to " + std::string(c_.NodeName(b.node))});
      }
      for (const Eviction& e : s_.plan.evictions) {
        if (e.action != action.name) continue;
        ++evictions;
        rows.Row({"evict", c_.TaskKey(e.task),
                  "from " + (e.node.valid() ? std::string(c_.NodeName(e.node)) : "an unknown node"),
                  e.for_task.valid() ? "for " + c_.TaskKey(e.for_task) : "for nobody", Why(e)});
      }
      if (rows.empty()) continue;
      std::string counts;
      if (binds != 0) counts += paint_.Green(fmt::format("{} bound", binds));
      if (evictions != 0)
        counts += (counts.empty() ? "" : ", ") + paint_.Red(fmt::format("{} evicted", evictions));
      Heading(fmt::format("{}: {}", action.name, counts));
      text_ += rows.Render("  ");
    }
  }

  void Pipelined() {
    TextTable rows;
    for (JobId job : c_.jobs_by_name) {
      for (TaskId task : c_.jobs[job].tasks) {
        const Task& t = c_.tasks[task];
        if (t.status == TaskStatus::kPipelined)
          rows.Row({c_.TaskKey(task), "on " + std::string(c_.NodeName(t.node)),
                    t.eviction_occurred ? "as soon as those evicted for it are gone"
                                        : "as soon as terminating pods are gone"});
      }
    }
    if (rows.empty()) return;
    any_pipelined_ = true;
    Heading(paint_.Yellow("waiting for room that is being made"));
    text_ += rows.Render("  ");
  }

  // The first reason why a job with waiting tasks got nothing.
  std::string FirstReason(JobId id) {
    const Job& job = c_.jobs[id];
    if (const std::string* refusal = s_.EnqueueRefusal(id)) return *refusal;
    if (job.phase == JobPhase::kPending && job.min_resources)
      return "not let in by enqueue";
    if (const std::optional<InvalidJob> invalid = s_.JobInvalid(id)) return invalid->message;
    for (TaskId task : job.tasks)
      if (const FitError* error = s_.fit_errors.Find(task))
        return FitErrors::Text(*error, s_.reasons);
    for (TaskId task : job.tasks)
      if (c_.tasks[task].status == TaskStatus::kPending && c_.tasks[task].gated)
        return "its pods have scheduling gates";
    if (c_.queues[job.queue].state != QueueState::kOpen)
      return fmt::format("queue {} is {}", c_.QueueName(job.queue), ToString(c_.queues[job.queue].state));
    if (s_.Overused(job.queue))
      return fmt::format("queue {} has all it deserves", c_.QueueName(job.queue));
    if (job.IsReady()) return "its minimum runs; for more there is no room in its queue's share";
    return "its minimum could not be reached";
  }

  void Waiting() {
    TextTable rows;
    for (JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      const int32_t pending = job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kAllocated);
      if (pending == 0) continue;
      rows.Row({c_.JobKey(id), std::string(ToString(job.phase)),
                fmt::format("{} of {} pods, minimum {}", job.Ready() - job.Count(TaskStatus::kAllocated),
                            job.tasks.size(), job.min_available),
                FirstReason(id)});
    }
    if (rows.empty()) return;
    Heading("left waiting");
    text_ += rows.Render("  ");
  }

  const Session& s_;
  const Cluster& c_;
  Painter paint_;
  std::string text_;
  bool any_pipelined_ = false;
};

}  // namespace

std::string PlanAsText(const Session& session, bool color) {
  return PlanText(session, color).Render();
}

std::string StatsAsText(const Session& session, const RunStats& stats) {
  std::string text = "\nCPU ms: ";
  double total = 0;
  for (const Session::StepTime& step : session.step_times) {
    text += fmt::format("{} {:.2f}, ", step.name, step.cpu_ms);
    total += step.cpu_ms;
  }
  return text + fmt::format("total {:.2f}; load {:.2f}; peak memory {:.1f} MB\n", total, stats.load_ms,
                            stats.peak_rss_mb);
}

}  // namespace krafla
