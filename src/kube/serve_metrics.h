// Figures for Prometheus: Volcano's names, so that dashboards keep working, and our own.
//
// Set by the scheduling thread, read by the server's threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/page_process.h"
#include "record/state_keeper.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

struct RequestOutcome;

class ServeMetrics {
 public:
  // `version`: for krafla_build_info.
  explicit ServeMetrics(std::string_view version = {});
  ~ServeMetrics();

  // What a cycle found and did, while its session is open.
  void Cycle(const Session& session, const std::vector<JobPhaseChange>& phases, double wall_ms);
  // A pod was bound so long after it was created.
  void Bound(double seconds_since_creation);

  // Levels and totals that others keep.
  struct Levels {
    double effects_in_flight = 0;
    double statuses_waiting = 0;
    double events_waiting = 0;
    double events_sent = 0;
    double events_dropped = 0;
    double bind_failures = 0;
    double eviction_failures = 0;
    double requests_repeated = 0;
    double objects_malformed = 0;
    double table_rebuilds = 0;
    double waiting_pods = 0;
    double re_evictions = 0;
    double eviction_loops = 0;
    double rollbacks = 0;
    double leading = 0;
    double controllers_seen = 0;
  };
  void Set(const Levels& levels);
  // Of a kind's watch. One thread at a time.
  void WatchLag(std::string_view kind, double seconds);
  void Kept(const StateKeeper::Figures& figures);
  // A request to the API server has its result. From any thread.
  void Request(const RequestOutcome& outcome);
  // Since the start, and now. One thread at a time.
  void CountPageProcesses(const PageProcesses::Counts& counts, int running);
  // What is measured when the page is read, in seconds; none: not known. One thread at a time.
  struct Ages {
    double heartbeat = 0;
    std::optional<double> lease_renewal;
    std::optional<double> clock_skew;
  };
  void SetAges(const Ages& ages);
  // A configuration was read again: taken, or refused.
  void ConfigReload(bool taken);

  // Whether evictions wait for the eviction limits now, and how many more do than before.
  void EvictionLimit(bool reached, double more);
  void EvictionStorm();
  // How many objects of the kind are quarantined.
  void Quarantined(std::string_view kind, double objects);
  void InternalChecksFailed(double more);
  // Whether no cycle can be run, and how many actions are skipped, because checks fail.
  void CyclesFail(bool suspended, double skipped_actions);

  // A request to a page that needs authorization, and a review of its caller; see PageAccess. Any
  // thread.
  void PageRequest(std::string_view page, std::string_view result);
  void PageReview(std::string_view review, std::string_view result);

  // The page.
  std::string Text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace krafla
