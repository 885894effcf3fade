#include "model/eviction_loops.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace krafla {
namespace {

Timestamp Minute(int64_t minute) {
  return Timestamp::FromUnixSeconds(1'800'000'000 + minute * 60);
}

std::vector<std::string> Texts(EvictionLoops& loops, Timestamp now) {
  std::vector<std::string> texts;
  for (const EvictionLoops::Loop& loop : loops.Find(now)) texts.push_back(loops.Describe(loop));
  return texts;
}

using Lines = std::vector<std::string>;

TEST(EvictionLoops, TwoJobsThatEvictEachOtherAreNamed) {
  EvictionLoops loops;
  for (int64_t minute : {0, 10, 20}) loops.Add(Minute(minute), "a/x", "b/y");
  for (int64_t minute : {30, 40}) loops.Add(Minute(minute), "b/y", "a/x");
  EXPECT_EQ(Texts(loops, Minute(45)),
            Lines{"a/x evicted b/y 3 times and b/y evicted a/x twice within 1h"});
}

TEST(EvictionLoops, OneWayIsNoLoop) {
  EvictionLoops loops;
  for (int64_t minute = 0; minute < 30; ++minute) loops.Add(Minute(minute), "a/x", "b/y");
  EXPECT_EQ(Texts(loops, Minute(30)), Lines{});
}

TEST(EvictionLoops, OnceRoundMayBeChance) {
  EvictionLoops loops;
  loops.Add(Minute(0), "a/x", "b/y");
  loops.Add(Minute(1), "b/y", "a/x");
  EXPECT_EQ(Texts(loops, Minute(2)), Lines{});
  loops.Add(Minute(2), "a/x", "b/y");
  EXPECT_EQ(Texts(loops, Minute(3)), Lines{});
  loops.Add(Minute(3), "b/y", "a/x");
  EXPECT_EQ(Texts(loops, Minute(4)).size(), 1u);

  EvictionLoops strict({.rounds = 1});
  strict.Add(Minute(0), "a/x", "b/y");
  strict.Add(Minute(1), "b/y", "a/x");
  EXPECT_EQ(Texts(strict, Minute(2)),
            Lines{"a/x evicted b/y once and b/y evicted a/x once within 1h"});
}

TEST(EvictionLoops, ARingOfThreeIsNamedWhole) {
  EvictionLoops loops({.span_ns = 1'800 * Timestamp::kNsPerSecond});
  for (int64_t round = 0; round < 2; ++round) {
    loops.Add(Minute(3 * round), "c/z", "a/x");
    loops.Add(Minute(3 * round + 1), "a/x", "b/y");
    loops.Add(Minute(3 * round + 2), "b/y", "c/z");
  }
  EXPECT_EQ(Texts(loops, Minute(6)),
            Lines{"a/x evicted b/y twice, b/y evicted c/z twice and c/z evicted a/x twice within "
                  "30m"});
}

// The other way round it is another ring.
TEST(EvictionLoops, TheDirectionCounts) {
  EvictionLoops loops({.rounds = 1});
  loops.Add(Minute(0), "a", "c");
  loops.Add(Minute(1), "c", "b");
  loops.Add(Minute(2), "b", "a");
  const auto found = loops.Find(Minute(3));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].jobs, (std::vector<std::string>{"a", "c", "b"}));
}

TEST(EvictionLoops, RingsThatShareAJobAreNamedEach) {
  EvictionLoops loops({.rounds = 1});
  loops.Add(Minute(0), "a", "b");
  loops.Add(Minute(1), "b", "a");
  loops.Add(Minute(2), "b", "c");
  loops.Add(Minute(3), "c", "d");
  loops.Add(Minute(4), "d", "b");
  loops.Add(Minute(5), "e", "a");  // outside of any ring
  const auto found = loops.Find(Minute(6));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found[1].jobs, (std::vector<std::string>{"b", "c", "d"}));
}

TEST(EvictionLoops, ARingIsToldByTheEvictionThatClosesIt) {
  EvictionLoops loops({.rounds = 1});
  EXPECT_TRUE(loops.Add(Minute(0), "a", "b").empty());
  EXPECT_TRUE(loops.Add(Minute(1), "b", "c").empty());
  const auto two = loops.Add(Minute(2), "b", "a");
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(two[0].jobs, (std::vector<std::string>{"a", "b"}));
  // The longer one is there now as well, and is the shortest for two of its evictions.
  const auto three = loops.Add(Minute(3), "c", "a");
  ASSERT_EQ(three.size(), 1u);
  EXPECT_EQ(three[0].jobs, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(loops.Add(Minute(4), "d", "a").empty());
}

TEST(EvictionLoops, ARingIsToldOncePerSpan) {
  EvictionLoops loops({.span_ns = 600 * Timestamp::kNsPerSecond, .rounds = 1});
  int told = 0;
  for (int64_t minute = 0; minute < 35; ++minute) {
    const bool a_evicts = minute % 2 == 0;
    told += static_cast<int>(
        loops.Add(Minute(minute), a_evicts ? "a" : "b", a_evicts ? "b" : "a").size());
  }
  EXPECT_GE(told, 2);
  EXPECT_LE(told, 4);
}

// Whatever the whole search finds has been told by then.
TEST(EvictionLoops, NoRingIsMissed) {
  uint32_t random = 12345;
  const auto draw = [&](uint32_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 16) % below;
  };
  int rings = 0;
  for (int run = 0; run < 200; ++run) {
    EvictionLoops loops({.rounds = 1 + run % 2});
    std::vector<std::vector<std::string>> told;
    const uint32_t jobs = 2 + draw(6);
    for (int64_t step = 0; step < 40; ++step) {
      const Timestamp at{Minute(0).ns + step};
      const std::string from(1, static_cast<char>('a' + draw(jobs)));
      const std::string to(1, static_cast<char>('a' + draw(jobs)));
      for (const EvictionLoops::Loop& loop : loops.Add(at, from, to)) {
        EXPECT_EQ(std::count(told.begin(), told.end(), loop.jobs), 0) << "told twice";
        told.push_back(loop.jobs);
      }
      for (const EvictionLoops::Loop& loop : loops.Find(at)) {
        ++rings;
        EXPECT_EQ(std::count(told.begin(), told.end(), loop.jobs), 1)
            << "run " << run << " step " << step << ": " << loops.Describe(loop);
      }
    }
  }
  EXPECT_GT(rings, 1000);
}

TEST(EvictionLoops, WhatIsLongAgoIsForgotten) {
  EvictionLoops loops({.rounds = 1});
  loops.Add(Minute(0), "a", "b");
  loops.Add(Minute(30), "b", "a");
  EXPECT_EQ(loops.Find(Minute(59)).size(), 1u);
  EXPECT_TRUE(loops.Find(Minute(60)).empty());
  EXPECT_EQ(loops.size(), 1u);
  loops.Add(Minute(500), "c", "d");
  EXPECT_EQ(loops.size(), 1u);
}

TEST(EvictionLoops, PodsTakenAtOnceCountOnceAndOwnOnesNot) {
  EvictionLoops loops({.rounds = 1});
  for (int pod = 0; pod < 5; ++pod) loops.Add(Minute(0), "a", "b");
  loops.Add(Minute(1), "b", "a");
  loops.Add(Minute(2), "a", "a");
  const auto found = loops.Find(Minute(3));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].times, (std::vector<int32_t>{1, 1}));
}

TEST(EvictionLoops, KeepsNoMoreThanItIsTold) {
  EvictionLoops loops({.rounds = 1, .most_kept = 3});
  loops.Add(Minute(0), "a", "b");
  for (int64_t minute = 1; minute < 4; ++minute)
    loops.Add(Minute(minute), "c" + std::to_string(minute), "d");
  EXPECT_EQ(loops.size(), 3u);
  loops.Add(Minute(5), "b", "a");  // the other half is forgotten
  EXPECT_TRUE(loops.Find(Minute(6)).empty());
}

}  // namespace
}  // namespace krafla
