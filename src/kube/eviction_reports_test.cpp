#include "kube/eviction_reports.h"

#include <gtest/gtest.h>

#include "kube/live_scheduler_test.h"

namespace krafla {
namespace {

using Clock = EvictionReports::Clock;

class EvictionReportsTest : public testing::LiveSchedulerTest {
 protected:
  static constexpr std::string_view kLimited = R"(
actions: "enqueue, allocate, preempt"
eviction-limits: {per-cycle: 1}
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}]
)";

  void SeePriority(const std::string& name, int value) {
    See(WatchedKind::kPriorityClass,
        fmt::format(R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
                    R"({{"name":"{}"}},"value":{}}})",
                    name, value));
  }
  void SeePriorityGroup(const std::string& name, int min_member, const std::string& priority) {
    See(WatchedKind::kPodGroup,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{0}","namespace":"a","uid":"g-{0}"}},"spec":)"
                    R"({{"minMember":{1},"priorityClassName":"{2}"}},)"
                    R"("status":{{"phase":"Inqueue"}}}})",
                    name, min_member, priority));
  }
  size_t EventsOf(std::string_view reason) const {
    return static_cast<size_t>(
        std::count_if(client.bodies.begin(), client.bodies.end(),
                      [&](const std::string& body) { return body.contains(reason); }));
  }

  Lines lines;
  std::string note;
  EvictionReports reports{
      *mirror,
      *events,
      metrics,
      {.scheduler = {"Lease", "coordination.k8s.io/v1", "volcano-system", "volcano", {}},
       .log = [this](const std::string& line) { lines.push_back(line); },
       .on_waiting = [this](const std::string& text) { note = text; }}};
};

TEST_F(EvictionReportsTest, AGangLargerThanTheLimitIsNoLimitThatIsReached) {
  Diagnostics diagnostics;
  loop->SetConfig(
      ReadSchedulerConfig(kLimited, BuiltInVocabulary(), {.file_name = "t"}, diagnostics));
  ASSERT_FALSE(diagnostics.HasErrors());
  SeePriority("high", 100);
  SeePriority("low", 1);
  SeePriorityGroup("low", 0, "low");
  SeePod("low-0", "low", "n1");
  SeePod("low-1", "low", "n1");
  SeePriorityGroup("wide", 2, "high");
  SeePod("wide-0", "wide");
  SeePod("wide-1", "wide");
  const std::string why =
      "PodGroup a/wide never evicts: it needs 2 evictions at once, more than the limit of 1 "
      "evictions a cycle ever allows";
  Clock::time_point now{};
  for (int i = 0; i < 3; ++i) {
    client.Pass(std::chrono::milliseconds(2'000));
    Cycle();
    reports.Follow(*loop, now += std::chrono::seconds(2));
  }
  EXPECT_EQ(lines, Lines{why}) << "once";
  EXPECT_EQ(note, why);
  EXPECT_EQ(EventsOf("\"EvictionLimitTooLow\""), 1u);
  EXPECT_EQ(EventsOf("\"EvictionLimitReached\""), 0u);
  EXPECT_TRUE(metrics.Text().contains("krafla_eviction_limit_reached 0")) << metrics.Text();
}

}  // namespace
}  // namespace krafla
