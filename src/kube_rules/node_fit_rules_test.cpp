#include "kube_rules/node_fit_rules.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string Tolerating(std::string_view toleration) {
  return "\"tolerations\":[{" + std::string(toleration) + "}]";
}

std::string RequiredTerms(std::string_view terms) {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{)"
         R"("nodeSelectorTerms":[)" +
         std::string(terms) + "]}}}";
}

TEST(NodeFitRules, ACordonedNodeTakesOnlyPodsThatTolerateIt) {
  constexpr std::string_view kKey = R"("key":"node.kubernetes.io/unschedulable")";
  KubeWorld world(
      Objects()
          .Node("n", "", R"("unschedulable":true)")
          .Pod("plain")
          .Pod("exists", "", "", Tolerating(std::string(kKey) + R"(,"operator":"Exists")"))
          .Pod("equal", "", "", Tolerating(kKey))
          .Pod("other", "", "", Tolerating(std::string(kKey) + R"(,"value":"x")"))
          .Pod("all", "", "", Tolerating(R"("operator":"Exists")"))
          .Pod("execute", "", "", Tolerating(R"("operator":"Exists","effect":"NoExecute")")));
  const char* no = "node(s) were unschedulable";
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "plain", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "exists", "n"), "");
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "equal", "n"), "");
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "other", "n"), no);
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "all", "n"), "");
  EXPECT_EQ(world.Says(Filter::kNodeUnschedulable, "execute", "n"), no);
}

TEST(NodeFitRules, OneUntoleratedTaintIsEnoughButNotOneThatIsOnlyAWish) {
  KubeWorld world(
      Objects()
          .Node("two", "",
                R"("taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}])")
          .Node("wish", "", R"("taints":[{"key":"a","effect":"PreferNoSchedule"}])")
          .Pod("one", "", "", Tolerating(R"("key":"a","operator":"Exists")"))
          .Pod("plain"));
  EXPECT_EQ(world.Says(Filter::kTaintToleration, "one", "two"), "node(s) had untolerated taint(s)");
  EXPECT_EQ(world.Says(Filter::kTaintToleration, "plain", "wish"), "");
}

TEST(NodeFitRules, TermsAreAlternativesAndAnEmptyOneMatchesNothing) {
  constexpr std::string_view kSsd =
      R"({"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]})";
  KubeWorld world(
      Objects()
          .Node("fast", "disk: ssd, tier: 10")
          .Node("slow", "disk: hdd, tier: 9")
          .Pod("or", "", "", RequiredTerms("{}," + std::string(kSsd)))
          .Pod("empty", "", "", RequiredTerms("{}"))
          .Pod("more", "", "",
               RequiredTerms(R"({"matchExpressions":[)"
                             R"({"key":"tier","operator":"Gt","values":["9"]}]})"))
          .Pod("named", "", "",
               RequiredTerms(R"({"matchFields":[)"
                             R"({"key":"metadata.name","operator":"In","values":["slow"]}]})")));
  const char* no = "node(s) didn't match Pod's node affinity/selector";
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "or", "fast"), "");
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "or", "slow"), no);
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "empty", "fast"), no);
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "more", "fast"), "");  // as numbers: 10 > 9
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "more", "slow"), no);
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "named", "slow"), "");
  EXPECT_EQ(world.Says(Filter::kNodeAffinity, "named", "fast"), no);
}

TEST(NodeFitRules, NamesThatContradictEachOtherRefuseThePod) {
  constexpr std::string_view kTwoNames =
      R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]},)"
      R"({"key":"metadata.name","operator":"In","values":["b"]}]})";
  constexpr std::string_view kAnyName = R"({"matchExpressions":[{"key":"x","operator":"Exists"}]})";
  KubeWorld world(
      Objects()
          .Node("a")
          .Pod("torn", "", "", RequiredTerms(kTwoNames))
          .Pod("or", "", "", RequiredTerms(std::string(kTwoNames) + "," + std::string(kAnyName))));
  EXPECT_EQ(world.SaysOfPod(Filter::kNodeAffinity, "torn"), "pod affinity terms conflict");
  EXPECT_EQ(world.SaysOfPod(Filter::kNodeAffinity, "or"), "");
}

TEST(NodeFitRules, FixedPartsJoinTheirKindsOfNo) {
  KubeWorld world(
      Objects()
          .Node("bad", "", R"("unschedulable":true,"taints":[{"key":"a","effect":"NoSchedule"}])")
          .Node("good")
          .Pod("p"));
  std::vector<Refusal> by_node(world.cluster.nodes.size());
  world.filters.Fixed(world.cluster.tasks[world.Task("p")].cls, by_node);
  EXPECT_TRUE(by_node[world.Node("bad").value].unresolvable());
  EXPECT_EQ(world.Words(by_node[world.Node("bad").value]), "node(s) were unschedulable");
  EXPECT_FALSE(by_node[world.Node("good").value].refused());
}

}  // namespace
}  // namespace krafla::testing
