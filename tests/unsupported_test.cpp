// What Krafla does not support yet makes jobs and pods wait with that reason, or is named where
// they are scheduled without it: in krafla run and krafla explain. (krafla simulate:
// tests/scenarios/workload/unsupported.yaml; check: K707 and K708; serve:
// tests/e2e/test_bursts.py.)
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "app/explanation_text.h"
#include "app/run_command.h"
#include "explain/explain_support.h"
#include "support/tiny_cluster.h"
#include "support/unwrapped.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kHard = "networkTopology: {mode: hard, highestTierAllowed: 1}";
constexpr std::string_view kNoMode = "networkTopology: {highestTierAllowed: 1}";
constexpr std::string_view kHardSubGroup =
    "subGroupPolicy: [{name: w, subGroupSize: 2, networkTopology: {mode: hard}}]";
constexpr std::string_view kSoft = "networkTopology: {mode: soft}";
constexpr std::string_view kSubGroups = "subGroupPolicy: [{name: w, subGroupSize: 2}]";

constexpr const char* kConfig = R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
)";

std::string GroupYaml(std::string_view spec) {
  return tiny::Document("scheduling.volcano.sh/v1beta1", "PodGroup",
                        "metadata: {name: job, namespace: default}\nspec: {minMember: 1, " +
                            std::string(spec) + "}\nstatus: {phase: Pending}\n");
}

std::string ClusterWith(std::string_view spec) {
  return QueueYaml() + NodeYaml() + GroupYaml(spec) + PodYaml();
}

std::string ClusterWithClaims() {
  return QueueYaml() + NodeYaml() + PodGroupYaml({.phase = "Pending"}) +
         PodYaml({.spec = "resourceClaims: [{name: gpu, resourceClaimName: gpu-1}]\n"});
}

std::string RunOn(const std::string& cluster) {
  std::stringstream in(cluster);
  std::stringstream out;
  std::stringstream err;
  RunCommandOptions options{.cluster = {"-"}};
  options.now = "2026-03-10T12:00:00Z";
  EXPECT_EQ(RunCommand(options, in, out, err), 0) << err.str();
  return out.str();
}

std::string ExplainOn(const std::string& cluster) {
  return ExplanationAsText(Explained({.cluster = cluster, .config = kConfig}, "job", "default/job"),
                           false);
}

TEST(Unsupported, AJobWithAHardNetworkTopologyWaitsAndRunAndExplainSayWhy) {
  for (const std::string_view spec : {kHard, kNoMode, kHardSubGroup}) {
    const std::string run = RunOn(ClusterWith(spec));
    EXPECT_TRUE(run.contains("needs a hard network topology")) << spec << "\n" << run;
    EXPECT_FALSE(run.contains("default/job-0 -> n1")) << run;
    const std::string explained = ExplainOn(ClusterWith(spec));
    EXPECT_TRUE(explained.contains("needs a hard network topology")) << spec << "\n" << explained;
    EXPECT_TRUE(explained.contains("1. mode: soft in spec.")) << spec << "\n" << explained;
  }
}

TEST(Unsupported, APodWithResourceClaimsWaitsAndRunAndExplainSayWhy) {
  const std::string run = RunOn(ClusterWithClaims());
  EXPECT_TRUE(run.contains("1 pod needs ResourceClaims, which are not supported yet")) << run;
  const std::string explained = ExplainOn(ClusterWithClaims());
  EXPECT_TRUE(explained.contains("1 pod needs ResourceClaims, which are not supported yet"))
      << explained;
}

TEST(Unsupported, SoftTopologiesAndSubGroupsAreScheduledAndExplainNamesThem) {
  for (const std::string_view spec : {kSoft, kSubGroups}) {
    const std::string run = RunOn(ClusterWith(spec));
    EXPECT_TRUE(run.contains("1 bound")) << run;
    const std::string explained = Unwrapped(ExplainOn(ClusterWith(spec)));
    EXPECT_TRUE(explained.contains("it is scheduled without spec.")) << explained;
    EXPECT_TRUE(explained.contains(": not supported yet")) << explained;
  }
  EXPECT_FALSE(ExplainOn(ClusterWith("queue: default")).contains("not supported"));
}

}  // namespace
}  // namespace krafla::testing
