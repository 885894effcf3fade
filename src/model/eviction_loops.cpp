#include "model/eviction_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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
  explicit Graph(const std::vector<std::string_view>& sorted) : names_(sorted) {
    to_.resize(names_.size());
  }

  // SIZE_MAX: it is not one of them.
  size_t NumberOf(std::string_view name) const {
    const auto it = std::lower_bound(names_.begin(), names_.end(), name);
    return it != names_.end() && *it == name ? static_cast<size_t>(it - names_.begin()) : SIZE_MAX;
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
  const std::vector<std::string_view>& names_;
  std::vector<std::vector<size_t>> to_;
};

}  // namespace

// A ring comes to be when one of its evictions has happened often enough for the first time. Later
// ones can only lead to its being named again, once per span.
std::vector<EvictionLoops::Loop> EvictionLoops::Add(Timestamp at, std::string_view evicting_job,
                                                    std::string_view victim_job) {
  std::vector<Loop> news;
  if (evicting_job == victim_job) return news;
  Forget(at);
  const auto edge = edges_.try_emplace({std::string(evicting_job), std::string(victim_job)}).first;
  EdgeTimes& times = edge->second;
  if (!times.at.empty() && times.at.back() == at) return news;
  times.at.push_back(at);
  in_order_.push_back(edge);
  const bool crossed = std::cmp_equal(times.at.size(), options_.rounds);
  if (in_order_.size() > options_.most_kept) ForgetOldest();
  if (!Counts(*edge)) return news;
  if (!crossed && ElapsedNs(times.looked, at) < options_.span_ns) return news;
  times.looked = at;
  const Names reached = ReachedFrom(victim_job);
  if (!std::binary_search(reached.begin(), reached.end(), evicting_job)) return news;

  news = RingsAmong(reached);
  std::erase_if(news, [&](const Loop& loop) {
    const auto evicting = std::find(loop.jobs.begin(), loop.jobs.end(), evicting_job);
    if (evicting == loop.jobs.end()) return true;
    const std::string& victim = evicting + 1 != loop.jobs.end() ? evicting[1] : loop.jobs.front();
    return victim != victim_job || !IsNews(loop, at);
  });
  if (news.empty()) return news;
  std::erase_if(told_,
                [&](const auto& told) { return ElapsedNs(told.second, at) >= options_.span_ns; });
  for (const Loop& loop : news) told_.insert_or_assign(loop.jobs, at);
  return news;
}

bool EvictionLoops::IsNews(const Loop& loop, Timestamp now) const {
  const auto told = told_.find(loop.jobs);
  return told == told_.end() || ElapsedNs(told->second, now) >= options_.span_ns;
}

void EvictionLoops::ForgetOldest() {
  const Edges::iterator edge = in_order_.front();
  in_order_.pop_front();
  edge->second.at.pop_front();
  if (edge->second.at.empty()) edges_.erase(edge);
}

void EvictionLoops::Forget(Timestamp now) {
  while (!in_order_.empty() &&
         ElapsedNs(in_order_.front()->second.at.front(), now) >= options_.span_ns)
    ForgetOldest();
}

EvictionLoops::Names EvictionLoops::ReachedFrom(std::string_view job) const {
  std::set<std::string_view> reached;
  Names to_look_at{job};
  while (!to_look_at.empty()) {
    const std::string_view evicting = to_look_at.back();
    to_look_at.pop_back();
    for (auto edge = edges_.lower_bound({std::string(evicting), ""});
         edge != edges_.end() && edge->first.first == evicting; ++edge)
      if (Counts(*edge) && reached.insert(edge->first.second).second)
        to_look_at.push_back(edge->first.second);
  }
  return {reached.begin(), reached.end()};
}

std::vector<EvictionLoops::Loop> EvictionLoops::Find(Timestamp now) {
  Forget(now);
  std::set<std::string_view> names;
  for (const auto& edge : edges_)
    if (Counts(edge)) names.insert({edge.first.first, edge.first.second});
  return RingsAmong({names.begin(), names.end()});
}

std::vector<EvictionLoops::Loop> EvictionLoops::RingsAmong(const Names& jobs) const {
  Graph graph(jobs);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const std::string_view job : jobs)
    for (auto edge = edges_.lower_bound({std::string(job), ""});
         edge != edges_.end() && edge->first.first == job; ++edge) {
      const size_t victim = graph.NumberOf(edge->first.second);
      if (!Counts(*edge) || victim == SIZE_MAX) continue;
      pairs.emplace_back(graph.NumberOf(job), victim);
      graph.Connect(pairs.back().first, victim);
    }

  std::vector<std::vector<size_t>> rings;
  for (const auto& [evicting, victim] : pairs) {
    std::vector<size_t> ring = graph.Way(victim, evicting);
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
      loop.times.push_back(static_cast<int32_t>(edges_.at(edge).at.size()));
    }
  }
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
