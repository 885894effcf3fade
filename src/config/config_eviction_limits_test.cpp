#include "config/config_eviction_limits.h"

#include "config/config_test_support.h"

namespace krafla::config_test {
namespace {

TEST(SchedulerConfigEvictionLimits, AreOffUnlessTheyAreGiven) {
  EXPECT_EQ(MustRead(WithBlock("")).eviction_limits, EvictionLimits{});
  EXPECT_EQ(MustRead(WithBlock("eviction-limits:")).eviction_limits, EvictionLimits{});
  EXPECT_FALSE(EvictionLimits{.exempt_drains = true}.Any());
}

TEST(SchedulerConfigEvictionLimits, AreRead) {
  const EvictionLimits limits =
      MustRead(WithBlock("eviction-limits: {per-minute: 30, per-cycle: 10, exempt-drains: true}"))
          .eviction_limits;
  EXPECT_EQ(limits, (EvictionLimits{.per_minute = 30, .per_cycle = 10, .exempt_drains = true}));
  EXPECT_EQ(limits.Most(), 10);
  EXPECT_EQ(MustRead(WithBlock("eviction-limits: {per-minute: '30'}")).eviction_limits.Most(), 30);
}

TEST(SchedulerConfigEvictionLimits, EveryMistakeIsNamedWithItsPlace) {
  EXPECT_EQ(ProblemsOf(WithBlock("eviction-limits: {per-minute: 0, per-cycle: ten, exempt-drains: "
                                 "perhaps, per-hour: 3}")),
            "conf:3:31: error: eviction-limits.per-minute: expected a whole number of evictions, "
            "at least 1, got \"0\"\n"
            "conf:3:45: error: eviction-limits.per-cycle: expected a whole number of evictions, at "
            "least 1, got \"ten\"\n"
            "conf:3:65: error: eviction-limits.exempt-drains: expected true or false, got "
            "\"perhaps\"\n"
            "conf:3:74: error: eviction-limits: unknown key \"per-hour\"; expected one of "
            "per-minute, per-cycle, exempt-drains");
  EXPECT_EQ(ProblemsOf(WithBlock("eviction-limits: 30")),
            "conf:3:18: error: eviction-limits: expected a mapping such as {per-minute: 100, "
            "per-cycle: 50}, got \"30\"");
}

// A mistake must not take the limit away.
TEST(SchedulerConfigEvictionLimits, LenientTakesTheLeastForALimitThatCannotBeRead) {
  const Outcome outcome = ReadLenient(WithBlock("eviction-limits: {per-minute: -5}"));
  EXPECT_FALSE(outcome.has_errors);
  EXPECT_EQ(outcome.config.eviction_limits.per_minute, 1);
}

}  // namespace
}  // namespace krafla::config_test
