#include "session/amount_columns.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <limits>

namespace krafla {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

}  // namespace

void AmountColumns::Clear(size_t nodes, size_t kinds) {
  nodes_ = nodes;
  columns_.resize(kinds);
  for (Column& column : columns_) {
    column.amounts.assign(blocks() * kBlock, kNothing);
    column.most.assign(blocks(), kNothing);
    column.least.assign(blocks(), kNothing);
    column.changes.assign(blocks(), 0);
  }
}

void AmountColumns::Set(uint32_t position, const Resource& amounts) {
  for (size_t kind = 0; kind < columns_.size(); ++kind)
    Set(columns_[kind], position, amounts.Get(static_cast<int>(kind)));
}

void AmountColumns::Set(Column& column, uint32_t position, double amount) {
  const double before = column.amounts[position];
  if (amount == before) return;
  column.amounts[position] = amount;
  const size_t block = position / kBlock;
  double& most = column.most[block];
  double& least = column.least[block];
  constexpr uint8_t kSome = 16;
  if (((before == most && amount < most) || (before == least && amount > least)) &&
      ++column.changes[block] >= kSome)
    return LookOver(column, block);
  most = std::max(most, amount);
  least = std::min(least, amount);
}

void AmountColumns::LookOver(Column& column, size_t block) const {
  const auto begin = column.amounts.begin() + static_cast<ptrdiff_t>(block * kBlock);
  const auto end =
      column.amounts.begin() + static_cast<ptrdiff_t>(std::min((block + 1) * kBlock, nodes_));
  const auto [least, most] = std::minmax_element(begin, end);
  column.changes[block] = 0;
  column.least[block] = *least;
  column.most[block] = *most;
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

uint64_t AmountColumns::Fits(const Resource& request, size_t block, double slack) const {
  uint64_t bits = ~uint64_t{0};
  // cpu and memory are always named.
  for (uint64_t rest = request.mask(); rest != 0 && bits != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    bits &= Fits(kind, request.Get(kind) - slack, block);
  }
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
