// The thread beside the scheduler: takes what the scheduler was told and decided, keeps the state
// as texts, the last cycles and evictions, and writes the record if there is to be one. Whoever
// wants to see in asks here, and never the scheduler.
//
// Thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "record/change_feed.h"
#include "record/kept_state.h"
#include "record/record_writer.h"

namespace krafla {

class StateKeeper {
 public:
  struct Options {
    size_t most_cycles = 1000;  // with something decided, or not
    size_t most_evictions = 1000;
    std::unique_ptr<RecordWriter> writer;  // null: no record
  };

  StateKeeper(ChangeFeed& feed, Options options);
  // Takes what still waits, ends the record.
  ~StateKeeper();

  struct PastEviction {
    uint64_t cycle = 0;
    Timestamp at;
    RecordedEviction what;
    bool refused = false;  // the pod was seen to stay
  };

  // A copy; texts are shared.
  struct Snapshot {
    std::vector<KeptState::Entry> entries;
    std::shared_ptr<const CycleMemory> memory;
    std::shared_ptr<const std::string> config;
    uint64_t version = 0;
    uint64_t cycles = 0;
    Timestamp last_cycle;
    std::vector<PastEviction> evictions;  // as below
  };
  Snapshot Copy() const;
  uint64_t version() const;

  struct CycleSummary {
    uint64_t number = 0;
    Timestamp at;
    double wall_ms = 0;
    std::vector<std::pair<std::string, double>> steps_ms;
    size_t binds = 0;
    size_t evictions = 0;
    size_t phases = 0;
    int64_t waiting_pods = 0;
  };
  // The newest first.
  std::vector<CycleSummary> Cycles() const;
  std::vector<PastEviction> Evictions() const;

  struct Figures {
    size_t objects_bytes = 0;
    uint64_t gaps = 0;
    RecordWriter::Counts record;
  };
  Figures figures() const;

 private:
  void Run();
  void Take(RecordedChange change);
  void TakeCycle(RecordedCycle& cycle);
  // News of a pod: if it was to be evicted, what became of that may be known now.
  void Settle(const RecordedChange& change);

  ChangeFeed& feed_;
  Options options_;
  mutable std::mutex mutex_;  // of what follows; the thread alone changes it
  KeptState state_;
  std::deque<CycleSummary> cycles_;
  std::deque<PastEviction> evictions_;
  uint64_t evictions_before_ = 0;  // that are no longer among them
  // By pod: the number, counted from the first ever, of an eviction that is not settled.
  std::unordered_map<std::string, uint64_t> open_evictions_;
  RecordWriter::Counts record_;
  std::thread thread_;
};

}  // namespace krafla
