#include "actions/bound_rows.h"

#include <cstddef>

#include "base/check.h"
#include "base/four_words.h"

namespace krafla {

namespace {

template <class Words>
KRAFLA_IN_PLACE Words At(RowOfBits row, size_t at) {
  if constexpr (sizeof(Words) == sizeof(uint64_t)) {
    return row.data()[at];
  } else {
    return Words::Load(row.data() + at);
  }
}

template <class Words>
KRAFLA_IN_PLACE void Put(const Words& words, std::span<uint64_t> row, size_t at) {
  if constexpr (sizeof(Words) == sizeof(uint64_t)) {
    row.data()[at] = words;
  } else {
    words.Store(row.data() + at);
  }
}

void CheckSize(RowOfBits row, size_t words) {
  KRAFLA_CHECK(row.size() == words, "rows are of the same nodes");
}

template <class Words, bool kLevels>
KRAFLA_IN_PLACE void FindUnknownAt(const BoundRows& tier, RowOfBits nodes, size_t at,
                                   std::span<uint64_t> unknown, std::span<uint64_t> to_look_up) {
  Words find = ~At<Words>(tier.known, at);
  Words look = At<Words>(tier.stale, at);
  if constexpr (kLevels) {
    const Words levels = At<Words>(tier.fitting, at) & ~At<Words>(tier.levels_known, at);
    find = find | levels;
    look = look | levels;
  }
  find = find & At<Words>(nodes, at);
  Put(find, unknown, at);
  Put(look & find, to_look_up, at);
}

template <class Words>
KRAFLA_IN_PLACE void FindNamedAt(const BoundRows& tier, RowOfBits nodes, size_t at,
                                 std::span<uint64_t> named, std::span<uint64_t> to_compare) {
  const Words idle = At<Words>(tier.fits_idle, at);
  const Words name =
      At<Words>(nodes, at) & At<Words>(tier.fitting, at) & (At<Words>(tier.may_have, at) | idle);
  Put(name, named, at);
  Put(name & ~(At<Words>(tier.have_more, at) | idle), to_compare, at);
}

template <class Four, class One>
KRAFLA_IN_PLACE void ForEach(size_t words, Four&& four, One&& one) {
  size_t at = 0;
  for (; at + FourWords::kSize <= words; at += FourWords::kSize) four(at);
  for (; at < words; ++at) one(at);
}

template <bool kLevels>
KRAFLA_IN_PLACE void FindUnknownIn(const BoundRows& tier, RowOfBits nodes,
                                   std::span<uint64_t> unknown, std::span<uint64_t> to_look_up) {
  ForEach(
      nodes.size(),
      [&](size_t at) KRAFLA_LAMBDA_IN_PLACE {
        FindUnknownAt<FourWords, kLevels>(tier, nodes, at, unknown, to_look_up);
      },
      [&](size_t at) KRAFLA_LAMBDA_IN_PLACE {
        FindUnknownAt<uint64_t, kLevels>(tier, nodes, at, unknown, to_look_up);
      });
}

}  // namespace

KRAFLA_WIDE void FindUnknown(const BoundRows& tier, RowOfBits nodes, std::span<uint64_t> unknown,
                             std::span<uint64_t> to_look_up) {
  for (const RowOfBits row : {tier.known, tier.stale, RowOfBits(unknown), RowOfBits(to_look_up)})
    CheckSize(row, nodes.size());
  if (tier.levels_known.empty()) return FindUnknownIn<false>(tier, nodes, unknown, to_look_up);
  CheckSize(tier.fitting, nodes.size());
  CheckSize(tier.levels_known, nodes.size());
  FindUnknownIn<true>(tier, nodes, unknown, to_look_up);
}

KRAFLA_WIDE void FindNamed(const BoundRows& tier, RowOfBits nodes, std::span<uint64_t> named,
                           std::span<uint64_t> to_compare) {
  for (const RowOfBits row : {tier.fitting, tier.may_have, tier.have_more, tier.fits_idle,
                              RowOfBits(named), RowOfBits(to_compare)})
    CheckSize(row, nodes.size());
  ForEach(
      nodes.size(),
      [&](size_t at)
          KRAFLA_LAMBDA_IN_PLACE { FindNamedAt<FourWords>(tier, nodes, at, named, to_compare); },
      [&](size_t at)
          KRAFLA_LAMBDA_IN_PLACE { FindNamedAt<uint64_t>(tier, nodes, at, named, to_compare); });
}

}  // namespace krafla
