#include "app/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "app/text_table.h"
#include "explain/amount_words.h"
#include "explain/eviction_story.h"
#include "explain/waiting_words.h"
#include "explain/why_waiting.h"
#include "model/disruption_budget.h"
#include "model/queue_amounts.h"
#include "session/unsupported.h"

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

class PlanText {
 public:
  PlanText(const Session& session, bool color) : s_(session), c_(session.cluster), paint_(color) {}

  std::string Render() {
    Queues();
    Actions();
    HeldInClosedZones();
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
    const AmountByQueue allocated = AllocatedByQueue(c_);
    for (QueueId id : c_.queues_by_name) {
      const QueueReport& report = s_.queue_reports[id];
      table.Row({std::string(c_.QueueName(id)), std::string(ToString(c_.queues[id].state)),
                 report.known ? fmt::format("{:.0f}%", report.share * 100) : "-",
                 report.known ? AmountsText(report.deserved, c_.kinds) : "-",
                 AmountsText(allocated[id], c_.kinds)});
    }
    text_ += table.Render("");
  }

  // " (allowed by priority, gang)"; who goes for nobody was not allowed to go but picked.
  std::string AllowedBy(const Eviction& e) {
    const std::string agreed = PluginsThatAllowed(s_, e);
    return agreed.empty()
               ? agreed
               : fmt::format(" ({} by {})", e.for_task.valid() ? "allowed" : "nominated", agreed);
  }

  // Pods on nodes of closed zones that a budget or their gang keeps there for now, by job and zone.
  void HeldInClosedZones() {
    std::map<std::pair<std::string, std::string>, std::vector<TaskId>> held;
    for (const TraceEvent& event : s_.trace.events()) {
      const auto code = static_cast<VetoCode>(event.code);
      if (event.kind != TraceKind::kVeto) continue;
      if (code != VetoCode::kBudget && code != VetoCode::kGangAtMinimum) continue;
      if (s_.plugin_names()[event.plugin] != "tdm") continue;
      const Task& task = c_.tasks[TaskId(event.a)];
      if (!task.node.valid() || c_.nodes[task.node].zone == kEmptyStr) continue;
      std::vector<TaskId>& tasks =
          held[{c_.JobKey(task.job), std::string(c_.Text(c_.nodes[task.node].zone))}];
      if (std::find(tasks.begin(), tasks.end(), TaskId(event.a)) == tasks.end())
        tasks.push_back(TaskId(event.a));
    }
    if (held.empty()) return;
    TextTable rows;
    for (const auto& [where, tasks] : held) {
      const std::string budget =
          DescribeBudget(c_.jobs[c_.tasks[tasks.front()].job].budget, s_.compat.budget_precedence);
      rows.Row({where.first, fmt::format("{} pod{}", tasks.size(), tasks.size() == 1 ? "" : "s"),
                "zone " + where.second,
                budget.empty() ? "its gang goes whole or not at all" : "its budget: " + budget});
    }
    Heading("left in closed zones for now");
    text_ += rows.Render("  ");
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
      // Said once when it is the same for all.
      std::optional<std::string> allowed;
      bool same = true;
      for (const Eviction& e : s_.plan.evictions) {
        if (e.action != action.name) continue;
        same &= !allowed || *allowed == AllowedBy(e);
        allowed = AllowedBy(e);
      }
      for (const Eviction& e : s_.plan.evictions) {
        if (e.action != action.name) continue;
        ++evictions;
        rows.Row({"evict", c_.TaskKey(e.task),
                  "from " + (e.node.valid() ? std::string(c_.NodeName(e.node)) : "an unknown node"),
                  e.for_task.valid() ? "for " + c_.TaskKey(e.for_task) : "for nobody",
                  WhyEvicted(s_, e) + (same ? "" : AllowedBy(e))});
      }
      if (rows.empty()) continue;
      std::string counts;
      if (binds != 0) counts += paint_.Green(fmt::format("{} bound", binds));
      if (evictions != 0)
        counts += (counts.empty() ? "" : ", ") + paint_.Red(fmt::format("{} evicted", evictions));
      Heading(fmt::format("{}: {}{}", action.name, counts, same ? allowed.value_or("") : ""));
      text_ += rows.Render("  ");
    }
  }

  std::string_view WhenItsTurnComes(TaskId id) {
    const Task& task = c_.tasks[id];
    if (IsNeverBound(s_, id))
      return "never: without backfill no pod that asks for nothing is bound";
    if (task.eviction_occurred) return "as soon as those evicted for it are gone";
    if (!c_.releasing[task.node].IsEmpty()) return "as soon as terminating pods are gone";
    return task.best_effort ? "there is room now; backfill would bind it"
                            : "there is room now; allocate would bind it";
  }

  void Pipelined() {
    TextTable rows;
    for (JobId job : c_.jobs_by_name) {
      for (TaskId task : c_.jobs[job].tasks) {
        const Task& t = c_.tasks[task];
        if (t.status == TaskStatus::kPipelined)
          rows.Row({c_.TaskKey(task), "on " + std::string(c_.NodeName(t.node)),
                    std::string(WhenItsTurnComes(task))});
      }
    }
    if (rows.empty()) return;
    any_pipelined_ = true;
    Heading(paint_.Yellow("waiting for room that is being made"));
    text_ += rows.Render("  ");
  }

  // Why enqueue or allocate did nothing for a job with waiting tasks, and which of them; neither
  // when it holds for all.
  WhyWaiting::Answer FirstReason(JobId id, const WhyWaiting& why) {
    const Job& job = c_.jobs[id];
    if (const std::string* refusal = s_.EnqueueRefusal(id)) return {"enqueue", *refusal};
    if (job.phase == JobPhase::kPending && job.min_resources)
      return {"enqueue", "no room for its minimum yet"};
    if (const std::optional<InvalidJob> invalid = s_.JobInvalid(id)) return {"", invalid->message};
    if (std::string claims = PodsThatNeedClaims(c_, job); !claims.empty())
      return {"", std::move(claims)};
    for (TaskId task : job.tasks)
      if (const FitError* error = s_.fit_errors.Find(task))
        return {"allocate", FitErrors::Text(*error, s_.reasons)};
    for (TaskId task : job.tasks)
      if (c_.tasks[task].status == TaskStatus::kPending && c_.tasks[task].gated)
        return {"", "its pods have scheduling gates"};
    if (c_.queues[job.queue].state != QueueState::kOpen)
      return {"", fmt::format("queue {} is {}", c_.QueueName(job.queue),
                              ToString(c_.queues[job.queue].state))};
    for (TaskId task : job.tasks)
      if (c_.tasks[task].status == TaskStatus::kPending)
        if (std::string share = BeyondShare(job.queue, task); !share.empty())
          return {"allocate", std::move(share)};
    for (TaskId task : job.tasks)
      if (c_.tasks[task].status == TaskStatus::kPending && c_.tasks[task].best_effort &&
          !s_.config.HasAction("backfill"))
        return {"backfill", "not among the actions, and it alone places pods that ask for nothing"};
    if (job.Ready() >= job.min_available)
      return {"allocate", "its minimum runs; there is no room for more"};
    if (const uint32_t places = why.PlacesFound(id, "allocate"); places > 0)
      return {"allocate", fmt::format("room for {} of its pods, {} needed at once", places,
                                      job.min_available - job.Ready())};
    return {"", ""};
  }

  // Where the queue would have more than it deserves with this task; empty if it would not.
  std::string BeyondShare(QueueId queue, TaskId task) {
    const QueueReport& report = s_.queue_reports[queue];
    if (!report.known) return {};
    const Resource& request = c_.Request(task);
    const int kind =
        Resource(report.allocated).Add(request).FirstExceeding(report.deserved, request);
    if (kind < 0) return {};
    return fmt::format("queue {} has {} of the {} {} it deserves, the pod asks for {}",
                       c_.QueueName(queue), AmountText(report.allocated.Get(kind), kind),
                       AmountText(report.deserved.Get(kind), kind), c_.kinds.Name(kind),
                       AmountText(request.Get(kind), kind));
  }

  // Every waiting job, and under it what each action says.
  void Waiting() {
    const WhyWaiting why(s_);
    TextTable jobs;
    std::vector<std::string> reasons;
    for (JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      const int32_t pending = job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kAllocated);
      if (pending == 0) continue;
      jobs.Row(
          {c_.JobKey(id), std::string(ToString(job.phase)),
           fmt::format("{} of {} pods, minimum {}", job.Ready() - job.Count(TaskStatus::kAllocated),
                       job.tasks.size(), job.min_available)});
      TextTable lines;
      std::vector<WhyWaiting::Answer> answers = why.Of(id);
      answers.insert(answers.begin(), FirstReason(id, why));
      for (const WhyWaiting::Answer& answer : answers) {
        if (answer.reason.empty()) continue;
        if (answer.action.empty()) {
          lines.Row({answer.reason});
        } else {
          lines.Row({std::string(answer.action), answer.reason});
        }
      }
      if (lines.empty()) lines.Row({"its minimum could not be reached"});
      reasons.push_back(lines.Render("    "));
    }
    if (jobs.empty()) return;
    Heading("left waiting");
    InsertBelow(jobs.Render("  "), reasons);
  }

  // A table's lines, each with its own text under it.
  void InsertBelow(std::string_view table, const std::vector<std::string>& below) {
    for (const std::string& text : below) {
      const size_t end = table.find('\n') + 1;
      text_.append(table.substr(0, end)).append(text);
      table.remove_prefix(end);
    }
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
  for (const StepTime& step : session.step_times) {
    text += fmt::format("{} {:.2f}, ", step.name, step.cpu_ms);
    total += step.cpu_ms;
  }
  return text + fmt::format("total {:.2f}; load {:.2f}; peak memory {:.1f} MB\n", total,
                            stats.load_ms, stats.peak_rss_mb);
}

}  // namespace krafla
