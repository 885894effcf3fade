#include "sim/event_log.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <set>
#include <sstream>

#include "support/sample_run.h"

namespace krafla {
namespace {

Timestamp At(int64_t seconds, int64_t ns = 0) {
  return Timestamp::FromUnixSeconds(testing::SampleStart().UnixSeconds() + seconds, ns);
}

std::string Line(const SimEvent& event) {
  LocalClock clock(testing::SampleZone());
  return EventLine(event, At(0), clock);
}

TEST(EventLog, ALineHasLocalTimeAndSecondsSinceTheStart) {
  EXPECT_EQ(Line({.kind = SimEventKind::kPodBound,
                  .at = At(43'200),
                  .pod = "a/x-0",
                  .job = "a/x",
                  .queue = "q",
                  .node = "n1",
                  .zone = "rz1",
                  .action = "allocate"}),
            R"({"t":43200,"at":"2026-03-16T12:00:00+08:00","event":"pod-bound","pod":"a/x-0",)"
            R"("job":"a/x","queue":"q","node":"n1","zone":"rz1","action":"allocate"})");
  EXPECT_EQ(Line({.kind = SimEventKind::kRunEnds, .at = At(1, 250'000'000)}),
            R"({"t":1.25,"at":"2026-03-16T00:00:01.25+08:00","event":"run-ends"})");
}

TEST(EventLog, CountsAreCalledByWhatTheyMean) {
  EXPECT_NE(Line({.kind = SimEventKind::kPodEvicted, .at = At(0), .count = 60})
                .find(R"("lost_seconds":60)"),
            std::string::npos);
  EXPECT_NE(Line({.kind = SimEventKind::kRunBegins, .at = At(0), .text = "day", .count = 7})
                .find(R"("seed":7,"scenario":"day")"),
            std::string::npos);
  EXPECT_NE(Line({.kind = SimEventKind::kNodeCordoned, .at = At(0), .count = 0})
                .find(R"("cordoned":false)"),
            std::string::npos);
  EXPECT_NE(Line({.kind = SimEventKind::kJobSubmitted, .at = At(0), .minimum = 2, .count = 3})
                .find(R"("priority":0,"pods":3,"min_available":2})"),
            std::string::npos);
}

TEST(EventLog, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (size_t kind = 0; kind < kSimEventKindCount; ++kind)
    names.insert(ToString(static_cast<SimEventKind>(kind)));
  EXPECT_EQ(names.size(), kSimEventKindCount);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(ToString(SimEventKind::kPodBound), "pod-bound");
  EXPECT_EQ(ToString(SimEventKind::kFault), "fault");
}

TEST(EventLog, ARunIsOneJsonObjectPerLineAndAlwaysTheSameBytes) {
  std::ostringstream first;
  std::ostringstream second;
  for (std::ostringstream* out : {&first, &second}) {
    EventLog log(*out, testing::SampleZone());
    testing::SampleRun({}, log);
    EXPECT_GT(log.lines(), 1'000);
  }
  EXPECT_EQ(first.str(), second.str());
  std::istringstream lines(first.str());
  simdjson::dom::parser parser;
  double last = 0;
  int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    simdjson::dom::element element;
    ASSERT_EQ(parser.parse(line).get(element), simdjson::SUCCESS) << line;
    double t = 0;
    ASSERT_EQ(element["t"].get(t), simdjson::SUCCESS);
    EXPECT_GE(t, 0);
    last = std::max(last, t);
  }
  EXPECT_GT(count, 1'000);
  EXPECT_EQ(last, 86'400);
}

TEST(EventLog, TheOffsetFollowsDaylightSaving) {
  auto berlin = FindTimeZone("Europe/Berlin");
  ASSERT_TRUE(berlin.has_value());
  LocalClock clock(*berlin);
  // 2026-03-29 01:00 UTC: clocks go from 02:00 to 03:00.
  const int64_t change = 1'774'746'000;
  EXPECT_EQ(clock.Rfc3339(Timestamp::FromUnixSeconds(change - 1)), "2026-03-29T01:59:59+01:00");
  EXPECT_EQ(clock.Rfc3339(Timestamp::FromUnixSeconds(change)), "2026-03-29T03:00:00+02:00");
  EXPECT_EQ(clock.Rfc3339(Timestamp::FromUnixSeconds(change - 1)), "2026-03-29T01:59:59+01:00");
}

TEST(EventLog, DurationsHaveTwoUnits) {
  EXPECT_EQ(DurationText(0), "0s");
  EXPECT_EQ(DurationText(0.25), "0.25s");
  EXPECT_EQ(DurationText(59.6), "1m00s");
  EXPECT_EQ(DurationText(192), "3m12s");
  EXPECT_EQ(DurationText(7'500), "2h05m");
  EXPECT_EQ(DurationText(86'400 * 3 + 3'600 * 4), "3d04h");
  EXPECT_EQ(DurationText(-5), "-5s");
}

}  // namespace
}  // namespace krafla
