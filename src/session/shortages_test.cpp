#include "session/shortages.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

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

using Found = std::vector<std::tuple<int, uint32_t, int>>;

// Of 70 nodes every third has too little cpu, every fifth too little memory.
TEST(Shortages, EachNodeIsCountedForTheFirstKindItLacks) {
  AmountSteps steps;
  steps.by_kind = {{4}, {8}};
  AmountColumns free;
  free.Make(70, steps, [](uint32_t p) { return Amounts(p % 3 == 0 ? 1 : 4, p % 5 == 1 ? 1 : 8); });
  Shortages shortages(free.Ask(Amounts(2, 8)));
  EXPECT_EQ(shortages.Count(0, ~uint64_t{0} << 1) & 1, 0U) << "nobody who was not asked about";
  const uint64_t enough = shortages.Count(1, free.NodesOf(1));
  EXPECT_EQ(enough, uint64_t{0b011011}) << "64, 65, 67 and 68";
  int cpu = 0;
  int memory = 0;
  for (uint32_t p = 1; p < 70; ++p) {
    cpu += p % 3 == 0 ? 1 : 0;
    memory += p % 3 != 0 && p % 5 == 1 ? 1 : 0;
  }
  Found found;
  shortages.ForEach(
      [&](int kind, uint32_t first, int nodes) { found.emplace_back(kind, first, nodes); });
  EXPECT_EQ(found, (Found{{kCpu, 3, cpu}, {kMemory, 1, memory}}));
}

}  // namespace
}  // namespace krafla
