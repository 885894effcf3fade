#include "sim/compare.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <sstream>

#include "sim/text_columns.h"
#include "support/sample_run.h"

namespace krafla {
namespace {

RunRecord Record(const testing::SampleRunOptions& options) {
  RunRecorder recorder(testing::SampleZone());
  testing::SampleRun(options, recorder);
  return recorder.Finish();
}

TEST(Compare, ARunIsIdenticalToItself) {
  const Comparison same = Compare(Record({}), Record({}), "a.yaml", "a.yaml");
  EXPECT_TRUE(same.identical());
  EXPECT_TRUE(same.same_workload);
  EXPECT_GT(same.pods_in_both, 100);
  EXPECT_GT(same.same_victims, 10);
  EXPECT_NE(ComparisonText(same).find("Both runs went the same way."), std::string::npos);
}

TEST(Compare, AnotherPolicyShowsInPlacementsVictimsAndWaits) {
  const Comparison other =
      Compare(Record({}), Record({.prefers_zones = true}), "plain first", "zones first");
  EXPECT_FALSE(other.identical());
  EXPECT_GT(other.placements.size(), 10u);
  EXPECT_GT(other.other_zone, 0);
  EXPECT_GT(other.victims.size(), 0u);
  EXPECT_EQ(other.waits.size(), static_cast<size_t>(other.sooner + other.later));
  const std::string text = ComparisonText(other);
  for (const char* part : {"before: plain first", "after:  zones first", "PLACEMENTS", "VICTIMS",
                           "WAITS", "CLOSING ZONES"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(TextWidth(line), kTerminalColumns) << line;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(ComparisonJson(other)).get(json), simdjson::SUCCESS);
  EXPECT_EQ(simdjson::dom::array(json["placements"]).size(), other.placements.size());
  EXPECT_EQ(simdjson::dom::array(json["victims"]).size(), other.victims.size());
  EXPECT_FALSE(bool(json["identical"]));
}

TEST(Compare, SmallRunsDifferAsExpected) {
  RunRecord before;
  RunRecord after;
  before.summary.zone = after.summary.zone = testing::SampleZone();
  before.jobs["a/x"] = {.queue = "q", .wait = 10};
  after.jobs["a/x"] = {.queue = "q", .wait = 70};
  before.jobs["a/y"] = {.queue = "q", .wait = 5};
  after.jobs["a/y"] = {.queue = "q"};  // never
  before.jobs["a/z"] = {.queue = "q"};
  before.pods["a/x-0"] = {.job = "a/x", .first_node = "n1", .first_zone = ""};
  after.pods["a/x-0"] = {.job = "a/x",
                         .first_node = "r1",
                         .first_zone = "rz1",
                         .evictions = 2,
                         .evicted = Timestamp::FromUnixSeconds(100),
                         .eviction_rank = 2,
                         .action = "preempt",
                         .reason = "zone-closed"};
  before.pods["a/y-0"] = {.job = "a/y",
                          .first_node = "n1",
                          .evictions = 1,
                          .evicted = Timestamp::FromUnixSeconds(200),
                          .eviction_rank = 1};
  const Comparison c = Compare(before, after, "b", "a");
  EXPECT_FALSE(c.same_workload);
  EXPECT_EQ(c.only_before, std::vector<std::string>{"a/z"});
  ASSERT_EQ(c.waits.size(), 2u);
  EXPECT_EQ(c.waits[0].job, "a/y");  // never is the longest
  EXPECT_EQ(c.waits[1].after, 70);
  EXPECT_EQ(c.later, 2);
  ASSERT_EQ(c.placements.size(), 2u);
  EXPECT_EQ(c.other_zone, 1);
  EXPECT_EQ(c.bound_only_before, 1);
  ASSERT_EQ(c.victims.size(), 2u);
  EXPECT_EQ(c.victims[0].after, 2);
  EXPECT_EQ(c.victims[0].reason, "zone-closed");
  EXPECT_EQ(c.victims[1].before, 1);
}

// A job that no longer runs takes its long wait out of the figures, which is no improvement.
TEST(Compare, SaysHowManyHaveNoWaitBecauseTheyNeverRan) {
  RunRecord before;
  RunRecord after;
  before.summary.zone = after.summary.zone = testing::SampleZone();
  before.jobs["a/x"] = {.queue = "q", .wait = 2700};
  after.jobs["a/x"] = {.queue = "q"};
  before.summary.job_wait = {.over = 2, .p95 = 2700};
  after.summary.job_wait = {.over = 1, .unfinished = 1};
  after.summary.pod_wait = {.unfinished = 4};
  EXPECT_NE(ComparisonText(Compare(before, after, "before", "after"))
                .find("  waits leave out who never ran: jobs 0 before, 1 after; pods 0 before, 4 "
                      "after\n"),
            std::string::npos);
  after.summary.job_wait = after.summary.pod_wait = {};
  EXPECT_EQ(ComparisonText(Compare(before, after, "before", "after")).find("never ran"),
            std::string::npos);
}

TEST(Compare, VictimsComeInTheOrderOfTheirEvictions) {
  RunRecord before;
  RunRecord after;
  before.summary.zone = after.summary.zone = testing::SampleZone();
  const auto evict = [](RunRecord& run, const char* pod, int64_t at, int64_t rank) {
    run.pods[pod] = {.job = "a/x",
                     .evictions = 1,
                     .evicted = Timestamp::FromUnixSeconds(at),
                     .eviction_rank = rank};
  };
  evict(after, "a/x-0", 300, 4);
  evict(after, "a/x-1", 100, 2);
  evict(after, "a/x-2", 100, 1);  // the same cycle, before the other
  evict(before, "a/x-3", 200, 1);
  std::vector<std::string> order;
  for (const VictimChange& victim : Compare(before, after, "b", "a").victims)
    order.push_back(victim.pod);
  EXPECT_EQ(order, (std::vector<std::string>{"a/x-2", "a/x-1", "a/x-3", "a/x-0"}));
}

}  // namespace
}  // namespace krafla
