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
  // Instants are given in order, unless somebody has set the clock.
  //
  // Returns the rings that this eviction is part of and that were not returned within the span
  // before it. No ring is missed: it is looked for when the last of its evictions comes.
  std::vector<Loop> Add(Timestamp at, std::string_view evicting_job, std::string_view victim_job);

  // All rings within the span before `now`: for each eviction the shortest ring it is part of. The
  // shortest come first, then by name.
  std::vector<Loop> Find(Timestamp now);

  // "a/x evicted b/y 3 times and b/y evicted a/x twice within 1h"
  std::string Describe(const Loop& loop) const;

  size_t size() const { return in_order_.size(); }

 private:
  // Who evicted whom.
  using Edge = std::pair<std::string, std::string>;
  struct EdgeTimes {
    std::deque<Timestamp> at;
    Timestamp looked;  // when rings with this edge were last looked for
  };
  using Edges = std::map<Edge, EdgeTimes>;

  using Names = std::vector<std::string_view>;

  void Forget(Timestamp now);
  void ForgetOldest();
  bool Counts(const Edges::value_type& edge) const {
    return std::cmp_greater_equal(edge.second.at.size(), options_.rounds);
  }
  // Who is evicted by `job`, by those, and so on; sorted. Every ring with `job` lies within.
  Names ReachedFrom(std::string_view job) const;
  std::vector<Loop> RingsAmong(const Names& jobs) const;
  bool IsNews(const Loop& loop, Timestamp now) const;

  const Options options_;
  Edges edges_;
  std::deque<Edges::iterator> in_order_;  // one for each instant of edges_, the oldest first
  std::map<std::vector<std::string>, Timestamp> told_;  // by the jobs of the ring
};

}  // namespace krafla
