#include "manifest/decode_resources.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Object;
using testing::ReadClean;
using testing::ReadText;

TEST(ScalarResourceName, FollowsKubernetes) {
  for (const std::string_view name :
       {"nvidia.com/gpu", "hugepages-2Mi", "attachable-volumes-csi-x", "kubernetes.io/batch-cpu",
        "a.kubernetes.io/x", "example.com/Foo_2.x"})
    EXPECT_TRUE(IsScalarResourceName(name)) << name;
  for (const std::string_view name :
       {"storage", "rdma", "requests.nvidia.com/gpu", "Example.com/x", "example.com/", "/x",
        "a/b/c", "-a.com/x", "a-.com/x", "a..com/x", "example.com/-x", ""})
    EXPECT_FALSE(IsScalarResourceName(name)) << name;
  EXPECT_TRUE(IsScalarResourceName("a.com/" + std::string(63, 'x')));
  EXPECT_FALSE(IsScalarResourceName("a.com/" + std::string(64, 'x')));
  // "requests." is written before the name in quotas, and 253 is all there may be.
  EXPECT_TRUE(IsScalarResourceName(std::string(244, 'a') + "/x"));
  EXPECT_FALSE(IsScalarResourceName(std::string(245, 'a') + "/x"));
}

TEST(ResourceList, BecomesVolcanosAmounts) {
  const auto result = ReadClean(
      testing::Node("n1",
                    "cpu: 1500m, memory: 1Gi, pods: 110, ephemeral-storage: 2, nvidia.com/gpu: 4, "
                    "hugepages-2Mi: 4Mi, storage: 5, count/jobs.batch: 3"));
  const Resource& r = result.cluster.allocatable[result.FindNode("n1")];
  EXPECT_EQ(r.cpu(), 1500);
  EXPECT_EQ(r.memory(), 1024.0 * 1024 * 1024);
  EXPECT_EQ(result.Amount(r, "pods"), 110);
  EXPECT_EQ(result.Amount(r, "ephemeral-storage"), 2000);
  EXPECT_EQ(result.Amount(r, "nvidia.com/gpu"), 4000);
  EXPECT_EQ(result.Amount(r, "hugepages-2Mi"), 4.0 * 1024 * 1024 * 1000);
  EXPECT_EQ(result.cluster.kinds.Find("storage"), -1);
  EXPECT_EQ(result.cluster.kinds.Find("count/jobs.batch"), -1);
}

TEST(ResourceList, TakesNumbersAndTexts) {
  const auto result = ReadClean(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},
      "status":{"allocatable":{"cpu":1.5,"memory":1e3,"pods":" 7 "}}})");
  const Resource& r = result.cluster.allocatable[result.FindNode("n1")];
  EXPECT_EQ(r.cpu(), 1500);
  EXPECT_EQ(r.memory(), 1000);
  EXPECT_EQ(result.Amount(r, "pods"), 7);
}

TEST(ResourceList, RoundsUpToTheUnit) {
  const auto result = ReadClean(testing::Node("n1", "cpu: 100u, memory: 1500m"));
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("n1")].cpu(), 1);
  EXPECT_EQ(result.cluster.allocatable[result.FindNode("n1")].memory(), 2);
}

TEST(ResourceList, NamesObjectFieldAndLineOfAWrongAmount) {
  const auto result = ReadText(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus:\n  allocatable:\n    cpu: -1\n"
      "    memory: lots\n    nvidia.com/gpu: [1]\n    pods: true\n");
  EXPECT_EQ(result.Messages(),
            "test.yaml:6:10: error: Node n1: status.allocatable.cpu: expected an amount that is "
            "not "
            "negative, got -1\n"
            "test.yaml:7:13: error: Node n1: status.allocatable.memory: \"lots\" is not a "
            "quantity; "
            "write 500m, 2, 64Gi or 1e3\n"
            "test.yaml:8:21: error: Node n1: status.allocatable[\"nvidia.com/gpu\"]: expected an "
            "amount such as \"500m\" or \"64Gi\", got a list\n"
            "test.yaml:9:11: error: Node n1: status.allocatable.pods: expected an amount such as "
            "\"500m\" or \"64Gi\", got true\n");
}

TEST(ResourceList, MayNotNameMoreKindsThanThereIsRoomFor) {
  std::string amounts = "cpu: 1";
  for (int i = 0; i < ResourceKinds::kMax; ++i) amounts += fmt::format(", x.com/kind-{}: 1", i);
  const auto result = ReadText(testing::Node("n1", amounts));
  EXPECT_TRUE(result.diagnostics.HasErrors());
  EXPECT_NE(result.Messages().find("one kind of resource too many: there may be 64"),
            std::string::npos);
}

}  // namespace
}  // namespace krafla
