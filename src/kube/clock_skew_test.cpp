#include "kube/clock_skew.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kNow = 1'773'000'000;

// A machine whose clock is set and whose server has one of its own.
class Machine {
 public:
  ClockReading Read() const {
    return {.wall = {(kNow * 1000 + ahead_ms_ + passed_ms_) * 1'000'000},
            .boot = BootClock::time_point(milliseconds(5'000'000 + passed_ms_)),
            .steady = ClockReading::Steady::time_point(milliseconds(4'000'000 + passed_ms_))};
  }
  void Pass(milliseconds time) { passed_ms_ += time.count(); }
  void SetClock(int64_t ahead_ms) { ahead_ms_ = ahead_ms; }
  // The server writes its header in the middle of the way.
  void Answer(ClockSkew& skew, milliseconds round_trip = milliseconds(10)) {
    const BootClock::time_point sent = Read().boot;
    Pass(round_trip / 2);
    const int64_t date_s = (kNow * 1000 + server_ahead_ms + passed_ms_) / 1000;
    Pass(round_trip / 2);
    skew.Note(date_s, sent, Read());
  }
  int64_t server_ahead_ms = 0;

 private:
  int64_t ahead_ms_ = 0;
  int64_t passed_ms_ = 0;
};

TEST(ClockSkewMeasure, OneDateSaysItWithinASecondAndSeveralBetter) {
  Machine machine;
  machine.SetClock(45'000);
  ClockSkew skew(seconds(30));
  EXPECT_EQ(skew.Seconds(machine.Read()), std::nullopt) << "nothing was answered";
  EXPECT_EQ(skew.TooLarge(machine.Read()), std::nullopt);
  machine.Pass(milliseconds(300));
  machine.Answer(skew);
  EXPECT_NEAR(*skew.Seconds(machine.Read()), 45, 0.51);
  for (int i = 0; i < 20; ++i) {
    machine.Pass(milliseconds(1'930));
    machine.Answer(skew);
  }
  EXPECT_NEAR(*skew.Seconds(machine.Read()), 45, 0.1);
}

TEST(ClockSkewMeasure, ASlowAnswerIsNoSkew) {
  Machine machine;
  ClockSkew skew(seconds(2));
  machine.Answer(skew, seconds(20));
  EXPECT_EQ(skew.TooLarge(machine.Read()), std::nullopt) << "anything within 20 s is possible";
}

TEST(ClockSkewMeasure, TooLargeIsSaidWhenItIsCertain) {
  Machine machine;
  ClockSkew skew(seconds(30));
  machine.SetClock(30'200);
  machine.Answer(skew);
  EXPECT_EQ(skew.TooLarge(machine.Read()), std::nullopt) << "the Date has whole seconds";
  machine.SetClock(-31'700);
  machine.Answer(skew);
  EXPECT_EQ(skew.TooLarge(machine.Read()), -32);
}

TEST(ClockSkewMeasure, AClockThatIsSetHereShowsBeforeTheNextAnswer) {
  Machine machine;
  ClockSkew skew(seconds(30));
  machine.Answer(skew);
  machine.SetClock(3'600'000);
  EXPECT_NEAR(*skew.Seconds(machine.Read()), 3600, 0.6);
  EXPECT_NEAR(*skew.TooLarge(machine.Read()), 3600, 1);
}

TEST(ClockSkewMeasure, ItIsOverWhenTheClocksAgreeForAWhile) {
  Machine machine;
  ClockSkew skew(seconds(30));
  machine.SetClock(45'000);
  machine.Answer(skew);
  EXPECT_TRUE(skew.TooLarge(machine.Read()));
  machine.SetClock(0);
  machine.Answer(skew);
  EXPECT_TRUE(skew.TooLarge(machine.Read())) << "another server may have another clock";
  machine.Pass(seconds(29));
  EXPECT_TRUE(skew.TooLarge(machine.Read()));
  machine.Pass(seconds(1));
  EXPECT_FALSE(skew.TooLarge(machine.Read()));
}

// Behind one address: with each answer the bounds are those of another clock.
TEST(ClockSkewMeasure, TwoServersThatDifferCountAsTooLarge) {
  Machine machine;
  ClockSkew skew(seconds(30));
  for (int i = 0; i < 40; ++i) {
    machine.server_ahead_ms = i % 2 == 0 ? 45'000 : 0;
    machine.Answer(skew);
    machine.Pass(seconds(2));
    EXPECT_TRUE(skew.TooLarge(machine.Read())) << i;
  }
}

TEST(ClockSkewMeasure, SmallChangesAreNotFollowed) {
  Machine machine;
  ClockSkew skew(seconds(30));
  machine.SetClock(45'000);
  machine.Answer(skew);
  const auto first = skew.TooLarge(machine.Read());
  machine.SetClock(48'000);
  EXPECT_EQ(skew.TooLarge(machine.Read()), first);
  machine.SetClock(60'000);
  EXPECT_NEAR(*skew.TooLarge(machine.Read()), 60, 1);
}

TEST(ClockSkewMeasure, WithLimitZeroItIsMeasuredAndHoldsNothing) {
  Machine machine;
  ClockSkew skew(seconds(0));
  machine.SetClock(3'600'000);
  machine.Answer(skew);
  EXPECT_NEAR(*skew.Seconds(machine.Read()), 3600, 0.6);
  EXPECT_EQ(skew.TooLarge(machine.Read()), std::nullopt);
}

// A suspended machine: the server's time goes on with BootClock.
TEST(ClockSkewMeasure, ASuspendIsNoSkew) {
  Machine machine;
  ClockSkew skew(seconds(30));
  machine.Answer(skew);
  machine.Pass(std::chrono::hours(5));
  EXPECT_NEAR(*skew.Seconds(machine.Read()), 0, 0.6);
  EXPECT_EQ(skew.TooLarge(machine.Read()), std::nullopt);
}

}  // namespace
}  // namespace krafla
