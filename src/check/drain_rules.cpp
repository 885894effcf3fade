// K40: how closed zones are emptied, and whether there is time for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "check/check_input.h"
#include "check/check_rule.h"
#include "check/drain_pods.h"
#include "check/zone_calendar.h"
#include "model/disruption_budget.h"

namespace krafla {

namespace {

// From the moment a zone begins to be emptied to the moment it opens again, at the shortest; 0 when
// it does not close and open within a week.
int64_t TimeToDrainNs(const CheckInput& input, const TdmZone& zone) {
  const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
  if (week.shortest_closed_ns == 0) return 0;
  return week.shortest_closed_ns + std::min(input.tdm.drain_lead_ns, week.longest_open_ns);
}

void PeriodTooLong(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.drains) return;
  for (const TdmZone& zone : input.tdm.zones) {
    const int64_t closed_ns = TimeToDrainNs(input, zone);
    if (closed_ns == 0 || input.tdm.evict_period_ns < closed_ns) continue;
    report.Add({.place = input.InConfig(input.tdm.evict_period_location),
                .object = "zone " + Printable(zone.name),
                .message = fmt::format("tdm.evict.period {} is not shorter than the time to empty "
                                       "the zone ({} at the shortest until it opens again)",
                                       FormatShortDuration(input.tdm.evict_period_ns),
                                       FormatShortDuration(closed_ns)),
                .consequence = "one step is made at each closing; what it does not take stays on "
                               "the nodes until the zone opens again",
                .fix = "shorten tdm.evict.period; 1m is the default",
                .details = TwoDays(input.tdm, zone, input.now)});
  }
}

bool HasBudget(const CheckInput& input, JobId job) {
  return EffectiveBudget(input.cluster->jobs[job].budget,
                         input.config.compatibility.budget_precedence) != BudgetKind::kNone;
}

void DrainTooSlow(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.drains || input.tdm.evict_period_ns <= 0) return;
  for (const TdmZone& zone : input.tdm.zones) {
    const int64_t closed_ns = TimeToDrainNs(input, zone);
    // A period that leaves time for one step only has its own finding.
    if (closed_ns == 0 || input.tdm.evict_period_ns >= closed_ns) continue;
    for (JobId job : input.cluster->jobs_by_name) {
      if (HasBudget(input, job)) continue;
      const std::vector<TaskId> pods = PodsToDrain(input, job, zone.name);
      if (pods.empty()) continue;
      const int64_t steps = StepsWithoutBudget(input, job, pods);
      // The first step is made when the zone closes.
      if (steps - 1 <= closed_ns / input.tdm.evict_period_ns) continue;
      report.Add(
          {.place = input.PlaceOf(job),
           .object = input.Title(job),
           .message = fmt::format(
               "it has {} in zone {} and no disruption budget: it leaves in at least {} of "
               "{} each, and there are {} at the shortest until the zone opens again",
               Count(pods.size(), "pod"), Printable(zone.name), Count(size_t(steps), "step"),
               FormatShortDuration(input.tdm.evict_period_ns), FormatShortDuration(closed_ns)),
           .consequence = "pods are still on the nodes when the zone opens again",
           .fix = "give the PodGroup volcano.sh/job-disruption-budget-max-unavailable, or "
                  "shorten tdm.evict.period"});
    }
  }
}

void NoBudget(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.drains) return;
  for (JobId job : input.cluster->jobs_by_name) {
    if (HasBudget(input, job)) continue;
    const std::vector<TaskId> pods = RevocablePods(input, job);
    if (pods.size() < 2) continue;
    report.Add(
        {.place = input.PlaceOf(job),
         .object = input.Title(job),
         .message = fmt::format("{} of it may be taken off revocable nodes, and it has no "
                                "disruption budget",
                                Count(pods.size(), "pod")),
         .consequence = fmt::format(
             "when its zone closes it loses one pod per evict period ({}), and a gang at its "
             "minMember all at once",
             FormatShortDuration(input.tdm.evict_period_ns)),
         .fix = "say how many may be missing at a time: "
                "volcano.sh/job-disruption-budget-max-unavailable: \"30%\" on the PodGroup"});
  }
}

// A gang at its minimum goes whole; one member that does not offer itself holds all others.
void HeldByMember(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.drains || !input.config.compatibility.drain_gang) return;
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  for (JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    if (static_cast<int64_t>(job.tasks.size()) > job.min_available) continue;
    bool in_zone = false;
    for (const TdmZone& zone : input.tdm.zones)
      in_zone |= !PodsToDrain(input, id, zone.name).empty();
    if (!in_zone) continue;
    std::vector<TaskId> stay;
    for (TaskId task : job.tasks)
      if (IsPreemptableStatus(cluster.tasks[task].status) && cluster.tasks[task].node.valid() &&
          !OffersItself(cluster.tasks[task], &job, rules))
        stay.push_back(task);
    if (stay.empty()) continue;
    report.Add({.place = input.PlaceOf(stay.front()),
                .object = input.Title(stay.front()),
                .message = fmt::format("it does not offer itself, and other pods of its gang "
                                       "(PodGroup {}, minMember {}) do and run in a zone",
                                       cluster.JobKey(id), job.min_available),
                .consequence = "a gang at its minimum leaves a closed zone whole or not at all: "
                               "nobody of it leaves",
                .fix = "let all of its pods say volcano.sh/preemptable: \"true\", or say it on the "
                       "PodGroup"});
  }
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K401", "evict-period-too-long", kWarning, RuleNeeds::kConfig,
              "The evict period is longer than a zone is closed.", &PeriodTooLong},
    CheckRule{"K402", "drain-too-slow", kWarning, RuleNeeds::kCluster,
              "A job without a budget cannot leave a zone before it opens again.", &DrainTooSlow},
    CheckRule{"K403", "no-budget", kWarning, RuleNeeds::kCluster,
              "A preemptable job on revocable nodes has no disruption budget.", &NoBudget},
    CheckRule{"K404", "gang-held-by-member", kWarning, RuleNeeds::kCluster,
              "A gang cannot leave a closed zone because one of its pods may not.", &HeldByMember},
};

}  // namespace

std::span<const CheckRule> DrainRules() {
  return kRules;
}

}  // namespace krafla
