#include "model/pod_budgets.h"

#include <algorithm>

#include "model/selectors.h"

namespace krafla {

namespace {

// A selector that is empty selects nothing here, as in Volcano; Kubernetes itself lets it select
// everything.
bool Selects(const PodDisruptionBudget& budget, const LabelSet& labels) {
  return !budget.selector.requirements.empty() && Matches(budget.selector, labels);
}

bool IsDisruptedAlready(const PodDisruptionBudget& budget, StrId pod_name) {
  return std::find(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod_name) !=
         budget.disrupted_pods.end();
}

uint64_t Key(uint32_t high, uint32_t low) {
  return (uint64_t{high} << 32) | low;
}

}  // namespace

PodBudgets::PodBudgets(const Cluster& cluster, Rules rules) : cluster_(cluster), rules_(rules) {
  const size_t count = cluster.budgets.size();
  left_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    left_.push_back(cluster.budgets[i].disruptions_allowed);
    in_namespace_[cluster.budgets[i].ns].push_back(i);
  }
  stamp_.assign(count, 0);
  left_in_call_.assign(count, 0);
  if (count > 0) task_match_.Reset(cluster.tasks.size());
  if (count > 0 && rules.charge_the_leaving) ChargeTheLeaving();
}

// By how many more the status counts than are healthy: they leave, are gone or no longer ready
// since it was written.
void PodBudgets::ChargeTheLeaving() {
  const auto matters = [&](uint32_t budget) {
    return left_[budget] > 0 && cluster_.budgets[budget].current_healthy >= 0;
  };
  std::vector<int32_t> healthy(left_.size(), 0);
  bool any = false;
  for (uint32_t i = 0; i < left_.size(); ++i) any = any || matters(i);
  if (!any) return;
  for (TaskId task(0); task < cluster_.tasks.Next(); ++task.value) {
    if (cluster_.tasks[task].status != TaskStatus::kRunning || cluster_.tasks[task].unready)
      continue;
    for (const uint32_t budget : BudgetsOf(task)) ++healthy[budget];
  }
  for (uint32_t i = 0; i < left_.size(); ++i) {
    if (!matters(i)) continue;
    const int32_t gone = std::max(0, cluster_.budgets[i].current_healthy - healthy[i]);
    left_[i] = std::max(0, left_[i] - gone);
  }
}

uint32_t PodBudgets::MatchOf(const Task& task) {
  const auto [it, is_new] = match_of_labels_.try_emplace(Key(task.ns.value, task.labels.value),
                                                         static_cast<uint32_t>(matches_.size()));
  if (!is_new) return it->second;
  std::vector<uint32_t>& match = matches_.emplace_back();
  const LabelSet& labels = cluster_.label_sets[task.labels];
  const auto budgets = in_namespace_.find(task.ns);
  if (labels.empty() || budgets == in_namespace_.end()) return it->second;
  for (uint32_t budget : budgets->second)
    if (Selects(cluster_.budgets[budget], labels)) match.push_back(budget);
  return it->second;
}

std::span<const uint32_t> PodBudgets::BudgetsOf(TaskId id) {
  if (left_.empty()) return {};
  uint32_t& known = task_match_[id];
  if (known == 0) {
    const Task& task = cluster_.tasks[id];
    uint32_t match = MatchOf(task);
    // The API server has counted this pod's end already: a list of its own.
    const auto counted = [&](uint32_t budget) {
      return IsDisruptedAlready(cluster_.budgets[budget], task.name);
    };
    if (std::any_of(matches_[match].begin(), matches_[match].end(), counted)) {
      std::vector<uint32_t> rest = matches_[match];
      std::erase_if(rest, counted);
      match = static_cast<uint32_t>(matches_.size());
      matches_.push_back(std::move(rest));
    }
    known = match + 1;
  }
  return matches_[known - 1];
}

int32_t& PodBudgets::LeftInThisCall(uint32_t budget) {
  if (stamp_[budget] != call_) {
    stamp_[budget] = call_;
    left_in_call_[budget] = left_[budget];
  }
  return left_in_call_[budget];
}

bool PodBudgets::MayGo(TaskId task) {
  const std::span<const uint32_t> budgets = BudgetsOf(task);
  bool may_go = true;
  for (uint32_t budget : budgets) may_go &= LeftInThisCall(budget) > 0;
  if (may_go || !rules_.charge_only_the_allowed)
    for (uint32_t budget : budgets) --LeftInThisCall(budget);
  return may_go;
}

void PodBudgets::Judge(std::span<const TaskId> tasks, std::vector<TaskId>& let_go,
                       std::vector<TaskId>& held) {
  if (++call_ == 0) {  // the counter has wrapped: old stamps must not look new
    std::fill(stamp_.begin(), stamp_.end(), 0);
    call_ = 1;
  }
  for (TaskId task : tasks) {
    const bool unlabelled = cluster_.label_sets[cluster_.tasks[task].labels].empty();
    const bool may_go = unlabelled ? rules_.unlabelled_may_go : MayGo(task);
    (may_go ? let_go : held).push_back(task);
  }
}

void PodBudgets::Add(TaskId task, int32_t amount, UndoLog& undo) {
  for (uint32_t budget : BudgetsOf(task)) {
    undo.Save(left_[budget]);
    left_[budget] += amount;
  }
}

}  // namespace krafla
