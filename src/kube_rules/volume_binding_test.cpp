#include "kube_rules/volume_binding.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

constexpr const char* kNothing = "node(s) didn't find available persistent volumes to bind";

std::string StorageClassText(std::string_view name, std::string_view provisioner,
                             std::string_view mode, std::string_view more = "") {
  return R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":")" +
         std::string(name) + R"("},"provisioner":")" + std::string(provisioner) +
         R"(","volumeBindingMode":")" + std::string(mode) + "\"" + std::string(more) + "}";
}

std::string ClaimText(std::string_view name, std::string_view storage_class, std::string_view size,
                      std::string_view spec = "", std::string_view annotations = "") {
  return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" +
         std::string(name) + R"(","namespace":"default","uid":"uid-)" + std::string(name) +
         R"(","annotations":{)" + std::string(annotations) + R"(}},"spec":{"storageClassName":")" +
         std::string(storage_class) +
         R"(","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" +
         std::string(size) + "\"}}" + std::string(spec) + "}}";
}

// A free volume of class "local" on the nodes of a zone.
std::string VolumeText(std::string_view name, std::string_view size, std::string_view zone,
                       std::string_view spec = "") {
  return R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")" +
         std::string(name) + R"("},"spec":{"storageClassName":"local","capacity":{"storage":")" +
         std::string(size) +
         R"("},"accessModes":["ReadWriteOnce"],"nodeAffinity":{"required":)"
         R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":[")" +
         std::string(zone) + R"("]}]}]}})" + std::string(spec) +
         R"(},"status":{"phase":"Available"}})";
}

std::string Uses(std::string_view claim) {
  return R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + std::string(claim) +
         "\"}}]";
}

Objects Base() {
  return Objects()
      .Node("a", "zone: a")
      .Node("b", "zone: b")
      .Add(StorageClassText("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"))
      .Add(StorageClassText("made", "disk.example.com", "WaitForFirstConsumer",
                            R"(,"allowedTopologies":[{"matchLabelExpressions":[)"
                            R"({"key":"zone","values":["b"]}]}])"))
      .Add(StorageClassText("now", "disk.example.com", "Immediate"));
}

TEST(VolumeBinding, AClaimThatShouldBeBoundByNowRefusesThePod) {
  KubeWorld world(Base()
                      .Add(ClaimText("c", "now", "1Gi"))
                      .Pod("p", "", "", Uses("c"))
                      .Pod("q", "", "", Uses("absent")));
  EXPECT_EQ(world.SaysOfPod(Filter::kVolumeBinding, "p"),
            "pod has unbound immediate PersistentVolumeClaims");
  EXPECT_EQ(world.SaysOfPod(Filter::kVolumeBinding, "q"),
            "persistentvolumeclaim \"absent\" not found");
  // The zone of a volume is asked for first.
  EXPECT_EQ(world.Words(world.filters.Prepare(world.Task("p"))), "PersistentVolume had no name");
}

TEST(VolumeBinding, AWaitingClaimNeedsAVolumeOrAProvisionerOnTheNode) {
  KubeWorld world(Base()
                      .Add(VolumeText("small", "1Gi", "b"))
                      .Add(VolumeText("fits", "5Gi", "a"))
                      .Add(ClaimText("local-c", "local", "3Gi"))
                      .Add(ClaimText("made-c", "made", "3Gi"))
                      .Pod("p", "", "", Uses("local-c"))
                      .Pod("q", "", "", Uses("made-c")));
  EXPECT_EQ(world.SaysOfPod(Filter::kVolumeBinding, "p"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "a"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "b"), kNothing);
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "q", "a"), kNothing);
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "q", "b"), "");
  EXPECT_FALSE(world.filters.CurrentIsNodeLocal(world.cluster.tasks[world.Task("p")].cls));
}

TEST(VolumeBinding, AVolumeReservedForTheClaimIsTheOnlyAnswer) {
  KubeWorld world(
      Base()
          .Add(VolumeText("free", "5Gi", "a"))
          .Add(VolumeText("mine", "5Gi", "b", R"(,"claimRef":{"namespace":"default","name":"c"})"))
          .Add(ClaimText("c", "local", "3Gi"))
          .Pod("p", "", "", Uses("c")));
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "a"), kNothing);
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "b"), "");
}

TEST(VolumeBinding, WhatAnAllocatedPodTakesIsTakenUntilRolledBack) {
  KubeWorld world(Base()
                      .Add(VolumeText("only", "5Gi", "a"))
                      .Add(ClaimText("c1", "local", "3Gi"))
                      .Add(ClaimText("c2", "local", "3Gi"))
                      .Add(ClaimText("m", "made", "3Gi"))
                      .Node("b2", "zone: b")
                      .Pod("first", "", "", Uses("c1"))
                      .Pod("second", "", "", Uses("c2"))
                      .Pod("m1", "", "", Uses("m"))
                      .Pod("m2", "", "", Uses("m")));
  // The rules of the session itself take part here.
  const PredicateHook& hook = *world.session.predicates()[0][0].call;
  const auto refused = [&](std::string_view pod, std::string_view node) {
    hook.prepare(world.Task(pod));
    return hook.current(world.Task(pod), world.Node(node)).refused();
  };
  EXPECT_FALSE(refused("second", "a"));
  const Session::Mark mark = world.session.MarkNow();
  world.session.Place(world.Task("first"), world.Node("a"), TaskStatus::kAllocated);
  EXPECT_TRUE(refused("second", "a"));
  world.session.Unplace(world.Task("first"));
  EXPECT_FALSE(refused("second", "a"));
  world.session.Place(world.Task("first"), world.Node("a"), TaskStatus::kAllocated);
  EXPECT_TRUE(refused("second", "a"));
  world.session.Rollback(mark);
  EXPECT_FALSE(refused("second", "a"));

  // A pod that waits for room takes nothing yet.
  world.session.Place(world.Task("first"), world.Node("a"), TaskStatus::kPipelined);
  EXPECT_FALSE(refused("second", "a"));

  // A claim that is being provisioned for one node is not for another.
  EXPECT_FALSE(refused("m2", "b2"));
  world.session.Place(world.Task("m1"), world.Node("b"), TaskStatus::kAllocated);
  EXPECT_TRUE(refused("m2", "b2"));
  EXPECT_FALSE(refused("m2", "b"));
}

TEST(VolumeBinding, SmallClaimsLeaveTheLargeVolumesToLargeOnes) {
  KubeWorld world(
      Base()
          .Add(VolumeText("large", "9Gi", "a"))
          .Add(VolumeText("small", "2Gi", "a"))
          .Add(ClaimText("big-c", "local", "5Gi"))
          .Add(ClaimText("small-c", "local", "1Gi"))
          .Pod("p", "", "",
               R"("volumes":[{"name":"v1","persistentVolumeClaim":{"claimName":"big-c"}},)"
               R"({"name":"v2","persistentVolumeClaim":{"claimName":"small-c"}}])"));
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "a"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "b"), kNothing);
}

TEST(VolumeBinding, ABoundVolumeTellsWhereThePodMayRun) {
  constexpr std::string_view kBound = R"("pv.kubernetes.io/bind-completed":"yes")";
  KubeWorld world(Base()
                      .Add(VolumeText("v", "5Gi", "a"))
                      .Add(ClaimText("c", "local", "3Gi", R"(,"volumeName":"v")", kBound))
                      .Add(ClaimText("lost", "local", "3Gi", R"(,"volumeName":"gone")", kBound))
                      .Pod("p", "", "", Uses("c"))
                      .Pod("q", "", "", Uses("lost")));
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "a"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "p", "b"),
            "node(s) didn't match PersistentVolume's node affinity");
  EXPECT_EQ(world.Says(Filter::kVolumeBinding, "q", "a"),
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  EXPECT_TRUE(world.filters.CurrentIsNodeLocal(world.cluster.tasks[world.Task("p")].cls));
}

}  // namespace
}  // namespace krafla::testing
