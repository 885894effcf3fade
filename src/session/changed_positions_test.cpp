#include "session/changed_positions.h"

#include <gtest/gtest.h>

#include <random>

#include "base/words_of_bits.h"

namespace krafla {
namespace {

// From wherever it is followed, and after it was emptied, a row has what the list has.
TEST(ChangedPositions, ARowHasWhatTheListHas) {
  std::mt19937 random(3);
  for (const uint32_t nodes : {1U, 64U, 65U, 6000U}) {
    ChangedPositions changed(nodes);
    for (int round = 0; round < 3; ++round) {
      std::vector<uint32_t> plain;
      for (int step = 0; step < 40; ++step) {
        for (size_t more = random() % 50; more > 0; --more) {
          plain.push_back(static_cast<uint32_t>(random() % nodes));
          changed.push_back(plain.back());
        }
        ASSERT_EQ(changed.size(), plain.size());
        const size_t from = random() % (plain.size() + 2);
        std::vector<uint64_t> row((nodes + 63) / 64, 0);
        std::vector<uint64_t> expected = row;
        changed.AddFrom(from, row);
        std::vector<uint32_t> listed;
        changed.ForEachFrom(from, [&](uint32_t p) { listed.push_back(p); });
        for (size_t at = from; at < plain.size(); ++at) SetBit(expected, plain[at], true);
        ASSERT_EQ(row, expected) << nodes << " nodes, from " << from << " of " << plain.size();
        ASSERT_EQ(listed.size(), plain.size() - std::min(from, plain.size()));
      }
      changed.clear();
      ASSERT_EQ(changed.size(), 0U);
    }
  }
}

}  // namespace
}  // namespace krafla
