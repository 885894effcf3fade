#include "kube/api_objects.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

const Timestamp kNow = Timestamp::FromUnixSeconds(1'773'000'000);
const ObjectRef kGroup = PodGroupRef("team-a", "train", "g-1");
const ObjectRef kPod = PodRef("team-a", "web-0", "u-1");

TEST(ApiObjects, WhatIsDoneToAPodIsDoneToThatPodOnly) {
  EXPECT_EQ(PodPath(kPod), "/api/v1/namespaces/team-a/pods/web-0");
  EXPECT_EQ(
      BindingBody(kPod, "n1"),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-0","namespace":"team-a",)"
      R"("uid":"u-1"},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
  EXPECT_EQ(DeleteBody(kPod),
            R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"}})");
  EXPECT_EQ(EvictionBody(kPod),
            R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web-0",)"
            R"("namespace":"team-a"},"deleteOptions":{"preconditions":{"uid":"u-1"}}})");
  EXPECT_NE(DisruptionPatch(kPod, "why", kNow).find(R"("uid":"u-1")"), std::string::npos);
}

TEST(ApiObjects, AWaitingPodSaysWhyAndForWhichNode) {
  EXPECT_EQ(
      WaitingPatch(kPod, "no room", "", kNow),
      R"({"metadata":{"name":"web-0","namespace":"team-a","uid":"u-1"},"status":{"conditions":)"
      R"([{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room",)"
      R"("lastTransitionTime":"2026-03-08T20:00:00Z"}],"nominatedNodeName":null}})");
  EXPECT_NE(WaitingPatch(kPod, "no room", "n1", kNow).find(R"("nominatedNodeName":"n1")"),
            std::string::npos);
}

TEST(ApiObjects, AStatusThatSaysItAlreadyIsNotWritten) {
  const std::string current =
      R"({"phase":"Running","running":2,"conditions":[{"type":"Scheduled","status":"True",)"
      R"("reason":"r","lastTransitionTime":"2026-01-01T00:00:00Z","transitionID":"a"}]})";
  GroupStatus wanted{
      .phase = "Running", .conditions = {{"Scheduled", "True", "r", ""}}, .running = 2};
  EXPECT_EQ(GroupStatusPatch(kGroup, current, wanted, "b", kNow), std::nullopt);
  wanted.running = 3;
  EXPECT_EQ(
      GroupStatusPatch(kGroup, current, wanted, "b", kNow),
      R"({"metadata":{"uid":"g-1"},"status":{"phase":"Running","running":3,"succeeded":0,"failed":0}})");
}

TEST(ApiObjects, OtherConditionsStayAndTimesChangeWithTheStatusOnly) {
  const std::string current =
      R"({"phase":"Pending","conditions":[{"type":"Other","status":"True",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"Unschedulable","status":"True",)"
      R"("reason":"r","message":"old","lastTransitionTime":"2026-01-02T00:00:00Z",)"
      R"("transitionID":"a"}]})";
  const GroupStatus wanted{.phase = "Pending",
                           .conditions = {{"Unschedulable", "True", "r", "new"}}};
  EXPECT_EQ(
      GroupStatusPatch(kGroup, current, wanted, "b", kNow),
      R"({"metadata":{"uid":"g-1"},"status":{"phase":"Pending","running":0,"succeeded":0,"failed":0,"conditions":[)"
      R"({"type":"Other","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"},)"
      R"({"type":"Unschedulable","status":"True","reason":"r","message":"new",)"
      R"("lastTransitionTime":"2026-01-02T00:00:00Z","transitionID":"a"}]}})");
  const std::string flipped =
      GroupStatusPatch(kGroup, current,
                       {.phase = "Running", .conditions = {{"Unschedulable", "False", "s", ""}}},
                       "b", kNow)
          .value();
  EXPECT_NE(flipped.find(R"({"type":"Unschedulable","status":"False","reason":"s",)"
                         R"("lastTransitionTime":"2026-03-08T20:00:00Z","transitionID":"b"})"),
            std::string::npos)
      << flipped;
}

TEST(ApiObjects, AQueuesAmountsAreInTheUnitsOfKubernetes) {
  ResourceKinds kinds;
  const int gpu = kinds.Intern("nvidia.com/gpu");
  Resource allocated;
  allocated.Set(ResourceKinds::kCpu, 1500);
  allocated.Set(ResourceKinds::kMemory, 1024);
  allocated.Set(gpu, 2000);
  EXPECT_EQ(QueueStatusPatch("", allocated, kinds),
            R"({"status":{"allocated":{"cpu":"1500m","memory":"1024","nvidia.com/gpu":"2"}}})");
}

TEST(ApiObjects, AResourceThatAQueueNoLongerHoldsIsRemovedFromItsStatus) {
  ResourceKinds kinds;
  const std::string current =
      R"({"state":"Open","allocated":{"cpu":"0","memory":"0","pods":"11","example.com/old":3}})";
  EXPECT_EQ(QueueStatusPatch(current, Resource(), kinds),
            R"({"status":{"allocated":{"cpu":"0","memory":"0","example.com/old":null,)"
            R"("pods":null}}})");
}

TEST(ApiObjects, AQueueStatusThatSaysItAlreadyIsNotWritten) {
  ResourceKinds kinds;
  Resource allocated;
  allocated.Set(ResourceKinds::kCpu, 500);
  EXPECT_EQ(QueueStatusPatch(R"({"allocated":{"memory":"0","cpu":"500m"}})", allocated, kinds),
            std::nullopt);
  EXPECT_NE(QueueStatusPatch(R"({"allocated":{"memory":"0","cpu":"1"}})", allocated, kinds),
            std::nullopt);
  EXPECT_NE(QueueStatusPatch(R"({"allocated":"odd"})", allocated, kinds), std::nullopt);
  EXPECT_TRUE(HasAllocated(R"({"allocated":{"pods":"11"}})"));
  EXPECT_FALSE(HasAllocated(R"({"allocated":{}})"));
  EXPECT_FALSE(HasAllocated(""));
}

TEST(ApiObjects, PatchesOfAPodGroupNameItsUid) {
  EXPECT_EQ(GroupMemoryPatch(kGroup, {.loss = "x"}),
            R"({"metadata":{"uid":"g-1","annotations":{"krafla.io/last-loss":"x"}}})");
}

TEST(ApiObjects, LongMessagesAreCutBetweenCharacters) {
  std::string message(1023, 'x');
  message += "ä and more";
  const std::string body = EventBody({kPod, true, "R", message}, "e", "krafla", "i", kNow);
  EXPECT_EQ(body.find("ä"), std::string::npos);
  EXPECT_NE(body.find(std::string(1023, 'x') + "\""), std::string::npos);
}

}  // namespace
}  // namespace krafla
