#include "session/eviction_memory.h"

#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "model/memory_format.h"

namespace krafla {
namespace {

const Timestamp kNow = Timestamp::FromUnixSeconds(1'773'000'000, 123);

TEST(EvictionMemory, WhatIsWrittenIsReadBackToTheNanosecond) {
  CycleMemory before;
  before.SetLastEviction("rz1", kNow);
  before.SetLastEviction("rz2", Timestamp::FromUnixSeconds(1'772'000'000));
  before.JobEvictionsOf("a/g").times = {Timestamp::FromUnixSeconds(1'772'999'000), kNow};
  before.JobLossOf("a/g").at = kNow;
  before.JobLossOf("a/g").size = 4;
  before.JobLossOf("a/other").size = 7;
  const GroupMemory texts = MemoryOf(before, "a/g", kNow);
  EXPECT_EQ(texts.zone_evictions, "v1;rz1=2026-03-08T20:00:00.000000123Z")
      << "the other zone was not emptied now; somebody else remembers it";
  EXPECT_EQ(texts.evictions, "v1;2026-03-08T19:43:20.000000000Z,2026-03-08T20:00:00.000000123Z");
  EXPECT_EQ(texts.loss, "v1;2026-03-08T20:00:00.000000123Z/4");

  CycleMemory after;
  Recall(texts, "a/g", kNow, after);
  EXPECT_EQ(*after.LastEviction("rz1"), kNow);
  EXPECT_EQ(after.FindJobEvictions("a/g")->times, before.FindJobEvictions("a/g")->times);
  EXPECT_EQ(after.FindJobLoss("a/g")->at, kNow);
  EXPECT_EQ(after.FindJobLoss("a/g")->size, 4);
  EXPECT_EQ(after.FindJobLoss("a/g")->ended, kNow) << "they are missed from then on";
  EXPECT_EQ(after.FindJobLoss("a/other"), nullptr);
}

TEST(EvictionMemory, TheWholeHasTheClocksOfAllZones) {
  CycleMemory memory;
  memory.SetLastEviction("rz1", kNow);
  memory.SetLastEviction("rz2", Timestamp::FromUnixSeconds(1'772'000'000));
  const GroupMemory texts = MemoryOf(memory, "a/g");
  EXPECT_EQ(texts.zone_evictions,
            "v1;rz1=2026-03-08T20:00:00.000000123Z,rz2=2026-02-25T06:13:20.000000000Z");
  EXPECT_EQ(texts.evictions, "");
}

TEST(EvictionMemory, NothingToSayIsNothing) {
  EXPECT_TRUE(MemoryOf({}, "a/g", kNow).empty());
  CycleMemory memory;
  Recall({}, "a/g", kNow, memory);
  EXPECT_EQ(memory.FindJobLoss("a/g"), nullptr);
  EXPECT_EQ(memory.FindJobEvictions("a/g"), nullptr);
}

TEST(EvictionMemory, TheLatestCountsAndNonsenseDoesNot) {
  CycleMemory memory;
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(2'000));
  Recall({.zone_evictions = "rz1=1970-01-01T00:00:01Z,rz1,=x,,rz2=soon",
          .evictions = "x,,",
          .loss = "1970-01-01T00:00:01Z/many"},
         "a/g", kNow, memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(2'000));
  EXPECT_EQ(memory.LastEviction("rz2"), nullptr);
  EXPECT_EQ(memory.FindJobLoss("a/g"), nullptr);
  EXPECT_EQ(memory.FindJobEvictions("a/g"), nullptr);
  Recall({.zone_evictions = "rz1=1970-01-01T01:00:00Z"}, "a/g", kNow, memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(3'600));
}

TEST(EvictionMemory, AnInstantInTheFutureCountsAsNow) {
  CycleMemory memory;
  Recall({.zone_evictions = "v1;rz1=2999-01-01T00:00:00Z",
          .evictions = "v1;2026-03-08T19:00:00Z,2999-01-01T00:00:00Z",
          .loss = "v1;2999-01-01T00:00:00Z/4"},
         "a/g", kNow, memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), kNow);
  EXPECT_EQ(memory.FindJobEvictions("a/g")->times.back(), kNow);
  EXPECT_EQ(memory.FindJobEvictions("a/g")->times.size(), 2u);
  EXPECT_EQ(memory.FindJobLoss("a/g")->at, kNow);
  EXPECT_EQ(memory.FindJobLoss("a/g")->ended, kNow);
}

TEST(EvictionMemory, AValueWithoutVersionIsReadAndOneOfALaterVersionIsNot) {
  CycleMemory memory;
  Recall({.evictions = "2026-03-08T19:00:00Z"}, "a/old", kNow, memory);
  EXPECT_EQ(memory.FindJobEvictions("a/old")->times.size(), 1u);
  Recall({.zone_evictions = "v2;rz1=2026-03-08T19:00:00Z",
          .evictions = "v2;2026-03-08T19:00:00Z",
          .loss = "v10;2026-03-08T19:00:00Z/4"},
         "a/new", kNow, memory);
  EXPECT_EQ(memory.FindJobEvictions("a/new"), nullptr);
  EXPECT_EQ(memory.FindJobLoss("a/new"), nullptr);
  EXPECT_EQ(memory.LastEviction("rz1"), nullptr);
}

TEST(EvictionMemory, WhatAHandCanWriteIsBounded) {
  std::string many = "v1;";
  for (int i = 0; i < 2000; ++i) {
    if (i != 0) many += ',';
    many += fmt::format("2026-03-08T{:02}:{:02}:00Z", i / 60 % 20, i % 60);
  }
  EXPECT_EQ(ReadEvictionTimes(many).times.size(), kMostEvictionsRead);
  EXPECT_FALSE(ReadEvictionTimes(many).readable);
  std::string zones = "v1;";
  for (int i = 0; i < 200; ++i) zones += fmt::format("z{}=2026-03-08T19:00:00Z,", i);
  EXPECT_EQ(ReadZoneEvictions(zones).zones.size(), kMostZonesRead);
  EXPECT_TRUE(ReadZoneEvictions("v1;=2026-03-08T19:00:00Z").zones.empty());
  EXPECT_TRUE(ReadZoneEvictions(std::string(64, 'z') + "=2026-03-08T19:00:00Z").zones.empty());
  EXPECT_TRUE(ReadGroupLoss("v1;2026-03-08T19:00:00Z/1000000").has_value());
  EXPECT_FALSE(ReadGroupLoss("v1;2026-03-08T19:00:00Z/1000001").has_value());
  EXPECT_FALSE(ReadGroupLoss("v1;2026-03-08T19:00:00Z/-1").has_value());
}

TEST(EvictionMemory, AZoneThatLooksLikeAVersionIsAZone) {
  EXPECT_EQ(ReadZoneEvictions("v2=2026-03-08T19:00:00Z").zones.size(), 1u);
  EXPECT_TRUE(IsKnownMemoryVersion(""));
  EXPECT_TRUE(IsKnownMemoryVersion("v1;x"));
  EXPECT_FALSE(IsKnownMemoryVersion("v2;x"));
}

}  // namespace
}  // namespace krafla
