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

#include "base/two_words.h"

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
    column.steps = steps.by_kind[kind];
    column.reached.assign(nodes, 0);
    column.rows.assign((column.steps.size() + 2) * blocks(), 0);
    for (size_t block = 0; block < blocks(); ++block) column.rows[block] = NodesOf(block);
  }
}

// By halves, without branches that cannot be foreseen.
size_t AmountColumns::StepsReached(const Column& column, double amount) {
  const double* first = column.steps.data();
  size_t left = column.steps.size();
  while (left > 1) {
    const size_t half = left / 2;
    first += IsEnough(first[half - 1], amount) ? half : 0;
    left -= half;
  }
  if (left == 1 && IsEnough(*first, amount)) ++first;
  return static_cast<size_t>(first - column.steps.data());
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

AmountColumns::Question AmountColumns::Ask(const Resource& request, double slack) const {
  Question question;
  question.parts_.reserve(static_cast<size_t>(std::popcount(request.mask())));
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    const Column& column = columns_[static_cast<size_t>(kind)];
    const double wanted = request.Get(kind) - slack;
    const auto above = std::upper_bound(column.steps.begin(), column.steps.end(), wanted);
    const size_t row = static_cast<size_t>(above - column.steps.begin());
    const bool is_step = row > 0 && column.steps[row - 1] == wanted;
    question.parts_.push_back({.maybe = column.rows.data() + row * blocks(),
                               .surely = column.rows.data() + (is_step ? row : row + 1) * blocks(),
                               .amounts = column.amounts.data(),
                               .wanted = wanted,
                               .kind = kind});
  }
  return question;
}

// Some words at a time: for most requests steps tell everything. With the number of kinds known
// nothing but the answer has to be written to memory.
template <size_t kParts>
void AmountColumns::Question::FitsAllOf(std::span<uint64_t> blocks) const {
  constexpr size_t kWords = 2 * TwoWords::kSize;
  std::array<const uint64_t*, kParts> maybe;
  std::array<const uint64_t*, kParts> surely;
  for (size_t part = 0; part < kParts; ++part) {
    maybe[part] = parts_[part].maybe;
    surely[part] = parts_[part].surely;
  }
  const auto all_of = [](const std::array<const uint64_t*, kParts>& rows, size_t first) {
    return [&]<size_t... part>(std::index_sequence<part...>) {
      return (TwoWords::Load(rows[part] + first) & ...);
    }(std::make_index_sequence<kParts>());
  };
  uint64_t* out = blocks.data();
  size_t first = 0;
  for (; first + kWords <= blocks.size(); first += kWords) {
    const TwoWords maybe_low = all_of(maybe, first);
    const TwoWords maybe_high = all_of(maybe, first + TwoWords::kSize);
    const TwoWords surely_low = all_of(surely, first);
    const TwoWords surely_high = all_of(surely, first + TwoWords::kSize);
    surely_low.Store(out + first);
    surely_high.Store(out + first + TwoWords::kSize);
    if (((maybe_low ^ surely_low) | (maybe_high ^ surely_high)).IsZero()) continue;
    for (size_t block = first; block < first + kWords; ++block) out[block] = Fits(block);
  }
  for (; first < blocks.size(); ++first) out[first] = Fits(first);
}

void AmountColumns::Question::FitsAll(std::span<uint64_t> blocks) const {
  switch (parts_.size()) {
    case 2:
      return FitsAllOf<2>(blocks);
    case 3:
      return FitsAllOf<3>(blocks);
    case 4:
      return FitsAllOf<4>(blocks);
    default:
      for (size_t block = 0; block < blocks.size(); ++block) blocks[block] = Fits(block);
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
