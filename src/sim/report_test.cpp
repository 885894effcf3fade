#include "sim/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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

}  // namespace
}  // namespace krafla
