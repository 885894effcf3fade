// When a pod without PodGroup is scheduled alone.
#include "kube/lone_pods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace krafla {
namespace {

using When = GroupOfOnePolicy::When;
using Texts = std::vector<std::string>;

constexpr int64_t kSecond = 1'000'000'000;

TEST(LonePods, TheFlagTakesAutoNeverAndAfter) {
  EXPECT_EQ(ParseGroupOfOnePolicy("auto").value(), GroupOfOnePolicy{});
  EXPECT_EQ(ParseGroupOfOnePolicy("never").value(), GroupOfOnePolicy{.when = When::kNever});
  EXPECT_EQ(ParseGroupOfOnePolicy("after=1m30s").value(),
            (GroupOfOnePolicy{.when = When::kAfter, .delay_ns = 90 * kSecond}));
  EXPECT_EQ(ParseGroupOfOnePolicy("after=0s").value(),
            (GroupOfOnePolicy{.when = When::kAfter, .delay_ns = 0}));
  for (const char* wrong : {"", "always", "5s", "after", "after=", "after=5", "after=-1s", "Auto"})
    EXPECT_EQ(ParseGroupOfOnePolicy(wrong).error().message,
              std::string("expected auto, never or after=DURATION such as after=5s (0s: at once), "
                          "got \"") +
                  wrong + "\"");
}

TEST(LonePods, WithoutControllersAPodWithAnOwnerWaitsAndOneWithoutDoesNot) {
  LonePods pods({});
  EXPECT_EQ(pods.Note("a/alone", "u1", false, 0), GroupWait::kNone);
  EXPECT_EQ(pods.next_ns(), std::nullopt);
  EXPECT_EQ(pods.Note("a/owned", "u2", true, kSecond), GroupWait::kDelay);
  EXPECT_EQ(pods.next_ns(), kSecond + LonePods::kOwnedPodDelayNs);
  EXPECT_EQ(pods.TakeDue(kSecond + LonePods::kOwnedPodDelayNs - 1), Texts{});
  EXPECT_EQ(pods.TakeDue(kSecond + LonePods::kOwnedPodDelayNs), Texts{"a/owned"});
  EXPECT_EQ(pods.next_ns(), std::nullopt);
  EXPECT_EQ(pods.Note("a/owned", "u2", true, 7 * kSecond), GroupWait::kNone)
      << "seen again it waits no second time";
  EXPECT_EQ(pods.Note("a/owned", "u3", true, 8 * kSecond), GroupWait::kDelay)
      << "another pod of that name";
}

TEST(LonePods, WhereControllersAreSeenEveryPodWaitsForGood) {
  LonePods pods({});
  pods.Note("a/p2", "u2", true, 0);
  pods.Note("a/p1", "u1", false, 0);
  EXPECT_TRUE(pods.looks_for_controllers());
  EXPECT_EQ(pods.SeeControllers(), (Texts{"a/p1", "a/p2"}));
  EXPECT_FALSE(pods.looks_for_controllers());
  EXPECT_EQ(pods.SeeControllers(), Texts{}) << "once";
  EXPECT_EQ(pods.next_ns(), std::nullopt) << "no delay ends any more";
  EXPECT_EQ(pods.TakeDue(3600 * kSecond), Texts{});
  EXPECT_EQ(pods.Note("a/p1", "u1", false, 3600 * kSecond), GroupWait::kControllers);
  for (const bool owned : {false, true}) {
    const std::string name = owned ? "a/owned" : "a/alone";
    EXPECT_EQ(pods.Note(name, name, owned, 3600 * kSecond), GroupWait::kControllers);
    EXPECT_EQ(pods.TakeDue(7200 * kSecond), Texts{});
    EXPECT_EQ(pods.Find(name), GroupWait::kControllers);
  }
  EXPECT_EQ(pods.next_ns(), std::nullopt);
}

TEST(LonePods, AnExplicitPolicyDoesNotLookForControllers) {
  LonePods after({.when = When::kAfter, .delay_ns = 2 * kSecond});
  EXPECT_FALSE(after.looks_for_controllers());
  EXPECT_EQ(after.Note("a/p", "u", false, 0), GroupWait::kDelay) << "with or without an owner";
  EXPECT_EQ(after.SeeControllers(), Texts{});
  EXPECT_EQ(after.TakeDue(2 * kSecond), Texts{"a/p"});
  LonePods never({.when = When::kNever});
  EXPECT_FALSE(never.looks_for_controllers());
  EXPECT_EQ(never.Note("a/p", "u", false, 0), GroupWait::kNever);
  EXPECT_EQ(never.next_ns(), std::nullopt);
  LonePods at_once({.when = When::kAfter, .delay_ns = 0});
  EXPECT_EQ(at_once.Note("a/p", "u", true, 0), GroupWait::kNone);
}

TEST(LonePods, APodThatGetsItsPodGroupOrGoesIsNotReleased) {
  LonePods pods({});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "a/p" + std::to_string(i);
    pods.Note(name, "u" + std::to_string(i), true, i * kSecond);
  }
  pods.Forget("a/p0");
  EXPECT_EQ(pods.next_ns(), kSecond + LonePods::kOwnedPodDelayNs);
  pods.Forget("a/p1");
  pods.Note("a/p1", "again", true, 4 * kSecond);
  EXPECT_EQ(pods.TakeDue(8 * kSecond), Texts{"a/p2"});
  EXPECT_EQ(pods.TakeDue(9 * kSecond), Texts{"a/p1"});
}

TEST(LonePods, PodsThatComeAndGoLeaveNothingBehind) {
  LonePods pods({.when = When::kAfter, .delay_ns = 3600 * kSecond});
  pods.Note("a/stays", "s", true, 0);
  for (int i = 0; i < 100'000; ++i) {
    pods.Note("a/p", std::to_string(i), true, i);
    pods.Forget("a/p");
  }
  EXPECT_LT(pods.waiting_entries(), 2000u);
  EXPECT_EQ(pods.TakeDue(3600 * kSecond), Texts{"a/stays"});
}

TEST(LonePods, AnEndlessDelayDoesNotOverflow) {
  LonePods pods({.when = When::kAfter, .delay_ns = INT64_MAX});
  EXPECT_EQ(pods.Note("a/p", "u", true, kSecond), GroupWait::kDelay);
  EXPECT_EQ(pods.next_ns(), INT64_MAX);
}

}  // namespace
}  // namespace krafla
