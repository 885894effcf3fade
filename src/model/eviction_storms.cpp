#include "model/eviction_storms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_duration.h"

namespace krafla {

namespace {

constexpr size_t kMostNamed = 3;

}  // namespace

std::optional<EvictionStorms::Storm> EvictionStorms::Add(const Eviction& eviction) {
  Forget(eviction.at);
  const int32_t chain = NoteChain(eviction);
  if (eviction.held_node_ns >= options_.short_life_ns && chain < options_.long_chain)
    return std::nullopt;
  nowhere_.push_back({eviction.at, std::string(eviction.victim_job)});
  if (nowhere_.size() > options_.most_kept) nowhere_.pop_front();
  if (std::cmp_less(nowhere_.size(), options_.evictions)) return std::nullopt;
  if (told_.Present() && eviction.at >= told_ && ElapsedNs(told_, eviction.at) < options_.span_ns)
    return std::nullopt;
  int32_t cycles = 0;
  const Timestamp* last = nullptr;
  for (const Nowhere& entry : nowhere_) {
    cycles += last == nullptr || *last != entry.at ? 1 : 0;
    last = &entry.at;
  }
  if (cycles < options_.cycles) return std::nullopt;
  told_ = eviction.at;
  return Describe();
}

// How long the chain is that ends with this eviction.
int32_t EvictionStorms::NoteChain(const Eviction& eviction) {
  int32_t length = 1;
  if (const auto before = chains_.find(eviction.victim_job);
      before != chains_.end() &&
      ElapsedNs(before->second.at, eviction.at) < options_.chain_memory_ns)
    length = std::min(before->second.length + 1, options_.long_chain);
  auto own = chains_.find(eviction.evicting_job);
  if (own == chains_.end()) {
    if (chains_.size() >= options_.most_kept) {
      std::erase_if(chains_, [&](const auto& entry) {
        return ElapsedNs(entry.second.at, eviction.at) >= options_.chain_memory_ns;
      });
      if (chains_.size() >= options_.most_kept)
        chains_.erase(std::min_element(
            chains_.begin(), chains_.end(),
            [](const auto& l, const auto& r) { return l.second.at < r.second.at; }));
    }
    own = chains_.try_emplace(std::string(eviction.evicting_job)).first;
  }
  own->second.length =
      own->second.at == eviction.at ? std::max(own->second.length, length) : length;
  own->second.at = eviction.at;
  return length;
}

void EvictionStorms::Forget(Timestamp now) {
  while (!nowhere_.empty() && ElapsedNs(nowhere_.front().at, now) >= options_.span_ns)
    nowhere_.pop_front();
}

EvictionStorms::Storm EvictionStorms::Describe() const {
  std::map<std::string_view, int32_t> lost;
  for (const Nowhere& entry : nowhere_) ++lost[entry.victim_job];
  std::vector<std::pair<std::string_view, int32_t>> most(lost.begin(), lost.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& l, const auto& r) { return l.second > r.second; });
  Storm storm;
  storm.evictions = static_cast<int32_t>(nowhere_.size());
  std::string jobs;
  for (size_t i = 0; i < std::min(most.size(), kMostNamed); ++i) {
    storm.jobs.emplace_back(most[i].first);
    jobs += fmt::format("{}{} lost {}", i == 0 ? "" : ", ", most[i].first, most[i].second);
  }
  if (most.size() > kMostNamed) jobs += fmt::format(", and {} more jobs", most.size() - kMostNamed);
  storm.text = fmt::format(
      "{} evictions within {} led nowhere: the pods had had their nodes for less than {}, or their "
      "jobs had got them by a chain of evictions; {}",
      storm.evictions, FormatShortDuration(options_.span_ns),
      FormatShortDuration(options_.short_life_ns), jobs);
  return storm;
}

}  // namespace krafla
