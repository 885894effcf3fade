#include "session/amount_columns.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace krafla {
namespace {

constexpr int kKinds = 4;

// Few values, many of them within the tolerance of each other.
Resource Draw(std::mt19937& random) {
  Resource amounts;
  for (int kind = 0; kind < kKinds; ++kind) {
    const int whole = static_cast<int>(random() % 6);
    const double off = 0.05 * static_cast<double>(static_cast<int>(random() % 7) - 3);
    if (kind < 2 || random() % 4 != 0) amounts.Set(kind, whole + off);
  }
  return amounts;
}

std::string WhatDiffers(const AmountColumns& columns, const std::vector<Resource>& nodes,
                        const Resource& request) {
  for (size_t block = 0; block < columns.blocks(); ++block) {
    const uint64_t bits = columns.Fits(request, block);
    for (uint32_t i = 0; i < AmountColumns::kBlock; ++i) {
      const size_t p = block * AmountColumns::kBlock + i;
      const bool fits = p < nodes.size() && request.LessEqual(nodes[p], Missing::kZero);
      if (((bits >> i & 1) != 0) != fits) return "node " + std::to_string(p);
      if (p < nodes.size() && columns.FitsAt(request, static_cast<uint32_t>(p)) != fits)
        return "node " + std::to_string(p) + " by itself";
    }
  }
  return "";
}

TEST(AmountColumns, AnswerAsSingleComparisonsDo) {
  for (const size_t count : {0, 1, 63, 64, 65, 200}) {
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<Resource> nodes;
    for (size_t p = 0; p < count; ++p) nodes.push_back(Draw(random));
    AmountColumns columns;
    columns.Make(count, kKinds, [&](uint32_t p) -> const Resource& { return nodes[p]; });
    for (int round = 0; round < 300; ++round) {
      EXPECT_EQ(WhatDiffers(columns, nodes, Draw(random)), "") << count << " nodes, " << round;
      if (count == 0) continue;
      const uint32_t p = static_cast<uint32_t>(random() % count);
      nodes[p] = Draw(random);
      columns.Set(p, nodes[p]);
    }
  }
}

TEST(AmountColumns, BlocksAreDecidedByTheirBestAndWorst) {
  std::vector<Resource> nodes(70);
  for (size_t p = 0; p < nodes.size(); ++p) nodes[p].Set(0, p < 64 ? 10 : 20);
  AmountColumns columns;
  columns.Make(nodes.size(), 2, [&](uint32_t p) -> const Resource& { return nodes[p]; });
  EXPECT_EQ(columns.Fits(0, 15, 0), 0U);
  EXPECT_EQ(columns.Fits(0, 15, 1), 0x3fU);
  EXPECT_EQ(columns.Fits(0, 5, 0), ~uint64_t{0});
  EXPECT_EQ(columns.NodesOf(1), 0x3fU);
  // With slack, a little too much is enough.
  Resource request;
  request.Set(0, 10.9);
  EXPECT_EQ(columns.Fits(request, 0), 0U);
  EXPECT_EQ(columns.Fits(request, 0, 1), ~uint64_t{0});
}

}  // namespace
}  // namespace krafla
