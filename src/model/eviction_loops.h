// Jobs that evict each other in turn: a takes the place of b, b that of a, and so on. Each eviction
// by itself may be right; together they waste work. Fed with evictions as they happen, it names the
// rings that have gone round within a span of time.
//
// Pure and bounded: only what lies within the span is kept, and no more than so many evictions.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/timestamp.h"

namespace krafla {

class EvictionLoops {
 public:
  struct Options {
    int64_t span_ns = 3'600 * Timestamp::kNsPerSecond;
    // A ring is named when each of its jobs has evicted the next so often: once may be chance.
    int32_t rounds = 2;
    size_t most_kept = 8'192;  // beyond that the oldest are forgotten
  };

  // jobs[i] evicted jobs[i + 1], the last one the first, times[i] times.
  struct Loop {
    std::vector<std::string> jobs;  // the least name first
    std::vector<int32_t> times;

    friend bool operator==(const Loop&, const Loop&) = default;
  };

  EvictionLoops() : EvictionLoops(Options{}) {}
  explicit EvictionLoops(const Options& options) : options_(options) {}

  // Pods that a job takes from another at one instant count once; those of its own do not count.
  // Instants are given in order.
  void Add(Timestamp at, std::string_view evicting_job, std::string_view victim_job);

  // The rings within the span before `now`: for each eviction the shortest ring it is part of. The
  // shortest come first, then by name.
  std::vector<Loop> Find(Timestamp now);
  // Those that `job` is part of.
  std::vector<Loop> FindWith(Timestamp now, std::string_view job);

  // "a/x evicted b/y 3 times and b/y evicted a/x twice within 1h"
  std::string Describe(const Loop& loop) const;

  size_t size() const { return in_order_.size(); }

 private:
  // Who evicted whom.
  using Edge = std::pair<std::string, std::string>;
  using Edges = std::map<Edge, std::deque<Timestamp>>;

  void Forget(Timestamp now);
  void ForgetOldest();

  const Options options_;
  Edges edges_;
  std::deque<Edges::iterator> in_order_;  // one for each instant in edges_, the oldest first
};

}  // namespace krafla
