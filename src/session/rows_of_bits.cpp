#include "session/rows_of_bits.h"

#include <bit>

#include "base/check.h"
#include "base/four_words.h"

namespace krafla {

namespace {

// row[i] = f(row[i], others[i]...), for words and for four of them.
template <class F, class... Rows>
KRAFLA_IN_PLACE void ForEachWord(std::span<uint64_t> row, F&& f, Rows... others) {
  KRAFLA_CHECK(((others.size() == row.size()) && ...), "rows are of the same nodes");
  uint64_t* const out = row.data();
  const size_t words = row.size();
  size_t i = 0;
  for (; i + FourWords::kSize <= words; i += FourWords::kSize)
    f(FourWords::Load(out + i), FourWords::Load(others.data() + i)...).Store(out + i);
  for (; i < words; ++i) out[i] = f(out[i], others[i]...);
}

#define KRAFLA_EACH(arguments, result) [] arguments KRAFLA_LAMBDA_IN_PLACE { return result; }

}  // namespace

KRAFLA_WIDE void SetToBoth(std::span<uint64_t> row, RowOfBits a, RowOfBits b) {
  ForEachWord(row, KRAFLA_EACH((const auto&, const auto& x, const auto& y), x & y), a, b);
}

KRAFLA_WIDE void SetToOthers(std::span<uint64_t> row, RowOfBits a) {
  ForEachWord(row, KRAFLA_EACH((const auto&, const auto& x), ~x), a);
}

KRAFLA_WIDE void KeepThese(std::span<uint64_t> row, RowOfBits a) {
  ForEachWord(row, KRAFLA_EACH((const auto& bits, const auto& x), bits & x), a);
}

KRAFLA_WIDE void KeepEither(std::span<uint64_t> row, RowOfBits a, RowOfBits b) {
  ForEachWord(row, KRAFLA_EACH((const auto& bits, const auto& x, const auto& y), bits & (x | y)), a,
              b);
}

KRAFLA_WIDE void TakeOff(std::span<uint64_t> row, RowOfBits a) {
  ForEachWord(row, KRAFLA_EACH((const auto& bits, const auto& x), bits & ~x), a);
}

KRAFLA_WIDE void AddThese(std::span<uint64_t> row, RowOfBits a) {
  ForEachWord(row, KRAFLA_EACH((const auto& bits, const auto& x), bits | x), a);
}

KRAFLA_WIDE bool AnyBit(RowOfBits row) {
  size_t i = 0;
  for (; i + FourWords::kSize <= row.size(); i += FourWords::kSize)
    if (!FourWords::Load(row.data() + i).IsZero()) return true;
  for (; i < row.size(); ++i)
    if (row[i] != 0) return true;
  return false;
}

KRAFLA_WIDE size_t CountBits(RowOfBits row) {
  size_t count = 0;
  for (const uint64_t word : row) count += static_cast<size_t>(std::popcount(word));
  return count;
}

}  // namespace krafla
