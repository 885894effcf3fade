#include "model/zone_drain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace krafla {

namespace {

// Who is on a closing node and may go.
bool IsCandidate(const DrainMember& member) {
  return member.closing && member.may_go;
}

// Those of the candidates, first come first served, whom neither the job nor their role needs.
std::vector<TaskId> Surplus(const DrainJob& job, size_t candidates) {
  int32_t left = job.ready - job.min_available;
  std::vector<int32_t> left_of_role = job.role_surplus;
  std::vector<TaskId> surplus;
  surplus.reserve(candidates);
  for (const DrainMember& member : job.members) {
    if (left <= 0) break;
    if (!IsCandidate(member)) continue;
    if (!left_of_role.empty() && left_of_role[member.role]-- <= 0) continue;
    --left;
    surplus.push_back(member.task);
  }
  return surplus;
}

std::vector<TaskId> Candidates(const DrainJob& job, size_t number) {
  std::vector<TaskId> candidates;
  candidates.reserve(number);
  for (const DrainMember& member : job.members)
    if (IsCandidate(member)) candidates.push_back(member.task);
  return candidates;
}

DrainHold ShortOf(const Allowance& allowance) {
  return allowance.annotated ? DrainHold::kBudget : DrainHold::kPeriod;
}

// What keeps the whole gang from going in one step.
DrainHold HoldsGang(const DrainJob& job, TaskId& held_by) {
  if (job.in_flight) return DrainHold::kInFlight;
  int64_t running = 0;
  for (const DrainMember& member : job.members) {
    if (!member.may_go) {
      held_by = member.task;
      return DrainHold::kMember;
    }
    running += member.running ? 1 : 0;
  }
  // Without a budget the step counts once, however many go.
  const int64_t needed = job.allowance.annotated ? running : 1;
  return needed > job.allowance.count ? ShortOf(job.allowance) : DrainHold::kNothing;
}

}  // namespace

DrainPlan PlanDrain(const DrainJob& job, bool keep_gangs) {
  DrainPlan plan;
  const auto candidates =
      static_cast<size_t>(std::count_if(job.members.begin(), job.members.end(), IsCandidate));
  if (candidates == 0) return plan;
  std::vector<TaskId> surplus = keep_gangs ? Surplus(job, candidates) : Candidates(job, candidates);

  if (surplus.size() < candidates) {  // step 3: some belong to the minimum
    TaskId held_by;
    const DrainHold hold = HoldsGang(job, held_by);
    const bool all_at_once = job.allowance.annotated && candidates == job.members.size();
    if (surplus.empty() || (all_at_once && hold == DrainHold::kNothing)) {
      plan.hold = hold;
      plan.held_by = held_by;
      plan.whole = hold == DrainHold::kNothing;
      if (plan.whole)
        for (const DrainMember& member : job.members) plan.go.push_back(member.task);
      return plan;
    }
    plan.hold = DrainHold::kLater;
  }
  if (std::cmp_less(job.allowance.count, surplus.size())) {
    plan.hold = ShortOf(job.allowance);
    surplus.resize(static_cast<size_t>(job.allowance.count));
  }
  plan.go = std::move(surplus);
  return plan;
}

std::string DescribeHold(const DrainJob& job, const DrainPlan& plan, std::string_view budget,
                         std::string_view held_by) {
  switch (plan.hold) {
    case DrainHold::kNothing:
      return {};
    case DrainHold::kBudget: {
      std::string text =
          fmt::format("its budget {} allows {} more now", budget, job.allowance.count);
      if (plan.go.empty() && job.allowance.count > 0)
        text += fmt::format(", and its gang of {} goes whole or not at all", job.members.size());
      return text;
    }
    case DrainHold::kPeriod:
      return "it has no budget and one goes per evict period";
    case DrainHold::kMember:
      return fmt::format("its gang goes whole or not at all, and {} must not be evicted", held_by);
    case DrainHold::kInFlight:
      return "its gang goes whole or not at all, and a member is being bound";
    case DrainHold::kLater:
      return "what is above its minAvailable goes first";
    case DrainHold::kGuard:
      return fmt::format("{} is protected: conformance or a PodDisruptionBudget holds it", held_by);
    case DrainHold::kClock:
      return "the scheduler's clock differs from the API server's";
  }
  return {};
}

bool IsPeriodOver(const Timestamp* last, Timestamp now, int64_t period_ns) {
  if (last == nullptr || !last->Present()) return true;
  if (*last > now) return ElapsedNs(now, *last) > period_ns;
  return ElapsedNs(*last, now) >= period_ns;
}

std::optional<Timestamp> NextPeriodChange(const Timestamp* last, Timestamp now, int64_t period_ns) {
  if (last == nullptr || !last->Present()) return std::nullopt;
  int64_t change_ns = 0;
  if (!IsPeriodOver(last, now, period_ns)) {
    if (__builtin_add_overflow(last->ns, period_ns, &change_ns)) return std::nullopt;
    return Timestamp{change_ns};
  }
  if (*last <= now) return std::nullopt;
  // From the far future: it begins to count when it is only a period away.
  return Timestamp{last->ns - period_ns};
}

}  // namespace krafla
