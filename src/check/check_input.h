// Everything a rule may look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "check/finding.h"
#include "check/plugin_probe.h"
#include "check/written_objects.h"
#include "config/config_problems.h"
#include "config/scheduler_config.h"
#include "model/cluster.h"
#include "session/tdm_settings.h"

namespace krafla {

struct CheckInput {
  std::string config_file;
  const SchedulerConfig& config;
  const std::vector<ConfigProblem>& config_problems;
  Timestamp now;
  // Opened on the cluster, or on an empty one when none was given.
  const PluginProbe& probe;
  const TdmSettings& tdm;
  // Null when no cluster was given, or when it could not be read. Rules that need a cluster run
  // only when it is there.
  const Cluster* cluster = nullptr;
  // What the manifests say word by word, and where. Empty without a cluster.
  const WrittenObjects& objects;
  // What the readers of the manifests said: about single objects, and about how they hang together.
  const Diagnostics& object_problems;
  const Diagnostics& cluster_problems;

  Place InConfig(Location at) const { return {config_file, at}; }
  Place PlaceOfPlugin(std::string_view name) const;
  Place PlaceOfAction(std::string_view name) const;
  // The place of `field` of a PodGroup or pod; that of the object where the field is not written.
  Place PlaceOf(JobId job, std::string_view field = {}) const;
  Place PlaceOf(TaskId task, std::string_view field = {}) const;
  std::string Title(JobId job) const;    // "PodGroup ml/train"
  std::string Title(TaskId task) const;  // "Pod ml/train-0"
  // Null when it is not configured. A plugin listed twice counts as it is listed last, as in the
  // scheduler.
  const PluginOption* FindPlugin(std::string_view name) const;
};

// A reader's warning about the cooldown of a pod, or the budget of a job.
bool IsAboutCooldown(const Diagnostic& problem);
bool IsAboutBudget(const Diagnostic& problem);

// "3 pods", "1 pod"
std::string Count(size_t count, std::string_view noun);
// "a, b and c"; a long list ends with "and 12 more".
std::string List(const std::vector<std::string>& words, size_t most = 5);

}  // namespace krafla
