#include "manifest/decode_node.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Object;
using testing::ReadClean;
using testing::ReadText;

TEST(DecodeNode, KeepsLabelsZoneTaintsAndUnschedulable) {
  const auto result = ReadClean(testing::Node(
      "n1", "cpu: 4, memory: 8Gi, pods: 20", "labels: {volcano.sh/revocable-zone: rz1, disk: ssd}",
      "unschedulable: true, taints: [{key: a, value: b, effect: NoSchedule}, "
      "{key: c, effect: PreferNoSchedule}, {key: d, effect: NoExecute}]"));
  const Node& node = result.NodeOf("n1");
  EXPECT_EQ(result.Text(node.zone), "rz1");
  EXPECT_EQ(node.labels.size(), 2u);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.max_pods, 20);
  ASSERT_EQ(node.taints.size(), 3u);
  EXPECT_EQ(result.Text(node.taints[0].value), "b");
  EXPECT_EQ(node.taints[1].effect, TaintEffect::kPreferNoSchedule);
  EXPECT_EQ(node.taints[2].effect, TaintEffect::kNoExecute);
}

TEST(DecodeNode, UnknownTaintEffectsAreErrors) {
  const auto result = ReadText(testing::Node("n1", "cpu: 1", "",
                                             "taints: [{key: a, effect: "
                                             "Never}]"));
  EXPECT_EQ(result.Messages(),
            "test.yaml:2:85: error: Node n1: spec.taints[0].effect: expected one of NoSchedule, "
            "PreferNoSchedule, NoExecute, got \"Never\"\n");
  EXPECT_TRUE(
      ReadText(testing::Node("n1", "cpu: 1", "", "taints: [{key: a}]")).diagnostics.HasErrors());
}

TEST(DecodeNode, AllocatableIsCapacityWhenMissingAndNothingWithoutBoth) {
  const auto result = ReadClean(
      Object("v1", "Node", "a", "", "status: {capacity: {cpu: 2, memory: 1Ki, pods: 3}}") +
      Object("v1", "Node", "b", "", "spec: {}") +
      Object("v1", "Node", "c", "", "status: {allocatable: {}, capacity: {cpu: 2}}"));
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("a")].cpu(), 2000);
  EXPECT_EQ(result.NodeOf("a").max_pods, 3);
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("b")].cpu(), 0);
  EXPECT_EQ(result.NodeOf("b").max_pods, 0);
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("c")].cpu(), 0);
}

TEST(DecodeNode, OversubscriptionIsAddedButNotScored) {
  const auto result =
      ReadClean(testing::Node("n1", "cpu: 4, memory: 1000",
                              "annotations: {volcano.sh/oversubscription-cpu: \"500.5\", "
                              "volcano.sh/oversubscription-memory: \"24\"}"));
  const NodeId id = result.FindNode("n1");
  EXPECT_EQ(result.cluster.allocatable[id].cpu(), 4500.5);
  EXPECT_EQ(result.cluster.allocatable[id].memory(), 1024);
  EXPECT_EQ(result.cluster.idle[id].cpu(), 4500.5);
  EXPECT_EQ(result.NodeOf("n1").scored_cpu, 4000);
  EXPECT_EQ(result.NodeOf("n1").scored_memory, 1000);
}

TEST(DecodeNode, WrongOversubscriptionIsZeroWithAWarning) {
  const auto result = ReadText(
      testing::Node("n1", "cpu: 4", "annotations: {volcano.sh/oversubscription-cpu: many}"));
  EXPECT_FALSE(result.diagnostics.HasErrors());
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("n1")].cpu(), 4000);
  EXPECT_NE(result.Messages().find("expected a number that is not negative, got \"many\""),
            std::string::npos);
}

TEST(DecodeNode, ImagesKnowHowManyNodesHaveThem) {
  const auto image_node = [](std::string_view name, int size) {
    return Object("v1", "Node", name, "",
                  fmt::format("status: {{images: [{{names: [\"app@sha256:1\", \"app:v1\"], "
                              "sizeBytes: {}}}]}}",
                              size));
  };
  const auto result =
      ReadClean(image_node("n2", 200) + image_node("n1", 100) + testing::Node("n3"));
  const Node& node = result.NodeOf("n2");
  ASSERT_EQ(node.images.size(), 2u);
  EXPECT_LT(node.images[0].name, node.images[1].name);
  for (const NodeImage& image : node.images) {
    EXPECT_EQ(image.nodes_with_it, 2);
    EXPECT_EQ(image.size_bytes, 100);  // that of the first node by name
  }
  EXPECT_TRUE(result.NodeOf("n3").images.empty());
}

TEST(DecodeNamespace, EveryNamespaceBearsItsName) {
  const auto result = ReadClean(
      Object("v1", "Namespace", "team", "labels: {a: b}", "") +
      Object("v1", "Namespace", "own", "labels: {kubernetes.io/metadata.name: other}", "") +
      testing::Queue("default") + testing::PodGroup("pg", "minMember: 1", "namespace: unwritten"));
  const auto& all = result.cluster.namespaces;
  ASSERT_EQ(all.size(), 3u);
  const StrId label = result.cluster.strings.Find("kubernetes.io/metadata.name");
  EXPECT_EQ(result.Text(all[0].name), "own");
  EXPECT_EQ(result.Text(FindLabel(all[0].labels, label)), "other");
  EXPECT_EQ(result.Text(all[1].name), "team");
  EXPECT_EQ(result.Text(FindLabel(all[1].labels, label)), "team");
  EXPECT_EQ(all[1].labels.size(), 2u);
  EXPECT_EQ(result.Text(all[2].name), "unwritten");
  EXPECT_EQ(result.Text(FindLabel(all[2].labels, label)), "unwritten");
}

}  // namespace
}  // namespace krafla
