#include "actions/bound_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace krafla {
namespace {

using Row = std::vector<uint64_t>;

// Whole groups of words, and what is left behind them.
constexpr size_t kLengths[] = {0, 1, 3, 4, 5, 8, 11, 64, 313};

class BoundRowsOfATier : public ::testing::Test {
 protected:
  // Rows of so many words, and what they are made to.
  void Begin(size_t words) {
    for (Row* row : {&nodes_, &known_, &fitting_, &stale_, &levels_known_, &may_have_, &have_more_,
                     &fits_idle_}) {
      row->resize(words);
      for (uint64_t& word : *row) word = random_();
    }
    first_.assign(words, 0);
    second_.assign(words, 0);
  }
  BoundRows Rows() const {
    return {.known = known_,
            .fitting = fitting_,
            .stale = stale_,
            .levels_known = levels_known_,
            .may_have = may_have_,
            .have_more = have_more_,
            .fits_idle = fits_idle_};
  }

  std::mt19937_64 random_{11};
  Row nodes_, known_, fitting_, stale_, levels_known_, may_have_, have_more_, fits_idle_;
  Row first_, second_;
};

TEST_F(BoundRowsOfATier, UnknownIsWhatIsNotKnownAndLevelsWhereThereIsRoom) {
  for (const size_t words : kLengths) {
    Begin(words);
    FindUnknown(Rows(), nodes_, first_, second_);
    for (size_t i = 0; i < words; ++i) {
      const uint64_t levels = fitting_[i] & ~levels_known_[i];
      ASSERT_EQ(first_[i], nodes_[i] & (~known_[i] | levels)) << i << " of " << words;
      ASSERT_EQ(second_[i], first_[i] & (stale_[i] | levels)) << i << " of " << words;
    }
  }
}

TEST_F(BoundRowsOfATier, WithoutAVoterWhoKnowsLevelsNobodyAsksForThem) {
  for (const size_t words : kLengths) {
    Begin(words);
    FindUnknown({.known = known_, .fitting = fitting_, .stale = stale_}, nodes_, first_, second_);
    for (size_t i = 0; i < words; ++i) {
      ASSERT_EQ(first_[i], nodes_[i] & ~known_[i]) << i << " of " << words;
      ASSERT_EQ(second_[i], first_[i] & stale_[i]) << i << " of " << words;
    }
  }
}

TEST_F(BoundRowsOfATier, NamedIsWhereThereIsRoomAndSomebodyMayHaveEnoughOrNobodyHasToGo) {
  for (const size_t words : kLengths) {
    Begin(words);
    FindNamed(Rows(), nodes_, first_, second_);
    for (size_t i = 0; i < words; ++i) {
      ASSERT_EQ(first_[i], nodes_[i] & fitting_[i] & (may_have_[i] | fits_idle_[i]))
          << i << " of " << words;
      ASSERT_EQ(second_[i], first_[i] & ~have_more_[i] & ~fits_idle_[i]) << i << " of " << words;
    }
  }
}

}  // namespace
}  // namespace krafla
