#include "kube/leader_lease.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

const LeaseOptions kUs{.identity = "us"};
const Timestamp kNow = Timestamp::FromUnixSeconds(1'773'000'000, 1'500);

TEST(LeaderLease, WhatALeaseSays) {
  const LeaseRecord record =
      ParseLease(R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"a",)"
                 R"("renewTime":"t","leaseDurationSeconds":15,"leaseTransitions":3}})")
          .value();
  EXPECT_EQ(record.holder, "a");
  EXPECT_EQ(record.renew_time, "t");
  EXPECT_EQ(record.duration_s, 15);
  EXPECT_EQ(record.transitions, 3);
  EXPECT_EQ(ParseLease(R"({"metadata":{"resourceVersion":"7"}})").value().holder, "");
  EXPECT_FALSE(ParseLease("{}").has_value());
}

TEST(LeaderLease, ARenewalIsForTheVersionThatWasReadAndKeepsTheTime) {
  const LeaseRecord before{.holder = "us", .resource_version = "7", .transitions = 3};
  EXPECT_EQ(LeasePatch(kUs, before, kNow),
            R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"us",)"
            R"("leaseDurationSeconds":15,"renewTime":"2026-03-08T20:00:00.000001Z"}})");
  const std::string taken =
      LeasePatch(kUs, {.holder = "a", .resource_version = "7", .transitions = 3}, kNow);
  EXPECT_NE(taken.find(R"("leaseTransitions":4)"), std::string::npos) << taken;
  EXPECT_NE(taken.find("acquireTime"), std::string::npos) << taken;
}

TEST(LeaderLease, SomebodyElsesLeaseRunsOutByOurOwnClock) {
  using std::chrono::seconds;
  LeaseWatch watch;
  const LeaseWatch::Clock::time_point start{};
  LeaseRecord record{.holder = "a", .renew_time = "1", .duration_s = 15};
  EXPECT_FALSE(watch.IsFree(record, start)) << "never at the first look, however old it says it is";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(14)));
  record.renew_time = "2";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(16))) << "it was renewed";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(30)));
  EXPECT_TRUE(watch.IsFree(record, start + seconds(31)));
  EXPECT_TRUE(watch.IsFree({.holder = ""}, start)) << "given up";
}

}  // namespace
}  // namespace krafla
