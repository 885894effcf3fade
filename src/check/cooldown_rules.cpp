// K42: cooldowns of pods.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "check/check_input.h"
#include "check/check_rule.h"
#include "check/drain_pods.h"
#include "check/zone_calendar.h"
#include "model/well_known.h"

namespace krafla {

namespace {

Place PlaceOfCooldown(const CheckInput& input, TaskId id) {
  const Task& task = input.cluster->tasks[id];
  return input.objects.PlaceOfFirst("Pod", input.cluster->Text(task.ns),
                                    input.cluster->Text(task.name),
                                    {keys::kCooldownTime, keys::kCooldownTimeAlternative});
}

// The reader warns of these; here they get a code.
void Unreadable(const CheckInput& input, RuleReport& report) {
  for (const Diagnostic& problem : input.object_problems.items()) {
    if (!IsAboutCooldown(problem)) continue;
    report.Add({.place = {problem.file, problem.location},
                .object = problem.object,
                .message = fmt::format("{}: {}", problem.field,
                                       problem.message.substr(0, problem.message.find(';'))),
                .consequence = "the pod has no cooldown",
                .fix = "write a duration such as \"90s\", \"5m\" or \"1h30m\""});
  }
}

bool Votes(const CheckInput& input) {
  const PluginOption* cdp = input.FindPlugin("cdp");
  return cdp != nullptr &&
         ((cdp->Enabled(Switch::kPreemptable) && input.config.HasAction("preempt")) ||
          (cdp->Enabled(Switch::kReclaimable) && input.config.HasAction("reclaim")));
}

// The pods of a job say the same: one finding for the first of each job and cooldown.
void LongerThanWindow(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || !Votes(input)) return;
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  std::map<std::string, int64_t> longest;  // open, by zone; zones that never close are not in it
  for (const TdmZone& zone : input.tdm.zones) {
    const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
    if (!week.never_closes && !week.never_opens) longest[zone.name] = week.longest_open_ns;
  }
  for (JobId job : cluster.jobs_by_name) {
    for (TaskId id : cluster.jobs[job].tasks) {
      const Task& task = cluster.tasks[id];
      const RevocableAccess access = AccessOf(task, rules);
      if (task.cooldown_ns <= 0 || !access.Any()) continue;
      const std::string* zone = nullptr;
      for (const auto& [name, open_ns] : longest) {
        const StrId known = cluster.strings.Find(name);
        const bool may_use = access.all || (known.valid() && access.Allows(known));
        if (may_use && open_ns < task.cooldown_ns) zone = &name;
      }
      if (zone == nullptr) continue;
      report.Add(
          {.place = PlaceOfCooldown(input, id),
           .object = input.Title(id),
           .message = fmt::format("its cooldown of {} is longer than zone {} is ever open ({})",
                                  FormatShortDuration(task.cooldown_ns), Printable(*zone),
                                  FormatShortDuration(longest[*zone])),
           .consequence = "in that zone no urgent job can ever take its place, and when the "
                          "zone closes it is taken off in spite of the cooldown",
           .fix = fmt::format("write a cooldown below {}", FormatShortDuration(longest[*zone]))});
      break;
    }
  }
}

void WithoutCdp(const CheckInput& input, RuleReport& report) {
  if (input.FindPlugin("cdp") != nullptr) return;
  const Cluster& cluster = *input.cluster;
  size_t count = 0;
  TaskId first;
  for (JobId job : cluster.jobs_by_name)
    for (TaskId id : cluster.jobs[job].tasks)
      if (cluster.tasks[id].cooldown_ns > 0 && count++ == 0) first = id;
  if (count == 0) return;
  report.Add({.place = PlaceOfCooldown(input, first),
              .object = input.Title(first),
              .message = fmt::format("{} a cooldown, and cdp is not configured",
                                     count == 1 ? "1 pod has" : fmt::format("{} pods have", count)),
              .consequence = "nobody looks at the cooldowns: pods can be evicted right after they "
                             "were placed",
              .fix = "add cdp to the tier of the plugins that name victims"});
}

constexpr std::array kRules = {
    CheckRule{"K421", "unreadable-cooldown", FindingLevel::kWarning, RuleNeeds::kNothing,
              "A pod's cooldown cannot be read.", &Unreadable},
    CheckRule{"K422", "cooldown-longer-than-window", FindingLevel::kWarning, RuleNeeds::kCluster,
              "A pod's cooldown is longer than its zone is open.", &LongerThanWindow},
    CheckRule{"K423", "cooldown-without-cdp", FindingLevel::kNote, RuleNeeds::kCluster,
              "Pods have cooldowns, and cdp is not configured.", &WithoutCdp},
};

}  // namespace

std::span<const CheckRule> CooldownRules() {
  return kRules;
}

}  // namespace krafla
