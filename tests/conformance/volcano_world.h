// From a recorded case to what a session needs: configuration, cluster, clock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/scheduler_config.h"
#include "conformance/volcano_json.h"
#include "manifest/read_cluster.h"
#include "model/cluster.h"
#include "session/log.h"
#include "session/session.h"

namespace krafla::volcano_tables {

// A session keeps references to the members, so a world does not move once it is made.
struct World {
  SchedulerConfig config;
  ReadClusterOptions read;
  Cluster cluster;
  SessionOptions options;
  Log log;
  std::vector<std::string> problems;  // of reading; with any of them nothing can be compared

  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Reads objects given as JSON text each.
  void ReadObjects(std::span<const std::string> objects);

  // Invalid when there is none of that name ("namespace/name").
  TaskId FindTask(std::string_view key) const;
  JobId FindJob(std::string_view key) const;
  NodeId FindNode(std::string_view name) const;
};

// The configuration of a case: Volcano's profile, and of the switches only those spelled out as on.
SchedulerConfig ConfigOf(const Json& scheduler, std::vector<std::string>& problems);

// `supplied` are objects the case needs and does not contain.
std::unique_ptr<World> MakeWorld(const Json& recorded, std::span<const std::string> supplied = {});

// An object whose kind went without saying where it was recorded (a pod in a row of a table).
std::string WithKind(std::string_view api_version, std::string_view kind, const Json& object);

}  // namespace krafla::volcano_tables
