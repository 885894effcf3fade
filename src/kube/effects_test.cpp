#include "kube/effects.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::ScriptedClient;
using Lines = std::vector<std::string>;

constexpr const char* kPath = "/api/v1/namespaces/a/pods/p";

class EffectsTest : public ::testing::Test {
 protected:
  EffectsTest() {
    mirror.Apply({ObjectMessage::What::kSyncBegins, WatchedKind::kPod, {}, {}});
    See(1, "");
  }
  static std::string Pod(int version, const std::string& node) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"a","uid":"u",)"
        R"("resourceVersion":"{}"}},"spec":{{"schedulerName":"volcano",{}"containers":[{{)"
        R"("name":"c"}}]}},"status":{{"phase":"{}"}}}})",
        version, node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node),
        node.empty() ? "Pending" : "Running");
  }
  void See(int version, const std::string& node) {
    ObjectMessage message{
        ObjectMessage::What::kSeen, WatchedKind::kPod, Padded(Pod(version, node)), {}};
    message.head = parser.ParseHead(message.object).value();
    mirror.Apply(std::move(message));
  }
  TaskStatus Status() {
    StringPool& s = mirror.live().strings();
    return mirror.live().FindPod(s.Intern("a"), s.Intern("p"))->task.status;
  }
  bool There() { return !mirror.UidOf(WatchedKind::kPod, "a/p").empty(); }
  // Requests other than events.
  Lines Requests() {
    Lines lines = client.TakeRequests();
    std::erase_if(lines, [](const std::string& l) { return l.find("/events") != l.npos; });
    return lines;
  }
  // "Reason: message" of those that were recorded since Requests() was last called.
  Lines Events() const {
    Lines recorded;
    for (size_t i = 0; i < client.requests.size(); ++i)
      if (client.requests[i].find("/events") != std::string::npos)
        recorded.push_back(fmt::format("{}: {}", Field(client.bodies[i], "reason"),
                                       Field(client.bodies[i], "message")));
    return recorded;
  }
  static std::string Field(const std::string& json, const std::string& name) {
    const std::string key = fmt::format("\"{}\":\"", name);
    const size_t begin = json.find(key) + key.size();
    return json.substr(begin, json.find('"', begin) - begin);
  }
  void Bind() {
    effects.Bind({PodRef("a", "p", "u"), "n1"});
    See(2, "");  // as the loop assumes it, and as old news would not undo it
  }

  ScriptedClient client;
  ApiTextParser parser;
  ClusterMirror mirror{{.kinds = {WatchedKind::kPod}}};
  EventRecorder events{client, {}};
  Effects effects{client, mirror, events, {}};
};

TEST_F(EffectsTest, ABindingIsAskedForOnceAndCounted) {
  Bind();
  EXPECT_EQ(Requests(), (Lines{fmt::format("POST {}/binding", kPath)}));
  EXPECT_EQ(Status(), TaskStatus::kBinding);
  client.Answer(201);
  EXPECT_EQ(effects.counts().bound, 1u);
  EXPECT_EQ(effects.in_flight(), 0u);
  See(3, "n1");
  EXPECT_EQ(Status(), TaskStatus::kRunning);
}

TEST_F(EffectsTest, ABindingWhoseAnswerWasLostIsFoundDone) {
  Bind();
  client.Answer(0);
  Requests();
  client.Pass(milliseconds(100));
  EXPECT_EQ(Requests(), (Lines{fmt::format("POST {}/binding", kPath)}));
  client.Answer(409);
  client.Pass(milliseconds(0));
  EXPECT_EQ(Requests(), (Lines{fmt::format("GET {}", kPath)}));
  EXPECT_EQ(effects.counts().bound, 0u) << "not known before the pod was read";
  client.Answer(200, Pod(3, "n1"));
  EXPECT_EQ(Status(), TaskStatus::kRunning);
  EXPECT_EQ(mirror.expectations(), 0u);
  EXPECT_EQ(effects.counts().bound, 1u);
  EXPECT_EQ(effects.counts().bind_failures, 0u);
  EXPECT_EQ(Events(), (Lines{"Scheduled: Successfully assigned a/p to n1"}));
}

TEST_F(EffectsTest, ABindingThatTheWatchWasFasterToShowIsFoundDone) {
  Bind();
  client.Answer(0);
  client.Pass(milliseconds(100));
  client.Answer(409);
  See(3, "n1");
  client.Pass(milliseconds(0));
  client.Answer(200, Pod(3, "n1"));
  EXPECT_EQ(effects.counts().bound, 1u);
  EXPECT_EQ(Events(), (Lines{"Scheduled: Successfully assigned a/p to n1"}));
}

TEST_F(EffectsTest, APodThatSomebodyElseHasBoundElsewhereIsNoSuccess) {
  Bind();
  client.Answer(409);
  client.Pass(milliseconds(0));
  client.Answer(200, Pod(3, "n2"));
  EXPECT_EQ(Status(), TaskStatus::kRunning);
  EXPECT_EQ(effects.counts().bound, 0u);
  EXPECT_EQ(effects.counts().bind_failures, 1u);
  EXPECT_EQ(Events(), Lines{});
}

TEST_F(EffectsTest, APodThatIsGoneWhenItIsLookedAtIsAFailure) {
  Bind();
  client.Answer(409);
  mirror.Gone(WatchedKind::kPod, "a/p", "u");
  client.Pass(milliseconds(0));
  EXPECT_EQ(client.open(), 0u) << "nobody is asked";
  EXPECT_EQ(effects.counts().bind_failures, 1u);
}

TEST_F(EffectsTest, ARefusedBindingComesBackAfterAWhileThatGrows) {
  Bind();
  client.Answer(403, R"({"message":"exceeded quota"})");
  EXPECT_EQ(Status(), TaskStatus::kBinding) << "it is not tried again at once";
  client.Answer(201);  // the event
  client.Pass(milliseconds(1000));
  EXPECT_EQ(Requests().back(), fmt::format("GET {}", kPath));
  client.Answer(200, Pod(2, ""));
  EXPECT_EQ(Status(), TaskStatus::kPending);
  effects.Bind({PodRef("a", "p", "u"), "n1"});
  client.Answer(403);
  Requests();
  client.Pass(milliseconds(1999));
  EXPECT_EQ(Requests(), Lines{});
  client.Pass(milliseconds(1));
  EXPECT_EQ(Requests(), (Lines{fmt::format("GET {}", kPath)}));
  EXPECT_EQ(effects.counts().bind_failures, 2u);
}

TEST_F(EffectsTest, APodThatIsGoneIsForgotten) {
  Bind();
  client.Answer(404);
  client.Pass(milliseconds(0));
  client.Answer(404);
  EXPECT_FALSE(There());
  EXPECT_EQ(effects.in_flight(), 0u);
}

TEST_F(EffectsTest, APodThatCannotBeReadIsNotForgotten) {
  Bind();
  client.Answer(404);
  client.Pass(milliseconds(0));
  client.Answer(403, R"({"message":"pods \"p\" is forbidden"})");
  EXPECT_TRUE(There());
  client.Pass(milliseconds(200));
  client.Answer(200, "no JSON");
  EXPECT_TRUE(There());
  client.Pass(milliseconds(400));
  client.Answer(200, Pod(3, "n1"));
  EXPECT_EQ(Status(), TaskStatus::kRunning);
}

TEST_F(EffectsTest, AnAnswerThatIsOlderThanTheNewsIsAskedForAgain) {
  Bind();
  client.Answer(403, R"({"message":"exceeded quota"})");
  client.Answer(201);  // the event
  client.Pass(milliseconds(1000));
  Requests();
  See(5, "");  // a label, say: taken while the binding was still expected
  client.Answer(200, Pod(4, ""));
  EXPECT_EQ(Status(), TaskStatus::kBinding);
  client.Pass(milliseconds(200));
  EXPECT_EQ(Requests(), (Lines{fmt::format("GET {}", kPath)}));
  client.Answer(200, Pod(5, ""));
  EXPECT_EQ(Status(), TaskStatus::kPending);
  EXPECT_EQ(mirror.expectations(), 0u);
}

TEST_F(EffectsTest, ARemovalWhoseAnswerWasLostIsTold) {
  See(2, "n1");
  effects.Evict({{.pod = PodRef("a", "p", "u"), .message = "evicted by preempt", .node = "n1"}});
  client.Answer(200);
  client.Answer(0);
  Requests();
  client.Pass(milliseconds(100));
  EXPECT_EQ(Requests(), (Lines{fmt::format("DELETE {}", kPath)}));
  client.Answer(404);
  EXPECT_EQ(effects.counts().evicted, 1u);
  EXPECT_EQ(effects.in_flight(), 0u);
}

TEST_F(EffectsTest, AnEvictionIsAConditionAndThenARemoval) {
  See(2, "n1");
  effects.Evict({{.pod = PodRef("a", "p", "u"), .message = "evicted by preempt", .node = "n1"}});
  EXPECT_EQ(Requests(), (Lines{fmt::format("PATCH {}/status", kPath)}));
  client.Answer(200);
  EXPECT_EQ(Requests(), (Lines{fmt::format("DELETE {}", kPath)}));
  See(3, "n1");
  EXPECT_EQ(Status(), TaskStatus::kReleasing) << "the condition is no sign of life";
  client.Answer(200);
  EXPECT_EQ(effects.counts().evicted, 1u);
}

TEST_F(EffectsTest, WhatMustOutliveARestartIsWrittenFirstAndOncePerGroup) {
  See(2, "n1");
  const ObjectRef group = PodGroupRef("a", "g", "gu");
  const GroupMemory memory{.zone_evictions = "rz1=2026-03-08T20:00:00Z"};
  effects.Evict({{.pod = PodRef("a", "p", "u"), .message = "m", .group = group, .memory = memory},
                 {.pod = PodRef("a", "q", "v"), .message = "m", .group = group, .memory = memory}});
  EXPECT_EQ(client.bodies,
            (Lines{R"({"metadata":{"uid":"gu","annotations":{"krafla.io/zone-evictions":)"
                   R"("rz1=2026-03-08T20:00:00Z"}}})"}));
  Requests();
  client.Answer(200);
  EXPECT_EQ(Requests(), (Lines{"PATCH /api/v1/namespaces/a/pods/p/status",
                               "PATCH /api/v1/namespaces/a/pods/q/status"}));
  EXPECT_EQ(effects.in_flight(), 2u);
}

TEST_F(EffectsTest, AGroupThatIsAnotherOneByNowHasNothingToRemember) {
  See(2, "n1");
  effects.Evict({{.pod = PodRef("a", "p", "u"),
                  .message = "m",
                  .group = PodGroupRef("a", "g", "gu"),
                  .memory = {.evictions = "1"}}});
  Requests();
  client.Answer(409,
                R"({"message":"Precondition failed: UID in precondition: gu, UID in object"})");
  EXPECT_EQ(Requests(), (Lines{fmt::format("PATCH {}/status", kPath)}));
}

TEST_F(EffectsTest, ABudgetThatForbidsItGivesThePodBack) {
  See(2, "n1");
  effects.SetEvictionApi(true);
  effects.Evict({{.pod = PodRef("a", "p", "u"), .message = "evicted by preempt", .node = "n1"}});
  client.Answer(200);
  EXPECT_EQ(Requests().back(), fmt::format("POST {}/eviction", kPath));
  client.Answer(429, R"({"message":"would violate the budget"})");
  EXPECT_EQ(effects.counts().eviction_failures, 1u);
  client.Answer(201);  // the event
  client.Pass(milliseconds(1000));
  client.Answer(200, Pod(3, "n1"));
  EXPECT_EQ(Status(), TaskStatus::kRunning);
}

TEST_F(EffectsTest, WhatWasWrittenOfRefusedEvictionsIsReplacedAsAWhole) {
  const GroupMemory memory{.evictions = "2026-03-08T20:00:00Z"};
  effects.CorrectMemory(PodGroupRef("a", "g", "gu"), memory);
  EXPECT_EQ(
      client.bodies,
      (Lines{R"({"metadata":{"uid":"gu","annotations":{"krafla.io/zone-evictions":null,)"
             R"("krafla.io/evictions":"2026-03-08T20:00:00Z","krafla.io/last-loss":null}}})"}));
  EXPECT_EQ(effects.in_flight(), 1u);
  client.Answer(503);
  client.Pass(milliseconds(100));
  EXPECT_EQ(client.open(), 1u) << "asked again";
  client.Answer(200);
  EXPECT_EQ(effects.in_flight(), 0u);
}

// Of two patches of one group the older one must not be the last that is written, whatever is
// repeated; and nobody goes before what is to be kept of it is written.
TEST_F(EffectsTest, WhatIsKeptOfAGroupIsWrittenInOrder) {
  const ObjectRef group = PodGroupRef("a", "g", "gu");
  const auto evict = [&](const std::string& pod, GroupMemory memory) {
    effects.Evict({{.pod = PodRef("a", pod, "u-" + pod),
                    .message = "m",
                    .group = group,
                    .memory = std::move(memory)}});
  };
  const Lines patch{"PATCH /apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups/g"};
  evict("p", {.zone_evictions = "rz1=1", .evictions = "1"});
  EXPECT_EQ(Requests(), patch);
  evict("q", {.evictions = "2"});
  EXPECT_EQ(Requests(), Lines{}) << "one at a time";
  client.Answer(503);
  client.Pass(milliseconds(100));
  EXPECT_EQ(client.bodies,
            (Lines{R"({"metadata":{"uid":"gu","annotations":{"krafla.io/zone-evictions":)"
                   R"("rz1=1","krafla.io/evictions":"2"}}})"}))
      << "repeated with what is newest";
  EXPECT_EQ(Requests(), patch);
  evict("r", {.evictions = "3"});
  effects.CorrectMemory(group, {.evictions = "4"});
  EXPECT_EQ(effects.in_flight(), 4u);
  EXPECT_EQ(Requests(), Lines{});
  client.Answer(200);
  const Lines bodies = client.bodies;
  const Lines requests = Requests();
  EXPECT_EQ(requests, (Lines{patch[0], "PATCH /api/v1/namespaces/a/pods/p/status",
                             "PATCH /api/v1/namespaces/a/pods/q/status"}))
      << "r waits for the patch that covers it";
  EXPECT_EQ(bodies[0], R"({"metadata":{"uid":"gu","annotations":{"krafla.io/zone-evictions":null,)"
                       R"("krafla.io/evictions":"4","krafla.io/last-loss":null}}})");
  client.Answer(200);
  EXPECT_EQ(Requests(), (Lines{"PATCH /api/v1/namespaces/a/pods/r/status"}));
  EXPECT_EQ(effects.in_flight(), 3u) << "the correction is done";
  // It is the next one's turn again.
  evict("s", {.evictions = "5"});
  EXPECT_EQ(Requests(), patch);
}

TEST_F(EffectsTest, EvictionsWhoseMemoryCannotBeWrittenAreRefused) {
  See(2, "n1");
  effects.Evict({{.pod = PodRef("a", "p", "u"),
                  .message = "m",
                  .group = PodGroupRef("a", "g", "gu"),
                  .memory = {.evictions = "1"}}});
  client.Answer(403);
  EXPECT_EQ(effects.counts().eviction_failures, 1u);
  EXPECT_EQ(effects.in_flight(), 0u);
}

// Somebody else may lead by now: what has become of it is read when we lead again.
TEST_F(EffectsTest, WhatWasCutOffIsNotAskedForAgain) {
  Bind();
  Requests();
  client.KeepBack();
  EXPECT_EQ(effects.counts().repeated, 0u);
  EXPECT_EQ(effects.in_flight(), 0u);
  client.Answer(201);  // the event
  client.Pass(milliseconds(1000));
  EXPECT_EQ(Requests().back(), fmt::format("GET {}", kPath));
  client.KeepBack();
  EXPECT_EQ(Status(), TaskStatus::kBinding) << "nothing is known";
  client.Pass(milliseconds(200));
  EXPECT_EQ(Requests(), (Lines{fmt::format("GET {}", kPath)}));
  client.Answer(200, Pod(3, "n1"));
  EXPECT_EQ(Status(), TaskStatus::kRunning);
}

TEST_F(EffectsTest, AThrottledServerIsAskedAgainWhenItSays) {
  Bind();
  client.Answer(429, "{}", milliseconds(2000));
  Requests();
  client.Pass(milliseconds(1999));
  EXPECT_EQ(Requests(), Lines{});
  client.Pass(milliseconds(501));
  EXPECT_EQ(Requests(), (Lines{fmt::format("POST {}/binding", kPath)}));
  EXPECT_EQ(effects.counts().repeated, 1u);
}

// When each of many bindings that failed at the same time is sent again, in milliseconds.
std::vector<int> RepeatedAfter(uint64_t seed, std::optional<milliseconds> retry_after) {
  constexpr int kPods = 50;
  ScriptedClient client;
  ClusterMirror mirror{{.kinds = {WatchedKind::kPod}}};
  EventRecorder events{client, {}};
  Effects effects{client, mirror, events, {.seed = seed}};
  for (int i = 0; i < kPods; ++i) effects.Bind({PodRef("a", fmt::format("p{}", i), "u"), "n1"});
  for (int i = 0; i < kPods; ++i) client.Answer(429, "{}", retry_after);
  client.TakeRequests();
  std::vector<int> times;
  for (int ms = 1; ms <= 3000; ++ms) {
    client.Pass(milliseconds(1));
    for (size_t sent = client.TakeRequests().size(); sent != 0; --sent) times.push_back(ms);
  }
  EXPECT_EQ(times.size(), size_t{kPods});
  return times;
}

TEST(EffectsJitter, RequestsThatFailTogetherAreNotRepeatedTogether) {
  for (const auto retry_after :
       {std::optional<milliseconds>(), std::optional(milliseconds(1000))}) {
    const std::vector<int> times = RepeatedAfter(1, retry_after);
    EXPECT_GE(times.front(), retry_after ? 1000 : 50);
    EXPECT_LE(times.back(), retry_after ? 1250 : 100);
    EXPECT_GE(times.back() - times.front(), retry_after ? 150 : 30);
    EXPECT_EQ(times, RepeatedAfter(1, retry_after)) << "the seed decides";
    EXPECT_NE(times, RepeatedAfter(2, retry_after));
  }
}

}  // namespace
}  // namespace krafla
