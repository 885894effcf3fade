// A role that allows `update` and not `patch`: everything is written all the same.
#include "kube/update_fallback.h"

#include <gtest/gtest.h>

#include <optional>

#include "kube/api_objects.h"
#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

constexpr const char* kPath = "/apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups";

std::string Forbidden(const std::string& verb) {
  return fmt::format(
      R"({{"kind":"Status","code":403,"message":"podgroups \"g\" is forbidden: User \"u\" cannot {} )"
      R"(resource \"podgroups\" in API group \"scheduling.volcano.sh\" in the namespace \"a\""}})",
      verb);
}

std::string ListOf(const std::string& uid, const std::string& version) {
  return fmt::format(
      R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroupList","metadata":)"
      R"({{"resourceVersion":"9"}},"items":[{{"apiVersion":"scheduling.volcano.sh/v1beta1",)"
      R"("kind":"PodGroup","metadata":{{"name":"g","namespace":"a","uid":"{}",)"
      R"("resourceVersion":"{}"}},"spec":{{"minMember":2}},"status":{{"phase":"Pending"}}}}]}})",
      uid, version);
}

class UpdateFallbackTest : public ::testing::Test {
 protected:
  UpdateFallbackTest() {
    client.emplace(server, UpdateFallback::Options{
                               .log = [this](const std::string& line) { log.push_back(line); }});
  }
  void Patch(const std::string& phase, const std::string& version = "") {
    client->Send(
        {.method = "PATCH",
         .target = fmt::format("{}/g", kPath),
         .content_type = std::string(kMergePatch),
         .body = fmt::format(
             R"({{"metadata":{{"uid":"u1"{}}},"status":{{"phase":"{}"}}}})",
             version.empty() ? "" : fmt::format(R"(,"resourceVersion":"{}")", version), phase)},
        [this](const HttpResponse& response) {
          answers.push_back(response.status);
          last = Describe(response);
        });
  }
  // Until the resource is known to be one that is replaced.
  void LearnToUpdate() {
    Patch("Inqueue");
    server.Answer(403, Forbidden("patch"));
    server.Answer(200, ListOf("u1", "7"));
    server.Answer(200);
    server.TakeRequests();
    answers.clear();
  }

  const Lines kRead{fmt::format("GET {}?fieldSelector=metadata.name%3Dg", kPath)};
  const Lines kPut{fmt::format("PUT {}/g?fieldManager=krafla", kPath)};
  const Lines kPatched{fmt::format("PATCH {}/g?fieldManager=krafla", kPath)};

  testing::ScriptedClient server;
  std::optional<UpdateFallback> client;
  std::vector<int> answers;
  std::string last;
  Lines log;
};

TEST_F(UpdateFallbackTest, APatchThatIsAllowedIsSentAsItIsAndNamesUs) {
  Patch("Inqueue");
  EXPECT_EQ(server.TakeRequests(), kPatched);
  server.Answer(200);
  EXPECT_EQ(answers, (std::vector<int>{200}));
  EXPECT_EQ(log, Lines{});
}

TEST_F(UpdateFallbackTest, APatchThatIsForbiddenBecomesAReplacementOfTheWholeObject) {
  Patch("Inqueue");
  server.TakeRequests();
  server.Answer(403, Forbidden("patch"));
  EXPECT_EQ(server.TakeRequests(), kRead) << "by a list: the role may have no get";
  server.Answer(200, ListOf("u1", "7"));
  ASSERT_EQ(server.bodies.size(), 1u);
  EXPECT_EQ(server.bodies[0],
            R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":)"
            R"({"name":"g","namespace":"a","uid":"u1","resourceVersion":"7"},)"
            R"("spec":{"minMember":2},"status":{"phase":"Inqueue"}})");
  EXPECT_EQ(server.TakeRequests(), kPut);
  server.Answer(200);
  EXPECT_EQ(answers, (std::vector<int>{200}));
  EXPECT_EQ(log,
            (Lines{"API server forbids patch and allows update; objects are replaced as a whole "
                   "resource=podgroups hint=\"deploy/rbac.yaml has the role with patch\""}));
}

TEST_F(UpdateFallbackTest, AResourceThatIsReplacedIsRememberedAndPatchedAgainAfterTenMinutes) {
  LearnToUpdate();
  Patch("Running");
  EXPECT_EQ(server.TakeRequests(), kRead);
  server.Answer(200, ListOf("u1", "8"));
  server.Answer(200);
  EXPECT_EQ(log.size(), 1u) << "said once";
  server.TakeRequests();
  server.Pass(milliseconds(600'000));
  Patch("Pending");
  EXPECT_EQ(server.TakeRequests(), kPatched);
  server.Answer(200);
  EXPECT_EQ(log.back(), "API server allows patch again resource=podgroups");
}

TEST_F(UpdateFallbackTest, AConflictReadsAgain) {
  LearnToUpdate();
  Patch("Running");
  server.Answer(200, ListOf("u1", "8"));
  server.TakeRequests();
  server.Answer(409, R"({"message":"the object has been modified"})");
  EXPECT_EQ(server.TakeRequests(), kRead);
  server.Answer(200, ListOf("u1", "9"));
  EXPECT_NE(server.bodies[0].find(R"("resourceVersion":"9")"), std::string::npos);
  server.Answer(200);
  EXPECT_EQ(answers, (std::vector<int>{200}));
}

TEST_F(UpdateFallbackTest, ConflictsEndAfterFiveAttempts) {
  LearnToUpdate();
  Patch("Running");
  for (int i = 0; i < 5; ++i) {
    server.Answer(200, ListOf("u1", "8"));
    server.Answer(409, R"({"message":"the object has been modified"})");
  }
  EXPECT_EQ(server.open(), 0u);
  EXPECT_EQ(answers, (std::vector<int>{409}));
}

TEST_F(UpdateFallbackTest, AVersionThatThePatchNamesIsACondition) {
  LearnToUpdate();
  Patch("Running", "5");
  server.TakeRequests();
  server.Answer(200, ListOf("u1", "8"));
  EXPECT_NE(server.bodies[0].find(R"("resourceVersion":"5")"), std::string::npos);
  server.Answer(409, R"({"message":"the object has been modified"})");
  EXPECT_EQ(server.open(), 0u) << "not repeated";
  EXPECT_EQ(answers, (std::vector<int>{409}));
}

TEST_F(UpdateFallbackTest, AnotherObjectOfThatNameIsNotTouched) {
  LearnToUpdate();
  Patch("Running");
  server.Answer(200, ListOf("u2", "8"));
  EXPECT_EQ(server.open(), 0u);
  EXPECT_EQ(answers, (std::vector<int>{409}));
  EXPECT_EQ(last, "409 podgroups \"g\": another object has the name by now");
  EXPECT_TRUE(IsOtherObject(
      {.status = 409, .body = R"({"message":")" + std::string(kOtherObject) + R"("})"}));
  Patch("Running");
  server.Answer(
      200,
      R"({"kind":"PodGroupList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})");
  EXPECT_EQ(answers.back(), 404);
}

TEST_F(UpdateFallbackTest, WhatIsForbiddenEitherWayIsAnsweredWithTheRefusalOfThePatch) {
  Patch("Inqueue");
  server.Answer(403, Forbidden("patch"));
  server.Answer(200, ListOf("u1", "7"));
  server.Answer(403, Forbidden("update"));
  EXPECT_EQ(answers, (std::vector<int>{403}));
  EXPECT_NE(last.find("cannot patch"), std::string::npos) << last;
  server.TakeRequests();
  Patch("Inqueue");
  server.Answer(403, Forbidden("patch"));
  EXPECT_EQ(server.TakeRequests(), kPatched) << "update is not tried again at once";
  Patch("Inqueue");
  server.Answer(200);
  EXPECT_EQ(answers.back(), 200);
  EXPECT_EQ(log, Lines{});
}

TEST_F(UpdateFallbackTest, ARefusalOfOneObjectIsNoMissingPermission) {
  Patch("Inqueue");
  server.Answer(403, R"({"message":"podgroups \"g\" is forbidden: exceeded quota"})");
  EXPECT_EQ(server.open(), 0u);
  EXPECT_EQ(answers, (std::vector<int>{403}));
}

TEST(ApiTarget, APathIsTakenApart) {
  const ApiTarget pod = ParseApiTarget("/api/v1/namespaces/a/pods/p/status?x=y");
  EXPECT_EQ(pod.resource, "pods/status");
  EXPECT_EQ(pod.collection, "/api/v1/namespaces/a/pods");
  EXPECT_EQ(pod.object, "/api/v1/namespaces/a/pods/p/status");
  EXPECT_EQ(pod.name, "p");
  const ApiTarget queue = ParseApiTarget("/apis/scheduling.volcano.sh/v1beta1/queues/q/status");
  EXPECT_EQ(queue.resource, "queues/status");
  EXPECT_EQ(queue.collection, "/apis/scheduling.volcano.sh/v1beta1/queues");
  EXPECT_EQ(queue.name, "q");
  const ApiTarget volume = ParseApiTarget("/api/v1/persistentvolumes/v");
  EXPECT_EQ(volume.resource, "persistentvolumes");
  EXPECT_EQ(volume.name, "v");
  EXPECT_EQ(ParseApiTarget("/api/v1/namespaces/a/events").resource, "events");
  EXPECT_EQ(ParseApiTarget("/api/v1/namespaces/a").resource, "namespaces");
  EXPECT_EQ(ParseApiTarget("/healthz").resource, "");
  EXPECT_EQ(ParseApiTarget("").resource, "");
}

}  // namespace
}  // namespace krafla
