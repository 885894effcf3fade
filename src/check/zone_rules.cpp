// K31: nodes, pods and the zones they name.
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

// Zone -> the names of its nodes, in order.
std::map<std::string, std::vector<std::string>> NodesByZone(const Cluster& cluster) {
  std::map<std::string, std::vector<std::string>> zones;
  for (NodeId id : cluster.nodes_by_name)
    if (const StrId zone = cluster.nodes[id].zone; zone != kEmptyStr)
      zones[std::string(cluster.Text(zone))].emplace_back(cluster.NodeName(id));
  return zones;
}

std::string NearestZone(const TdmSettings& tdm, std::string_view name) {
  std::vector<std::string_view> known;
  for (const TdmZone& zone : tdm.zones) known.push_back(zone.name);
  const auto near = DidYouMean(name, known);
  return near ? std::string(*near) : "";
}

void ZoneWithoutWindow(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured()) return;
  for (const auto& [zone, nodes] : NodesByZone(*input.cluster)) {
    if (input.tdm.Find(zone) != nullptr) continue;
    const std::string near = NearestZone(input.tdm, zone);
    report.Add({.place = input.objects.PlaceOf("Node", {}, nodes.front(), keys::kRevocableZone),
                .object = fmt::format("Node {}", nodes.front()),
                .message = fmt::format(
                    "zone {} has no window in the configuration; {} there: {}", Quoted(zone),
                    nodes.size() == 1 ? "1 node is" : fmt::format("{} nodes are", nodes.size()),
                    List(nodes)),
                .consequence = "no pod is placed on these nodes at any time, and nobody is taken "
                               "off them",
                .fix = near.empty()
                           ? fmt::format("add tdm.revocable-zone.{}: \"HH:MM-HH:MM\" to the "
                                         "arguments of tdm, or remove the label",
                                         Printable(zone))
                           : fmt::format("label the node {}, if that zone is meant; else add "
                                         "tdm.revocable-zone.{} to the arguments of tdm",
                                         Quoted(near), Printable(zone))});
  }
}

void WindowWithoutNode(const CheckInput& input, RuleReport& report) {
  const auto nodes = NodesByZone(*input.cluster);
  for (const TdmZone& zone : input.tdm.zones) {
    if (nodes.contains(zone.name)) continue;
    report.Add({.place = input.InConfig(zone.location),
                .object = "zone " + Printable(zone.name),
                .message = fmt::format("no node has the label {}: {}", keys::kRevocableZone,
                                       Printable(zone.name)),
                .consequence = "the window has no effect",
                .fix = "label the zone's nodes, or take the window out"});
  }
}

void ZonesWithoutTdm(const CheckInput& input, RuleReport& report) {
  if (input.tdm.configured()) return;
  const auto zones = NodesByZone(*input.cluster);
  if (zones.empty()) return;
  std::vector<std::string> names;
  for (const auto& [zone, nodes] : zones) names.push_back(Printable(zone));
  const std::string& first = zones.begin()->second.front();
  report.Add({.place = input.objects.PlaceOf("Node", {}, first, keys::kRevocableZone),
              .object = fmt::format("Node {}", first),
              .message = fmt::format("nodes have the label {} ({}), and tdm is not configured",
                                     keys::kRevocableZone, List(names)),
              .consequence = "the label has no effect: every pod may use these nodes at all times, "
                             "and nobody is taken off them",
              .fix = "add tdm with the windows of these zones, or remove the labels"});
}

// One finding per zone and job: the pods of a job say the same.
void PodNamesUnknownZone(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || !input.config.compatibility.named_zones) return;
  const Cluster& cluster = *input.cluster;
  std::set<std::pair<uint32_t, std::string_view>> seen;
  for (JobId job : cluster.jobs_by_name) {
    for (TaskId id : cluster.jobs[job].tasks) {
      for (const std::string_view name : NamedZones(cluster.Text(cluster.tasks[id].zones.names))) {
        if (input.tdm.Find(name) != nullptr || !seen.emplace(job.value, name).second) continue;
        const std::string near = NearestZone(input.tdm, name);
        report.Add({.place = input.PlaceOf(id, keys::kRevocableZone),
                    .object = input.Title(id),
                    .message = fmt::format("{} names zone {}, which tdm does not configure",
                                           keys::kRevocableZone, Quoted(name)),
                    .consequence = "the pod may use no node of that zone",
                    .fix = near.empty()
                               ? fmt::format("name a zone that is configured, or \"*\" for all, or "
                                             "add tdm.revocable-zone.{}",
                                             Printable(name))
                               : fmt::format("write {}", Quoted(near))});
      }
    }
  }
}

// With a drain lead a pod that says how long it runs is placed only where it will be done in time.
void RunsLongerThanOpen(const CheckInput& input, RuleReport& report) {
  if (input.tdm.drain_lead_ns == 0) return;
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  for (JobId job : cluster.jobs_by_name) {
    for (TaskId id : cluster.jobs[job].tasks) {
      const Task& task = cluster.tasks[id];
      if (task.run_time_ns < 0 || !IsRevocable(task, rules)) continue;
      // The zone that is open longest of those it may use.
      int64_t longest_ns = 0;
      bool unlimited = false;
      for (const TdmZone& zone : input.tdm.zones) {
        const StrId name = cluster.strings.Find(zone.name);
        const RevocableAccess access = AccessOf(task, rules, cluster.strings);
        if (!access.all && (!name.valid() || !access.Allows(name))) continue;
        const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
        unlimited |= week.never_closes;
        longest_ns = std::max(longest_ns, week.longest_open_ns);
      }
      if (unlimited || longest_ns == 0 || task.run_time_ns <= longest_ns) continue;
      report.Add(
          {.place = input.PlaceOf(id, keys::kExpectedRunTime),
           .object = input.Title(id),
           .message =
               fmt::format("it says that it runs for {}, and none of its zones is open "
                           "longer than {}",
                           FormatShortDuration(task.run_time_ns), FormatShortDuration(longest_ns)),
           .consequence = "with tdm.drain-lead it is never placed in a zone: it would not be "
                          "done before the window closes",
           .fix = "correct krafla.io/expected-run-time, or lengthen a window"});
      break;  // the pods of a job say the same
    }
  }
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K311", "zone-without-window", kWarning, RuleNeeds::kCluster,
              "Nodes belong to a zone that has no window.", &ZoneWithoutWindow},
    CheckRule{"K312", "window-without-node", kWarning, RuleNeeds::kCluster,
              "A zone has a window and no node.", &WindowWithoutNode},
    CheckRule{"K313", "zones-without-tdm", FindingLevel::kNote, RuleNeeds::kCluster,
              "Nodes belong to zones, and tdm is not configured.", &ZonesWithoutTdm},
    CheckRule{"K314", "unknown-zone", kWarning, RuleNeeds::kCluster,
              "A pod names a zone that is not configured.", &PodNamesUnknownZone},
    CheckRule{"K315", "run-time-longer-than-window", kWarning, RuleNeeds::kCluster,
              "A pod says that it runs longer than its zones are open.", &RunsLongerThanOpen},
};

}  // namespace

std::span<const CheckRule> ZoneRules() {
  return kRules;
}

}  // namespace krafla
