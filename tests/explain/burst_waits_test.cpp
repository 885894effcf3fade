// Pods that wait for the jobs of a burst: explain names the PodGroup that is waited for.
#include <gtest/gtest.h>

#include "explain/explain_support.h"
#include "support/unwrapped.h"

namespace krafla::testing {
namespace {

constexpr const char* kConfig = R"(
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
)";

CycleInput Burst() {
  return {.cluster = QueueYaml() + NodeYaml() +
                     PodGroupYaml({.name = "a", .min_member = 1, .phase = "Running"}) +
                     PodYaml({.name = "a-0", .group = "a", .node = "n1"}) +
                     PodYaml({.name = "a-1", .group = "a"}) +
                     PodGroupYaml({.name = "b", .min_member = 2, .phase = "Inqueue"}),
          .config = kConfig,
          .now = "2026-03-10T12:00:00Z"};
}

TEST(BurstWaits, TheGateOfAllocateNamesThePodGroupThatLacksItsPods) {
  CycleMemory memory;
  memory.surplus_wait_ns = Timestamp::kNsPerSecond;
  memory.admissions = {{.job = "default/b", .at = ParseRfc3339("2026-03-10T11:59:59.5Z")->time}};
  const Explanation explanation = Explained(Burst(), "job", "default/a", &memory);
  constexpr std::string_view kWhy =
      "pods beyond minMember wait up to 1s: PodGroup default/b was just admitted and has 0 of its "
      "2 "
      "pods";
  EXPECT_EQ(LastGate(explanation, "allocate").text, kWhy);
  EXPECT_TRUE(Unwrapped(ExplanationAsText(explanation, false)).contains(kWhy))
      << ExplanationAsText(explanation, false);
}

TEST(BurstWaits, ASnapshotWithoutAMemoryHasNoSuchWait) {
  const Explanation explanation = Explained(Burst(), "job", "default/a");
  EXPECT_FALSE(ExplanationAsText(explanation, false).contains("beyond minMember"));
}

}  // namespace
}  // namespace krafla::testing
