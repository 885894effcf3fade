// What an operator has to know about failed internal checks: which objects are quarantined, which
// actions are skipped, and that no cycle can be run, as log lines, events, metrics and lines of
// /readyz?verbose.
//
// Owned by LiveScheduler, on the scheduling thread; QuarantineNote is shared with the pages.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/cluster_mirror.h"
#include "kube/event_recorder.h"
#include "kube/serve_metrics.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

// Thread-safe.
class QuarantineNote {
 public:
  void Set(std::string quarantined, std::optional<std::string> suspended);
  // What is left out; empty: nothing.
  std::string quarantined() const;
  // Why no cycle can be run; nothing: cycles run.
  std::optional<std::string> suspended() const;

 private:
  mutable std::mutex mutex_;
  std::string quarantined_;
  std::optional<std::string> suspended_;
};

class QuarantineReports {
 public:
  struct Options {
    ObjectRef scheduler;             // what events about the scheduler are about: its Lease
    QuarantineNote* note = nullptr;  // null: there are no pages
    std::function<void(const std::string& line)> log;
  };

  // Becomes the listener of the mirror and takes over what cycles of the loop leave out.
  QuarantineReports(ClusterMirror& mirror, SchedulingLoop& loop, EventRecorder& events,
                    ServeMetrics& metrics, Options options);

  // After each turn. Only the leader sends events.
  void Follow(bool leading);
  // A check failed while statuses and metrics were made of a cycle.
  void ReportingFailed(const std::string& check);
  // Every event that was sent is sent again: the process leads from now on.
  void Announce();

 private:
  void Report(const Quarantine::Entry& entry);
  void SetNote();
  ObjectRef RefOf(const Quarantine::Entry& entry) const;

  ClusterMirror& mirror_;
  SchedulingLoop& loop_;
  EventRecorder& events_;
  ServeMetrics& metrics_;
  Options options_;
  std::set<std::pair<WatchedKind, std::string>> unannounced_;
  std::set<std::string> failed_reports_;  // checks that were logged
  std::vector<std::string> skipped_;
  std::string suspended_;  // the check that is reported; empty: none
  uint64_t counted_ = 0;   // of the mirror's failed checks
  bool changed_ = true;
};

}  // namespace krafla
