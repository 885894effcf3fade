// The way from the scheduling thread to the one that keeps the state beside it. Handing over costs
// the scheduler a few pointers; it never waits. When the other side does not keep up, what waits is
// folded: of every object only the last word stays, cycles are dropped and counted, and whoever
// takes it is told that there is a gap. So what waits is bounded by the cluster, whatever happens.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "record/recorded_change.h"

namespace krafla {

class ChangeFeed {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ChangeFeed(size_t most_bytes = 16u << 20) : most_bytes_(most_bytes) {}

  void Put(RecordedChange change);

  struct Batch {
    std::vector<RecordedChange> changes;
    bool gap = false;  // changes were folded and cycles dropped, before these and among them
    bool closed = false;
  };
  // Waits until there is something, it is closed, or `until`; takes all of it.
  Batch Take(Clock::time_point until);
  // No more will come.
  void Close();

  uint64_t gaps() const;
  size_t waiting() const;

 private:
  void Fold();
  void FoldOne(RecordedChange change);
  RecordedChange& FoldedObject(std::string_view kind, const std::string& key);

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<RecordedChange> changes_;
  size_t bytes_ = 0;
  // After an overflow, until everything is taken.
  bool folding_ = false;
  std::map<std::pair<std::string_view, std::string>, RecordedChange> folded_;
  std::shared_ptr<const CycleMemory> folded_memory_;
  std::optional<std::string> folded_config_;
  uint64_t gaps_ = 0;
  bool closed_ = false;
};

}  // namespace krafla
