// A scenario: everything a simulation needs, as data. Read from one YAML file by read_scenario.h;
// nothing here knows about files or YAML.
//
// Times are resolved while reading: "12:00" and "+90m" in the file become instants.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "config/scheduler_config.h"
#include "model/zone_window.h"

namespace krafla {

// Where something stands in its file, for messages about it later than reading.
struct ScenarioPlace {
  std::string file;
  Location location;
};

using TextTable = std::map<std::string, std::string>;

// A shape of nodes; `count` of them.
struct NodeShape {
  int32_t count = 1;
  std::string name = "node-%d";     // with one %d or %0Nd when count > 1; numbers begin at 1
  TextTable resources;              // allocatable as Kubernetes writes it: cpu, memory, pods, …
  TextTable labels;                 // "zone: rz1" in the file is volcano.sh/revocable-zone here
  std::vector<std::string> taints;  // "key=value:Effect"
  ScenarioPlace place;
};

// The name of the `number`th node of a shape, from 1.
std::string NodeName(const NodeShape& shape, int32_t number);

// One role of a job's pods.
struct TaskShape {
  std::string name = "main";
  int32_t replicas = 1;
  std::optional<int32_t> min_available;
  TextTable resources;  // requests
  TextTable labels;
  TextTable annotations;
  TextTable node_selector;
  std::string priority_class;
};

// How long a pod runs once it has started: exactly `mean`, or drawn anew for each pod.
struct RunTime {
  enum class Kind : uint8_t { kForever, kFixed, kUniform, kExponential };
  Kind kind = Kind::kForever;
  int64_t mean_ns = 0;              // kFixed, kExponential
  int64_t low_ns = 0, high_ns = 0;  // kUniform
};

// A job as the workload section writes it. The simulator turns it into a Volcano Job.
struct JobShape {
  std::string ns = "default";
  std::string name;  // of arrivals: a prefix, "-1", "-2", … are added by the simulator
  std::string queue = "default";
  std::string priority_class;
  std::optional<int32_t> min_available;  // default: all replicas
  std::vector<TaskShape> tasks;
  RunTime run_time;
  // What happens to the work done by a pod that is evicted: lost, or kept (checkpointed), so that
  // its successor needs only the rest.
  bool keeps_work = false;
  // The job controller creates the pods one by one, so far apart, once the job is admitted; -1: all
  // of them with the job.
  int64_t create_every_ns = -1;
  TextTable labels;  // of the Job, its PodGroup and its pods
  TextTable
      annotations;  // "preemptable", "revocableZone", "cooldown", "budget" of the file are here
  ScenarioPlace place;
};

struct Submission {
  Timestamp at;
  JobShape job;
};

// Jobs that arrive at random or at fixed distances. Drawn from the scenario's seed.
struct Arrivals {
  enum class Process : uint8_t { kFixed, kPoisson };
  Process process = Process::kFixed;
  Timestamp from;
  Timestamp until;
  int64_t every_ns = 0;  // the distance, or its mean
  int32_t limit = -1;    // at most so many jobs; -1: no limit
  JobShape job;
};

// Manifests (Volcano Jobs, or PodGroups with their pods) that are applied at a time.
struct ManifestSubmission {
  Timestamp at;
  std::string file;  // resolved against the scenario's folder
  RunTime run_time;  // of every pod in it
  ScenarioPlace place;
};

struct Fault {
  enum class Kind : uint8_t {
    kNodeLost,         // the node is gone with its pods; back after `for`
    kCordon,           // unschedulable; back after `for`
    kPodCrash,         // pods that match fail once
    kSlowKubelet,      // start-up takes `delay` on nodes that match
    kSlowTermination,  // termination takes `delay` on nodes that match
    kBindFails,        // a bind is refused with `probability`
    kEvictFails,       // an eviction is refused with `probability`
    kClockJump,        // the scheduler's clock is set forward by `delay`
  };
  Kind kind = Kind::kNodeLost;
  Timestamp at;
  int64_t for_ns = -1;  // -1: until the end
  std::string match;    // nodes by name, pods by namespace/name; * stands for anything
  int64_t delay_ns = 0;
  double probability = 1;
  ScenarioPlace place;
};

// What must be true of a run; each is judged on the event log alone.
struct Expectation {
  enum class Kind : uint8_t {
    kBoundBy,       // every (or `count`) pod of job `match` held a place at one time by `until`
    kNotBoundBy,    // no pod of job `match` was bound by `until`
    kEvicted,       // pods that match were evicted between `from` and `until`, `count` of them
    kNeverEvicted,  // pods that match were never evicted (between `from` and `until`)
    kDrained,       // zone `match` held no preemptable pod `within_ns` after each closing
    kShareAt,       // queue `match` had between `low` and `high` of the cluster at `at`
    kNoThrash,      // no pod of a job that matches was evicted more than `count` times
    kCompletedBy,   // job `match` completed by `until`
    kPodsAt,        // job `match` had `count` started pods at `at`
    kWaiting,       // job `match` waited for a reason like `reason` between `from` and `until`
    kLoop,          // a loop of evictions that names `match` was seen, `count` times
  };
  Kind kind = Kind::kBoundBy;
  std::string match;  // namespace/name, zone or queue; * stands for anything
  Timestamp from;     // absent: the start
  Timestamp until;    // absent: the end
  Timestamp at;
  int64_t within_ns = 0;
  std::optional<int64_t> min_count;
  std::optional<int64_t> max_count;
  double low = 0;
  double high = 1;
  // Empty stands for any; * for anything.
  std::string action;   // of kEvicted: by which action
  std::string for_job;  // of kEvicted: for whom, namespace/name
  std::string node;     // of kBoundBy, kNotBoundBy, kPodsAt: only places on these nodes count
  std::string zone;     // … in this zone
  std::string reason;   // of kWaiting
  std::string text;     // as written, for messages
  ScenarioPlace place;
};

struct KubeletShape {
  int64_t startup_ns = 1'000'000'000;      // from bound to running
  int64_t termination_ns = 1'000'000'000;  // from evicted to gone
  // Both are drawn between (1 - jitter) and (1 + jitter) times the value.
  double jitter = 0;
};

struct Scenario {
  std::string name;
  std::string file;
  Timestamp start;
  TimeZone zone;  // for "12:00" in the file, for windows, and for what is printed
  std::string zone_name;
  Timestamp until;
  uint64_t seed = 1;
  int64_t schedule_period_ns = 1'000'000'000;
  int64_t cycle_delay_ns = 0;  // cycles follow changes so soon; 0: one a schedule period
  int64_t max_clock_skew_ns = 0;  // as --max-clock-skew of krafla serve; 0: off

  std::vector<NodeShape> nodes;
  std::vector<std::string> manifests;  // files with the cluster at the start
  std::string queues_yaml;             // Queue and PriorityClass objects as JSON lines, made of the
                                       // shorthand; read like a manifest
  SchedulerConfig config;              // read and checked; what a run uses
  std::string scheduler_config;        // the same as text (YAML or JSON)
  std::string scheduler_config_file;   // where it came from, for messages
  Location scheduler_config_at;        // where the inline text begins
  KubeletShape kubelet;
  // The job controller makes a new pod this long after one was evicted or failed.
  int64_t recreate_after_ns = 1'000'000'000;

  std::vector<Submission> submissions;
  std::vector<Arrivals> arrivals;
  std::vector<ManifestSubmission> manifest_submissions;
  std::vector<Fault> faults;
  std::vector<Expectation> expectations;
};

}  // namespace krafla
