#include "session/node_ranking.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/words_of_bits.h"
#include "session/rows_of_bits.h"

namespace krafla {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Of eight numbers, without branches.
double Highest8(const double* numbers) {
  const auto higher = [](double a, double b) { return a > b ? a : b; };
  std::array<double, 4> two;
  for (size_t i = 0; i < two.size(); ++i) two[i] = higher(numbers[i], numbers[i + 4]);
  return higher(higher(two[0], two[2]), higher(two[1], two[3]));
}

// Which of eight is the first that has the highest of them.
size_t FirstOf8(const double* numbers, double highest) {
  uint32_t has = 0;
#ifdef __SSE2__
  const __m128d all = _mm_set1_pd(highest);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const int both = _mm_movemask_pd(_mm_cmpge_pd(_mm_loadu_pd(numbers + i), all));
    has |= static_cast<uint32_t>(both) << i;
  }
#else
  for (int i = 0; i < 8; ++i) has |= uint32_t{numbers[i] >= highest} << i;
#endif
  return static_cast<size_t>(std::countr_zero(has));
}

}  // namespace

size_t NodeRanking::Count() const {
  size_t count = CountBits(allowed);
  if (left_out == nullptr) return count;
  for (uint32_t p = 0; p < left_out->size(); ++p)
    if ((*left_out)[p] && ((allowed[p / kBlock] >> (p % kBlock)) & 1) != 0) --count;
  return count;
}

bool NodeRanking::AnyAllowed() const {
  for (uint32_t p = 0; p < scores->size(); ++p) {
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
  keep_ = nullptr;
  bounds_.assign(ranking.region_best.begin(), ranking.region_best.end());
  is_open_.assign(bounds_.size(), false);
  if (regions_.size() < bounds_.size()) regions_.resize(bounds_.size());
  ChooseRegion();
}

void BestFirst::ChooseRegion() {
  current_ = rival_ = bounds_.size();
  double highest = kNone;
  rivals_ = kNone;
  for (size_t at = 0; at < bounds_.size(); ++at) {
    if (bounds_[at] > highest) {
      rival_ = current_;
      rivals_ = highest;
      current_ = at;
      highest = bounds_[at];
    } else if (bounds_[at] > rivals_) {
      rival_ = at;
      rivals_ = bounds_[at];
    }
  }
}

// Positions rise with regions: of equal ones the first.
bool BestFirst::IsAhead() const {
  const double bound = bounds_[current_];
  return bound > rivals_ || (bound == rivals_ && bound != kNone && current_ < rival_);
}

double BestFirst::Region::Highest() const {
  return Highest8(of_group.data());
}

size_t BestFirst::Region::FirstThatHas(double highest) const {
  const size_t group = FirstOf8(of_group.data(), highest);
  return group * kGroup + FirstOf8(bound.data() + group * kGroup, highest);
}

void BestFirst::Open(size_t at) {
  is_open_[at] = true;
  Region& region = regions_[at];
  region.known = 0;
  region.unasked = keep_ ? ~uint64_t{0} : 0;
  const size_t first = at * Region::kBlocks;
  const size_t blocks = std::min(Region::kBlocks, among_.size() - first);
  for (size_t block = 0; block < blocks; ++block) {
    region.left[block] = among_[first + block] & ranking_.allowed[first + block];
    region.bound[block] = region.left[block] != 0 ? ranking_.block_best[first + block] : kNone;
  }
  std::fill(region.bound.begin() + static_cast<ptrdiff_t>(blocks), region.bound.end(), kNone);
  for (size_t group = 0; group < region.of_group.size(); ++group) {
    const double* bounds = region.bound.data() + group * kGroup;
    region.of_group[group] = Highest8(bounds);
    // Whose turn comes first: a table of scores is mostly not in the cache.
    if (region.of_group[group] != kNone)
      ranking_.scores->FetchBlock(first + group * kGroup +
                                  FirstOf8(bounds, region.of_group[group]));
  }
  bounds_[at] = region.Highest();
}

void BestFirst::SetBound(size_t at, size_t block, double bound) {
  Region& region = regions_[at];
  region.bound[block] = bound;
  const size_t group = block / kGroup;
  region.of_group[group] = Highest8(region.bound.data() + group * kGroup);
  bounds_[at] = region.Highest();
}

void BestFirst::Filter(Keep keep) {
  keep_ = std::move(keep);
  for (size_t at = 0; at < bounds_.size(); ++at)
    if (is_open_[at]) regions_[at].unasked = ~uint64_t{0};
}

// Whether any of the block's nodes may still come.
bool BestFirst::Ask(Region& region, size_t block) {
  region.unasked &= ~BitOf(block);
  const uint64_t before = region.left[block];
  region.left[block] = keep_(current_ * Region::kBlocks + block, before);
  if (region.left[block] != before) region.known &= ~BitOf(block);
  return region.left[block] != 0;
}

void BestFirst::Remove(uint32_t position) {
  const size_t at = position / (NodeRanking::kBlock * Region::kBlocks);
  if (!is_open_[at]) return;
  Region& region = regions_[at];
  const size_t block = position / NodeRanking::kBlock % Region::kBlocks;
  region.left[block] &= ~BitOf(position);
  region.known &= ~BitOf(block);
  if (region.left[block] != 0) return;  // none of which is better than was known
  SetBound(at, block, kNone);
  ChooseRegion();
}

// Two of them: whoever does not do is mostly followed by the other. Of equal ones the first.
void BestFirst::FindBest(Region& region, size_t block) const {
  region.known |= BitOf(block);
  ranking_.scores->FetchBlock(current_ * Region::kBlocks + block);
  const auto first =
      static_cast<uint32_t>((current_ * Region::kBlocks + block) * NodeRanking::kBlock);
  ranking_.scores->Visit([&]<class T>(const T* scores) {
    auto highest = ScoreColumn::BelowAll<T>();
    auto next = highest;
    uint32_t best = kEnd;
    uint32_t second = kEnd;
    for (uint64_t nodes = region.left[block]; nodes != 0; nodes &= nodes - 1) {
      const uint32_t p = first + static_cast<uint32_t>(std::countr_zero(nodes));
      const decltype(highest) score = scores[p];
      if (score <= next) continue;
      if (score > highest) {
        next = highest;
        second = best;
        highest = score;
        best = p;
      } else {
        next = score;
        second = p;
      }
    }
    region.best[block] = best;
    region.second[block] = second;
  });
}

uint32_t BestFirst::Next() {
  for (;;) {
    if (current_ == bounds_.size()) return kEnd;  // nobody is left
    if (!is_open_[current_]) {
      Open(current_);
      if (!IsAhead()) ChooseRegion();
      continue;
    }
    Region& region = regions_[current_];
    const size_t block = region.FirstThatHas(bounds_[current_]);
    const uint64_t bit = BitOf(block);
    if ((region.unasked & bit) != 0 && !Ask(region, block)) {
      SetBound(current_, block, kNone);
      if (!IsAhead()) ChooseRegion();
      continue;
    }
    if ((region.known & bit) == 0) {
      FindBest(region, block);
      const double score = (*ranking_.scores)[region.best[block]];
      if (score != region.bound[block]) {
        SetBound(current_, block, score);
        if (!IsAhead()) ChooseRegion();
        continue;
      }
    }
    const uint32_t position = region.best[block];
    region.left[block] &= ~BitOf(position);
    if (const uint32_t second = region.second[block]; second != kEnd) {
      region.best[block] = second;
      region.second[block] = kEnd;
      SetBound(current_, block, (*ranking_.scores)[second]);
    } else {
      // What is left there is no better; how good it is shows when its turn comes.
      region.known &= ~bit;
      if (region.left[block] == 0) SetBound(current_, block, kNone);
    }
    if (!IsAhead()) ChooseRegion();
    if (ranking_.left_out == nullptr || !(*ranking_.left_out)[position]) return position;
  }
}

}  // namespace krafla
