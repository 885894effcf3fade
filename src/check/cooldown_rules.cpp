// K42: cooldowns of pods.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
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

// Where a pod has its cooldown from.
struct Cooldown {
  int64_t ns = -1;
  Place place;
  std::string owner;  // "PodGroup ml/train" when it is not the pod's own
};

Place PlaceOfKey(const CheckInput& input, std::string_view kind, StrId ns, StrId name) {
  return input.objects.PlaceOfFirst(kind, input.cluster->Text(ns), input.cluster->Text(name),
                                    {keys::kCooldownTime, keys::kCooldownTimeAlternative});
}

// The pod's own, else its PodGroup's, else its Queue's, else the configured default.
Cooldown CooldownOf(const CheckInput& input, TaskId id) {
  const Cluster& cluster = *input.cluster;
  const Task& task = cluster.tasks[id];
  if (task.cooldown_ns >= 0)
    return {task.cooldown_ns, PlaceOfKey(input, "Pod", task.ns, task.name), ""};
  const Job& job = cluster.jobs[task.job];
  if (input.config.compatibility.inherited_cooldown) {
    if (job.cooldown_ns >= 0)
      return {job.cooldown_ns, PlaceOfKey(input, "PodGroup", job.ns, job.name),
              input.Title(task.job)};
    const Queue& queue = cluster.queues[job.queue];
    if (queue.cooldown_ns >= 0)
      return {queue.cooldown_ns, PlaceOfKey(input, "Queue", kEmptyStr, queue.name),
              fmt::format("Queue {}", cluster.Text(queue.name))};
  }
  const PluginOption* cdp = input.FindPlugin("cdp");
  const Argument* argument = cdp == nullptr ? nullptr : cdp->arguments.Find("cdp.default-cooldown");
  if (argument == nullptr) return {};
  return {cdp->arguments.GetDurationNs(argument->key).value_or(-1),
          input.InConfig(argument->location), argument->key};
}

// The reader warns of these; here they get a code.
void Unreadable(const CheckInput& input, RuleReport& report) {
  for (const Diagnostic& problem : input.object_problems.items()) {
    if (!IsAboutCooldown(problem)) continue;
    report.Add({.place = {problem.file, problem.location},
                .object = problem.object,
                .message = fmt::format("{}: {}", problem.field,
                                       problem.message.substr(0, problem.message.find(';'))),
                .consequence = problem.object.starts_with("Pod ")
                                   ? "the pod has no cooldown of its own"
                                   : "it has no cooldown to hand on to its pods",
                .fix = "write a duration such as \"90s\", \"5m\" or \"1h30m\""});
  }
}

bool Votes(const CheckInput& input) {
  const PluginOption* cdp = input.FindPlugin("cdp");
  return cdp != nullptr &&
         ((cdp->Enabled(Switch::kPreemptable) && input.config.HasAction("preempt")) ||
          (cdp->Enabled(Switch::kReclaimable) && input.config.HasAction("reclaim")));
}

// The pods of a job say the same: one finding per job and cooldown.
void LongerThanWindow(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || !Votes(input)) return;
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  std::map<std::string, int64_t> longest;  // open, by zone; zones that never close are not in it
  for (const TdmZone& zone : input.tdm.zones) {
    const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
    if (!week.never_closes && !week.never_opens) longest[zone.name] = week.longest_open_ns;
  }
  std::set<std::string> said;  // owners and zones: a cooldown of a queue is told once
  for (JobId job : cluster.jobs_by_name) {
    for (TaskId id : cluster.jobs[job].tasks) {
      const RevocableAccess access = AccessOf(cluster.tasks[id], rules, cluster.strings);
      if (!access.Any()) continue;
      const Cooldown cooldown = CooldownOf(input, id);
      const std::string* zone = nullptr;
      for (const auto& [name, open_ns] : longest) {
        const StrId known = cluster.strings.Find(name);
        const bool may_use = access.all || (known.valid() && access.Allows(known));
        if (may_use && open_ns < cooldown.ns) zone = &name;
      }
      if (zone == nullptr) continue;
      const std::string object = cooldown.owner.empty() ? input.Title(id) : cooldown.owner;
      if (!cooldown.owner.empty() && !said.insert(object + ' ' + *zone).second) break;
      const std::string for_whom =
          cooldown.owner.empty() ? "" : fmt::format(", which {} has from it,", cluster.TaskKey(id));
      report.Add(
          {.place = cooldown.place,
           .object = object,
           .message = fmt::format("the cooldown of {}{} is longer than zone {} is ever open "
                                  "({})",
                                  FormatShortDuration(cooldown.ns), for_whom, Printable(*zone),
                                  FormatShortDuration(longest[*zone])),
           .consequence = "in that zone no urgent job can ever take the pod's place, and when "
                          "the zone closes it is taken off in spite of the cooldown",
           .fix = fmt::format("write a cooldown below {}", FormatShortDuration(longest[*zone]))});
      break;
    }
  }
}

void WithoutCdp(const CheckInput& input, RuleReport& report) {
  if (input.FindPlugin("cdp") != nullptr) return;
  const Cluster& cluster = *input.cluster;
  // Whoever names a cooldown: pods, and what hands it on to them.
  size_t count = 0;
  Place place;
  std::string first;
  const auto note = [&](int64_t cooldown_ns, auto&& place_of, auto&& title) {
    if (cooldown_ns <= 0 || count++ > 0) return;
    place = place_of();
    first = title();
  };
  for (JobId job : cluster.jobs_by_name)
    for (TaskId id : cluster.jobs[job].tasks) {
      const Task& task = cluster.tasks[id];
      note(
          task.cooldown_ns, [&] { return PlaceOfKey(input, "Pod", task.ns, task.name); },
          [&] { return input.Title(id); });
    }
  for (JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    note(
        job.cooldown_ns, [&] { return PlaceOfKey(input, "PodGroup", job.ns, job.name); },
        [&] { return input.Title(id); });
  }
  for (QueueId id : cluster.queues_by_name) {
    const Queue& queue = cluster.queues[id];
    note(
        queue.cooldown_ns, [&] { return PlaceOfKey(input, "Queue", kEmptyStr, queue.name); },
        [&] { return fmt::format("Queue {}", cluster.QueueName(id)); });
  }
  if (count == 0) return;
  report.Add(
      {.place = place,
       .object = first,
       .message = fmt::format("{} a cooldown, and cdp is not configured",
                              count == 1 ? "1 object has" : fmt::format("{} objects have", count)),
       .consequence = "nobody looks at the cooldowns: pods can be evicted right after they "
                      "were placed",
       .fix = "add cdp to the tier of the plugins that name victims"});
}

// What counts evictions is looked at only when a limit or a backoff is set.
void CountsForNothing(const CheckInput& input, RuleReport& report) {
  const PluginOption* cdp = input.FindPlugin("cdp");
  if (cdp == nullptr) return;
  const Arguments& arguments = cdp->arguments;
  const bool backs_off = arguments.GetFloat("cdp.backoff").value_or(1) > 1;
  const bool limits = arguments.Find("cdp.max-evictions") != nullptr;
  const auto complain = [&](std::string_view key, std::string_view needs) {
    const Argument* argument = arguments.Find(key);
    if (argument == nullptr) return;
    report.Add({.place = input.InConfig(argument->location),
                .object = "plugin cdp",
                .message = fmt::format("{} is set, and {} is not", key, needs),
                .consequence = "it has no effect",
                .fix = fmt::format("set {}, or take {} out", needs, key)});
  };
  if (!backs_off) complain("cdp.max-cooldown", "a cdp.backoff above 1");
  if (!backs_off && !limits)
    complain("cdp.eviction-period", "cdp.max-evictions or a cdp.backoff above 1");
}

constexpr std::array kRules = {
    CheckRule{"K421", "unreadable-cooldown", FindingLevel::kWarning, RuleNeeds::kNothing,
              "A pod's cooldown cannot be read.", &Unreadable},
    CheckRule{"K422", "cooldown-longer-than-window", FindingLevel::kWarning, RuleNeeds::kCluster,
              "A pod's cooldown is longer than its zone is open.", &LongerThanWindow},
    CheckRule{"K423", "cooldown-without-cdp", FindingLevel::kNote, RuleNeeds::kCluster,
              "Pods have cooldowns, and cdp is not configured.", &WithoutCdp},
    CheckRule{"K424", "cdp-argument-without-effect", FindingLevel::kNote, RuleNeeds::kConfig,
              "An argument of cdp has no effect without another one.", &CountsForNothing},
};

}  // namespace

std::span<const CheckRule> CooldownRules() {
  return kRules;
}

}  // namespace krafla
