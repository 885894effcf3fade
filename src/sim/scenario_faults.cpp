// The section faults: each entry has one key that says what happens and to whom.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "sim/name_pattern.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

struct FaultKey {
  std::string_view key;
  Fault::Kind kind;
};

constexpr FaultKey kFaults[] = {
    {"nodeLost", Fault::Kind::kNodeLost},
    {"cordon", Fault::Kind::kCordon},
    {"podCrash", Fault::Kind::kPodCrash},
    {"slowKubelet", Fault::Kind::kSlowKubelet},
    {"slowTermination", Fault::Kind::kSlowTermination},
    {"bindFails", Fault::Kind::kBindFails},
    {"evictFails", Fault::Kind::kEvictFails},
    {"clockJump", Fault::Kind::kClockJump},
};

bool IsAboutNodes(Fault::Kind kind) {
  return kind == Fault::Kind::kNodeLost || kind == Fault::Kind::kCordon ||
         kind == Fault::Kind::kSlowKubelet || kind == Fault::Kind::kSlowTermination;
}

bool HasDelay(Fault::Kind kind) {
  return kind == Fault::Kind::kSlowKubelet || kind == Fault::Kind::kSlowTermination;
}

bool HasProbability(Fault::Kind kind) {
  return kind == Fault::Kind::kBindFails || kind == Fault::Kind::kEvictFails;
}

bool Lasts(Fault::Kind kind) {
  return kind != Fault::Kind::kPodCrash && kind != Fault::Kind::kClockJump;
}

// Pods are named after their jobs: job-task-0, and job-1-task-0 where jobs arrive or have copies.
// What is in manifests is not known here.
bool MayMatchAPod(std::string_view match, const ScenarioReading& reading) {
  const Scenario& scenario = reading.scenario;
  if (!scenario.manifests.empty() || !scenario.manifest_submissions.empty()) return true;
  const size_t slash = match.find('/');
  const std::string_view ns = match.substr(0, slash);
  const std::string_view name = match.substr(slash + 1);
  const std::string_view begin = name.substr(0, name.find('*'));
  return std::ranges::any_of(reading.jobs, [&](const auto& job) {
    const std::string_view key = job.first;
    const size_t middle = key.find('/');
    const std::string_view job_name = key.substr(middle + 1);
    return MatchesPattern(ns, key.substr(0, middle)) &&
           (begin.starts_with(job_name) || job_name.starts_with(begin));
  });
}

void CheckMatch(Fields& fields, std::string_view key, const Fault& fault,
                const ScenarioReading& reading) {
  if (IsAboutNodes(fault.kind)) {
    const auto& nodes = reading.names.nodes;
    if (std::ranges::any_of(nodes, [&](const auto& n) { return MatchesPattern(fault.match, n); }))
      return;
    const std::vector<std::string_view> names(nodes.begin(), nodes.end());
    const auto near = DidYouMean(fault.match, names);
    fields.Error(key, fmt::format("no node is called {}{}", Quoted(fault.match),
                                  near ? fmt::format("; did you mean {}?", Quoted(*near)) : ""));
  } else if (fault.match != "*" && fault.match.find('/') == std::string::npos) {
    fields.Error(key, fmt::format("expected namespace/name of pods, such as team-a/*, got {}",
                                  Quoted(fault.match)));
  } else if (fault.match != "*" && !MayMatchAPod(fault.match, reading)) {
    fields.problems().Warning(fields.PathOf(key), fields.node().Find(key)->value.location,
                              fmt::format("no job has a pod called {}", Quoted(fault.match)));
  }
}

void ReadFault(const YamlNode& node, const std::string& path, ScenarioReading& reading,
               ScenarioProblems& problems) {
  Fields fields(node, path, problems);
  if (!node.IsMapping()) return;
  std::vector<const FaultKey*> found;
  std::vector<std::string_view> names;
  for (const FaultKey& known : kFaults) {
    names.push_back(known.key);
    if (fields.Find(known.key) != nullptr) found.push_back(&known);
  }
  Fault fault;
  fault.place = problems.PlaceOf(node.location);
  fault.at = fields.Time("at", reading.clock).value_or(reading.clock.start);
  fields.Know(std::array<std::string_view, 3>{"for", "delay", "probability"});
  if (found.size() != 1) {
    fields.Error("", fmt::format("expected one of {}, got {}", fmt::join(names, ", "),
                                 found.empty() ? "none" : "several"));
    fields.Finish();
    return;
  }
  const std::string_view key = found.front()->key;
  fault.kind = found.front()->kind;
  if (fault.kind == Fault::Kind::kClockJump) {
    fault.delay_ns = fields.Duration(key, 1).value_or(0);
  } else if (const auto match = fields.Text(key)) {
    fault.match = *match;
    CheckMatch(fields, key, fault, reading);
  }
  const auto refuse = [&](std::string_view option) {
    if (fields.Find(option) != nullptr)
      fields.Error(option, fmt::format("{} does not take this", key));
  };
  if (Lasts(fault.kind)) {
    fault.for_ns = fields.Duration("for", 1).value_or(-1);
  } else {
    refuse("for");
  }
  if (HasDelay(fault.kind)) {
    fault.delay_ns = fields.Duration("delay").value_or(0);
    if (node.Find("delay") == nullptr)
      fields.Error("delay", "expected a duration, such as 2m, got nothing");
  } else {
    refuse("delay");
  }
  if (HasProbability(fault.kind)) {
    fault.probability = fields.Number("probability", 0, 1).value_or(1);
  } else {
    refuse("probability");
  }
  fields.Finish();
  reading.scenario.faults.push_back(std::move(fault));
}

}  // namespace

void ReadFaults(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems) {
  const std::vector<const YamlNode*> items = ItemsOf(node);
  for (size_t i = 0; i < items.size(); ++i)
    ReadFault(*items[i], IndexedPath("faults", i, node.IsSequence()), reading, problems);
}

}  // namespace krafla
