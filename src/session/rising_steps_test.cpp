#include "session/rising_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace krafla {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Even ones, ones that are close together below and far apart above, and ones beyond what is exact.
std::vector<double> Draw(std::mt19937& random, size_t count) {
  std::vector<double> steps;
  const auto kind = random() % 3;
  for (size_t i = 0; i < count; ++i) {
    const double whole = static_cast<double>(random() % 1000);
    steps.push_back(kind == 0   ? whole * 250 - 1
                    : kind == 1 ? std::exp2(whole / 16)
                                : whole * 1e300);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

TEST(RisingSteps, LowerOnesAreBeforeAndHigherOnesBehind) {
  std::mt19937 random(1);
  size_t compared = 0;
  size_t asked = 0;
  for (int round = 0; round < 2000; ++round) {
    const RisingSteps steps(Draw(random, random() % (RisingSteps::kMost + 1)));
    std::vector<double> amounts = {-kInfinity, -1, 0, 1e9, kInfinity};
    for (const double step : steps.all())
      for (const double amount :
           {step, std::nextafter(step, -kInfinity), std::nextafter(step, kInfinity), step * 1.01})
        amounts.push_back(amount);
    for (const double amount : amounts) {
      const auto [from, to] = steps.Around(amount);
      ASSERT_LE(from, to);
      ASSERT_LE(to, steps.size());
      for (size_t i = 0; i < steps.size(); ++i) {
        if (i < from) {
          ASSERT_LT(steps[i], amount);
        }
        if (i >= to) {
          ASSERT_GT(steps[i], amount);
        }
      }
      compared += to - from;
      ++asked;
    }
  }
  // Of up to 64; those that are close together share a place.
  EXPECT_LT(compared, 12 * asked);
}

TEST(RisingSteps, OfEvenOnesFewAreLeftToCompare) {
  std::vector<double> even;
  for (int i = 1; i <= 64; ++i) even.push_back(i * 250.0);
  const RisingSteps steps(std::move(even));
  for (double amount = 0; amount < 20000; amount += 10) {
    const auto [from, to] = steps.Around(amount);
    ASSERT_LE(to - from, 1U) << amount;
  }
}

// What is compared first tells nothing where an amount is no number: it is not lost on the way.
TEST(RisingSteps, WhatIsNoNumberHasAPlace) {
  const RisingSteps steps({1, 2, 3});
  const auto [from, to] = steps.Around(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(from, 0U);
  EXPECT_LE(to, 3U);
}

TEST(RisingSteps, OfNoneNoneAreLeft) {
  EXPECT_EQ(RisingSteps().Around(5), (std::pair<size_t, size_t>(0, 0)));
}

}  // namespace
}  // namespace krafla
