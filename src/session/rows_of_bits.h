// Operations on whole rows of bits, one per node, by position in nodes_by_name: what is known of
// nodes is combined at the price of an instruction or two for 64 of them. Rows that go together
// have the same number of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace krafla {

using RowOfBits = std::span<const uint64_t>;

// row = a & b
void SetToBoth(std::span<uint64_t> row, RowOfBits a, RowOfBits b);
// row = ~a
void SetToOthers(std::span<uint64_t> row, RowOfBits a);
// row &= a
void KeepThese(std::span<uint64_t> row, RowOfBits a);
// row &= a | b
void KeepEither(std::span<uint64_t> row, RowOfBits a, RowOfBits b);
// row &= ~a
void TakeOff(std::span<uint64_t> row, RowOfBits a);
// row |= a
void AddThese(std::span<uint64_t> row, RowOfBits a);

bool AnyBit(RowOfBits row);
size_t CountBits(RowOfBits row);

}  // namespace krafla
