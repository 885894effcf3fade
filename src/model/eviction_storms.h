// Evictions that lead nowhere, many within a short time: pods are evicted seconds after they got
// their nodes, or the victims' jobs had got their nodes by evicting others, these again by evicting
// others, and so on. EvictionLoops misses them when jobs or pods come back under new names, and
// when one job evicts another over and over and never gets the node.
//
// Pure and bounded: no more than so many evictions and jobs are kept. Used by EvictionLedger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"

namespace krafla {

class EvictionStorms {
 public:
  struct Options {
    int64_t span_ns = 600 * Timestamp::kNsPerSecond;
    int64_t short_life_ns = 60 * Timestamp::kNsPerSecond;
    // A chain of so many evictions, each of a job that had evicted the victim of the one before.
    // Jobs of three priorities that preempt each other make chains of two.
    int32_t long_chain = 4;
    int64_t chain_memory_ns = 3'600 * Timestamp::kNsPerSecond;
    // A storm has at least so many evictions that lead nowhere, in at least so many cycles: one
    // cycle in which an urgent job evicts many pods that have just started is none.
    int32_t evictions = 20;
    int32_t cycles = 5;
    size_t most_kept = 4'096;
  };

  struct Eviction {
    Timestamp at;  // of the cycle
    std::string_view evicting_job;
    std::string_view victim_job;
    int64_t held_node_ns = 0;  // for how long the victim had its node
  };

  struct Storm {
    int32_t evictions = 0;          // that lead nowhere
    std::vector<std::string> jobs;  // that lost most pods by them, at most three, the most first
    std::string text;
  };

  EvictionStorms() : EvictionStorms(Options{}) {}
  explicit EvictionStorms(const Options& options) : options_(options) {}

  // Instants are given in order, unless the clock was set. Returns the storm that this eviction is
  // part of, at most once within the span while it lasts.
  std::optional<Storm> Add(const Eviction& eviction);

  size_t size() const { return nowhere_.size() + chains_.size(); }

 private:
  struct Link {
    Timestamp at;
    int32_t length = 0;
  };
  struct Nowhere {
    Timestamp at;
    std::string victim_job;
  };

  int32_t NoteChain(const Eviction& eviction);
  void Forget(Timestamp now);
  Storm Describe() const;

  const Options options_;
  std::map<std::string, Link, std::less<>> chains_;  // by evicting job: its last eviction
  std::deque<Nowhere> nowhere_;                      // within the span, the oldest first
  Timestamp told_;
};

}  // namespace krafla
