// The evictions of the last minute, by a steady clock: what is left of the limit per minute, and
// when there is more. Owned by SchedulingLoop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/timestamp.h"

namespace krafla {

class EvictionWindow {
 public:
  static constexpr int64_t kSpanNs = 60 * Timestamp::kNsPerSecond;

  // Evictions that the cycle of `cycle` decided.
  void Add(int64_t steady_ns, Timestamp cycle, int32_t evictions);
  // One of that cycle was refused by the API: it does not count any more.
  void Refund(Timestamp cycle);
  // The clock of the cycles was set by so much.
  void ShiftBy(int64_t ns);
  // Evictions within the minute before `steady_ns`; earlier ones are forgotten.
  int32_t CountAt(int64_t steady_ns);
  // Of these, such as came after `steady_ns`.
  int32_t CountAfter(int64_t steady_ns) const;
  // When the first of these came; none: there are none.
  std::optional<int64_t> FirstAfter(int64_t steady_ns) const;
  // When the oldest leaves the window; none: it is empty.
  std::optional<int64_t> ShrinksAt() const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    int64_t steady_ns = 0;
    Timestamp cycle;
    int32_t evictions = 0;
  };
  std::deque<Entry> entries_;  // the oldest first; none without evictions
  int32_t count_ = 0;
};

}  // namespace krafla
