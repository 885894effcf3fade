#include "kube/volume_binder.h"

#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::ScriptedClient;
using Lines = std::vector<std::string>;

class VolumeBinderTest : public ::testing::Test {
 protected:
  VolumeBinderTest() {
    See(WatchedKind::kPod,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u"},)"
        R"("spec":{"schedulerName":"volcano","containers":[{"name":"c"}]},)"
        R"("status":{"phase":"Pending"}})");
    SeeClaim("");
    SeeVolume("");
  }
  void See(WatchedKind kind, const std::string& json) {
    ObjectMessage message{ObjectMessage::What::kSeen, kind, Padded(json), {}};
    message.head = parser.ParseHead(message.object).value();
    message.head.resource_version = fmt::format("{}", ++version);
    mirror.Apply(std::move(message));
  }
  void SeeClaim(const std::string& annotations, const std::string& volume = "") {
    See(WatchedKind::kClaim,
        fmt::format(R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{)"
                    R"("name":"c","namespace":"a","uid":"cu","annotations":{{{}}}}},)"
                    R"("spec":{{"accessModes":["ReadWriteOnce"],"volumeName":"{}",)"
                    R"("resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
                    annotations, volume));
  }
  void SeeVolume(const std::string& claim_ref) {
    See(WatchedKind::kVolume,
        fmt::format(R"({{"apiVersion":"v1","kind":"PersistentVolume","metadata":{{"name":"v"}},)"
                    R"("spec":{{"capacity":{{"storage":"1Gi"}}{}}}}})",
                    claim_ref));
  }
  void SeeBound() {
    SeeClaim(R"("pv.kubernetes.io/bind-completed":"yes","volume.kubernetes.io/selected-node":"n")",
             "v");
  }
  void Bind(const std::string& volume) {
    binder.Bind(PodRef("a", "p", "u"), "n", {{"a", "c", "cu", volume}},
                [this](const std::optional<std::string>& problem) {
                  outcomes.push_back(problem.value_or("bound"));
                });
  }

  // Whose the volume is, as the next cycle sees it.
  std::string OwnerOfVolume() {
    StringPool& s = mirror.live().strings();
    const PersistentVolume* volume = mirror.live().FindVolume(s.Intern("v"));
    return std::string(s.Text(volume->claim_uid));
  }
  std::string NodeOfClaim() {
    StringPool& s = mirror.live().strings();
    return std::string(
        s.Text(mirror.live().FindClaim(s.Intern("a"), s.Intern("c"))->selected_node));
  }

  ScriptedClient client;
  ApiTextParser parser;
  ClusterMirror mirror{{.kinds = {WatchedKind::kPod, WatchedKind::kClaim, WatchedKind::kVolume}}};
  VolumeBinder binder{client, mirror, {.patience = milliseconds(60'000)}};
  Lines outcomes;
  int version = 0;
};

TEST_F(VolumeBinderTest, AClaimWithoutVolumeIsToldTheNodeAndWaitedFor) {
  Bind("");
  ASSERT_EQ(client.requests, (Lines{"PATCH /api/v1/namespaces/a/persistentvolumeclaims/c"}));
  EXPECT_EQ(client.bodies[0], R"({"metadata":{"resourceVersion":"2","annotations":)"
                              R"({"volume.kubernetes.io/selected-node":"n"}}})");
  client.Answer(200);
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{}) << "not yet";
  SeeBound();
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{"bound"});
}

TEST_F(VolumeBinderTest, AFreeVolumeIsReservedForTheClaim) {
  Bind("v");
  ASSERT_EQ(client.requests, (Lines{"PATCH /api/v1/persistentvolumes/v"}));
  EXPECT_EQ(client.bodies[0],
            R"({"metadata":{"resourceVersion":"3","annotations":)"
            R"({"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{"claimRef":)"
            R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"a","name":"c",)"
            R"("uid":"cu"}}})");
  client.Answer(200);
  SeeVolume(R"(,"claimRef":{"namespace":"a","name":"c","uid":"cu"})");
  SeeBound();
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{"bound"});
}

TEST_F(VolumeBinderTest, WhatWasWrittenBeforeARestartIsOnlyWaitedFor) {
  SeeVolume(R"(,"claimRef":{"namespace":"a","name":"c","uid":"cu"})");
  Bind("v");
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  Bind("");
  EXPECT_EQ(client.requests, Lines{});
  SeeBound();
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, (Lines{"bound", "bound"}));
}

TEST_F(VolumeBinderTest, SomebodyElseWasFaster) {
  Bind("v");
  client.Answer(409);
  SeeVolume(R"(,"claimRef":{"namespace":"a","name":"other","uid":"ou"})");
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{"volume v was given to another claim"});
  Bind("");
  client.Answer(409);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"elsewhere")");
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes.back(), "claim c was given to elsewhere");
  EXPECT_EQ(client.requests.size(), 2u);
}

TEST_F(VolumeBinderTest, AnotherPodOfTheSameClaimHasDoneItAlready) {
  Bind("");
  client.Answer(409);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  client.Pass(milliseconds(1000));
  SeeBound();
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{"bound"});
  EXPECT_EQ(client.requests.size(), 1u);
}

TEST_F(VolumeBinderTest, AnAnswerThatMayChangeIsAskedForAgain) {
  Bind("v");
  client.Answer(503);
  client.Pass(milliseconds(1000));
  EXPECT_EQ(client.requests.size(), 2u);
  EXPECT_EQ(outcomes, Lines{});
}

TEST_F(VolumeBinderTest, AProvisionerThatGivesUpEndsTheWait) {
  Bind("");
  client.Answer(200);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  client.Pass(milliseconds(12'000));
  EXPECT_EQ(outcomes, Lines{});
  SeeClaim("");
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{"no volume can be made for claim c on n"});
}

TEST_F(VolumeBinderTest, PatienceEnds) {
  Bind("");
  client.Answer(200);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  client.Pass(milliseconds(61'000));
  EXPECT_EQ(outcomes, Lines{"claim c is still not bound after 60 s"});
}

TEST_F(VolumeBinderTest, AClockThatIsSetForwardEndsNoPatience) {
  Bind("");
  client.Answer(200);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  client.wall_set_ms = 3'600'000;
  client.Pass(milliseconds(59'000));
  EXPECT_EQ(outcomes, Lines{});
  client.Pass(milliseconds(2'000));
  EXPECT_EQ(outcomes, Lines{"claim c is still not bound after 60 s"});
}

TEST_F(VolumeBinderTest, NobodyWaitsForAPodThatIsGone) {
  Bind("");
  client.Answer(200);
  mirror.Gone(WatchedKind::kPod, "a/p", "u");
  SeeBound();
  client.Pass(milliseconds(120'000));
  EXPECT_EQ(outcomes, Lines{});
}

constexpr const char* kOurs = R"(,"claimRef":{"namespace":"a","name":"c","uid":"cu"})";

TEST_F(VolumeBinderTest, AVolumeCountsAsTakenFromTheFirstMomentOn) {
  Bind("v");
  EXPECT_EQ(OwnerOfVolume(), "cu");
  SeeVolume("");
  EXPECT_EQ(OwnerOfVolume(), "cu") << "old news";
  client.Answer(200);
  EXPECT_EQ(OwnerOfVolume(), "cu");
  EXPECT_EQ(mirror.expectations(), 1u);
  SeeVolume(kOurs);
  EXPECT_EQ(OwnerOfVolume(), "cu");
  EXPECT_EQ(mirror.expectations(), 0u);
  SeeVolume("");
  EXPECT_EQ(OwnerOfVolume(), "") << "somebody took it back";
}

TEST_F(VolumeBinderTest, AVolumeThatCannotBeHadIsFreeAgain) {
  Bind("v");
  client.Answer(403);
  EXPECT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(OwnerOfVolume(), "");
  EXPECT_EQ(mirror.expectations(), 0u);
  // One that was reserved by name is so again.
  SeeVolume(R"(,"claimRef":{"namespace":"a","name":"c"})");
  Bind("v");
  EXPECT_EQ(OwnerOfVolume(), "cu");
  client.Answer(403);
  EXPECT_EQ(OwnerOfVolume(), "");
  StringPool& s = mirror.live().strings();
  EXPECT_EQ(s.Text(mirror.live().FindVolume(s.Intern("v"))->claim_name), "c");
}

TEST_F(VolumeBinderTest, AnotherOnesVolumeIsNotExpectedToBeOurs) {
  Bind("v");
  SeeVolume(R"(,"claimRef":{"namespace":"a","name":"other","uid":"ou"})");
  EXPECT_EQ(OwnerOfVolume(), "ou");
  EXPECT_EQ(mirror.expectations(), 0u);
  client.Answer(409);
  client.Pass(milliseconds(1000));
  EXPECT_EQ(OwnerOfVolume(), "ou");
}

TEST_F(VolumeBinderTest, AClaimCountsAsSentToItsNode) {
  Bind("");
  EXPECT_EQ(NodeOfClaim(), "n");
  SeeClaim("");
  EXPECT_EQ(NodeOfClaim(), "n") << "old news";
  client.Answer(403);
  EXPECT_EQ(NodeOfClaim(), "");
  Bind("");
  client.Answer(200);
  SeeClaim(R"("volume.kubernetes.io/selected-node":"n")");
  EXPECT_EQ(mirror.expectations(), 0u);
  SeeClaim("");
  EXPECT_EQ(NodeOfClaim(), "") << "the provisioner has given up";
}

TEST_F(VolumeBinderTest, TheAnswerToAWriteIsNewsAlready) {
  Bind("v");
  client.Answer(200,
                R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v","uid":"",)"
                R"("resourceVersion":"9"},"spec":{"capacity":{"storage":"1Gi"}}})");
  EXPECT_EQ(mirror.expectations(), 1u) << "no UID: not an answer one can use";
  client.Pass(milliseconds(1000));
  EXPECT_EQ(outcomes, Lines{});
  See(WatchedKind::kVolume,
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v","uid":"vu"},)"
      R"("spec":{"capacity":{"storage":"1Gi"}}})");
  Bind("v");
  client.Answer(200,
                R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v","uid":"vu",)"
                R"("resourceVersion":"99"},"spec":{"capacity":{"storage":"1Gi"},"claimRef":)"
                R"({"namespace":"a","name":"c","uid":"cu"}}})");
  EXPECT_EQ(mirror.expectations(), 0u);
  EXPECT_EQ(OwnerOfVolume(), "cu");
}

TEST_F(VolumeBinderTest, AVolumeIsExpectedForAsLongAsOneOfItsPodsWantsIt) {
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","namespace":"a","uid":"uq"},)"
      R"("spec":{"schedulerName":"volcano","containers":[{"name":"c"}]},)"
      R"("status":{"phase":"Pending"}})");
  Bind("v");
  binder.Bind(PodRef("a", "q", "uq"), "n", {{"a", "c", "cu", "v"}},
              [](const std::optional<std::string>&) {});
  client.Answer(403);
  EXPECT_EQ(OwnerOfVolume(), "cu");
  client.Answer(200);
  mirror.Gone(WatchedKind::kPod, "a/q", "uq");
  client.Pass(milliseconds(1000));
  EXPECT_EQ(OwnerOfVolume(), "");
}

TEST(VolumePatience, IsTheConfigurations) {
  SchedulerConfig config;
  EXPECT_EQ(VolumePatience(config), milliseconds(600'000));
}

}  // namespace
}  // namespace krafla
