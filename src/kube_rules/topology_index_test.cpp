#include "kube_rules/topology_index.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace krafla {
namespace {

// A list while few domains have a count, a column beyond: nobody sees the difference.
TEST(DomainCounts, ManyOrFewCountTheSame) {
  for (const size_t domains : {1, 64, 65, 1000}) {
    TopologyKey key;
    key.nodes_in.resize(domains);
    DomainCounts counts(key);
    std::vector<int32_t> expected(domains, 0);
    std::mt19937 random(static_cast<uint32_t>(domains));
    for (int round = 0; round < 500; ++round) {
      const uint32_t domain = static_cast<uint32_t>(random() % domains);
      const int32_t step = random() % 3 == 0 ? -1 : 1;
      counts.Add(domain, step);
      expected[domain] += step;
      for (uint32_t d = 0; d < domains; ++d) ASSERT_EQ(counts.At(d), expected[d]) << round;
      std::vector<bool> above(domains, false);
      counts.ForEachAboveZero([&](uint32_t d) { above[d] = true; });
      for (uint32_t d = 0; d < domains; ++d) ASSERT_EQ(above[d], expected[d] > 0) << round;
    }
  }
}

}  // namespace
}  // namespace krafla
