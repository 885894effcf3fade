#include "kube_rules/volume_zone.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string Bound(std::string_view name) {
  return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" +
         std::string(name) +
         R"(","namespace":"default","annotations":)"
         R"({"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"pv-)" +
         std::string(name) + "\"}}";
}

std::string Volume(std::string_view name, std::string_view label, std::string_view value) {
  return R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv-)" +
         std::string(name) + R"(","labels":{")" + std::string(label) + "\":\"" +
         std::string(value) + R"("}},"spec":{"capacity":{"storage":"1Gi"}}})";
}

std::string Uses(std::string_view claim) {
  return R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + std::string(claim) +
         "\"}}]";
}

TEST(VolumeZone, APodRunsInAZoneOfItsVolume) {
  constexpr std::string_view kZone = "topology.kubernetes.io/zone";
  constexpr std::string_view kOld = "failure-domain.beta.kubernetes.io/zone";
  KubeWorld world(Objects()
                      .Node("n1", "topology.kubernetes.io/zone: z1")
                      .Node("n2", "topology.kubernetes.io/zone: z2")
                      .Node("n3", "topology.kubernetes.io/zone: z3")
                      .Node("region", "topology.kubernetes.io/region: r")
                      .Node("bare", "disk: ssd")
                      .Add(Bound("two"))
                      .Add(Volume("two", kZone, "z1__ z2"))
                      .Add(Bound("old"))
                      .Add(Volume("old", kOld, "z1"))
                      .Add(Bound("odd"))
                      .Add(Volume("odd", kZone, "z1__"))
                      .Pod("p", "", "", Uses("two"))
                      .Pod("q", "", "", Uses("old"))
                      .Pod("r", "", "", Uses("odd")));
  const char* no = "node(s) had no available volume zone";
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "p", "n1"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "p", "n2"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "p", "n3"), no);
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "p", "region"), no);
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "p", "bare"), "");  // no zones here at all
  // The old name of the label on the volume means the new one on the node.
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "q", "n1"), "");
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "q", "n2"), no);
  // A list with a hole in it says nothing.
  EXPECT_EQ(world.Says(Filter::kVolumeZone, "r", "n3"), "");
}

}  // namespace
}  // namespace krafla::testing
