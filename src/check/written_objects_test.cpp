#include "check/written_objects.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

WrittenObjects Read(std::string_view text, std::string_view file = "c.yaml") {
  WrittenObjects objects;
  Diagnostics problems;
  ReadObjectsFromText(
      text, file, [&](const ObjectText& object) { objects.Read(object); }, problems);
  EXPECT_FALSE(problems.HasErrors());
  return objects;
}

std::string Text(const Place& place) {
  return place.file + ":" + std::to_string(place.location.line) + ":" +
         std::to_string(place.location.column);
}

constexpr std::string_view kGroup = R"(apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
  namespace: ml
  annotations:
    volcano.sh/jdb-max-unavailable: "30%"
spec:
  minMember: 4
  queue: research
)";

TEST(WrittenObjects, KnowWhereFieldsAndAnnotationsStand) {
  const WrittenObjects objects = Read(kGroup);
  EXPECT_EQ(Text(objects.PlaceOf("PodGroup", "ml", "train")), "c.yaml:1:1");
  EXPECT_EQ(Text(objects.PlaceOf("PodGroup", "ml", "train", "spec.queue")), "c.yaml:10:10");
  EXPECT_EQ(Text(objects.PlaceOf("PodGroup", "ml", "train", "volcano.sh/jdb-max-unavailable")),
            "c.yaml:7:37");
  EXPECT_EQ(Text(objects.PlaceOf("PodGroup", "ml", "train", "spec.minResources")), "c.yaml:1:1")
      << "what is not written is where the object is";
  EXPECT_EQ(objects.PlaceOf("PodGroup", "ml", "other").file, "");
}

TEST(WrittenObjects, KindMayStandBehindTheRest) {
  const WrittenObjects objects =
      Read(R"({"spec":{"minMenber":1},"metadata":{"name":"a"},"kind":"PodGroup",)"
           R"("apiVersion":"scheduling.volcano.sh/v1beta1"})",
           "c.json");
  ASSERT_EQ(objects.odd_words().size(), 1u);
  EXPECT_EQ(objects.odd_words()[0].object, "PodGroup default/a");
  EXPECT_EQ(objects.odd_words()[0].meant, "minMember");
  EXPECT_EQ(Text(objects.odd_words()[0].place), "c.json:1:10");
}

TEST(WrittenObjects, PodsOfAVolcanoJobAreWhereTheJobIs) {
  const WrittenObjects objects = Read(R"(apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: my-job, namespace: ml}
spec: {tasks: []}
)");
  EXPECT_EQ(objects.PlaceOf("Pod", "ml", "my-job-worker-3").location.line, 5);
  EXPECT_EQ(objects.PlaceOf("PodGroup", "ml", "my-job").location.line, 5);
  EXPECT_EQ(objects.PlaceOf("Pod", "ml", "my-jobs-0").file, "");
}

TEST(WrittenObjects, ReferToQueuesAndClasses) {
  const WrittenObjects objects = Read(kGroup);
  ASSERT_EQ(objects.references().size(), 1u);
  EXPECT_EQ(objects.references()[0].name, "research");
  EXPECT_TRUE(objects.queues().empty());
}

TEST(WrittenObjects, OnlySlipsOfKnownKeysAreOdd) {
  EXPECT_EQ(MeantMetadataKey("volcano.sh/premptable"), "volcano.sh/preemptable");
  EXPECT_EQ(MeantMetadataKey("scheduling.k8s.io/groupname"), "scheduling.k8s.io/group-name");
  EXPECT_EQ(MeantMetadataKey("volcano.sh/preemptable"), "");
  EXPECT_EQ(MeantMetadataKey("volcano.sh/job-name"), "");
  EXPECT_EQ(MeantMetadataKey("volcano.sh/queue-name"), "");
  EXPECT_EQ(MeantMetadataKey("volcano.sh/task-index"), "");
  EXPECT_EQ(MeantMetadataKey("example.com/premptable"), "");
  EXPECT_EQ(MeantMetadataKey("app"), "");
}

}  // namespace
}  // namespace krafla
