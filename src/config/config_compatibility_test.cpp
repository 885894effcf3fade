#include "config/config_compatibility.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/config_test_support.h"

namespace krafla {
namespace {

using namespace config_test;

bool AllAre(const Compatibility& compatibility, bool value) {
  for (const CompatibilitySwitch& s : CompatibilitySwitches()) {
    if (compatibility.*s.member != value) return false;
  }
  return true;
}

TEST(SchedulerConfigCompatibility, Profiles) {
  EXPECT_TRUE(AllAre(MustRead(WithBlock("")).compatibility, true));
  EXPECT_TRUE(AllAre(MustRead(WithBlock("compatibility:")).compatibility, true));
  EXPECT_TRUE(AllAre(MustRead(WithBlock("compatibility: {profile: krafla}")).compatibility, true));
  EXPECT_TRUE(
      AllAre(MustRead(WithBlock("compatibility: {profile: volcano}")).compatibility, false));
}

TEST(SchedulerConfigCompatibility, EachSwitchBesideEachProfile) {
  for (const CompatibilitySwitch& s : CompatibilitySwitches()) {
    for (bool value : {false, true}) {
      for (bool profile_first : {false, true}) {
        const std::string profile = value ? "profile: volcano" : "profile: krafla";
        const std::string single = fmt::format("{}: {}", s.name, value);
        const std::string block = profile_first ? profile + ", " + single : single + ", " + profile;
        Compatibility compatibility =
            MustRead(WithBlock(fmt::format("compatibility: {{{}}}", block))).compatibility;
        EXPECT_EQ(compatibility.*s.member, value) << block;
        compatibility.*s.member = !value;
        EXPECT_TRUE(AllAre(compatibility, !value)) << block;
      }
    }
  }
}

TEST(SchedulerConfigCompatibility, TheOptionReplacesTheProfileAndSwitchesStillApply) {
  const Outcome outcome =
      ReadWithProfile(WithBlock("compatibility: {profile: krafla, windows: true}"), "volcano");
  EXPECT_EQ(outcome.problems, "");
  EXPECT_TRUE(outcome.config.compatibility.windows);
  EXPECT_FALSE(outcome.config.compatibility.guards);
  EXPECT_TRUE(AllAre(ReadWithProfile(WithBlock("compatibility: {profile: volcano}"), "krafla")
                         .config.compatibility,
                     true));
  EXPECT_TRUE(AllAre(ReadWithProfile(WithBlock(""), "volcano").config.compatibility, false));
}

TEST(SchedulerConfigCompatibility, AWrongOptionIsAnError) {
  EXPECT_EQ(ReadWithProfile(WithBlock(""), "volcan").problems,
            "error: --compatibility: unknown profile \"volcan\"; did you mean \"volcano\"?");
  const Outcome lenient =
      Read(WithBlock(""), {.file_name = {}, .lenient = true, .profile = "kubernetes"});
  EXPECT_EQ(lenient.problems,
            "error: --compatibility: unknown profile \"kubernetes\"; expected one of krafla, "
            "volcano");
}

TEST(SchedulerConfigCompatibility, Problems) {
  EXPECT_EQ(ProblemsOf(WithBlock("compatibility:\n  profile: volcan\n  window: false\n"
                                 "  budget_floor: true\n  guards: maybe\n  colour: true")),
            "conf:4:12: error: compatibility.profile: unknown profile \"volcan\"; did you mean "
            "\"volcano\"?\n"
            "conf:5:3: error: compatibility: unknown switch \"window\"; did you mean \"windows\"?\n"
            "conf:6:3: error: compatibility: unknown switch \"budget_floor\"; did you mean "
            "\"budget-floor\"?\n"
            "conf:7:11: error: compatibility.guards: expected true or false, got \"maybe\"\n"
            "conf:8:3: error: compatibility: unknown switch \"colour\"; expected one of profile, "
            "victims-in-preempt, budget-floor, budget-precedence, windows, evict-period-per-zone, "
            "named-zones, budget-accounting, guards, empty-intersection, reprieve, pdb-unlabelled, "
            "csi-attach-limit, closed-queue, victims-filter, drain-gang, …");
  EXPECT_EQ(ProblemsOf(WithBlock("compatibility: {profile: [volcano]}")),
            "conf:3:26: error: compatibility.profile: expected krafla or volcano, got a list");
  EXPECT_EQ(ProblemsOf(WithBlock("compatibility: volcano")),
            "conf:3:16: error: compatibility: expected a mapping such as {profile: volcano}, got "
            "\"volcano\"");
}

TEST(SchedulerConfigCompatibility, LenientTakesDefaults) {
  const Outcome outcome = ReadLenient(
      WithBlock("compatibility: {profile: volcan, windows: false, guards: maybe, colour: true}"));
  EXPECT_FALSE(outcome.has_errors);
  EXPECT_FALSE(outcome.config.compatibility.windows);
  EXPECT_TRUE(outcome.config.compatibility.guards);
  EXPECT_NE(outcome.problems.find("did you mean \"volcano\"? The profile krafla is used"),
            std::string::npos)
      << outcome.problems;
  EXPECT_NE(outcome.problems.find("got \"maybe\"; the profile decides"), std::string::npos);
  EXPECT_TRUE(AllAre(ReadLenient(WithBlock("compatibility: volcano")).config.compatibility, true));
}

}  // namespace
}  // namespace krafla
