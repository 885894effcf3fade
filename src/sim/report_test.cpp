#include "sim/report.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/bucket_series.h"
#include "support/sample_run.h"

namespace krafla {
namespace {

struct Collected {
  SummaryCollector summary{testing::SampleZone()};
  ReportCollector report;
  explicit Collected(ReportLimits limits = {}) : report(testing::SampleZone(), limits) {}
  void Run(const testing::SampleRunOptions& options) {
    testing::Observers both({&summary, &report});
    testing::SampleRun(options, both);
  }
  std::string Html(const ReportNotes& notes = {}) const {
    return ReportHtml(report, summary.Finish(), notes);
  }
};

const ReportNotes kNotes = {
    .command = "krafla simulate day.yaml --report out",
    .expectations = {{"job team-b/urgent is bound by 12:10", true, ""},
                     {"zone rz1 is drained within 10m", true, ""},
                     {"no thrash beyond 3", false, "team-c/train-53 was evicted from 57 times"}}};

// With KRAFLA_REPORT_OUT this also leaves the pages for tests/report/browser_test.py.
TEST(Report, WritesOneFileThatNeedsNothingElse) {
  Collected day;
  day.Run({});
  const char* wanted = std::getenv("KRAFLA_REPORT_OUT");
  const std::string folder =
      wanted != nullptr ? wanted : ::testing::TempDir() + "/krafla_report_test";
  const Result<std::string> path =
      WriteReport(folder + "/day", day.report, day.summary.Finish(), kNotes);
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_TRUE(path->ends_with("/day/index.html"));
  std::stringstream text;
  text << std::ifstream(*path).rdbuf();
  const std::string html = text.str();
  EXPECT_EQ(html, day.Html(kNotes));
  for (const char* mark : {"{{TITLE}}", "{{STYLE}}", "{{DATA}}", "{{SCRIPT}}"})
    EXPECT_EQ(html.find(mark), std::string::npos) << mark;
  for (const char* outside : {"src=\"", "@import", "fetch(", "<link rel=\"stylesheet"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  // The only address is a name, the one of SVG.
  for (size_t at = html.find("http"); at != std::string::npos; at = html.find("http", at + 1))
    EXPECT_EQ(html.substr(at, 26), "http://www.w3.org/2000/svg");
  if (wanted == nullptr) {
    std::filesystem::remove_all(folder);
    return;
  }
  Collected large;
  large.Run({.plain_nodes = 700,
             .rz1_nodes = 200,
             .rz2_nodes = 100,
             .days = 3,
             .jobs_per_hour = 50,
             .pods_per_job = 100});
  ASSERT_TRUE(WriteReport(folder + "/large", large.report, large.summary.Finish()).has_value());
  Collected nothing;
  ASSERT_TRUE(
      WriteReport(folder + "/nothing", nothing.report, nothing.summary.Finish()).has_value());
}

TEST(Report, TheSameRunGivesTheSameBytes) {
  Collected first;
  Collected second;
  first.Run({});
  second.Run({});
  EXPECT_EQ(first.Html(kNotes), second.Html(kNotes));
}

TEST(Report, LargeRunsAreJoinedAndThinnedOutAndSaySo) {
  const ReportLimits limits{
      .buckets = 100, .node_rows = 10, .evictions = 20, .queues = 2, .explanation_bytes = 50};
  Collected small(limits);
  small.Run({});
  JsonWriter json;
  small.report.WriteJson(json, small.summary.Finish());
  simdjson::dom::parser parser;
  simdjson::dom::element run;
  ASSERT_EQ(parser.parse(json.text()).get(run), simdjson::SUCCESS);
  EXPECT_LE(simdjson::dom::array(run["evictions"]).size(), 20u);
  EXPECT_GE(simdjson::dom::array(run["evictions"]).size(), 10u);
  EXPECT_EQ(int64_t(run["evictionsSeen"]), small.summary.Finish().evictions);
  EXPECT_EQ(simdjson::dom::array(run["queues"]).size(), 2u);
  size_t rows = 0;
  for (simdjson::dom::element zone : simdjson::dom::array(run["zones"])) {
    rows += simdjson::dom::array(zone["rows"]).size();
    EXPECT_LE(std::string_view(zone["load"]).size(), 100u);
  }
  EXPECT_LE(rows, 10u + 3);  // a row does not cross zones
  EXPECT_EQ(simdjson::dom::array(run["aggregated"]).size(), 4u);
}

TEST(Report, TextOfOthersCannotBecomeMarkup) {
  Collected run;
  const auto tell = [&](SimEvent event) {
    event.at = testing::SampleStart();
    run.summary.On(event);
    run.report.On(event);
  };
  tell({.kind = SimEventKind::kRunBegins, .text = "</title><script>alert(1)</script>"});
  tell({.kind = SimEventKind::kFault, .text = "</script><b>"});
  const std::string html = run.Html();
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);
}

TEST(Report, AFolderThatCannotBeMadeIsAnError) {
  Collected run;
  const std::string file = ::testing::TempDir() + "/krafla_report_file";
  std::ofstream(file) << "x";
  const Result<std::string> path = WriteReport(file + "/out", run.report, run.summary.Finish());
  ASSERT_FALSE(path.has_value());
  EXPECT_NE(path.error().message.find("krafla_report_file/out"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(BucketSeries, WidthDoublesAndTheAverageStays) {
  BucketSeries series(4);
  series.Set(1, 0);
  series.Set(3, 30);
  series.Set(0, 60);
  EXPECT_EQ(series.Values(15, 60), (std::vector<float>{1, 1, 3, 3}));
  EXPECT_EQ(series.Values(30, 60), (std::vector<float>{1, 3}));
  series.Set(2, 90);
  series.Set(0, 120);
  EXPECT_EQ(series.Values(BucketSeries::WidthFor(120, 4), 120), (std::vector<float>{1, 3, 0, 2}));
  EXPECT_EQ(BucketSeries::WidthFor(86'400, 720), 120);
  EXPECT_EQ(BucketSeries::WidthFor(604'800, 720), 960);
}

TEST(BucketSeries, TheLastBucketMayBeShorter) {
  BucketSeries series(100);
  series.Set(2, 0);
  EXPECT_EQ(series.Values(15, 20), (std::vector<float>{2, 2}));
}

}  // namespace
}  // namespace krafla
