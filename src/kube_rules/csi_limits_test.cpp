#include "kube_rules/csi_limits.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

// A bound claim with a volume of the driver.
void AddClaim(Objects& objects, std::string_view name, std::string_view handle) {
  objects.Add(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" +
              std::string(name) +
              R"(","namespace":"default","annotations":)"
              R"({"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"pv-)" +
              std::string(name) + "\"}}");
  objects.Add(R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv-)" +
              std::string(name) +
              R"("},"spec":{"capacity":{"storage":"1Gi"},"csi":{)"
              R"("driver":"disk.example.com","volumeHandle":")" +
              std::string(handle) + "\"}}}");
}

std::string Uses(std::string_view claim) {
  return R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + std::string(claim) +
         "\"}}]";
}

std::string Limit(std::string_view node, int count) {
  return R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":")" +
         std::string(node) +
         R"("},"spec":{"drivers":[{"name":"disk.example.com","nodeID":"x",)"
         R"("allocatable":{"count":)" +
         std::to_string(count) + "}}]}}";
}

TEST(CsiLimits, AVolumeCountsOncePerNodeHoweverManyPodsUseIt) {
  Objects objects;
  objects.Node("one").Node("zero").Node("free").Add(Limit("one", 1)).Add(Limit("zero", 0));
  AddClaim(objects, "a", "handle-1");
  AddClaim(objects, "same", "handle-1");
  AddClaim(objects, "b", "handle-2");
  objects.Pod("there", "", "one", Uses("a"));
  objects.Pod("sharing", "", "", Uses("same"));
  objects.Pod("more", "", "", Uses("b"));
  objects.Pod("plain");
  KubeWorld world(objects);
  const char* no = "node(s) exceed max volume count";
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "sharing", "one"), "");
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "more", "one"), no);
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "sharing", "zero"), no);
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "more", "free"), "");
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "plain", "zero"), "");

  world.session.MarkReleasing(world.Task("there"));
  EXPECT_EQ(world.Says(Filter::kNodeVolumeLimits, "more", "one"), "");
}

}  // namespace
}  // namespace krafla::testing
