#include <gtest/gtest.h>

#include "session/session.h"

namespace krafla {
namespace {

TEST(CycleMemory, BeginsEmpty) {
  const CycleMemory memory;
  EXPECT_EQ(memory.LastEviction("rz1"), nullptr);
  EXPECT_EQ(memory.LastEviction(""), nullptr);
}

TEST(CycleMemory, KeepsOneClockPerZone) {
  CycleMemory memory;
  const Timestamp first = Timestamp::FromUnixSeconds(100);
  const Timestamp second = Timestamp::FromUnixSeconds(200);
  memory.SetLastEviction("rz1", first);
  memory.SetLastEviction("rz2", second);
  ASSERT_NE(memory.LastEviction("rz1"), nullptr);
  EXPECT_EQ(*memory.LastEviction("rz1"), first);
  EXPECT_EQ(*memory.LastEviction("rz2"), second);
  EXPECT_EQ(memory.LastEviction("rz"), nullptr);
}

TEST(CycleMemory, TheLaterEvictionReplacesTheEarlier) {
  CycleMemory memory;
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(100));
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(50));
  EXPECT_EQ(*memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(50));
  EXPECT_EQ(memory.last_evictions.size(), 1u);
}

// The empty name is Volcano's one clock for all zones, and nobody else's.
TEST(CycleMemory, TheSharedClockIsOfItsOwn) {
  CycleMemory memory;
  memory.SetLastEviction("", Timestamp::FromUnixSeconds(100));
  EXPECT_EQ(memory.LastEviction("rz1"), nullptr);
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(200));
  EXPECT_EQ(*memory.LastEviction(""), Timestamp::FromUnixSeconds(100));
}

TEST(CycleMemory, ASessionWithoutOneHasItsOwn) {
  Cluster cluster;
  const SchedulerConfig config;
  Log log;
  CycleMemory memory;
  memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(100));
  SessionOptions options;
  Session forgetful(cluster, config, options, log);
  EXPECT_EQ(forgetful.memory.LastEviction("rz1"), nullptr);
  forgetful.memory.SetLastEviction("rz1", Timestamp::FromUnixSeconds(300));
  options.memory = &memory;
  Session remembering(cluster, config, options, log);
  EXPECT_EQ(*remembering.memory.LastEviction("rz1"), Timestamp::FromUnixSeconds(100));
}

TEST(CycleMemory, JobsAreKeptByName) {
  CycleMemory memory;
  EXPECT_EQ(memory.FindJobLoss("ns/b"), nullptr);
  memory.JobLossOf("ns/b").size = 2;
  memory.JobLossOf("ns/a").size = 1;
  memory.JobLossOf("ns/b").size = 3;
  ASSERT_EQ(memory.job_losses.size(), 2u);
  EXPECT_EQ(memory.job_losses[0].job, "ns/a");
  ASSERT_NE(memory.FindJobLoss("ns/b"), nullptr);
  EXPECT_EQ(memory.FindJobLoss("ns/b")->size, 3);
  EXPECT_EQ(memory.FindJobLoss("ns"), nullptr);
  memory.JobEvictionsOf("ns/a").times.push_back(Timestamp::FromUnixSeconds(100));
  ASSERT_NE(memory.FindJobEvictions("ns/a"), nullptr);
  EXPECT_EQ(memory.FindJobEvictions("ns/a")->times.size(), 1u);
  EXPECT_EQ(memory.FindJobEvictions("ns/b"), nullptr);
}

}  // namespace
}  // namespace krafla
