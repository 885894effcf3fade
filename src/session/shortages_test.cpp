#include "session/shortages.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/words_of_bits.h"

namespace krafla {
namespace {

constexpr int kCpu = ResourceKinds::kCpu;
constexpr int kMemory = ResourceKinds::kMemory;

Resource Amounts(double cpu, double memory) {
  Resource amounts;
  amounts.Set(kCpu, cpu);
  amounts.Set(kMemory, memory);
  return amounts;
}

// Of 700 nodes every third has too little cpu, every fifth too little memory, and of every seventh
// steps do not tell.
TEST(Shortages, EachNodeIsTakenForTheFirstKindItLacks) {
  constexpr uint32_t kNodes = 700;
  AmountSteps steps;
  steps.by_kind = {{1, 4}, {8}};
  AmountColumns free;
  free.Make(kNodes, steps, [](uint32_t p) {
    return Amounts(p % 3 == 0 ? 1 : p % 7 == 2 ? 3 : 4, p % 5 == 1 ? 1 : 8);
  });
  std::vector<uint64_t> nodes(free.blocks());
  for (uint32_t p = 1; p < kNodes; ++p) SetBit(nodes, p, true);
  std::map<int, std::vector<uint64_t>> found;
  Shortages().Take(free.Ask(Amounts(2, 8)), nodes, [&](int kind, RowOfBits lacking) {
    found[kind].assign(lacking.begin(), lacking.end());
  });
  ASSERT_EQ(found.size(), 2U);
  for (uint32_t p = 0; p < free.blocks() * 64; ++p) {
    const bool asked = p > 0 && p < kNodes;
    const bool lacks_cpu = p % 3 == 0;
    const bool lacks_memory = !lacks_cpu && p % 5 == 1;
    EXPECT_EQ(HasBit(found[kCpu], p), asked && lacks_cpu) << p;
    EXPECT_EQ(HasBit(found[kMemory], p), asked && lacks_memory) << p;
    EXPECT_EQ(HasBit(nodes, p), asked && !lacks_cpu && !lacks_memory) << p;
  }
}

TEST(Shortages, NobodyIsTakenWhereAllHaveEnough) {
  AmountSteps steps;
  steps.by_kind = {{4}, {8}};
  AmountColumns free;
  free.Make(70, steps, [](uint32_t) { return Amounts(4, 8); });
  std::vector<uint64_t> nodes(free.blocks());
  free.AllNodes(nodes);
  const std::vector<uint64_t> before = nodes;
  Shortages().Take(free.Ask(Amounts(4, 8)), nodes, [](int, RowOfBits) { FAIL() << "nobody"; });
  EXPECT_EQ(nodes, before);
}

}  // namespace
}  // namespace krafla
