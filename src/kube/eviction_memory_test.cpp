#include "kube/eviction_memory.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(EvictionMemory, WhatIsWrittenIsReadBackToTheNanosecond) {
  const std::vector<CycleMemory::ZoneEviction> evictions = {
      {"rz1", Timestamp::FromUnixSeconds(1'773'000'000, 123)},
      {"rz2", Timestamp::FromUnixSeconds(1'773'000'001)}};
  const std::string text = FormatZoneEvictions(evictions);
  EXPECT_EQ(text, "rz1=2026-03-08T20:00:00.000000123Z,rz2=2026-03-08T20:00:01.000000000Z");
  CycleMemory memory;
  RememberZoneEvictions(text, memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), evictions[0].at);
  EXPECT_EQ(*memory.LastEviction("rz2"), evictions[1].at);
}

TEST(EvictionMemory, TheLatestCountsAndNonsenseDoesNot) {
  CycleMemory memory;
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(2'000));
  RememberZoneEvictions("rz1=1970-01-01T00:00:01Z,rz1,=x,,rz2=soon", memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(2'000));
  EXPECT_EQ(memory.LastEviction("rz2"), nullptr);
  RememberZoneEvictions("rz1=1970-01-01T01:00:00Z", memory);
  EXPECT_EQ(*memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(3'600));
}

}  // namespace
}  // namespace krafla
