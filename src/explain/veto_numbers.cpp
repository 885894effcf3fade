#include "explain/veto_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/amount_words.h"
#include "explain/cooldown_words.h"
#include "explain/held_amounts.h"
#include "explain/veto_words.h"
#include "fair_share/dominant_share.h"
#include "model/disruption_budget.h"
#include "model/pod_budgets.h"

namespace krafla {

namespace {

class VetoText {
 public:
  VetoText(Session& session, EvictingAction action, TaskId for_task, const VictimVote& vote,
           TaskId spared)
      : s_(session),
        c_(session.cluster),
        action_(action),
        for_task_(for_task),
        vote_(vote),
        spared_(spared) {}

  std::string Text() const {
    const auto veto = vote_.vetoes.find(spared_);
    if (veto == vote_.vetoes.end()) return WithoutCode();
    std::string numbers = Numbers(veto->second);
    return numbers.empty() ? std::string(WhySpared(veto->second)) : numbers;
  }

 private:
  std::string WithoutCode() const {
    // tdm says no to everything a pod asks that may itself be pushed aside.
    if (vote_.vote == Vote::kReject)
      return fmt::format("{} may itself be pushed aside, and evicts nobody", c_.TaskKey(for_task_));
    return "not let go";
  }

  std::string Numbers(VetoCode code) const {
    const Task& task = c_.tasks[spared_];
    switch (code) {
      case VetoCode::kLowerPriorityOnly:
        return Priorities();
      case VetoCode::kGangAtMinimum:
        return GangMinimum();
      case VetoCode::kShareTooSmall:
        return Shares();
      case VetoCode::kQueueDeserves:
        return QueueShare();
      case VetoCode::kCritical:
        return task.priority_class != kEmptyStr && c_.Text(task.ns) != "kube-system"
                   ? fmt::format("it has the priority class {}", c_.Text(task.priority_class))
                   : "it is in namespace kube-system";
      case VetoCode::kCooldown:
      case VetoCode::kEvictedTooOften:
        return CooldownText();
      case VetoCode::kBudget:
        return vote_.plugin == "pdb" ? PodBudget() : JobBudget();
      case VetoCode::kOnRevocableNode:
        return fmt::format("it is on a node of zone {}, which tdm leaves to the zone's closing",
                           task.node.valid() ? c_.Text(c_.nodes[task.node].zone) : "");
      case VetoCode::kNotPreemptable:
        return {};
      case VetoCode::kClockSkew:
        return s_.memory.clock_skew_s ? fmt::format("its cooldown does not end: {}",
                                                    DescribeClockSkew(*s_.memory.clock_skew_s))
                                      : std::string();
    }
    return {};
  }

  std::string CooldownText() const {
    const std::optional<CooldownStanding> standing = CooldownStandingOf(s_, spared_);
    return standing ? DescribeCooldown(s_, spared_, *standing) : std::string();
  }

  std::string Priorities() const {
    const Task& task = c_.tasks[spared_];
    const Task& own = c_.tasks[for_task_];
    if (task.job == own.job)
      return fmt::format("task priority {} is not above {}", own.priority, task.priority);
    if (!task.job.valid() || !own.job.valid()) return {};
    return fmt::format("priority {} of {} is not above {} of {}", c_.jobs[own.job].priority,
                       c_.JobKey(own.job), c_.jobs[task.job].priority, c_.JobKey(task.job));
  }

  std::string GangMinimum() const {
    const JobId id = c_.tasks[spared_].job;
    const Job& job = c_.jobs[id];
    // Those of the job that stand before it in the list and were let go count as gone.
    const auto gone = std::count_if(vote_.let_go.begin(), vote_.let_go.end(),
                                    [&](TaskId t) { return c_.tasks[t].job == id; });
    std::string text =
        fmt::format("{} has {} ready, minimum {}", c_.JobKey(id), job.Ready(), job.min_available);
    if (gone > 0)
      text += fmt::format(", and {} of them {} let go already", gone, gone == 1 ? "is" : "are");
    return text;
  }

  std::string Shares() const {
    const JobId own = c_.tasks[for_task_].job;
    const JobId theirs = c_.tasks[spared_].job;
    if (action_ != EvictingAction::kPreempt || !own.valid() || !theirs.valid()) return {};
    const double with = DominantShare(AllocatedOf(c_, own).Add(c_.Request(for_task_)), c_.total);
    // Candidates of one job are thought away one after the other.
    Resource left = AllocatedOf(c_, theirs);
    for (TaskId task : vote_.asked) {
      if (c_.tasks[task].job == theirs) left.Sub(c_.Request(task));
      if (task == spared_) break;
    }
    const double without = DominantShare(left, c_.total);
    if (!(with > without)) return {};
    return fmt::format("share {:.2f} > {:.2f} ({} with the newcomer, {} without this pod)", with,
                       without, c_.JobKey(own), c_.JobKey(theirs));
  }

  std::string QueueShare() const {
    const JobId job = c_.tasks[spared_].job;
    if (!job.valid()) return {};
    const QueueId queue = c_.jobs[job].queue;
    const QueueReport& report = s_.queue_reports[queue];
    if (!report.known) return {};
    const auto gone = std::count_if(vote_.let_go.begin(), vote_.let_go.end(), [&](TaskId t) {
      return c_.tasks[t].job.valid() && c_.jobs[c_.tasks[t].job].queue == queue;
    });
    return fmt::format(
        "queue {} has {} and deserves {}{}", c_.QueueName(queue),
        AmountsText(AllocatedOf(c_, queue), c_.kinds), AmountsText(report.deserved, c_.kinds),
        gone > 0 ? fmt::format(", and {} pod(s) of it are let go already", gone) : std::string());
  }

  std::string PodBudget() const {
    PodBudgets budgets(c_, PodBudgets::Rules{.charge_only_the_allowed = s_.compat.budget_accounting,
                                             .unlabelled_may_go = s_.compat.pdb_unlabelled,
                                             .charge_the_leaving = s_.compat.budget_accounting});
    std::string names;
    for (uint32_t budget : budgets.BudgetsOf(spared_)) {
      const PodDisruptionBudget& b = c_.budgets[budget];
      names += fmt::format("{}{}/{} allows {}", names.empty() ? "" : ", ", c_.Text(b.ns),
                           c_.Text(b.name), b.disruptions_allowed);
      if (const int32_t used = b.disruptions_allowed - budgets.Left(budget); used > 0)
        names += fmt::format(" less {} that it has not yet seen leave, so {}", used,
                             budgets.Left(budget));
    }
    if (names.empty()) return {};
    return fmt::format("PodDisruptionBudget {} disruption(s)", names);
  }

  std::string JobBudget() const {
    const JobId id = c_.tasks[spared_].job;
    const Job& job = c_.jobs[id];
    const std::string budget = DescribeBudget(job.budget, s_.compat.budget_precedence);
    const JobCensus census = CensusOf(job);
    if (budget.empty())
      return fmt::format("{} has no budget: one eviction per evict period", c_.JobKey(id));
    std::string complaint;
    const Allowance allowed = AllowedEvictions(job.budget, census,
                                               {.floor = s_.compat.budget_floor,
                                                .max_unavailable_wins = s_.compat.budget_precedence,
                                                .unreadable_protects = s_.compat.budget_unreadable},
                                               complaint);
    return fmt::format("budget of {}: {}, {} of {} running, {} more may go", c_.JobKey(id), budget,
                       census.running, census.total - census.finished, allowed.count);
  }

  Session& s_;
  const Cluster& c_;
  EvictingAction action_;
  TaskId for_task_;
  const VictimVote& vote_;
  TaskId spared_;
};

}  // namespace

std::string DescribeVeto(Session& session, EvictingAction action, TaskId for_task,
                         const VictimVote& vote, TaskId spared) {
  return vote.plugin + ": " + VetoText(session, action, for_task, vote, spared).Text();
}

}  // namespace krafla
