// Follows the events of a run and knows, at any time, who holds which place and which jobs wait.
// The summary and the report ask it; it keeps living pods and all jobs, nothing of the past.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/sim_event.h"

namespace krafla {

// Names as small numbers, in the order of their first appearance.
class NameNumbers {
 public:
  int32_t Number(std::string_view name);      // a new one if need be
  int32_t Find(std::string_view name) const;  // -1: unknown
  const std::string& Name(int32_t number) const { return names_[static_cast<size_t>(number)]; }
  int32_t size() const { return static_cast<int32_t>(names_.size()); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> numbers_;
};

// Amounts by number of their kind; kinds beyond the end are zero. "pods" is left out: it says
// nothing about use.
using Amounts = std::vector<double>;

struct TrackedNode {
  int32_t zone = -1;
  bool present = false;
  Amounts allocatable;
  Amounts used;
  // Used of allocatable in the kind where that is most; at most 1.
  double Load() const;
};

struct TrackedJob {
  int32_t queue = -1;
  int32_t minimum = 0;
  int32_t pods = 0;
  int32_t budget_floor = -1;
  int32_t bound = 0;  // pods with a place that are not evicted
  int32_t succeeded = 0;
  bool reached_minimum = false;  // at any time
  bool completed = false;
  bool counted_as_waiting = false;
  Timestamp submitted;
  Timestamp waiting_since;
  std::string phase;
  std::string why;  // it waits; as last told
  // Pods evicted and not replaced yet, by name.
  std::vector<std::string> unreplaced;

  int32_t ready() const { return bound + succeeded; }
  bool waiting() const { return !completed && ready() < std::max(minimum, 1); }
};

struct TrackedPod {
  int32_t job = -1;
  int32_t queue = -1;
  int32_t node = -1;  // while it holds a place
  int32_t requests = 0;
  int32_t place_evictions = 0;  // of it and of those it replaces
  bool evicted = false;
  bool ended = false;  // kept only for place_evictions
  bool replaced = false;
  Timestamp created;
  Timestamp started;
};

// Somebody took a place or left one.
struct PlaceChange {
  int32_t node = -1;
  int32_t queue = -1;
  int32_t requests = 0;
  double sign = 0;  // 1: took, -1: left
};

// What one event meant. Good until the next.
struct TrackedStep {
  int32_t job = -1;
  int32_t queue = -1;
  int32_t node = -1;
  int32_t zone = -1;
  std::vector<PlaceChange> places;
  double pod_waited = -1;                // seconds, when it is bound
  bool reached_minimum = false;          // the job, for the first time
  std::vector<int32_t> waiting_changed;  // queues whose number of waiting jobs is another now
  int32_t place_evictions = 0;           // of an evicted pod, this one included
  double worked_seconds = 0;             // when it stops: since its start
};

class RunTracker {
 public:
  const TrackedStep& Apply(const SimEvent& event);

  NameNumbers kinds, queues, nodes, zones, jobs;
  const TrackedNode& node(int32_t number) const { return nodes_[static_cast<size_t>(number)]; }
  const TrackedJob& job(int32_t number) const { return jobs_[static_cast<size_t>(number)]; }
  const Amounts& requests(int32_t number) const { return shapes_[static_cast<size_t>(number)]; }
  const Amounts& allocatable() const { return allocatable_; }  // of the nodes that are there
  int32_t waiting_jobs(int32_t queue) const {
    return static_cast<size_t>(queue) < waiting_.size() ? waiting_[static_cast<size_t>(queue)] : 0;
  }
  int32_t nodes_present() const { return nodes_present_; }
  const std::unordered_map<std::string, TrackedPod>& pods() const { return pods_; }

  Amounts ToAmounts(const AmountMap& amounts);

 private:
  int32_t JobNumber(const SimEvent& event);
  int32_t QueueOf(const SimEvent& event, int32_t job);
  int32_t ShapeNumber(const AmountMap& amounts);
  TrackedPod& PodOf(const SimEvent& event);
  void AddNode(const SimEvent& event);
  void LoseNode(const SimEvent& event);
  void Create(const SimEvent& event);
  void Bind(const SimEvent& event);
  void Evict(const SimEvent& event);
  void End(const SimEvent& event);
  void Leave(TrackedPod& pod);
  void CountWaiting(int32_t number, Timestamp now);
  void StopWork(TrackedPod& pod, Timestamp now);

  TrackedStep step_;
  std::vector<TrackedNode> nodes_;
  std::vector<TrackedJob> jobs_;
  std::unordered_map<std::string, TrackedPod> pods_;
  std::vector<Amounts> shapes_;
  std::map<AmountMap, int32_t> shape_numbers_;
  Amounts allocatable_;
  std::vector<int32_t> waiting_;  // jobs, by queue
  int32_t nodes_present_ = 0;
};

// What a queue deserves of the whole cluster, in the kind in which it holds most of it.
double DeservedShare(const SimEvent& share, const RunTracker& tracker);

// a[kind] += sign * b[kind]
void AddAmounts(Amounts& a, const Amounts& b, double sign);
inline double AmountOf(const Amounts& amounts, int32_t kind) {
  return static_cast<size_t>(kind) < amounts.size() ? amounts[static_cast<size_t>(kind)] : 0;
}

}  // namespace krafla
