#include "session/amount_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/words_of_bits.h"

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

// Some amounts on steps, some between them, some within the tolerance of one.
AmountSteps DrawSteps(std::mt19937& random) {
  AmountSteps steps;
  for (int kind = 0; kind < kKinds; ++kind) {
    std::vector<double>& amounts = steps.by_kind.emplace_back();
    const unsigned most = random() % 2 == 0 ? 6 : AmountSteps::kMost;
    for (auto i = random() % most; i > 0; --i) amounts.push_back(Draw(random).Get(kind));
    std::sort(amounts.begin(), amounts.end());
    amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
  }
  return steps;
}

std::string WhatDiffers(const AmountColumns& columns, const std::vector<Resource>& nodes,
                        const Resource& request) {
  const AmountColumns::Question question = columns.Ask(request);
  std::vector<uint64_t> all(columns.blocks());
  question.FitsAll(all);
  std::vector<uint64_t> left(columns.blocks());
  columns.AllNodes(left);
  std::vector<std::vector<uint64_t>> lacking_by_kind(kKinds,
                                                     std::vector<uint64_t>(columns.blocks()));
  for (size_t at = 0; at < question.kinds(); ++at)
    question.TakeLacking(at, left, lacking_by_kind[static_cast<size_t>(question.Kind(at))]);
  for (size_t block = 0; block < columns.blocks(); ++block) {
    const uint64_t bits = question.Fits(block);
    if (all[block] != bits) return "all at once, block " + std::to_string(block);
    if (left[block] != bits) return "kinds one by one, block " + std::to_string(block);
    for (uint32_t i = 0; i < AmountColumns::kBlock; ++i) {
      const size_t p = block * AmountColumns::kBlock + i;
      const bool fits = p < nodes.size() && request.LessEqual(nodes[p], Missing::kZero);
      if (((bits >> i & 1) != 0) != fits) return "node " + std::to_string(p);
      if (p >= nodes.size()) continue;
      if (columns.FitsAt(request, static_cast<uint32_t>(p)) != fits)
        return "node " + std::to_string(p) + " by itself";
      const int first = request.FirstNotLessEqual(nodes[p]);
      for (int kind = 0; kind < kKinds; ++kind)
        if (HasBit(lacking_by_kind[static_cast<size_t>(kind)], p) != (kind == first))
          return "what is lacking on node " + std::to_string(p);
    }
  }
  return "";
}

TEST(AmountColumns, AnswerAsSingleComparisonsDo) {
  for (const size_t count : {0, 1, 63, 64, 65, 200, 700}) {
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<Resource> nodes;
    for (size_t p = 0; p < count; ++p) nodes.push_back(Draw(random));
    AmountColumns columns;
    for (int round = 0; round < 300; ++round) {
      if (round % 50 == 0)
        columns.Make(count, DrawSteps(random),
                     [&](uint32_t p) -> const Resource& { return nodes[p]; });
      EXPECT_EQ(WhatDiffers(columns, nodes, Draw(random)), "") << count << " nodes, " << round;
      if (count == 0) continue;
      const uint32_t p = static_cast<uint32_t>(random() % count);
      nodes[p] = Draw(random);
      columns.Set(p, nodes[p]);
    }
  }
}

// Few nodes of a block at a time, or many; some stay as they are.
TEST(AmountColumns, WhatIsSetTogetherIsAsIfSetOneByOne) {
  for (const size_t count : {1, 64, 65, 200}) {
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<Resource> nodes(count);
    AmountColumns columns;
    for (int round = 0; round < 200; ++round) {
      if (round % 50 == 0) {
        columns.Begin(count, DrawSteps(random));
        for (uint32_t p = 0; p < count; ++p) columns.Set(p, nodes[p]);
      }
      const size_t block = random() % columns.blocks();
      uint64_t some = columns.NodesOf(block);
      for (int left = static_cast<int>(random() % 6); left > 0; --left)
        some &= uint64_t{random()} << 32 | random();
      std::vector<double> amounts;
      for (uint32_t p = 0; p < count; ++p) {
        if (p / 64 != block || (some & BitOf(p)) == 0) continue;
        if (random() % 4 != 0) nodes[p] = Draw(random);
        for (int kind = 0; kind < kKinds; ++kind) amounts.push_back(nodes[p].Get(kind));
      }
      columns.SetMany(block, some, amounts);
      EXPECT_EQ(WhatDiffers(columns, nodes, Draw(random)), "") << count << " nodes, " << round;
      for (uint32_t p = 0; p < count; ++p)
        for (int kind = 0; kind < kKinds; ++kind)
          ASSERT_EQ(columns.At(p, static_cast<size_t>(kind)), nodes[p].Get(kind));
    }
  }
}

TEST(AmountColumns, NodesBetweenTwoStepsAreCompared) {
  std::vector<Resource> nodes(70);
  for (size_t p = 0; p < nodes.size(); ++p) nodes[p].Set(0, p < 64 ? 10 : 20);
  AmountColumns columns;
  columns.Make(nodes.size(), {.by_kind = {{4, 12}, {}}},
               [&](uint32_t p) -> const Resource& { return nodes[p]; });
  EXPECT_EQ(columns.NodesOf(1), 0x3fU);
  const auto fits = [&](double amount, size_t block, double slack = 0) {
    Resource request;
    request.Set(0, amount);
    return columns.Ask(request, slack).Fits(block);
  };
  EXPECT_EQ(fits(15, 0), 0U);
  EXPECT_EQ(fits(15, 1), 0x3fU);
  EXPECT_EQ(fits(11, 0), 0U);
  EXPECT_EQ(fits(10, 0), ~uint64_t{0});
  EXPECT_EQ(fits(5, 0), ~uint64_t{0});
  // With slack, a little too much is enough.
  EXPECT_EQ(fits(10.9, 0), 0U);
  EXPECT_EQ(fits(10.9, 0, 1), ~uint64_t{0});
}

}  // namespace
}  // namespace krafla
