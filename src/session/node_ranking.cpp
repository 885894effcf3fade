#include "session/node_ranking.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace krafla {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

}  // namespace

size_t NodeRanking::Count() const {
  size_t count = 0;
  for (const uint64_t word : allowed) count += static_cast<size_t>(std::popcount(word));
  if (left_out == nullptr) return count;
  for (uint32_t p = 0; p < left_out->size(); ++p)
    if ((*left_out)[p] && ((allowed[p / kBlock] >> (p % kBlock)) & 1) != 0) --count;
  return count;
}

bool NodeRanking::AnyAllowed() const {
  for (uint32_t p = 0; p < scores.size(); ++p) {
    if (p % kBlock == 0 && allowed[p / kBlock] == 0)
      p += kBlock - 1;
    else if (IsAllowed(p))
      return true;
  }
  return false;
}

void BestFirst::Start(const NodeRanking& ranking, std::span<const uint64_t> among) {
  ranking_ = ranking;
  among_ = among;
  bounds_.assign(ranking.region_best.begin(), ranking.region_best.end());
  is_open_.assign(bounds_.size(), false);
  if (regions_.size() < bounds_.size()) regions_.resize(bounds_.size());
}

// Four at a time: each comparison waits for the one before.
double BestFirst::Region::Highest() const {
  std::array<double, 4> highest{kNone, kNone, kNone, kNone};
  for (size_t block = 0; block < bound.size(); block += highest.size())
    for (size_t i = 0; i < highest.size(); ++i)
      highest[i] = bound[block + i] > highest[i] ? bound[block + i] : highest[i];
  return std::max(std::max(highest[0], highest[1]), std::max(highest[2], highest[3]));
}

void BestFirst::Open(size_t at) {
  is_open_[at] = true;
  Region& region = regions_[at];
  region.known = 0;
  const size_t first = at * NodeRanking::kBlock;
  const size_t blocks = std::min<size_t>(NodeRanking::kBlock, among_.size() - first);
  for (size_t block = 0; block < blocks; ++block) {
    region.left[block] = among_[first + block] & ranking_.allowed[first + block];
    region.bound[block] = region.left[block] != 0 ? ranking_.block_best[first + block] : kNone;
  }
  std::fill(region.bound.begin() + static_cast<ptrdiff_t>(blocks), region.bound.end(), kNone);
  bounds_[at] = region.Highest();
}

void BestFirst::FindBest(size_t at, size_t block) {
  Region& region = regions_[at];
  region.known |= uint64_t{1} << block;
  const auto first =
      static_cast<uint32_t>((at * NodeRanking::kBlock + block) * NodeRanking::kBlock);
  double score = kNone;
  for (uint64_t nodes = region.left[block]; nodes != 0; nodes &= nodes - 1) {
    const uint32_t p = first + static_cast<uint32_t>(std::countr_zero(nodes));
    if (ranking_.scores[p] <= score) continue;
    score = ranking_.scores[p];
    region.best[block] = p;
  }
  if (score == region.bound[block]) return;
  region.bound[block] = score;
  bounds_[at] = region.Highest();
}

uint32_t BestFirst::Next() {
  for (;;) {
    // Positions rise with blocks and regions: of equal ones the first.
    const auto highest = std::max_element(bounds_.begin(), bounds_.end());
    if (highest == bounds_.end() || *highest == kNone) return kEnd;
    const auto at = static_cast<size_t>(highest - bounds_.begin());
    if (!is_open_[at]) {
      Open(at);
      continue;
    }
    Region& region = regions_[at];
    size_t block = 0;
    while (region.bound[block] != *highest) ++block;
    const uint64_t bit = uint64_t{1} << block;
    if ((region.known & bit) == 0) {
      FindBest(at, block);
      continue;
    }
    // What is left there is no better; how good it is shows when its turn comes.
    const uint32_t position = region.best[block];
    region.known &= ~bit;
    region.left[block] &= ~(uint64_t{1} << position % NodeRanking::kBlock);
    if (region.left[block] == 0) {
      region.bound[block] = kNone;
      bounds_[at] = region.Highest();
    }
    if (ranking_.left_out == nullptr || !(*ranking_.left_out)[position]) return position;
  }
}

}  // namespace krafla
