// One cycle, from texts: what most tests are about.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/scheduler_config.h"
#include "model/cluster.h"
#include "session/session.h"

namespace krafla::testing {

struct CycleInput {
  std::string cluster;  // manifests, YAML or JSON
  std::string config;   // text of a scheduler configuration
  std::string now = "2026-03-10T12:00:00Z";
  std::string profile = "krafla";
  bool lenient = false;
  int verbosity = 0;
  bool for_good = false;  // as in krafla run: nobody rewinds the session
};

// A session with everything it refers to, and its outcome by name.
class Cycle {
 public:
  // Reads the input and opens the session; fails the running test when something is wrong with it.
  explicit Cycle(const CycleInput& input);
  void Run();

  Cluster cluster;
  SchedulerConfig config;
  CycleMemory memory;
  std::string log_text;
  std::unique_ptr<Session> session;

  std::map<std::string, std::string> Binds() const;      // pod -> node
  std::vector<std::string> Evictions() const;            // pods, sorted
  std::map<std::string, std::string> Pipelined() const;  // pod -> node
  std::map<std::string, std::string> Phases() const;     // job -> phase
  TaskId Find(std::string_view key) const;               // "ns/name"
  JobId FindJob(std::string_view key) const;

 private:
  Log log_;
};

// What the cycle decided as one text, for comparing runs byte by byte.
std::string Summary(const Cycle& cycle);

}  // namespace krafla::testing
