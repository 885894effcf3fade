// What keeps things where they are is named first: a closed queue, a budget in a closed zone, a
// cooldown.
#include <gtest/gtest.h>

#include "app/plan_text.h"
#include "explain/explain_support.h"

namespace krafla::testing {
namespace {

// Blue holds all four cores, red asks for two of them.
CycleInput RedAgainstBlue(const std::string& state, const std::string& now) {
  std::string cluster = NodeYaml() + PriorityClassesYaml() +
                        QueueYaml({.name = "red", .state = state}) + QueueYaml({.name = "blue"}) +
                        PodGroupYaml({.name = "batch",
                                      .queue = "blue",
                                      .phase = "Running",
                                      .annotations = {{"volcano.sh/preemptable", "true"},
                                                      {"volcano.sh/cooldown-time", "30m"}}}) +
                        PodGroupYaml({.name = "urgent", .queue = "red", .priority = "high"}) +
                        PodYaml({.name = "urgent-0", .group = "urgent", .asks = "cpu 2"});
  for (const char* name : {"batch-0", "batch-1"})
    cluster += PodYaml({.name = name,
                        .group = "batch",
                        .node = "n1",
                        .asks = "cpu 2",
                        .scheduled_at = "2026-03-10T11:45:00Z"});
  return {.cluster = cluster,
          .config = ConfigYaml({.actions = "enqueue, allocate, preempt, reclaim",
                                .tiers = {"priority gang cdp conformance proportion predicates"}}),
          .now = now};
}

constexpr const char* kInCooldown = "2026-03-10T12:00:00Z";
constexpr const char* kLater = "2026-03-10T13:00:00Z";

TEST(ExplainClosedQueue, JobIsHeldByItsQueueFirstOfAll) {
  const Explanation e = Explained(RedAgainstBlue("Closed", kLater), "job", "default/urgent");
  EXPECT_EQ(e.answer, "default/urgent waits: queue red is Closed.");
  EXPECT_TRUE(HasFlip(e, "queue red Open instead of Closed"));
}

TEST(ExplainClosedQueue, QueueSaysSoAndReclaimsNothing) {
  const Explanation e = Explained(RedAgainstBlue("Closed", kLater), "queue", "red");
  EXPECT_TRUE(e.answer.starts_with("red is Closed, so its jobs get no more room")) << e.answer;
  EXPECT_TRUE(Says(e, "it may not reclaim: it is Closed"));
  EXPECT_FALSE(Says(e, "it may reclaim up to"));
  EXPECT_TRUE(Says(e, "reclaim: queue red is Closed"));
  const Explanation blue = Explained(RedAgainstBlue("Closed", kLater), "queue", "blue");
  EXPECT_TRUE(Says(blue, "no queue asks for it now"));
}

TEST(ExplainClosedQueue, PlanBlamesNoShare) {
  Cycle cycle(RedAgainstBlue("Closed", kLater));
  cycle.Run();
  const std::string text = PlanAsText(*cycle.session, false);
  EXPECT_EQ(text.find("more than it deserves"), std::string::npos) << text;
  EXPECT_NE(text.find("reclaim              queue red is Closed"), std::string::npos) << text;
}

TEST(ExplainClosedQueue, OpenQueueIsNotCalledClosed) {
  const Explanation e = Explained(RedAgainstBlue("Open", kLater), "queue", "red");
  EXPECT_TRUE(e.answer.starts_with("red holds ")) << e.answer;
  EXPECT_TRUE(Says(e, "it may reclaim up to"));
}

TEST(ExplainQueueCooldown, PodsInCooldownAreNoVictimsNow) {
  const Explanation now = Explained(RedAgainstBlue("Open", kInCooldown), "queue", "blue");
  EXPECT_TRUE(Says(now,
                   "2 of its pods may be victims, but none of them now: all are in their "
                   "cooldown; asking for more: red"));
  const Explanation later = Explained(RedAgainstBlue("Open", kLater), "queue", "blue");
  EXPECT_TRUE(Says(later, "2 of its pods may be victims; asking for more: red"));
  const Explanation red = Explained(RedAgainstBlue("Open", kInCooldown), "queue", "red");
  for (const ExplanationTable& table : red.tables) {
    if (table.name != "couldReclaim") continue;
    EXPECT_EQ(table.columns.back(), "in cooldown now");
    EXPECT_EQ(table.rows.at(0).back().text, "2");
    return;
  }
  ADD_FAILURE() << ExplanationAsText(red, false);
}

TEST(ExplainHeldPod, ClosedZoneAndTheBudgetThatHoldsThePodThere) {
  CycleInput input{.cluster = ReadExampleFile("tdm/cluster.yaml"),
                   .config = ReadExampleFile("tdm/scheduler.yaml"),
                   .now = "2026-03-10T22:00:00+08:00"};
  const Explanation e = Explained(input, "pod", "analytics/spark-etl-executor-5");
  EXPECT_EQ(e.answer,
            "analytics/spark-etl-executor-5 stays where it is: zone rz1 is closed, but the budget "
            "of analytics/spark-etl (maxUnavailable 30%) holds it there for now.");
  EXPECT_TRUE(Says(e, "this cycle evicts 2 other pods of its job from the zone"));
  // While the zone is open nothing of the kind is said.
  input.now = "2026-03-10T12:00:00+08:00";
  EXPECT_FALSE(Says(Explained(input, "pod", "analytics/spark-etl-executor-5"), "is closed, but"));
}

// A cooldown that the pods have from their PodGroup is worth waiting for like one of their own.
TEST(ExplainWaits, InheritedCooldownsEnd) {
  const Explanation e = Explained(RedAgainstBlue("Open", kInCooldown), "job", "default/urgent");
  EXPECT_TRUE(
      HasFlip(e, "wait 15m, until 2026-03-10T12:15:00Z: the cooldown of default/batch-0 is over"));
}

// The table of a zone's jobs is cut; the count of who has to leave is not.
TEST(ExplainZone, CountsJobsBeyondThoseItLists) {
  std::string cluster = NodeYaml({.has = "cpu 64, memory 640Gi, pods 110", .zone = "rz1"}) +
                        PriorityClassesYaml() + QueueYaml();
  for (int i = 10; i < 35; ++i) {
    const std::string name = "j" + std::to_string(i);
    const Texts marks = i < 32 ? Texts{} : Texts{{"volcano.sh/preemptable", "true"}};
    cluster += PodGroupYaml({.name = name, .phase = "Running", .annotations = marks}) +
               PodYaml({.name = name + "-0", .group = name, .node = "n1", .annotations = marks});
  }
  const Explanation e =
      Explained({.cluster = cluster,
                 .config = ConfigYaml({.actions = "enqueue, allocate, preempt",
                                       .tiers = {"gang tdm"},
                                       .tdm = {{"tdm.revocable-zone.rz1", "08:00-10:00"}}}),
                 .now = kLater},
                "zone", "rz1");
  EXPECT_TRUE(Says(e, "22 pods on it will not be taken off"));
  EXPECT_TRUE(Says(e, "evicts 3 pods"));
}

}  // namespace
}  // namespace krafla::testing
