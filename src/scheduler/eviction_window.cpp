#include "scheduler/eviction_window.h"

#include <algorithm>
#include <iterator>

#include "session/cycle_memory.h"

namespace krafla {

void EvictionWindow::Add(int64_t steady_ns, Timestamp cycle, int32_t evictions) {
  if (evictions <= 0) return;
  count_ += evictions;
  entries_.push_back({steady_ns, cycle, evictions});
}

void EvictionWindow::Refund(Timestamp cycle) {
  const auto entry = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const Entry& e) { return e.cycle == cycle; });
  if (entry == entries_.rend()) return;  // older than a minute
  --count_;
  if (--entry->evictions == 0) entries_.erase(std::next(entry).base());
}

void EvictionWindow::ShiftBy(int64_t ns) {
  for (Entry& entry : entries_) entry.cycle = Shifted(entry.cycle, ns);
}

int32_t EvictionWindow::CountAt(int64_t steady_ns) {
  while (!entries_.empty() && steady_ns - entries_.front().steady_ns >= kSpanNs) {
    count_ -= entries_.front().evictions;
    entries_.pop_front();
  }
  return count_;
}

int32_t EvictionWindow::CountAfter(int64_t steady_ns) const {
  int32_t count = 0;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && entry->steady_ns > steady_ns;
       ++entry)
    count += entry->evictions;
  return count;
}

std::optional<int64_t> EvictionWindow::FirstAfter(int64_t steady_ns) const {
  const auto first = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.steady_ns > steady_ns; });
  if (first == entries_.end()) return std::nullopt;
  return first->steady_ns;
}

std::optional<int64_t> EvictionWindow::ShrinksAt() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.front().steady_ns + kSpanNs;
}

}  // namespace krafla
