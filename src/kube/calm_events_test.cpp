#include "kube/calm_events.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;

class CalmEventsTest : public ::testing::Test {
 protected:
  void Say(const std::string& message, const std::string& uid = "u") {
    events.Say({PodRef("a", "p", uid), true, "FailedScheduling", message});
  }
  // Messages of what was recorded since the last call.
  std::vector<std::string> Said() {
    std::vector<std::string> said;
    for (const std::string& body : client.bodies) {
      const size_t begin = body.find(R"("message":")") + 11;
      said.push_back(body.substr(begin, body.find('"', begin) - begin));
    }
    client.TakeRequests();
    return said;
  }

  using Lines = std::vector<std::string>;
  testing::ScriptedClient client;
  EventRecorder recorder{client, {}};
  CalmEvents events{client, recorder, milliseconds(10'000)};
};

TEST_F(CalmEventsTest, TheLastWordIsTheTrueOne) {
  Say("one");
  EXPECT_EQ(Said(), Lines{"one"});
  client.Pass(milliseconds(2000));
  Say("two");
  Say("three");
  EXPECT_EQ(Said(), Lines{});
  client.Pass(milliseconds(7999));
  EXPECT_EQ(Said(), Lines{});
  client.Pass(milliseconds(1));
  EXPECT_EQ(Said(), Lines{"three"}) << "what was overtaken is not said";
  client.Pass(milliseconds(60'000));
  EXPECT_EQ(Said(), Lines{});
  Say("four");
  EXPECT_EQ(Said(), Lines{"four"}) << "the while is over";
}

TEST(LeftOf, IsRoundedUp) {
  const SteadyTime begin{std::chrono::seconds(1000)};
  const auto left = [&](int64_t passed_ns) {
    return LeftOf(std::chrono::milliseconds(5000), begin,
                  begin + std::chrono::nanoseconds(passed_ns))
        .count();
  };
  EXPECT_EQ(left(0), 5000);
  EXPECT_EQ(left(1'200'000'001), 3800);
  EXPECT_EQ(left(5'000'000'000), 0);
}

TEST_F(CalmEventsTest, AClockThatIsSetChangesNoWait) {
  Say("one");
  EXPECT_EQ(Said(), Lines{"one"});
  client.wall_set_ms = -3'600'000;
  Say("two");
  EXPECT_EQ(Said(), Lines{}) << "not at once";
  client.Pass(milliseconds(10'000));
  EXPECT_EQ(Said(), Lines{"two"});
  client.wall_set_ms = 3'600'000;
  Say("three");
  EXPECT_EQ(Said(), Lines{});
}

TEST_F(CalmEventsTest, TheSameIsNotSaidAgain) {
  Say("one");
  Say("two");
  Say("one");  // as it was said
  client.Pass(milliseconds(60'000));
  Say("one");
  EXPECT_EQ(Said(), Lines{"one"});
}

TEST_F(CalmEventsTest, NothingIsSaidOfWhoeverDoesNotWaitAnyMore) {
  Say("one");
  Say("two");
  events.Forget("Pod", "a/p");
  client.Pass(milliseconds(60'000));
  EXPECT_EQ(Said(), Lines{"one"});
}

TEST_F(CalmEventsTest, ASuccessorOfTheSameNameIsToldToo) {
  Say("one");
  Said();
  Say("one", "another");
  client.Pass(milliseconds(10'000));
  EXPECT_EQ(Said(), Lines{"one"});
}

}  // namespace
}  // namespace krafla
