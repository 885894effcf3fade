// What becomes of evictions after the cycle that decided them.
//
// A cycle remembers its evictions at once (CycleMemory), so that the next one counts them: for
// budgets, evict periods, cooldowns. Whether the API takes them is known later. Until then each is
// open here:
//   1. After a cycle (Note) every eviction is put down, with what the cycle remembers on its
//      account: that its job has lost pods, and when; that the job made room for others; when its
//      zone was last emptied of somebody. Evictions of one cycle share such an entry.
//   2. Before the next cycle (Settle) those are closed whose pod is gone, and those whose pod has
//      its place as before: that one was refused.
//   3. An entry of which every eviction was refused is taken back, to what was there before it.
// So an eviction counts for exactly as long as its pod counts as leaving.
//
// Of those that were taken it looks for jobs that evict each other in turn
// (model/eviction_loops.h), and for storms of evictions that lead nowhere
// (model/eviction_storms.h). One thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "model/eviction_loops.h"
#include "model/eviction_storms.h"
#include "session/cycle_memory.h"
#include "session/session.h"

namespace krafla {

class EvictionLedger {
 public:
  explicit EvictionLedger(CycleMemory& memory) : memory_(memory) {}

  // Before a cycle.
  void Settle(LiveCluster& live);
  // After it, while its session is open.
  void Note(const Session& session);

  // The API has taken the last eviction of this pod ("namespace/name"). Nobody needs to say so:
  // then it is known when the pod is gone.
  void Taken(const std::string& pod);

  // Jobs that evict each other in turn, or many evictions that lead nowhere, as sentences.
  struct Ring {
    std::vector<std::string> jobs;  // "namespace/name"; of a storm those that lost most pods
    std::string text;
    bool is_storm = false;
  };
  // Found since the last call.
  std::vector<Ring> TakeRings() { return std::exchange(rings_, {}); }

  // Jobs ("namespace/name") with evictions in a cycle of which something was taken back since the
  // last call, by name: whoever has written down what is remembered of them has to do it again.
  std::vector<std::string> TakeWithdrawn();

  // The instants of the cycles of evictions that count for the eviction limits and were refused
  // since the last call.
  std::vector<Timestamp> TakeRefunds() { return std::exchange(refunds_, {}); }

  // The clock was set by so much, and the memory shifted: cycles are found by their instants.
  void ShiftBy(int64_t ns);

  size_t open() const;  // evictions

 private:
  enum class What : uint8_t { kJobLoss, kJobEviction, kZoneEviction };
  using Key = std::pair<What, std::string>;  // with the name of the job or the zone
  struct Entry {
    int32_t evictions = 0;  // that were not refused
    std::optional<CycleMemory::JobLoss> loss_before;
    std::optional<Timestamp> zone_before;
  };
  struct Open {
    std::string uid;
    std::string job;
    std::string for_job;       // another one; empty: none
    int64_t held_node_ns = 0;  // for how long it had its node
    bool counts = false;       // for the eviction limits
    std::vector<Key> entries;  // of its cycle
    bool taken = false;
  };
  struct Cycle {
    Timestamp at;
    std::map<Key, Entry> entries;
    std::map<std::string, Open> open;  // by pod
    std::vector<std::string> jobs;
  };

  void Count(Cycle& cycle, Open& eviction, What what, std::string_view name);
  bool Refused(Cycle& cycle, const Open& eviction);
  void TakeBack(const Cycle& cycle, const Key& key, const Entry& entry);
  void Taken(const Cycle& cycle, Open& eviction);

  CycleMemory& memory_;
  std::vector<CycleMemory::JobLoss> losses_before_;
  std::vector<CycleMemory::ZoneEviction> zones_before_;
  std::list<Cycle> cycles_;  // with open evictions, the earliest first
  std::vector<std::string> withdrawn_;
  EvictionLoops loops_;
  EvictionStorms storms_;
  std::vector<Timestamp> refunds_;
  std::vector<Ring> rings_;
};

}  // namespace krafla
