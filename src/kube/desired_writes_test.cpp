#include "kube/desired_writes.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::ScriptedClient;
using Lines = std::vector<std::string>;

class DesiredWritesTest : public ::testing::Test {
 protected:
  void Make(milliseconds first, milliseconds calm) {
    writes.emplace(client, DesiredWrites::Options{
                               .first_delay = first,
                               .calm = calm,
                               .most_at_once = most_at_once,
                               .on_refused = [this](const std::string& key, const HttpResponse&) {
                                 refused.push_back(key);
                               }});
  }
  void Want(const std::string& key, const std::string& wish, bool urgent = false) {
    writes->Want(key, wish, {.method = "PATCH", .target = "/" + key, .body = wish}, urgent);
  }
  size_t most_at_once = 100;
  ScriptedClient client;
  std::optional<DesiredWrites> writes;
  Lines refused;
};

TEST_F(DesiredWritesTest, TheLastWishCountsAndTheSameIsNotWrittenTwice) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  Want("a", "2");
  Want("a", "3");
  EXPECT_EQ(client.bodies, (Lines{"1"}));
  client.Answer(200);
  EXPECT_EQ(client.bodies, (Lines{"1", "3"})) << "what was overtaken is never sent";
  Want("a", "3");
  client.Answer(200);
  Want("a", "3");
  EXPECT_EQ(client.bodies.size(), 2u);
  EXPECT_EQ(writes->open(), 0u);
  EXPECT_EQ(writes->written(), 2u);
}

TEST_F(DesiredWritesTest, AClockThatIsSetBackDelaysNoWrite) {
  Make(milliseconds(0), milliseconds(1000));
  Want("a", "1");
  client.Answer(200);
  client.wall_set_ms = -3'600'000;
  Want("a", "2");
  client.Pass(milliseconds(999));
  EXPECT_EQ(client.bodies.size(), 1u);
  client.Pass(milliseconds(1));
  EXPECT_EQ(client.bodies, (Lines{"1", "2"}));
}

TEST_F(DesiredWritesTest, AnAnswerThatMayChangeIsAskedForAgain) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(429, "{}", milliseconds(3000));
  client.Pass(milliseconds(2999));
  EXPECT_EQ(client.bodies.size(), 1u) << "Retry-After is kept";
  client.Pass(milliseconds(1));
  EXPECT_EQ(client.bodies.size(), 2u);
  Want("a", "2");
  client.Answer(0);
  client.Pass(milliseconds(10'000));
  EXPECT_EQ(client.bodies.back(), "2");
  EXPECT_EQ(writes->open(), 1u);
  client.Answer(200);
  EXPECT_EQ(writes->open(), 0u);
  EXPECT_EQ(refused, Lines{});
}

TEST_F(DesiredWritesTest, AForgottenWishIsNotSent) {
  Make(milliseconds(1000), milliseconds(10'000));
  Want("a", "1");
  EXPECT_EQ(client.open(), 0u) << "better news may come";
  writes->Forget("a");
  client.Pass(milliseconds(5000));
  EXPECT_EQ(client.bodies, Lines{});
  EXPECT_EQ(writes->open(), 0u);
}

TEST_F(DesiredWritesTest, WordsAreWrittenCalmlyUnlessItIsUrgent) {
  Make(milliseconds(1000), milliseconds(10'000));
  Want("a", "1");
  client.Pass(milliseconds(1000));
  client.Answer(200);
  Want("a", "2");
  client.Pass(milliseconds(9000));
  EXPECT_EQ(client.bodies, (Lines{"1"}));
  Want("a", "3");
  client.Pass(milliseconds(1000));
  EXPECT_EQ(client.bodies, (Lines{"1", "3"}));
  client.Answer(200);
  Want("a", "4", true);
  EXPECT_EQ(client.bodies.back(), "4");
}

TEST_F(DesiredWritesTest, AtTheEndNothingIsHeldBack) {
  Make(milliseconds(1000), milliseconds(10'000));
  Want("a", "1");
  Want("b", "1");
  writes->Flush();
  EXPECT_EQ(client.requests, (Lines{"PATCH /a", "PATCH /b"}));
  client.Answer(200);
  client.Answer(200);
  client.Pass(milliseconds(20'000));
  EXPECT_EQ(client.requests.size(), 2u) << "and not once more when its time comes";
  EXPECT_EQ(writes->open(), 0u);
}

TEST_F(DesiredWritesTest, ARefusalIsToldAndTheNextWishIsTried) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(422);
  EXPECT_EQ(refused, (Lines{"a"}));
  EXPECT_EQ(writes->refused(), 1u);
  Want("b", "1");
  client.Answer(404);
  EXPECT_EQ(refused, (Lines{"a"})) << "gone is no news";
  Want("a", "1");
  EXPECT_EQ(client.bodies.size(), 3u);
  EXPECT_EQ(writes->open(), 1u);
}

constexpr const char* kWebhookDenies =
    R"({"kind":"Status","message":"admission webhook \"w.x\" denied the request: not now"})";

TEST_F(DesiredWritesTest, WhatAnAdmissionWebhookRefusesIsWrittenWhenItAllowsIt) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(403, kWebhookDenies);
  EXPECT_EQ(refused, (Lines{"a"}));
  EXPECT_EQ(writes->open(), 1u) << "the wish stays";
  client.Pass(milliseconds(200));
  client.Answer(400, kWebhookDenies);
  EXPECT_EQ(refused, (Lines{"a"})) << "said once";
  client.Pass(milliseconds(400));
  client.Answer(200);
  EXPECT_EQ(client.bodies, (Lines{"1", "1", "1"}));
  EXPECT_EQ(writes->open(), 0u);
  EXPECT_EQ(writes->written(), 1u);
  // It refuses again: that is said again.
  Want("a", "2");
  client.Answer(403, kWebhookDenies);
  EXPECT_EQ(refused, (Lines{"a", "a"}));
}

TEST_F(DesiredWritesTest, AtTheEndWhatAnAdmissionWebhookRefusesIsGivenUp) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(403, kWebhookDenies);
  writes->Flush();
  EXPECT_EQ(writes->open(), 0u);
  client.Pass(milliseconds(60'000));
  EXPECT_EQ(client.bodies, (Lines{"1"}));
}

TEST_F(DesiredWritesTest, WhoWaitsInLineIsWrittenAsItIsWhenItsTurnComes) {
  most_at_once = 2;
  Make(milliseconds(0), milliseconds(0));
  for (const char* key : {"a", "b", "c", "d", "e"}) Want(key, "1");
  EXPECT_EQ(client.requests, (Lines{"PATCH /a", "PATCH /b"}));
  Want("c", "2");
  Want("d", "2");
  writes->Forget("d");
  EXPECT_EQ(writes->open(), 4u);
  client.Answer(200);
  EXPECT_EQ(client.requests.back(), "PATCH /c");
  EXPECT_EQ(client.bodies.back(), "2") << "its first wish was overtaken while it waited";
  Want("d", "3");  // once more, in its old place
  client.Answer(503);
  EXPECT_EQ(client.requests.back(), "PATCH /d");
  client.Answer(200);
  EXPECT_EQ(client.requests.back(), "PATCH /e");
  client.Answer(200);
  client.Answer(200);
  EXPECT_EQ(writes->open(), 1u);
  client.Pass(milliseconds(1000));
  EXPECT_EQ(client.requests.back(), "PATCH /b") << "which the server would not take before";
  client.Answer(200);
  EXPECT_EQ(writes->open(), 0u);
  EXPECT_EQ(writes->written(), 5u);
  EXPECT_EQ(client.requests.size(), 6u);
}

constexpr const char* kForbidden =
    R"({"message":"podgroups \"a\" is forbidden: User \"u\" cannot patch resource \"podgroups\" in API group \"scheduling.volcano.sh\""})";

TEST_F(DesiredWritesTest, WhatOurRoleForbidsIsAskedAgainWithGrowingWaits) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  for (const int wait_s : {1, 2, 4, 8, 16, 32, 64, 64}) {
    client.Answer(403, kForbidden);
    client.Pass(milliseconds(wait_s * 1000 - 1));
    EXPECT_EQ(client.open(), 0u) << wait_s;
    client.Pass(milliseconds(1));
    ASSERT_EQ(client.open(), 1u) << wait_s;
  }
  EXPECT_EQ(refused, Lines{}) << "reported elsewhere, not once per object";
  client.Answer(200);
  EXPECT_EQ(writes->open(), 0u);
}

TEST_F(DesiredWritesTest, WhatOurRoleForbidsDoesNotHoldUpTheEnd) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(403, kForbidden);
  EXPECT_EQ(writes->open(), 1u);
  Want("b", "1");
  writes->Flush();
  EXPECT_EQ(writes->open(), 1u) << "it is under way";
  client.Answer(403, kForbidden);
  EXPECT_EQ(writes->open(), 0u);
  EXPECT_EQ(refused, Lines{});
}

TEST_F(DesiredWritesTest, AnAdmissionPluginThatRefusesAnObjectIsNotAskedAgain) {
  Make(milliseconds(0), milliseconds(0));
  Want("a", "1");
  client.Answer(403, R"({"message":"podgroups \"a\" is forbidden: exceeded quota"})");
  EXPECT_EQ(refused, (Lines{"a"}));
  EXPECT_EQ(writes->open(), 0u);
}

TEST_F(DesiredWritesTest, AWishThatTheServerFulfilsMeanwhileIsDropped) {
  Make(milliseconds(0), milliseconds(1000));
  Want("a", "1");
  client.Answer(200);
  Want("a", "2");
  EXPECT_EQ(writes->open(), 1u);
  writes->Settle("a");
  EXPECT_EQ(writes->open(), 0u);
  client.Pass(milliseconds(1000));
  EXPECT_EQ(client.bodies, (Lines{"1"}));
  Want("a", "2");
  EXPECT_EQ(client.bodies, (Lines{"1", "2"})) << "it can be wanted again";
}

TEST_F(DesiredWritesTest, WhatIsNoLongerSoIsNotSent) {
  bool moot = false;
  writes.emplace(client,
                 DesiredWrites::Options{.calm = milliseconds(1000),
                                        .is_moot = [&](const std::string&) { return moot; }});
  Want("a", "1");
  client.Answer(200);
  Want("a", "2");
  moot = true;
  client.Pass(milliseconds(1000));
  EXPECT_EQ(client.bodies, (Lines{"1"}));
  EXPECT_EQ(writes->open(), 0u);
}

}  // namespace
}  // namespace krafla
