#include "model/eviction_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_duration.h"

namespace krafla {

namespace {

// "1h", where Go would write "1h0m0s".
std::string ShortDuration(int64_t ns) {
  std::string text = FormatGoDuration(ns);
  if (text.ends_with("m0s")) text.resize(text.size() - 2);
  if (text.ends_with("h0m")) text.resize(text.size() - 2);
  return text;
}

std::string Times(int32_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

// Jobs as numbers, in the order of their names.
class Graph {
 public:
  explicit Graph(std::vector<std::string_view> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    to_.resize(names_.size());
  }

  size_t NumberOf(std::string_view name) const {
    return static_cast<size_t>(std::lower_bound(names_.begin(), names_.end(), name) -
                               names_.begin());
  }
  std::string_view NameOf(size_t number) const { return names_[number]; }
  void Connect(size_t from, size_t to) { to_[from].push_back(to); }

  // The shortest way, both ends included; of several the first by names. Empty: there is none.
  std::vector<size_t> Way(size_t from, size_t to) const {
    std::vector<size_t> came_from(names_.size(), SIZE_MAX);
    std::vector<size_t> reached{from};
    came_from[from] = from;
    for (size_t i = 0; i < reached.size() && came_from[to] == SIZE_MAX; ++i)
      for (const size_t next : to_[reached[i]])
        if (came_from[next] == SIZE_MAX) {
          came_from[next] = reached[i];
          reached.push_back(next);
        }
    std::vector<size_t> way;
    if (came_from[to] == SIZE_MAX) return way;
    for (size_t at = to; at != from; at = came_from[at]) way.push_back(at);
    way.push_back(from);
    std::reverse(way.begin(), way.end());
    return way;
  }

 private:
  std::vector<std::string_view> names_;
  std::vector<std::vector<size_t>> to_;
};

}  // namespace

void EvictionLoops::Add(Timestamp at, std::string_view evicting_job, std::string_view victim_job) {
  if (evicting_job == victim_job) return;
  Forget(at);
  const auto edge = edges_.try_emplace({std::string(evicting_job), std::string(victim_job)}).first;
  if (!edge->second.empty() && edge->second.back() == at) return;
  edge->second.push_back(at);
  in_order_.push_back(edge);
  if (in_order_.size() > options_.most_kept) ForgetOldest();
}

void EvictionLoops::ForgetOldest() {
  const Edges::iterator edge = in_order_.front();
  in_order_.pop_front();
  edge->second.pop_front();
  if (edge->second.empty()) edges_.erase(edge);
}

void EvictionLoops::Forget(Timestamp now) {
  while (!in_order_.empty() &&
         ElapsedNs(in_order_.front()->second.front(), now) >= options_.span_ns)
    ForgetOldest();
}

std::vector<EvictionLoops::Loop> EvictionLoops::Find(Timestamp now) {
  Forget(now);
  const auto counts = [&](const Edges::value_type& edge) {
    return std::cmp_greater_equal(edge.second.size(), options_.rounds);
  };
  std::vector<std::string_view> names;
  for (const auto& edge : edges_)
    if (counts(edge)) names.insert(names.end(), {edge.first.first, edge.first.second});
  Graph graph(std::move(names));
  for (const auto& edge : edges_)
    if (counts(edge))
      graph.Connect(graph.NumberOf(edge.first.first), graph.NumberOf(edge.first.second));

  std::vector<std::vector<size_t>> rings;
  for (const auto& edge : edges_) {
    if (!counts(edge)) continue;
    std::vector<size_t> ring =
        graph.Way(graph.NumberOf(edge.first.second), graph.NumberOf(edge.first.first));
    if (ring.empty()) continue;
    std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
    rings.push_back(std::move(ring));
  }
  std::sort(rings.begin(), rings.end(), [](const auto& l, const auto& r) {
    return l.size() != r.size() ? l.size() < r.size() : l < r;
  });
  rings.erase(std::unique(rings.begin(), rings.end()), rings.end());

  std::vector<Loop> loops;
  for (const std::vector<size_t>& ring : rings) {
    Loop& loop = loops.emplace_back();
    for (size_t i = 0; i < ring.size(); ++i) {
      const Edge edge(graph.NameOf(ring[i]), graph.NameOf(ring[(i + 1) % ring.size()]));
      loop.jobs.push_back(edge.first);
      loop.times.push_back(static_cast<int32_t>(edges_.at(edge).size()));
    }
  }
  return loops;
}

std::vector<EvictionLoops::Loop> EvictionLoops::FindWith(Timestamp now, std::string_view job) {
  std::vector<Loop> loops = Find(now);
  std::erase_if(loops, [&](const Loop& loop) {
    return std::find(loop.jobs.begin(), loop.jobs.end(), job) == loop.jobs.end();
  });
  return loops;
}

std::string EvictionLoops::Describe(const Loop& loop) const {
  std::string text;
  for (size_t i = 0; i < loop.jobs.size(); ++i) {
    if (i > 0) text += i + 1 < loop.jobs.size() ? ", " : " and ";
    text += fmt::format("{} evicted {} {}", loop.jobs[i], loop.jobs[(i + 1) % loop.jobs.size()],
                        Times(loop.times[i]));
  }
  return text + " within " + ShortDuration(options_.span_ns);
}

}  // namespace krafla
