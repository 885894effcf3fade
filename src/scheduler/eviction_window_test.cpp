#include "scheduler/eviction_window.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kSecond = Timestamp::kNsPerSecond;

TEST(EvictionWindow, CountsWhatTheLastMinuteHad) {
  EvictionWindow window;
  EXPECT_FALSE(window.ShrinksAt());
  window.Add(10 * kSecond, {1}, 3);
  window.Add(20 * kSecond, {2}, 0);
  window.Add(40 * kSecond, {3}, 2);
  EXPECT_EQ(window.size(), 2u) << "cycles without evictions take no place";
  EXPECT_EQ(window.CountAt(69 * kSecond), 5);
  EXPECT_EQ(window.ShrinksAt(), 70 * kSecond);
  EXPECT_EQ(window.CountAt(70 * kSecond), 2);
  EXPECT_EQ(window.ShrinksAt(), 100 * kSecond);
  EXPECT_EQ(window.CountAt(200 * kSecond), 0);
  EXPECT_EQ(window.size(), 0u);
}

TEST(EvictionWindow, ARefusedEvictionDoesNotCount) {
  EvictionWindow window;
  window.Add(10 * kSecond, {1}, 2);
  window.Add(11 * kSecond, {2}, 1);
  window.Refund({1});
  EXPECT_EQ(window.CountAt(12 * kSecond), 2);
  window.Refund({2});
  window.Refund({2});
  window.Refund({7});
  EXPECT_EQ(window.CountAt(12 * kSecond), 1);
  EXPECT_EQ(window.size(), 1u);
}

TEST(EvictionWindow, CountsCyclesThatFollowEachOther) {
  EvictionWindow window;
  window.Add(10 * kSecond, {1}, 3);
  window.Add(11 * kSecond, {2}, 4);
  EXPECT_EQ(window.CountAfter(9 * kSecond), 7);
  EXPECT_EQ(window.CountAfter(10 * kSecond), 4);
  EXPECT_EQ(window.CountAfter(11 * kSecond), 0);
  EXPECT_EQ(window.FirstAfter(9 * kSecond), 10 * kSecond);
  EXPECT_EQ(window.FirstAfter(10 * kSecond), 11 * kSecond);
  EXPECT_EQ(window.FirstAfter(11 * kSecond), std::nullopt);
}

}  // namespace
}  // namespace krafla
