#include "session/amount_columns.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/four_words.h"

namespace krafla {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

}  // namespace

void AmountColumns::Begin(size_t nodes, const AmountSteps& steps) {
  nodes_ = nodes;
  columns_.resize(steps.by_kind.size());
  for (size_t kind = 0; kind < columns_.size(); ++kind) {
    Column& column = columns_[kind];
    column.amounts.assign(blocks() * kBlock, kNothing);
    column.steps = RisingSteps(steps.by_kind[kind]);
    column.reached.assign(nodes, 0);
    column.rows.assign((column.steps.size() + 2) * blocks(), 0);
    for (size_t block = 0; block < blocks(); ++block) column.rows[block] = NodesOf(block);
  }
}

// By halves where it is not clear, without branches that cannot be foreseen. Steps that are higher
// by less than the tolerance are reached, too.
size_t AmountColumns::StepsReached(const Column& column, double amount) {
  const std::span<const double> steps = column.steps.all();
  auto [reached, end] = column.steps.Around(amount);
  size_t left = end - reached;
  while (left > 1) {
    const size_t half = left / 2;
    reached += IsEnough(steps[reached + half - 1], amount) ? half : 0;
    left -= half;
  }
  while (reached < steps.size() && IsEnough(steps[reached], amount)) ++reached;
  return reached;
}

void AmountColumns::SetRows(Column& column, uint32_t position) const {
  const size_t before = column.reached[position];
  const size_t after = StepsReached(column, column.amounts[position]);
  column.reached[position] = static_cast<uint8_t>(after);
  uint64_t* rows = &column.rows[position / kBlock];
  const uint64_t bit = uint64_t{1} << position % kBlock;
  const size_t row = blocks();
  for (size_t r = before + 1; r <= after; ++r) rows[r * row] |= bit;
  for (size_t r = after + 1; r <= before; ++r) rows[r * row] &= ~bit;
}

// Each row is written once, not once for each node.
void AmountColumns::SetRowsOfMany(Column& column, size_t block, uint64_t nodes) const {
  if (column.steps.empty() || nodes == 0) return;
  // By step: the nodes that reach it and no more. Rows between the lowest and the highest step that
  // any of them has reached, or does now, are other than they were.
  std::array<uint64_t, RisingSteps::kMost + 1> reach{};
  size_t lowest = SIZE_MAX;
  size_t highest = 0;
  for (uint64_t rest = nodes; rest != 0; rest &= rest - 1) {
    const size_t position = block * kBlock + static_cast<size_t>(std::countr_zero(rest));
    const size_t after = StepsReached(column, column.amounts[position]);
    const size_t before = std::exchange(column.reached[position], static_cast<uint8_t>(after));
    reach[after] |= rest & -rest;
    lowest = std::min({lowest, before, after});
    highest = std::max({highest, before, after});
  }
  uint64_t* rows = &column.rows[block];
  const size_t row = blocks();
  uint64_t have = 0;
  for (size_t r = highest; r > lowest; --r) {
    have |= reach[r];
    rows[r * row] = (rows[r * row] & ~nodes) | have;
  }
}

void AmountColumns::SetMany(size_t block, uint64_t nodes, std::span<const double> amounts) {
  // A table of all steps is not worth it for so few.
  constexpr int kFew = 2;
  const bool few = std::popcount(nodes) <= kFew;
  const size_t kinds = columns_.size();
  for (size_t kind = 0; kind < kinds; ++kind) {
    Column& column = columns_[kind];
    uint64_t others = 0;  // that have another amount now
    size_t at = kind;
    for (uint64_t rest = nodes; rest != 0; rest &= rest - 1, at += kinds) {
      const size_t position = block * kBlock + static_cast<size_t>(std::countr_zero(rest));
      if (std::exchange(column.amounts[position], amounts[at]) == amounts[at]) continue;
      if (few) {
        if (!column.steps.empty()) SetRows(column, static_cast<uint32_t>(position));
      } else {
        others |= rest & -rest;
      }
    }
    SetRowsOfMany(column, block, others);
  }
}

AmountColumns::Question AmountColumns::Ask(const Resource& request, double slack) const {
  Question question;
  question.blocks_ = blocks();
  question.parts_.reserve(static_cast<size_t>(std::popcount(request.mask())));
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    const Column& column = columns_[static_cast<size_t>(kind)];
    const double wanted = request.Get(kind) - slack;
    const std::span<const double> steps = column.steps.all();
    const auto above = std::upper_bound(steps.begin(), steps.end(), wanted);
    const size_t row = static_cast<size_t>(above - steps.begin());
    const bool is_step = row > 0 && steps[row - 1] == wanted;
    question.parts_.push_back({.maybe = column.rows.data() + row * blocks(),
                               .surely = column.rows.data() + (is_step ? row : row + 1) * blocks(),
                               .amounts = column.amounts.data(),
                               .wanted = wanted,
                               .kind = kind});
  }
  return question;
}

namespace {

// The nodes that have enough of all kinds for sure, written to `out`. Calls unclear(first) for each
// kWords blocks of some of which steps do not tell everything.
constexpr size_t kWords = 2 * FourWords::kSize;
template <size_t kParts, class Unclear>
KRAFLA_IN_PLACE void CombineRows(const uint64_t* const* maybe_rows,
                                 const uint64_t* const* surely_rows, uint64_t* out, size_t words,
                                 Unclear&& unclear) {
  // With the number of kinds known, nothing but the answer has to be written to memory.
  std::array<const uint64_t*, kParts> maybe;
  std::array<const uint64_t*, kParts> surely;
  std::copy_n(maybe_rows, kParts, maybe.begin());
  std::copy_n(surely_rows, kParts, surely.begin());
  for (size_t first = 0; first + kWords <= words; first += kWords) {
    FourWords differ{};
#pragma GCC unroll 2
    for (size_t at = first; at < first + kWords; at += FourWords::kSize) {
      FourWords have = FourWords::Load(surely[0] + at);
      FourWords might = FourWords::Load(maybe[0] + at);
#pragma GCC unroll 8
      for (size_t part = 1; part < kParts; ++part) {
        have = have & FourWords::Load(surely[part] + at);
        might = might & FourWords::Load(maybe[part] + at);
      }
      have.Store(out + at);
      differ = differ | (have ^ might);
    }
    if (!differ.IsZero()) unclear(first);
  }
}

}  // namespace

// Some words at a time: for most requests steps tell everything.
KRAFLA_WIDE void AmountColumns::Question::FitsAll(std::span<uint64_t> blocks) const {
  KRAFLA_CHECK(blocks.size() == blocks_, "a word for each block");
  constexpr size_t kMost = 4;
  std::array<const uint64_t*, kMost> maybe{};
  std::array<const uint64_t*, kMost> surely{};
  for (size_t part = 0; part < std::min(kMost, parts_.size()); ++part) {
    maybe[part] = parts_[part].maybe;
    surely[part] = parts_[part].surely;
  }
  uint64_t* const out = blocks.data();
  const auto unclear = [&](size_t first) KRAFLA_LAMBDA_IN_PLACE {
    for (size_t block = first; block < first + kWords; ++block) out[block] = Fits(block);
  };
  size_t done = blocks.size() / kWords * kWords;
  switch (parts_.size()) {
    case 2:
      CombineRows<2>(maybe.data(), surely.data(), out, blocks.size(), unclear);
      break;
    case 3:
      CombineRows<3>(maybe.data(), surely.data(), out, blocks.size(), unclear);
      break;
    case 4:
      CombineRows<4>(maybe.data(), surely.data(), out, blocks.size(), unclear);
      break;
    default:
      done = 0;
  }
  for (; done < blocks.size(); ++done) out[done] = Fits(done);
}

KRAFLA_WIDE void AmountColumns::Question::TakeLacking(size_t at, std::span<uint64_t> nodes,
                                                      std::span<uint64_t> lacking) const {
  KRAFLA_CHECK(nodes.size() == blocks_ && lacking.size() == blocks_, "a word for each block");
  const Part& part = parts_[at];
  size_t block = 0;
  for (; block + FourWords::kSize <= nodes.size(); block += FourWords::kSize) {
    const FourWords all = FourWords::Load(&nodes[block]);
    const FourWords have = all & FourWords::Load(part.surely + block);
    have.Store(&nodes[block]);
    (all ^ have).Store(&lacking[block]);
    if ((all & FourWords::Load(part.maybe + block) & ~have).IsZero()) continue;
    for (size_t each = block; each < block + FourWords::kSize; ++each) {
      const uint64_t of_block = nodes[each] | lacking[each];
      nodes[each] = FitsPart(part, each, of_block);
      lacking[each] = of_block & ~nodes[each];
    }
  }
  for (; block < nodes.size(); ++block) {
    const uint64_t of_block = nodes[block];
    nodes[block] = FitsPart(part, block, of_block);
    lacking[block] = of_block & ~nodes[block];
  }
}

uint64_t AmountColumns::Question::FitsPart(const Part& part, size_t block, uint64_t nodes) {
  const uint64_t surely = nodes & part.surely[block];
  uint64_t unclear = nodes & part.maybe[block] & ~surely;
  if (unclear == 0) return surely;
  const double* amounts = part.amounts + block * kBlock;
  // One by one, or many at a time.
  int few = 16;
  for (uint64_t rest = unclear; rest != 0; rest &= rest - 1) {
    if (few-- == 0) return surely | (unclear & Compare(amounts, part.wanted));
    if (!IsEnough(part.wanted, amounts[std::countr_zero(rest)])) unclear &= ~(rest & -rest);
  }
  return surely | unclear;
}

uint64_t AmountColumns::Question::CompareAll(size_t block, uint64_t nodes) const {
  for (const Part& part : parts()) nodes = nodes == 0 ? 0 : FitsPart(part, block, nodes);
  return nodes;
}

uint64_t AmountColumns::Compare(const double* amounts, double amount) {
  uint64_t bits = 0;
#ifdef __SSE2__
  // Two at a time; the same subtraction and comparison as IsEnough.
  const __m128d wanted = _mm_set1_pd(amount);
  const __m128d tolerance = _mm_set1_pd(kTolerance);
  for (uint32_t i = 0; i < kBlock; i += 2) {
    const __m128d short_of = _mm_sub_pd(wanted, _mm_loadu_pd(amounts + i));
    const int both = _mm_movemask_pd(_mm_cmplt_pd(short_of, tolerance));
    bits |= static_cast<uint64_t>(both) << i;
  }
#else
  for (uint32_t i = 0; i < kBlock; ++i) bits |= uint64_t{IsEnough(amount, amounts[i])} << i;
#endif
  return bits;
}

bool AmountColumns::FitsAt(const Resource& request, uint32_t position, double slack) const {
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (!IsEnough(request.Get(kind) - slack, columns_[static_cast<size_t>(kind)].amounts[position]))
      return false;
  }
  return true;
}

}  // namespace krafla
