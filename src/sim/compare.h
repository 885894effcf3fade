// Two runs of the same workload, side by side: who is placed elsewhere, who is evicted in one only,
// who waits longer, which zone drains faster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "sim/sim_event.h"
#include "sim/summary.h"

namespace krafla {

// One job's way through a run.
struct JobRecord {
  std::string queue;
  Timestamp submitted;
  std::optional<double> wait;        // seconds to its minimum; none: not reached
  std::optional<double> completion;  // seconds from submission to the end; none: not ended
  int64_t evictions = 0;
};

// Of a pod name; its successors have the same.
struct PodRecord {
  std::string job;
  std::string first_node;
  std::string first_zone;
  int64_t evictions = 0;
  Timestamp evicted;          // first
  int64_t eviction_rank = 0;  // of that among all evictions of the run
  std::string action;         // of its first eviction
  std::string reason;
  std::string for_job;
};

struct RunRecord {
  Summary summary;
  std::map<std::string, JobRecord> jobs;
  std::map<std::string, PodRecord> pods;  // those that were bound or evicted
};

class RunRecorder : public SimObserver {
 public:
  explicit RunRecorder(TimeZone zone);
  ~RunRecorder() override;
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  void On(const SimEvent& event) override;
  RunRecord Finish();  // once

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct WaitChange {
  std::string job;
  std::string queue;
  std::optional<double> before, after;  // seconds; none: never reached its minimum
};

struct VictimChange {
  std::string pod;
  std::string job;
  int64_t before = 0, after = 0;  // evictions
  Timestamp at;                   // of the first, where there are more
  int64_t rank = 0;               // of that among all evictions of its run
  std::string action;             // of that one, too
  std::string reason;
  std::string for_job;
};

struct PlacementChange {
  std::string pod;
  std::string job;
  std::string node_before, zone_before;  // empty: not bound
  std::string node_after, zone_after;
};

struct DrainChange {
  std::string zone;
  Timestamp closed;
  std::optional<ZoneDrain> before, after;
};

struct Comparison {
  std::string name_before, name_after;
  Summary before, after;
  bool same_workload = true;
  std::vector<std::string> only_before, only_after;  // jobs submitted in one run alone

  int64_t pods_in_both = 0;
  std::vector<PlacementChange> placements;  // first placement differs; by pod
  int64_t other_zone = 0;                   // of these, in another zone
  int64_t bound_only_before = 0, bound_only_after = 0;
  std::vector<VictimChange> victims;  // pods evicted more or less often; as they were evicted
  int64_t same_victims = 0;           // evicted as often in both, at least once
  std::vector<WaitChange> waits;      // differs by a second or more; largest change first
  int64_t sooner = 0, later = 0;      // of these
  std::vector<DrainChange> drains;    // all closings, in order
  bool identical() const;
};

// "before" and "after" are called by these names in the output.
Comparison Compare(const RunRecord& before, const RunRecord& after, std::string name_before,
                   std::string name_after);

std::string ComparisonText(const Comparison& comparison, const SummaryTextOptions& options = {});
void WriteComparisonJson(JsonWriter& json, const Comparison& comparison);
std::string ComparisonJson(const Comparison& comparison);

}  // namespace krafla
