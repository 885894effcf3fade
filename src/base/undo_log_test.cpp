#include "base/undo_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace krafla {
namespace {

TEST(UndoLog, SmallValuesComeBack) {
  UndoLog log;
  int64_t number = 7;
  bool flag = false;
  double share = 0.25;
  const UndoLog::Mark mark = log.Now();
  log.Save(number);
  number = 8;
  log.Save(flag);
  flag = true;
  log.Save(share);
  share = 0.5;
  log.RollbackTo(mark);
  EXPECT_EQ(number, 7);
  EXPECT_FALSE(flag);
  EXPECT_EQ(share, 0.25);
  EXPECT_TRUE(log.empty());
}

TEST(UndoLog, OnlyTheSavedBytesAreWritten) {
  UndoLog log;
  std::array<uint8_t, 3> bytes{1, 2, 3};
  log.Save(bytes[1]);
  bytes = {4, 5, 6};
  log.RollbackTo(0);
  EXPECT_EQ(bytes, (std::array<uint8_t, 3>{4, 2, 6}));
}

TEST(UndoLog, LargeValuesComeBack) {
  UndoLog log;
  std::string text = "a text that does not fit into the string itself";
  std::array<double, 4> row{1, 2, 3, 4};
  std::vector<int> list{1, 2, 3};
  log.Save(text);
  text = "other";
  log.Save(row);
  row.fill(0);
  log.Save(list);
  list.clear();
  log.RollbackTo(0);
  EXPECT_EQ(text, "a text that does not fit into the string itself");
  EXPECT_EQ(row, (std::array<double, 4>{1, 2, 3, 4}));
  EXPECT_EQ(list, (std::vector<int>{1, 2, 3}));
}

TEST(UndoLog, CountsAreReversedInTheOppositeOrder) {
  struct Counts {
    int sum = 0;
    std::vector<uint64_t> reversed;
  } counts;
  constexpr auto reverse = [](Counts& c, uint64_t word) {
    c.sum -= static_cast<int>(word);
    c.reversed.push_back(word);
  };
  UndoLog log;
  for (const uint64_t step : {3, 4, 5}) {
    counts.sum += static_cast<int>(step);
    log.Reversible<reverse>(counts, step);
  }
  log.RollbackTo(1);
  EXPECT_EQ(counts.sum, 3);
  EXPECT_EQ(counts.reversed, (std::vector<uint64_t>{5, 4}));
}

TEST(UndoLog, KeepsMoreEntriesThanItBeganWith) {
  UndoLog log;
  std::vector<int> numbers(10000);
  for (int& number : numbers) {
    log.Save(number);
    number = 1;
  }
  log.RollbackTo(5000);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1), 5000);
  log.RollbackTo(0);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1), 0);
}

TEST(UndoLog, TheOldestOfSeveralSavesWins) {
  UndoLog log;
  int value = 1;
  std::string text = "first";
  for (int i = 2; i < 6; ++i) {
    log.Save(value);
    value = i;
    log.Save(text);
    text = std::to_string(i);
  }
  log.RollbackTo(0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(text, "first");
}

TEST(UndoLog, InsertedAndErasedElementsReturnToTheirPlaces) {
  UndoLog log;
  std::vector<int> list{10, 20, 30};
  list.insert(list.begin() + 1, 15);
  log.Inserted(list, 1);
  log.Erasing(list, 3);
  list.erase(list.begin() + 3);
  list.push_back(40);
  log.Inserted(list, 3);
  log.Erasing(list, 0);
  list.erase(list.begin());
  EXPECT_EQ(list, (std::vector<int>{15, 20, 40}));
  log.RollbackTo(0);
  EXPECT_EQ(list, (std::vector<int>{10, 20, 30}));
}

TEST(UndoLog, MarksNest) {
  UndoLog log;
  int value = 0;
  std::vector<UndoLog::Mark> marks;
  for (int i = 1; i <= 4; ++i) {
    marks.push_back(log.Now());
    log.Save(value);
    value = i;
  }
  log.RollbackTo(marks[2]);
  EXPECT_EQ(value, 2);
  log.RollbackTo(marks[2]);  // nothing is left to undo
  EXPECT_EQ(value, 2);
  log.Save(value);
  value = 9;
  log.RollbackTo(marks[1]);
  EXPECT_EQ(value, 1);
  log.RollbackTo(marks[0]);
  EXPECT_EQ(value, 0);
}

// What a session does: plain values, copies and list edits in any order, marks in between.
TEST(UndoLog, RandomEditsAreTakenBackStepByStep) {
  struct State {
    std::array<int, 4> numbers{};
    std::array<std::string, 3> texts;
    std::vector<int> list;
    bool operator==(const State&) const = default;
  };
  std::mt19937 random(20260310);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 200; ++round) {
    UndoLog log;
    State state;
    std::vector<std::pair<UndoLog::Mark, State>> marks;
    for (int step = 0; step < 60; ++step) {
      switch (below(6)) {
        case 0:
          marks.emplace_back(log.Now(), state);
          break;
        case 1: {
          int& number = state.numbers[below(4)];
          log.Save(number);
          number = static_cast<int>(below(100));
          break;
        }
        case 2: {
          std::string& text = state.texts[below(3)];
          log.Save(text);
          text.assign(below(40), 'x');
          break;
        }
        case 3: {
          const size_t at = below(state.list.size() + 1);
          state.list.insert(state.list.begin() + static_cast<ptrdiff_t>(at), step);
          log.Inserted(state.list, at);
          break;
        }
        case 4:
          if (!state.list.empty()) {
            const size_t at = below(state.list.size());
            log.Erasing(state.list, at);
            state.list.erase(state.list.begin() + static_cast<ptrdiff_t>(at));
          }
          break;
        case 5:
          if (!marks.empty() && below(3) == 0) {
            marks.resize(below(marks.size()) + 1);
            log.RollbackTo(marks.back().first);
            ASSERT_EQ(state, marks.back().second) << "round " << round << " step " << step;
          }
          break;
      }
    }
    log.RollbackTo(0);
    ASSERT_EQ(state, State{}) << "round " << round;
  }
}

TEST(UndoLog, ForgetsWhatNobodyHolds) {
  UndoLog log;
  log.ForgetWhatIsDone();
  int number = 1;
  std::string text = "a text that does not fit into the string itself";
  log.Save(number);
  number = 2;
  EXPECT_TRUE(log.empty());
  {
    const UndoLog::Hold outer(log);
    const UndoLog::Mark mark = log.Now();
    log.Save(number);
    number = 3;
    {
      const UndoLog::Hold inner(log);
      log.Save(text);
      text = "other";
    }
    log.RollbackTo(mark);
    EXPECT_EQ(number, 2);
    EXPECT_EQ(text, "a text that does not fit into the string itself");
    log.Save(text);
    text = "for good";
    EXPECT_FALSE(log.empty());
  }
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(text, "for good");
}

TEST(UndoLog, MarksTellOfChangesThatWereForgotten) {
  UndoLog log;
  log.ForgetWhatIsDone();
  int number = 1;
  const UndoLog::Mark before = log.Now();
  log.Save(number);
  EXPECT_NE(log.Now(), before);
  const UndoLog::Mark between = log.Now();
  {
    const UndoLog::Hold hold(log);
    EXPECT_EQ(log.Now(), between);
    log.Save(number);
    number = 2;
    log.RollbackTo(between);
    EXPECT_EQ(number, 1);
    EXPECT_EQ(log.Now(), between);
    // What was saved before the rollback is not taken for saved.
    log.Save(number);
    number = 3;
    log.RollbackTo(between);
    EXPECT_EQ(number, 1);
  }
  EXPECT_EQ(log.Now(), between);
}

TEST(UndoLogDeathTest, AMarkThatNobodyHeldCannotBeComeBackTo) {
  UndoLog log;
  log.ForgetWhatIsDone();
  int number = 1;
  const UndoLog::Mark mark = log.Now();
  log.Save(number);
  number = 2;
  EXPECT_DEATH(log.RollbackTo(mark), "not held");
}

}  // namespace
}  // namespace krafla
