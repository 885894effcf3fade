#include "session/zone_drainer.h"

#include <algorithm>
#include <utility>

#include "model/fetch_tasks.h"
#include "session/job_checks.h"

namespace krafla {

namespace {

constexpr std::string_view kSharedClock = "";

// In the decision trace: what keeps a task on a closing node.
VetoCode VetoFor(DrainHold hold) {
  if (hold == DrainHold::kClock) return VetoCode::kClockSkew;
  return hold == DrainHold::kMember || hold == DrainHold::kInFlight ? VetoCode::kGangAtMinimum
                                                                    : VetoCode::kBudget;
}

// Counted from the start of the pod, or from its scheduling while the start is not known.
bool IsDoneBy(const Task& task, Timestamp end) {
  const Timestamp began = task.started.Present() ? task.started : task.scheduled_at;
  return task.run_time_ns >= 0 && began.Present() && ElapsedNs(began, end) > task.run_time_ns;
}

// Waiting for the next step is not being stuck.
bool IsStuck(const DrainPlan& plan) {
  return plan.hold == DrainHold::kBudget || plan.hold == DrainHold::kMember ||
         plan.hold == DrainHold::kInFlight || plan.hold == DrainHold::kGuard ||
         plan.hold == DrainHold::kClock;
}

}  // namespace

ZoneDrainer::ZoneDrainer(Session& session, const std::vector<DrainZone>& zones,
                         int64_t evict_period_ns, const AccessRules& access,
                         JobDisruptions& disruptions, VictimNotes& notes)
    : session_(session),
      cluster_(session.cluster),
      zones_(zones),
      evict_period_ns_(evict_period_ns),
      access_(access),
      disruptions_(disruptions),
      notes_(notes) {}

void ZoneDrainer::Nominate(std::vector<TaskId>& nominated) {
  StartClocks();
  const bool held = session_.memory.clock_skew_s.has_value();
  if (!held && !session_.compat.evict_period_per_zone && !StartSharedClock()) return;
  const std::vector<const DrainZone*> closing = ClosingZones();
  if (session_.log.V(4)) session_.log.Line("TDM start to find victims");

  taken_.assign(cluster_.tasks.size(), false);
  nominated_.resize(cluster_.tasks.size());
  std::vector<TaskId> found;
  if (session_.compat.budget_accounting) {
    NominateFrom(closing, found);
  } else {
    // D14: Volcano gives every zone the full budget of a job.
    for (const DrainZone* const& zone : closing) NominateFrom({&zone, 1}, found);
  }
  for (const TaskId task : found) nominated_[task.value] = true;
  nominated.insert(nominated.end(), found.begin(), found.end());
  if (session_.log.V(4)) session_.log.Line("TDM got {} victims", found.size());
}

// D9: Volcano has one clock for all zones, and asking starts it.
bool ZoneDrainer::StartSharedClock() {
  const Timestamp* last = session_.memory.LastEviction(kSharedClock);
  if (!IsPeriodOver(last, session_.now, evict_period_ns_)) {
    if (session_.log.V(4)) session_.log.Line("TDM next evict time at {}", FormatRfc3339(*last));
    return false;
  }
  session_.memory.SetLastEviction(kSharedClock, session_.now);
  return true;
}

// D9: ours has one per zone, started by an eviction that was really made.
void ZoneDrainer::StartClocks() {
  const Plan::Evictions& evictions = session_.plan.evictions;
  for (; evictions_seen_ < evictions.size(); ++evictions_seen_) {
    const Eviction& eviction = evictions[evictions_seen_];
    if (!session_.compat.evict_period_per_zone || eviction.for_task.valid()) continue;
    if (nominated_.empty() || !In(nominated_, eviction.task)) continue;
    if (!eviction.node.valid()) continue;
    const std::string_view name = cluster_.Text(cluster_.nodes[eviction.node].zone);
    const auto zone = std::find_if(zones_.begin(), zones_.end(),
                                   [&](const DrainZone& z) { return z.name == name; });
    // The rest of a gang may have been in an open zone or in none.
    if (zone != zones_.end() && zone->IsEmptied())
      session_.memory.SetLastEviction(zone->name, session_.now);
  }
}

void ZoneDrainer::ForgetClocks() {
  std::erase_if(session_.memory.last_evictions, [&](const CycleMemory::ZoneEviction& clock) {
    return IsPeriodOver(&clock.at, session_.now, evict_period_ns_);
  });
}

std::optional<Timestamp> ZoneDrainer::NextChange() const {
  const auto change_of = [&](std::string_view clock) {
    return NextPeriodChange(session_.memory.LastEviction(clock), session_.now, evict_period_ns_);
  };
  // Volcano's clock starts anew with every question, also when there is nobody to take.
  if (!session_.compat.evict_period_per_zone)
    return zones_.empty() ? std::nullopt : change_of(kSharedClock);
  std::optional<Timestamp> next;
  for (const DrainZone& zone : zones_) {
    if (!zone.IsEmptied()) continue;
    const std::optional<Timestamp> change = change_of(zone.name);
    if (change && (!next || *change < *next) && HasSomebody(zone)) next = change;
  }
  return next;
}

std::vector<const DrainZone*> ZoneDrainer::ClosingZones() const {
  std::vector<const DrainZone*> closing;
  for (const DrainZone& zone : zones_) {
    if (!zone.IsEmptied()) continue;
    if (session_.compat.evict_period_per_zone &&
        !IsPeriodOver(session_.memory.LastEviction(zone.name), session_.now, evict_period_ns_))
      continue;
    if (session_.log.V(4))
      session_.log.Line("TDM revocable zone {} {}", zone.name,
                        zone.open ? "closes soon" : "is closed");
    closing.push_back(&zone);
  }
  return closing;
}

void ZoneDrainer::NominateFrom(std::span<const DrainZone* const> zones,
                               std::vector<TaskId>& nominated) {
  const std::vector<FoundTask> found = SortByJob(FindOnNodes(zones));
  if (found.empty()) return;
  found_.assign(cluster_.tasks.size(), false);
  for (const FoundTask& one : found) found_[one.task.value] = true;
  const auto settle = [&](Group& group) {
    if (session_.memory.clock_skew_s) group.plan = DrainPlan{.hold = DrainHold::kClock};
    Report(group);
    nominated.insert(nominated.end(), group.plan.go.begin(), group.plan.go.end());
    for (const TaskId task : group.plan.go) taken_[task.value] = true;
    if (IsStuck(group.plan)) held_.push_back(std::move(group));
  };
  ForgetHeld(found);
  const std::vector<DrainGuard*> guards = GuardsToAsk();
  // Guards look at all of them together. Without any each job is done with before the next one: of
  // thousands of jobs, little is in memory at a time.
  std::vector<Group> groups;
  for (size_t begin = 0, end = 0; begin < found.size(); begin = end) {
    while (end < found.size() && found[end].job == found[begin].job) ++end;
    Group group = MakeGroup(std::span(found).subspan(begin, end - begin));
    if (!guards.empty()) {
      groups.push_back(std::move(group));
      continue;
    }
    group.plan = PlanDrain(group.input, session_.compat.drain_gang);
    settle(group);
  }
  if (groups.empty()) return;
  PlanWith(guards, groups);
  for (Group& group : groups) settle(group);
}

// What was said of jobs that are asked about anew.
void ZoneDrainer::ForgetHeld(std::span<const FoundTask> found) {
  if (held_.empty()) return;
  std::vector<JobId> asked;
  for (const FoundTask& one : found)
    if (asked.empty() || asked.back() != one.job) asked.push_back(one.job);
  std::sort(asked.begin(), asked.end());
  std::erase_if(held_, [&](const Group& held) {
    return std::binary_search(asked.begin(), asked.end(), held.job);
  });
}

bool ZoneDrainer::Offers(TaskId id) const {
  const Task& task = cluster_.tasks[id];
  return OffersItself(task, task.job.valid() ? &cluster_.jobs[task.job] : nullptr, access_);
}

bool ZoneDrainer::IsToGo(TaskId id, const DrainZone& zone) const {
  const Task& task = cluster_.tasks[id];
  if (task.status != TaskStatus::kRunning || !task.job.valid() || !Offers(id)) return false;
  // Who says that it will be done when the window closes is not hurried.
  return !zone.open || !IsDoneBy(task, zone.closes);
}

bool ZoneDrainer::HasSomebody(const DrainZone& zone) const {
  return std::any_of(zone.nodes.begin(), zone.nodes.end(), [&](NodeId node) {
    const std::vector<TaskId>& tasks = cluster_.nodes[node].tasks;
    return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) { return IsToGo(id, zone); });
  });
}

std::vector<ZoneDrainer::FoundTask> ZoneDrainer::FindOnNodes(
    std::span<const DrainZone* const> zones) const {
  std::vector<FoundTask> found;
  for (const DrainZone* zone : zones)
    for (size_t at = 0; at < zone->nodes.size(); ++at) {
      FetchTasksAhead<true>(cluster_, zone->nodes.size(), at,
                            [&](size_t i) { return zone->nodes[i]; });
      for (TaskId id : cluster_.nodes[zone->nodes[at]].tasks) {
        if (In(taken_, id) || !IsToGo(id, *zone)) continue;
        const Task& task = cluster_.tasks[id];
        found.push_back({id, task.job, task.role_index});
      }
    }
  return found;
}

// By the names of the jobs; a job's tasks stay in the order in which they were found. Counted, not
// compared: there may be tens of thousands, of which only the jobs are sorted.
std::vector<ZoneDrainer::FoundTask> ZoneDrainer::SortByJob(const std::vector<FoundTask>& found) {
  std::vector<FoundTask> sorted(found.size());
  if (found.empty()) return sorted;
  if (rank_.empty()) {
    rank_.Reset(cluster_.jobs.size());
    place_.Reset(cluster_.jobs.size());
    for (uint32_t i = 0; i < cluster_.jobs_by_name.size(); ++i) rank_[cluster_.jobs_by_name[i]] = i;
  }
  std::vector<uint32_t> ranks;
  for (const FoundTask& one : found)
    if (place_[one.job]++ == 0) ranks.push_back(rank_[one.job]);
  std::sort(ranks.begin(), ranks.end());
  uint32_t next = 0;
  for (const uint32_t rank : ranks)
    next += std::exchange(place_[cluster_.jobs_by_name[rank]], next);
  for (const FoundTask& one : found) sorted[place_[one.job]++] = one;
  for (const uint32_t rank : ranks) place_[cluster_.jobs_by_name[rank]] = 0;
  return sorted;
}

ZoneDrainer::Group ZoneDrainer::MakeGroup(std::span<const FoundTask> found) {
  Group group{.job = found.front().job};
  const bool gangs = session_.compat.drain_gang;
  const size_t all = gangs ? cluster_.jobs[group.job].tasks.size() : 0;
  group.input.members.reserve(std::max(found.size(), all));
  for (const FoundTask& one : found)
    group.input.members.push_back(
        {.task = one.task, .role = one.role, .closing = true, .running = true, .may_go = true});
  group.input.allowance = disruptions_.AllowanceOf(group.job);
  if (gangs) AddRestOfGang(group);
  return group;
}

// What PlanDrain needs to know to keep gangs whole.
void ZoneDrainer::AddRestOfGang(Group& group) const {
  const Job& job = cluster_.jobs[group.job];
  DrainJob& input = group.input;
  input.ready = job.Ready();
  input.min_available = job.min_available;
  input.role_surplus = RoleSurplus(job);
  input.in_flight = job.Count(TaskStatus::kAllocated) + job.Count(TaskStatus::kBinding) > 0;
  for (TaskId id : job.tasks) {
    const Task& task = cluster_.tasks[id];
    if (!IsPreemptableStatus(task.status) || In(found_, id)) continue;
    if (In(taken_, id)) {  // by another zone of this call
      --input.ready;
      if (!input.role_surplus.empty()) --input.role_surplus[task.role_index];
      continue;
    }
    // A member on a node that is gone from the cluster is its node's business: it holds nobody back
    // and is not evicted, but its job counts it.
    if (!task.node.valid()) continue;
    input.members.push_back({.task = id,
                             .role = task.role_index,
                             .closing = false,
                             .running = task.status == TaskStatus::kRunning,
                             .may_go = Offers(id)});
  }
}

std::vector<DrainGuard*> ZoneDrainer::GuardsToAsk() {
  return session_.compat.drain_guards ? DrainGuardsOf(session_) : std::vector<DrainGuard*>();
}

// Guards may count (a PodDisruptionBudget over several jobs). Jobs of which nobody goes, though a
// guard let some, must not use up what it allows the others: it is asked again without them.
void ZoneDrainer::PlanWith(const std::vector<DrainGuard*>& guards, std::vector<Group>& groups) {
  for (bool again = true; again;) {
    const bool guards_hold_some = Ask(guards, groups);
    again = false;
    for (Group& group : groups) {
      if (group.settled) continue;
      group.plan = PlanDrain(group.input, session_.compat.drain_gang);
      if (group.plan.hold == DrainHold::kNothing) SetGuardHold(group);
      const bool asked_in_vain =
          group.plan.go.empty() &&
          std::any_of(group.input.members.begin(), group.input.members.end(),
                      [](const DrainMember& member) { return member.may_go; });
      if (asked_in_vain && guards_hold_some) group.settled = again = true;
    }
  }
}

// Everybody goes whom the guards let go; that may be nobody.
void ZoneDrainer::SetGuardHold(Group& group) {
  for (size_t i = 0; i < group.offered.size(); ++i) {
    const DrainMember& member = group.input.members[i];
    if (!member.closing || !group.offered[i] || member.may_go) continue;
    group.plan.hold = DrainHold::kGuard;
    group.plan.held_by = member.task;
    return;
  }
}

// Marks who may go; true when a guard holds somebody.
bool ZoneDrainer::Ask(const std::vector<DrainGuard*>& guards, std::vector<Group>& groups) {
  for (Group& group : groups)
    if (group.offered.empty())
      for (const DrainMember& member : group.input.members) group.offered.push_back(member.may_go);
  std::vector<TaskId> asked;
  for (const bool closing : {true, false})
    for (const Group& group : groups)
      for (size_t i = 0; i < group.offered.size(); ++i)
        if (!group.settled && group.offered[i] && group.input.members[i].closing == closing)
          asked.push_back(group.input.members[i].task);
  std::vector<TaskId> left = asked;
  for (DrainGuard* guard : guards) guard->Spare(left);
  const bool hold_some = left.size() < asked.size();
  TaskFlags is_left(cluster_.tasks.size());
  for (const TaskId task : left) is_left[task.value] = true;
  for (Group& group : groups)
    for (size_t i = 0; i < group.offered.size(); ++i)
      if (DrainMember& member = group.input.members[i]; !group.settled)
        member.may_go = group.offered[i] && In(is_left, member.task);
  return hold_some;
}

void ZoneDrainer::Report(const Group& group) {
  const DrainPlan& plan = group.plan;
  const size_t candidates =
      static_cast<size_t>(std::count_if(group.input.members.begin(), group.input.members.end(),
                                        [](const DrainMember& member) { return member.closing; }));
  if (session_.log.V(3))
    session_.log.Line("Job <{}> max evict:{}, potential victims number:{}, max victims number:{}",
                      cluster_.JobKey(group.job), group.input.allowance.count, candidates,
                      plan.go.size());
  if (plan.hold != DrainHold::kNothing && session_.log.V(3))
    session_.log.Line("Job <{}> is not taken off its closed zone as a whole: {}",
                      cluster_.JobKey(group.job), WhyHeld(group));
  if (!IsStuck(plan) || plan.hold == DrainHold::kGuard) return;
  for (const DrainMember& member : group.input.members)
    if (member.closing && std::find(plan.go.begin(), plan.go.end(), member.task) == plan.go.end())
      notes_.Spared(member.task, VetoFor(plan.hold));
}

std::string ZoneDrainer::WhyHeld(const Group& group) const {
  return WhyHeld(group.input, group.plan, group.job);
}

std::string ZoneDrainer::WhyHeld(const DrainJob& input, const DrainPlan& plan, JobId job) const {
  if (plan.hold == DrainHold::kClock && session_.memory.clock_skew_s)
    return DescribeClockSkew(*session_.memory.clock_skew_s);
  const TaskId held_by = plan.held_by;
  return DescribeHold(input, plan, disruptions_.DescribeBudgetOf(job),
                      held_by.valid() ? cluster_.TaskKey(held_by) : "");
}

std::vector<HeldDrain> ZoneDrainer::HeldDrains() const {
  std::vector<HeldDrain> drains;
  for (const Group& group : held_) {
    HeldDrain& drain = drains.emplace_back(HeldDrain{
        .job = group.job, .hold = group.plan.hold, .why = WhyHeld(group), .why_after_step = {}});
    DrainJob after = group.input;
    // A step that leaves somebody because of the budget has used it up.
    if (group.plan.hold == DrainHold::kBudget && !group.plan.go.empty()) after.allowance.count = 0;
    drain.why_after_step = WhyHeld(after, group.plan, group.job);
  }
  return drains;
}

}  // namespace krafla
