#include "kube/event_recorder.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::ScriptedClient;

class EventRecorderTest : public ::testing::Test {
 protected:
  EventText Text(const std::string& message = "m") {
    return {PodRef("a", "p", "u"), true, "R", message};
  }
  ScriptedClient client;
  EventRecorder recorder{client, {.component = "volcano", .most_waiting = 2}};
};

TEST_F(EventRecorderTest, TheSameWordsAreCounted) {
  recorder.Record(Text());
  ASSERT_EQ(client.requests.size(), 1u);
  EXPECT_EQ(client.requests[0], "POST /api/v1/namespaces/a/events");
  recorder.Record(Text());
  recorder.Record(Text());
  EXPECT_EQ(client.requests.size(), 1u) << "it is not stored yet";
  client.Answer(201);
  ASSERT_EQ(client.requests.size(), 2u);
  EXPECT_TRUE(client.requests[1].starts_with("PATCH /api/v1/namespaces/a/events/p.18"))
      << client.requests[1];
  EXPECT_TRUE(client.bodies[1].starts_with(R"({"count":3,)")) << client.bodies[1];
  client.Answer(200);
  client.Pass(milliseconds(600'000));
  recorder.Record(Text());
  EXPECT_TRUE(client.requests[2].starts_with("POST")) << "after ten minutes it is a new one";
  EXPECT_EQ(recorder.sent(), 2u);
  EXPECT_EQ(recorder.dropped(), 0u);
}

TEST_F(EventRecorderTest, AClockThatIsSetBackMakesNoEventLastLonger) {
  recorder.Record(Text());
  client.Answer(201);
  client.wall_set_ms = -3'600'000;
  client.Pass(milliseconds(600'000));
  recorder.Record(Text());
  ASSERT_EQ(client.requests.size(), 2u);
  EXPECT_TRUE(client.requests[1].starts_with("POST")) << "after ten minutes it is a new one";
}

TEST_F(EventRecorderTest, WhatIsGivenUpIsCounted) {
  recorder.Record(Text("1"));
  recorder.Record(Text("2"));
  recorder.Record(Text("3"));
  EXPECT_EQ(client.requests.size(), 2u) << "no more than so many wait";
  EXPECT_EQ(recorder.dropped(), 1u);
  client.Answer(403);
  EXPECT_EQ(recorder.dropped(), 2u);
  for (int i = 0; i < 6; ++i) {
    client.Answer(503);
    client.Pass(milliseconds(60'000));
  }
  EXPECT_EQ(recorder.dropped(), 3u);
  EXPECT_EQ(recorder.waiting(), 0u);
  const size_t before = client.requests.size();
  recorder.Record(Text("2"));
  EXPECT_EQ(client.requests.size(), before + 1) << "what the server does not have is told again";
}

TEST_F(EventRecorderTest, AnAnswerThatWasLostIsNotASecondEvent) {
  recorder.Record(Text());
  const std::string first = client.bodies[0];
  client.Answer(0);
  client.Pass(milliseconds(1000));
  ASSERT_EQ(client.bodies.size(), 2u);
  EXPECT_EQ(client.bodies[1], first) << "the same name";
  client.Answer(409);
  EXPECT_EQ(recorder.sent(), 1u);
}

}  // namespace
}  // namespace krafla
