#include "model/eviction_storms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kSecond = Timestamp::kNsPerSecond;
constexpr int64_t kHour = 3'600 * kSecond;

Timestamp Second(int64_t second) {
  return Timestamp::FromUnixSeconds(1'800'000'000 + second);
}

TEST(EvictionStorms, PodsThatComeBackUnderNewNamesAndAreEvictedAgainAreAStorm) {
  EvictionStorms storms;
  int told = 0;
  for (int64_t i = 0; i < 30; ++i) {
    const std::string victim = fmt::format("a/pod-{}", i);
    const std::string evicting = fmt::format("b/pod-{}", i);
    const auto storm = storms.Add({.at = Second(2 * i),
                                   .evicting_job = evicting,
                                   .victim_job = victim,
                                   .held_node_ns = 3 * kSecond});
    if (!storm) continue;
    ++told;
    EXPECT_EQ(storm->evictions, 20);
    EXPECT_EQ(storm->text,
              "20 evictions within 10m led nowhere: the pods had had their nodes for less than 1m, "
              "or their jobs had got them by a chain of evictions; a/pod-0 lost 1, a/pod-1 lost 1, "
              "a/pod-10 lost 1, and 17 more jobs");
  }
  EXPECT_EQ(told, 1) << "once while it lasts";
}

TEST(EvictionStorms, IsToldAgainAfterItsSpan) {
  EvictionStorms storms;
  int told = 0;
  for (int64_t i = 0; i < 1'300; ++i)
    told +=
        storms.Add(
            {.at = Second(i), .evicting_job = "b/y", .victim_job = "a/x", .held_node_ns = kSecond})
            ? 1
            : 0;
  EXPECT_EQ(told, 3);
  EXPECT_LE(storms.size(), 601u) << "what is older than the span is forgotten";
}

TEST(EvictionStorms, AnUrgentJobThatEvictsManyPodsOnceIsNone) {
  EvictionStorms storms;
  for (int i = 0; i < 500; ++i)
    EXPECT_FALSE(storms.Add({.at = Second(i / 250),
                             .evicting_job = "b/urgent",
                             .victim_job = fmt::format("a/x-{}", i),
                             .held_node_ns = 5 * kSecond}));
}

TEST(EvictionStorms, PodsThatHadTheirNodesForLongAreNone) {
  EvictionStorms storms;
  for (int i = 0; i < 500; ++i)
    EXPECT_FALSE(storms.Add({.at = Second(i),
                             .evicting_job = fmt::format("b/y-{}", i),
                             .victim_job = "a/x",
                             .held_node_ns = kHour}));
}

// Each job evicts the one that has evicted before it, and then loses its node to the next: slowly,
// and never the same two jobs.
TEST(EvictionStorms, AChainWithoutEndIsAStormHoweverLongPodsRan) {
  EvictionStorms storms;
  int told = 0;
  for (int i = 0; i < 40; ++i)
    told += storms.Add({.at = Second(10 * i),
                        .evicting_job = fmt::format("a/x-{}", i + 1),
                        .victim_job = fmt::format("a/x-{}", i),
                        .held_node_ns = kHour})
                ? 1
                : 0;
  EXPECT_EQ(told, 1);
}

TEST(EvictionStorms, ThreePrioritiesThatPreemptEachOtherAreNone) {
  EvictionStorms storms;
  for (int i = 0; i < 200; ++i) {
    const auto add = [&](std::string_view evicting, std::string_view victim) {
      EXPECT_FALSE(storms.Add({.at = Second(i),
                               .evicting_job = fmt::format("{}-{}", evicting, i),
                               .victim_job = fmt::format("{}-{}", victim, i),
                               .held_node_ns = kHour}));
    };
    add("a/middle", "a/low");
    add("a/high", "a/middle");
  }
}

TEST(EvictionStorms, KeepsNoMoreThanItMay) {
  EvictionStorms storms({.most_kept = 100});
  for (int i = 0; i < 10'000; ++i)
    storms.Add({.at = Second(0),
                .evicting_job = fmt::format("b/y-{}", i),
                .victim_job = fmt::format("a/x-{}", i),
                .held_node_ns = 0});
  EXPECT_LE(storms.size(), 200u);
}

}  // namespace
}  // namespace krafla
