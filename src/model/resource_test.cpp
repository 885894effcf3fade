#include "model/resource.h"

#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/undo_log.h"
#include "support/amounts.h"

// Rows are taken from tables recorded from Volcano; "a" and "b" stand for its scalar resources.

namespace krafla {
namespace {

constexpr double kMaxFloat = std::numeric_limits<double>::max();

class ResourceTest : public testing::Test {
 protected:
  Resource Read(std::string_view text) { return amounts_(text); }
  std::string Text(const Resource& resource) { return ToString(resource, amounts_.kinds); }

  Amounts amounts_;
};

TEST_F(ResourceTest, AddNamesTheKindsOfBoth) {
  EXPECT_EQ(Text(Read("").Add(Read("cpu 4000, memory 2000, a 1, b 2"))),
            "cpu 4000.00, memory 2000.00, a 1.00, b 2.00");
  EXPECT_EQ(Text(Read("cpu 4000, memory 4000, a 1").Add(Read("cpu 4000, memory 2000, a 4, b 5"))),
            "cpu 8000.00, memory 6000.00, a 5.00, b 5.00");
}

TEST_F(ResourceTest, SubNamesAKindUnlessNoneWasEverNamed) {
  EXPECT_EQ(Text(Read("cpu 4000, memory 4000, a 1000, b 2000")
                     .Sub(Read("cpu 3000, memory 2000, a 500, b 1000"))),
            "cpu 1000.00, memory 2000.00, a 500.00, b 1000.00");
  EXPECT_EQ(Text(Read("cpu 1000, a 10").Sub(Read("b 3"))),
            "cpu 1000.00, memory 0.00, a 10.00, b -3.00");
  EXPECT_EQ(Text(Read("cpu 1000").Sub(Read("b 3"))), "cpu 1000.00, memory 0.00");
  Resource made = Read("cpu 1000");
  made.MakeScalars();
  EXPECT_EQ(Text(made.Sub(Read("b 3"))), "cpu 1000.00, memory 0.00, b -3.00");
}

TEST_F(ResourceTest, ScaleTouchesEveryKind) {
  EXPECT_EQ(Text(Read("cpu 4000, memory 3, a 1000").Scale(0.5)),
            "cpu 2000.00, memory 1.50, a 500.00");
}

TEST_F(ResourceTest, SetMaxTakesTheLargerAndNamesWhatTheOtherNames) {
  EXPECT_EQ(Text(Read("").SetMax(Read("cpu 4000, memory 2000, a 1, b 2"))),
            "cpu 4000.00, memory 2000.00, a 1.00, b 2.00");
  EXPECT_EQ(
      Text(Read("cpu 4000, memory 4000, a 1, b 2").SetMax(Read("cpu 4000, memory 2000, a 4, b 5"))),
      "cpu 4000.00, memory 4000.00, a 4.00, b 5.00");
  EXPECT_EQ(Text(Read("a 1").SetMax(Read("b -1"))), "cpu 0.00, memory 0.00, a 1.00, b -1.00");
}

TEST_F(ResourceTest, CapTreatsAnUnnamedLimitAsZeroOrAsNone) {
  const Resource amount = Read("cpu 4000, memory 4000, a 1000, b 2000");
  const Resource limit = Read("cpu 3000, memory 2000, a 0");
  EXPECT_EQ(Text(Resource(amount).CapBy(limit, Missing::kZero)),
            "cpu 3000.00, memory 2000.00, a 0.00, b 0.00");
  EXPECT_EQ(Text(Resource(amount).CapBy(limit, Missing::kInfinity)),
            "cpu 3000.00, memory 2000.00, a 0.00, b 2000.00");
  Resource unlimited_cpu = Read("memory 2000");
  unlimited_cpu.Set(ResourceKinds::kCpu, kMaxFloat);
  EXPECT_EQ(Text(Resource(amount).CapBy(unlimited_cpu, Missing::kZero)),
            "cpu 4000.00, memory 2000.00, a 0.00, b 0.00");
  // Capping never names a kind.
  EXPECT_EQ(Text(Read("cpu 1").CapBy(Read("a 1"), Missing::kZero)), "cpu 0.00, memory 0.00");
}

struct LessEqualRow {
  const char* left;
  const char* right;
  bool with_zero;
  bool with_infinity;
};

TEST_F(ResourceTest, LessEqualComparesEveryKindTheLeftNames) {
  const LessEqualRow rows[] = {
      {"", "", true, true},
      {"", "cpu 4000, memory 2000, a 1000, b 2000", true, false},
      {"cpu 4000, memory 2000, a 1000, b 2000", "", false, false},
      {"cpu 4000, memory 4000, a 1000, b 2000", "cpu 8000, memory 8000, a 4000, b 5000", true,
       true},
      {"cpu 4000, memory 4000, a 5000, b 2000", "cpu 8000, memory 8000, a 4000, b 5000", false,
       false},
      {"cpu 9000, memory 4000, a 1000, b 2000", "cpu 8000, memory 8000, a 4000, b 5000", false,
       false},
      {"cpu 4000, memory 2000", "cpu 4000, memory 2000, a 1000", true, false},
      {"cpu 4000, memory 2000, a 1000", "cpu 4000, memory 2000", false, true},
      // A kind that is named counts, even as 0.
      {"a 0", "", true, true},
      {"", "a 0", true, false},
      // The tolerance is below 0.1.
      {"cpu 4000.09", "cpu 4000", true, true},
      {"cpu 4000.2", "cpu 4000", false, false},
      // The number of pods is compared like everything else.
      {"pods 3", "pods 2", false, false},
  };
  for (const LessEqualRow& row : rows) {
    const Resource left = Read(row.left);
    const Resource right = Read(row.right);
    EXPECT_EQ(left.LessEqual(right, Missing::kZero), row.with_zero)
        << row.left << " | " << row.right;
    EXPECT_EQ(left.LessEqual(right, Missing::kInfinity), row.with_infinity)
        << row.left << " | " << row.right;
    EXPECT_EQ(left.FirstNotLessEqual(right) < 0, row.with_zero) << row.left << " | " << row.right;
  }
}

struct ExceedingRow {
  const char* amount;
  const char* limit;
  const char* wanted;
  const char* first;  // empty: nothing is exceeded
};

TEST_F(ResourceTest, OnlyKindsThatAreWantedCanBeExceeded) {
  const ExceedingRow rows[] = {
      {"cpu 5000", "cpu 4000, memory 2000, a 1000", "cpu 1000", "cpu"},
      {"cpu 3000, memory 3000", "cpu 4000, memory 2000", "memory 1000", "memory"},
      {"cpu 4, memory 4000", "", "", ""},
      {"cpu 4, memory 4000, a 1", "cpu 8, memory 8000", "cpu 4, memory 2000, a 1", "a"},
      {"cpu 10, memory 4000, a 1", "cpu 100, memory 8000, b 1",
       "cpu 10, memory 4000, a 0, b 1, c 1", ""},
      {"cpu 110, memory 4000, a 1, b 1, c 1", "cpu 100, memory 8000, b 1, c 1",
       "memory 4000, a 0, b 1, c 1", ""},
      // Without tolerance.
      {"cpu 1000.01", "cpu 1000", "cpu 1", "cpu"},
      // Pods are never looked at.
      {"pods 10", "pods 1", "pods 1", ""},
      // Who names no scalar has none to exceed, even of less than nothing.
      {"cpu 1", "cpu 1, a -1", "a 1", ""},
      {"cpu 1, b 0", "cpu 1, a -1", "a 1", "a"},
  };
  for (const ExceedingRow& row : rows) {
    const int kind = Read(row.amount).FirstExceeding(Read(row.limit), Read(row.wanted));
    EXPECT_EQ(kind < 0 ? "" : amounts_.kinds.Name(kind), row.first)
        << row.amount << " | " << row.limit << " | " << row.wanted;
  }
}

TEST_F(ResourceTest, ExceedingNamesOnlyWhatIsMore) {
  const Resource part = Resource::Exceeding(Read("cpu 2000, memory 1000, a 3000, b 1"),
                                            Read("cpu 1000, memory 2000, a 1000, b 1, c 5"));
  EXPECT_EQ(Text(part), "cpu 1000.00, memory 0.00, a 2000.00");
  EXPECT_FALSE(Resource::Exceeding(Resource(), Resource()).scalars_nil());
}

TEST_F(ResourceTest, MaxOfDropsNegativeScalars) {
  EXPECT_EQ(Text(Resource::MaxOf(Read("cpu -1, a 1, b -2"), Read("memory 5, a 3, b -1, c 0"))),
            "cpu 0.00, memory 5.00, a 3.00, c 0.00");
  EXPECT_TRUE(Resource::MaxOf(Read("cpu 1"), Read("cpu 2")).scalars_nil());
}

TEST_F(ResourceTest, EmptyIsBelowTheToleranceInEverythingButPods) {
  EXPECT_TRUE(Read("").IsEmpty());
  EXPECT_TRUE(Read("cpu 0.09, memory 0.05, a 0.01, pods 7").IsEmpty());
  EXPECT_FALSE(Read("cpu 0.1").IsEmpty());
  EXPECT_FALSE(Read("a 0.1").IsEmpty());
}

TEST_F(ResourceTest, NamedKindsAreThoseThatAmountToSomething) {
  std::vector<std::string> names;
  Read("memory 5, a 0, pods 2, b 0.1").ForEachNamed([&](int kind) {
    names.push_back(amounts_.kinds.Name(kind));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"memory", "pods", "b"}));
}

TEST_F(ResourceTest, SameAsLooksAtNamesToo) {
  EXPECT_TRUE(Read("cpu 1, a 2").SameAs(Read("cpu 1, a 2")));
  EXPECT_FALSE(Read("cpu 1").SameAs(Read("cpu 1, a 0")));
  EXPECT_FALSE(Read("cpu 1").SameAs(Read("cpu 1.05")));
  Resource made = Read("cpu 1");
  made.MakeScalars();
  EXPECT_TRUE(made.SameAs(Read("cpu 1")));
}

TEST_F(ResourceTest, TextIsThatOfLogLines) {
  EXPECT_EQ(Text(Read("cpu 2000, memory 4096")), "cpu 2000.00, memory 4096.00");
  Resource endless = Read("b 1, a 9223372036854775807");
  endless.Set(ResourceKinds::kCpu, kMaxFloat);
  EXPECT_EQ(Text(endless), "cpu maxFloat, memory 0.00, a maxInt, b 1.00");
}

TEST_F(ResourceTest, ManyKindsBehaveLikeFew) {
  Resource sum;
  Resource ones;
  for (int i = 0; i < 40; ++i) ones.Set(amounts_.kinds.Intern(fmt::format("kind-{:02}", i)), 1);
  sum.Add(ones).Add(ones);
  EXPECT_FALSE(sum.LessEqual(ones, Missing::kZero));
  EXPECT_TRUE(ones.LessEqual(sum, Missing::kZero));
  sum.Sub(ones);
  EXPECT_TRUE(sum.SameAs(ones));
  EXPECT_TRUE(Resource::Exceeding(sum, ones).SameAs(Resource()));
}

// Amounts of few kinds are copied in part: nothing of what was there before may be left.
TEST_F(ResourceTest, CopiesAreTheSameHoweverManyKindsBothName) {
  std::deque<Resource> amounts(1);  // in place: what is copied must not be a copy already
  // Behind cpu, memory and pods: up to the end of the first line, of the second, and beyond.
  for (const int kinds : {2, 3, 4, 5, 9, 10, 11, 12, 40}) {
    Resource& amount = amounts.emplace_back();
    for (int i = 0; i < kinds; ++i)
      amount.Set(amounts_.kinds.Intern(fmt::format("kind-{:02}", i)), kinds * 100 + i);
    // Only kinds at the end: those in between are not named.
    amounts.emplace_back().Set(amounts_.kinds.Intern(fmt::format("kind-{:02}", kinds - 1)), kinds);
  }
  const auto is_same = [&](const Resource& a, const Resource& b) {
    for (int kind = 0; kind < amounts_.kinds.size(); ++kind)
      if (a.Get(kind) != b.Get(kind) || a.Has(kind) != b.Has(kind)) return false;
    return a.scalars_nil() == b.scalars_nil();
  };
  for (const Resource& from : amounts) {
    const Resource copy(from);
    EXPECT_TRUE(is_same(copy, from));
    Resource same(from);
    const Resource& itself = same;
    same = itself;
    EXPECT_TRUE(is_same(same, from));
    for (const Resource& before : amounts) {
      Resource assigned(before);
      assigned = from;
      EXPECT_TRUE(is_same(assigned, from));
      Resource source(from);
      Resource moved(before);
      moved = std::move(source);
      EXPECT_TRUE(is_same(moved, from));
      moved = before;
      EXPECT_TRUE(is_same(Resource(std::move(moved)), before));
      Resource sum(before);
      sum.Add(from);
      assigned = sum;
      EXPECT_TRUE(is_same(assigned, sum));
    }
  }
}

TEST_F(ResourceTest, ComesBackFromTheUndoLogHoweverManyKindsItNames) {
  for (const int kinds : {0, 3, 4, 10, 11, 40}) {
    Resource amount;
    for (int i = 0; i < kinds; ++i)
      amount.Set(amounts_.kinds.Intern(fmt::format("kind-{:02}", i)), i + 1);
    const Resource before(amount);
    UndoLog log;
    const UndoLog::Mark mark = log.Now();
    log.Save(amount);
    for (int i = 0; i < 40; ++i)
      amount.AddTo(amounts_.kinds.Intern(fmt::format("kind-{:02}", i)), 5);
    log.RollbackTo(mark);
    EXPECT_TRUE(amount.SameAs(before)) << kinds;
    for (int kind = 0; kind < amounts_.kinds.size(); ++kind)
      EXPECT_EQ(amount.Get(kind), before.Get(kind)) << kinds;
  }
}

TEST(ResourceKindsTest, IsFullAtOneBitPerKind) {
  ResourceKinds kinds;
  while (kinds.size() < ResourceKinds::kMax) kinds.Intern(fmt::format("kind-{}", kinds.size()));
  EXPECT_EQ(kinds.Intern("one-more"), -1);
  EXPECT_EQ(kinds.Intern("pods"), ResourceKinds::kPods);
}

}  // namespace
}  // namespace krafla
