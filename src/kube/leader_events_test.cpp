#include "kube/leader_events.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

class LeaderEventsTest : public ::testing::Test {
 protected:
  static EventText Event(const std::string& message) {
    return {
        {"Lease", "coordination.k8s.io/v1", "volcano-system", "volcano", {}}, false, "R", message};
  }
  bool leads = false;
  testing::ScriptedClient client;
  EventRecorder recorder{client, {}};
  LeaderEvents events{recorder, [this] { return leads; }};
};

TEST_F(LeaderEventsTest, AReplicaThatFollowsSendsNothingAndCountsNothingAsDropped) {
  events.Record("configuration", Event("taken"));
  events.Flush();
  EXPECT_EQ(client.requests.size(), 0u);
  EXPECT_EQ(recorder.dropped(), 0u);
  EXPECT_EQ(recorder.waiting(), 0u);
}

TEST_F(LeaderEventsTest, WhoBeginsToLeadSaysTheNewestOfEachTopic) {
  events.Record("configuration", Event("refused"));
  events.Record("configuration", Event("taken"));
  events.Record("shares", Event("replaced"));
  leads = true;
  events.Flush();
  ASSERT_EQ(client.bodies.size(), 2u);
  EXPECT_NE(client.bodies[0].find("\"taken\""), std::string::npos);
  EXPECT_NE(client.bodies[1].find("\"replaced\""), std::string::npos);
  events.Flush();
  EXPECT_EQ(client.bodies.size(), 2u) << "once";
  events.Record("configuration", Event("read again"));
  EXPECT_EQ(client.bodies.size(), 3u) << "at once while it leads";
}

}  // namespace
}  // namespace krafla
