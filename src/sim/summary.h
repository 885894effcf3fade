// What a simulation came to: one value that the text, the JSON, the report and the comparison are
// made of. Collected while it runs; what is kept grows with jobs and waits, not with events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "model/zone_window.h"
#include "sim/sim_event.h"

namespace krafla {

// Seconds, by nearest rank; only of waits that are over.
struct WaitFigures {
  int64_t over = 0;
  double p50 = 0, p95 = 0, p99 = 0, longest = 0;
  int64_t unfinished = 0;  // still waiting at the end …
  double oldest = 0;       // … the longest of them so far
};

// Of one kind of resource, averaged over the run.
struct UtilisationFigure {
  std::string resource;
  double allocatable = 0;  // of all nodes, in base units
  double used = 0;         // requests of the pods that held a place
  double peak = 0;         // the largest `used` at any time
  double fraction() const { return allocatable > 0 ? used / allocatable : 0; }
};

struct QueueFigures {
  std::string queue;
  std::vector<UtilisationFigure> use;  // allocatable: that of the whole cluster
  // Averages of what the scheduler reported: allocated and deserved of the whole cluster, in the
  // kind where allocated is most. None if it reported nothing.
  std::optional<double> share;
  std::optional<double> deserved_share;
  double largest_share = 0;
  int64_t jobs = 0, completed = 0, waiting = 0;
  WaitFigures job_wait;     // submission → minAvailable pods bound for the first time
  WaitFigures pod_wait;     // creation → bound
  int64_t evicted = 0;      // its pods
  int64_t evicted_for = 0;  // pods of anybody, to make room for its pods
  double lost_seconds = 0;  // of its pods
};

struct EvictionFigures {
  std::string action;
  std::string reason;
  int64_t count = 0;
  double lost_seconds = 0;
};

struct JobEvictions {
  std::string job;
  std::string queue;
  int64_t evictions = 0;
  int64_t re_evictions = 0;  // of pods whose place in the job had been evicted before
  int64_t worst_place = 0;   // most evictions of one place
  double lost_seconds = 0;
};

// How near a job came to having too few pods, while it had reached its minimum.
struct HeadRoom {
  std::string job;
  std::string queue;
  int32_t floor = 0;     // pods it has to keep
  bool budget = false;   // the floor is a disruption budget; else it is minAvailable
  int32_t least = 0;     // fewest bound pods above the floor after an eviction; below 0: broken
  int64_t at_floor = 0;  // evictions that left it at the floor or below
  Timestamp at;          // when `least` was first seen
};

struct DrainDelay {
  std::string why;
  int64_t most_pods = 0;  // left in the zone meanwhile
  double seconds = 0;     // how long this was the reason
};

struct ZoneDrain {
  std::string zone;
  Timestamp closed;
  enum class End : uint8_t { kDrained, kReopened, kRunEnded } end = End::kRunEnded;
  double seconds = 0;  // from closing to that
  int64_t evictions = 0;
  std::vector<DrainDelay> held;  // longest first
};

std::string_view ToString(ZoneDrain::End end);  // drained, reopened, run-ended

struct WaitingJob {
  std::string job;
  std::string queue;
  std::string phase;
  int32_t bound = 0, minimum = 0, pods = 0;
  double seconds = 0;  // since it was submitted, or since it last lost its minimum
  std::string why;
};

struct Summary {
  std::string scenario;
  int64_t seed = 0;
  TimeZone zone;
  Timestamp begin;
  Timestamp end;

  int64_t nodes = 0;  // most at a time
  int64_t events = 0;
  int64_t jobs = 0, jobs_completed = 0, jobs_running = 0, jobs_waiting = 0;
  int64_t pods_created = 0, pods_bound = 0, pods_succeeded = 0, pods_failed = 0;
  int64_t binds_failed = 0, evictions_failed = 0, nodes_lost = 0;
  int64_t evictions = 0;
  int64_t re_evictions = 0;
  double lost_seconds = 0;    // of evicted pods
  double useful_seconds = 0;  // pod-seconds of work that counted: started and not lost

  std::vector<UtilisationFigure> use;  // cpu, memory, then the others by name
  std::vector<QueueFigures> queues;    // by name
  WaitFigures job_wait, pod_wait;
  std::vector<EvictionFigures> evictions_by;  // by action, reason
  std::vector<JobEvictions> thrash;           // jobs evicted more than once; worst first
  std::vector<HeadRoom> head_room;            // jobs that lost pods; least first
  std::vector<ZoneDrain> drains;              // in order of closing
  std::vector<WaitingJob> waiting;            // longest wait first
  std::vector<std::string> loops;             // jobs that evict each other, as reported
  std::vector<std::string> faults;            // in order, with their local time
};

class SummaryCollector : public SimObserver {
 public:
  explicit SummaryCollector(TimeZone zone);
  ~SummaryCollector() override;
  SummaryCollector(const SummaryCollector&) = delete;
  SummaryCollector& operator=(const SummaryCollector&) = delete;

  void On(const SimEvent& event) override;
  // As of the last event; to be asked once the run is over.
  Summary Finish() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct SummaryTextOptions {
  bool color = false;
  size_t rows = 10;  // of the lists that may be long; what is left out is counted
};

// For a terminal of 100 columns.
std::string SummaryText(const Summary& summary, const SummaryTextOptions& options = {});

// One object, as a value of the caller's document.
void WriteSummaryJson(JsonWriter& json, const Summary& summary);
std::string SummaryJson(const Summary& summary);

}  // namespace krafla
