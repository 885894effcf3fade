// What the rules believe about plugins, asked of the plugins.
#include "check/plugin_probe.h"

#include <gtest/gtest.h>

#include "support/cycle.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kCluster = R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: small, namespace: ml, creationTimestamp: "2026-03-10T11:59:00Z"}
spec: {minMember: 1, minResources: {cpu: "1"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: large, namespace: ml, creationTimestamp: "2026-03-10T11:59:00Z"}
spec: {minMember: 9, minResources: {cpu: "900"}}
)";
constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: cdp
  - name: pdb
  - name: drf
    enablePreemptable: false
  - name: overcommit
  - name: proportion
  - name: sla
    arguments: {sla-waiting-time: 1h}
  - name: tdm
)";

class PluginProbeTest : public ::testing::Test {
 protected:
  Cycle cycle{{.cluster = std::string(kCluster), .config = std::string(kConfig)}};
  PluginProbe probe{cycle.cluster, cycle.config, {.now = cycle.session->now, .zone = TimeZone()}};
};

TEST_F(PluginProbeTest, KnowsWhoVotesOnVictims) {
  std::vector<std::string> names;
  for (const PluginOption* voter : probe.Voters(0, &PluginHooks::preemptable, Switch::kPreemptable))
    names.push_back(voter->name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"priority", "gang", "conformance", "cdp", "pdb", "tdm"}));
  EXPECT_EQ(probe.HooksOf("binpack"), nullptr);
}

TEST_F(PluginProbeTest, GuardsAreThoseTheRulesKnowOf) {
  for (const char* name : {"conformance", "cdp", "pdb"})
    EXPECT_TRUE(probe.HooksOf(name)->is_guard) << name;
  EXPECT_TRUE(probe.HooksOf("pdb")->guard_counts);
  EXPECT_FALSE(probe.HooksOf("cdp")->guard_counts);
  EXPECT_FALSE(probe.HooksOf("gang")->is_guard);
}

TEST_F(PluginProbeTest, DecidersNeverAbstainAndSlaDoes) {
  for (const char* job : {"ml/small", "ml/large"}) {
    const JobId id = cycle.FindJob(job);
    for (const char* name : {"gang", "tdm"})
      EXPECT_NE(probe.HooksOf(name)->job_pipelined(id), Vote::kAbstain) << name << " on " << job;
    for (const char* name : {"overcommit", "proportion"})
      EXPECT_NE(probe.HooksOf(name)->job_enqueueable(id), Vote::kAbstain) << name << " on " << job;
    EXPECT_EQ(probe.HooksOf("sla")->job_pipelined(id), Vote::kAbstain);
  }
}

}  // namespace
}  // namespace krafla::testing
