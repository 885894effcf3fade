// The sections of a scenario file, each read by a function of its own into the same scenario. Only
// read_scenario.cpp and the files that define these functions include this.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/yaml_node.h"
#include "sim/scenario.h"
#include "sim/scenario_fields.h"
#include "sim/scenario_times.h"

namespace krafla {

// Names that jobs may refer to.
struct ScenarioNames {
  std::set<std::string, std::less<>> queues;
  std::set<std::string, std::less<>> priority_classes;
  std::set<std::string, std::less<>> nodes;
};

// What the sections share while a scenario is being read.
struct ScenarioReading {
  Scenario& scenario;
  ScenarioClock clock;
  ScenarioNames names;
  std::string folder;        // files are relative to it
  Diagnostics& diagnostics;  // of other files
  // Where each job was first given, by namespace/name.
  std::map<std::string, ScenarioPlace, std::less<>> jobs;
  int64_t pods = 0;
};

// "jobs.csv" beside the scenario; absolute paths stay as they are.
std::string ResolvePath(const std::string& file, const std::string& folder);
// A file named in a scenario; nothing, and a complaint at the field, when it cannot be read.
std::optional<std::string> ReadNamedFile(Fields& fields, std::string_view key,
                                         const std::string& path);
// A file named by an option: relative to where the command runs.
std::optional<std::string> ReadOptionFile(Fields& fields, std::string_view key,
                                          const std::string& path);

void ReadCluster(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems);
// By name, or as a list of mappings with names. Both go into scenario.queues_yaml.
void ReadQueues(const YamlNode* node, ScenarioReading& reading, ScenarioProblems& problems);
void ReadPriorityClasses(const YamlNode* node, ScenarioReading& reading,
                         ScenarioProblems& problems);
// Reads manifests for their mistakes and their names.
void ReadManifestNames(const std::string& path, ScenarioReading& reading);

// `root` has the keys scheduler and schedulerConfig; `replacement` is --config.
void ReadScheduler(Fields& root, const std::string& replacement, ScenarioReading& reading);

// A list of entries, or one. `at` replaces the time of every entry.
void ReadWorkload(const YamlNode& node, std::string_view path, std::optional<Timestamp> at,
                  ScenarioReading& reading, ScenarioProblems& problems);
// --add: "job.yaml" or "job.yaml@12:00".
void ReadAddition(const std::string& argument, ScenarioReading& reading);
// The keys of one job. The caller asks for its own keys and finishes.
JobShape ReadJob(Fields& fields, ScenarioReading& reading);
RunTime ReadRunTime(Fields& fields, std::string_view key);
// Notes that the job exists, about so often; false after a complaint that it existed before, or
// that the workload has become too large.
bool ClaimJobName(const JobShape& job, Fields& fields, ScenarioReading& reading, int64_t times = 1);
// Rows of a CSV file, each a job; `defaults` is the entry with what rows do not say.
void ReadTrace(Fields& entry, const std::string& path, std::string_view text, Timestamp from,
               ScenarioReading& reading);

void ReadFaults(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems);
void ReadExpectations(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems);

}  // namespace krafla
