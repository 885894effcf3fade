// The section expect: each entry has one key that says what must be true, and of whom.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

using Kind = Expectation::Kind;

// What an entry may say beside its first key.
enum Option : uint16_t {
  kBy = 1,         // by: the last instant
  kBefore = 2,     // before: the same, for things that must not happen
  kBetween = 4,    // between: [from, until]; after: from
  kAt = 8,         // at: needed
  kWithin = 16,    // within: needed
  kCounts = 32,    // count, atLeast, atMost: how many
  kShare = 64,     // atLeast, atMost: fractions
  kWhere = 128,    // node, zone
  kWhy = 256,      // action, for
  kReason = 512,   // reason
  kAtMost = 1024,  // atMost alone, needed
};

struct ExpectationKey {
  std::string_view key;
  Kind kind;
  uint16_t options;
  bool is_pod_or_job;  // the match is namespace/name
};

constexpr ExpectationKey kKinds[] = {
    {"bound", Kind::kBoundBy, kBy | kBetween | kCounts | kWhere, true},
    {"notBound", Kind::kNotBoundBy, kBefore | kBetween | kWhere, true},
    {"evicted", Kind::kEvicted, kBy | kBetween | kCounts | kWhy, true},
    {"neverEvicted", Kind::kNeverEvicted, kBefore | kBetween | kWhy, true},
    {"drained", Kind::kDrained, kWithin, false},
    {"share", Kind::kShareAt, kAt | kShare, false},
    {"noThrash", Kind::kNoThrash, kAtMost | kBetween, true},
    {"completed", Kind::kCompletedBy, kBy, true},
    {"pods", Kind::kPodsAt, kAt | kCounts | kWhere, true},
    {"waiting", Kind::kWaiting, kBy | kBetween | kReason, true},
    {"loop", Kind::kLoop, kCounts, true},
};

constexpr std::string_view kOptionKeys[] = {"by",     "before", "between", "after",  "at",
                                            "within", "count",  "atLeast", "atMost", "node",
                                            "zone",   "action", "for",     "reason"};

bool Allows(const ExpectationKey& kind, std::string_view option) {
  const auto has = [&](uint16_t bits) { return (kind.options & bits) != 0; };
  if (option == "by") return has(kBy);
  if (option == "before") return has(kBefore);
  if (option == "between" || option == "after") return has(kBetween);
  if (option == "at") return has(kAt);
  if (option == "within") return has(kWithin);
  if (option == "count") return has(kCounts);
  if (option == "atLeast") return has(kCounts | kShare);
  if (option == "atMost") return has(kCounts | kShare | kAtMost);
  if (option == "node" || option == "zone") return has(kWhere);
  if (option == "action" || option == "for") return has(kWhy);
  if (option == "reason") return has(kReason);
  return false;
}

// As written: "bound: team-a/urgent, by: 12:01".
std::string AsText(const YamlNode& node) {
  std::string text;
  for (const YamlEntry& entry : node.entries) {
    if (!text.empty()) text += ", ";
    text += entry.key + ": ";
    if (entry.value.IsSequence()) {
      std::vector<std::string> items;
      for (const YamlNode& item : entry.value.items) items.push_back(item.text);
      text += fmt::format("[{}]", fmt::join(items, ", "));
    } else {
      text += entry.value.text;
    }
  }
  return text;
}

void ReadTimes(Fields& fields, Expectation& expectation, const ScenarioReading& reading) {
  const auto by = fields.Time("by", reading.clock);
  const auto before = fields.Time("before", reading.clock);
  const auto after = fields.Time("after", reading.clock);
  if (by) expectation.until = *by;
  // That instant itself does not belong to it.
  if (before) expectation.until.ns = before->ns - 1;
  if (after) expectation.from = *after;
  if (const auto at = fields.Time("at", reading.clock)) expectation.at = *at;
  if (const YamlNode* between = fields.Find("between")) {
    if (by || before || after) fields.Error("between", "by, before or after says it already");
    if (!between->IsSequence() || between->items.size() != 2) {
      fields.Error("between", "expected two times: [\"21:00\", \"21:10\"]");
      return;
    }
    Timestamp* const ends[] = {&expectation.from, &expectation.until};
    for (size_t i = 0; i < 2; ++i) {
      const YamlNode& item = between->items[i];
      const Result<Timestamp> time = ParseScenarioTime(item.text, reading.clock);
      if (!time) {
        fields.ErrorAt(item.location, "between", time.error().message);
        return;
      }
      *ends[i] = *time;
    }
  }
  if (expectation.from.Present() && expectation.until.Present() &&
      expectation.until < expectation.from)
    fields.Error("between", "the second time is before the first");
}

void ReadCounts(Fields& fields, const ExpectationKey& kind, Expectation& expectation) {
  constexpr int64_t kMost = 1'000'000'000;
  if ((kind.options & kShare) != 0) {
    expectation.low = fields.Number("atLeast", 0, 1).value_or(0);
    expectation.high = fields.Number("atMost", 0, 1).value_or(1);
    if (fields.node().Find("atLeast") == nullptr && fields.node().Find("atMost") == nullptr)
      fields.Error("", "expected atLeast or atMost, got none");
    if (expectation.low > expectation.high) fields.Error("atMost", "is less than atLeast");
    return;
  }
  const auto count = fields.Whole("count", 0, kMost);
  if (count) expectation.min_count = expectation.max_count = *count;
  if (const auto least = fields.Whole("atLeast", 0, kMost)) expectation.min_count = *least;
  if (const auto most = fields.Whole("atMost", 0, kMost)) expectation.max_count = *most;
  if (count && (fields.Find("atLeast") != nullptr || fields.Find("atMost") != nullptr))
    fields.Error("count", "is exact; atLeast and atMost do not go with it");
  if (expectation.min_count && expectation.max_count &&
      *expectation.min_count > *expectation.max_count)
    fields.Error("atMost", "is less than atLeast");
  const bool needs_most = (kind.options & kAtMost) != 0;
  if (needs_most && fields.node().Find("atMost") == nullptr)
    fields.Error("atMost", "expected how often is still no thrash, got nothing");
  if (kind.kind == Kind::kPodsAt && !expectation.min_count && !expectation.max_count &&
      fields.node().Find("count") == nullptr)
    fields.Error("", "expected count, atLeast or atMost, got none");
}

void CheckMatch(Fields& fields, const ExpectationKey& kind, const Expectation& expectation,
                const ScenarioReading& reading) {
  const std::string& match = expectation.match;
  if (kind.is_pod_or_job && match != "*" && match.find('/') == std::string::npos)
    fields.Error(kind.key, fmt::format("expected namespace/name, such as {}, got {}",
                                       Quoted("default/" + match), Quoted(match)));
  if (kind.kind == Kind::kShareAt && !reading.names.queues.contains(match)) {
    const std::vector<std::string_view> names(reading.names.queues.begin(),
                                              reading.names.queues.end());
    fields.Error(kind.key, fmt::format("there is no queue {}{}", Quoted(match),
                                       DidYouMeanHint(match, names)));
  }
}

void ReadExpectation(const YamlNode& node, const std::string& path, ScenarioReading& reading,
                     ScenarioProblems& problems) {
  Fields fields(node, path, problems);
  if (!node.IsMapping()) return;
  std::vector<const ExpectationKey*> found;
  std::vector<std::string_view> names;
  for (const ExpectationKey& known : kKinds) {
    names.push_back(known.key);
    if (fields.Find(known.key) != nullptr) found.push_back(&known);
  }
  fields.Know(kOptionKeys);
  if (found.size() != 1) {
    fields.Error("", fmt::format("expected one of {}, got {}", fmt::join(names, ", "),
                                 found.empty() ? "none" : "several"));
    fields.Finish();
    return;
  }
  const ExpectationKey& kind = *found.front();
  Expectation expectation;
  expectation.kind = kind.kind;
  expectation.place = problems.PlaceOf(node.location);
  expectation.text = AsText(node);
  if (const auto match = fields.Text(kind.key)) {
    expectation.match = *match;
    CheckMatch(fields, kind, expectation, reading);
  }
  for (const std::string_view option : kOptionKeys)
    if (fields.Find(option) != nullptr && !Allows(kind, option))
      fields.Error(option, fmt::format("{} does not take this", kind.key));
  ReadTimes(fields, expectation, reading);
  ReadCounts(fields, kind, expectation);
  if ((kind.options & kAt) != 0 && node.Find("at") == nullptr)
    fields.Error("at", "expected a time, got nothing");
  if ((kind.options & kWithin) != 0) {
    expectation.within_ns = fields.Duration("within").value_or(0);
    if (node.Find("within") == nullptr) fields.Error("within", "expected a duration, got nothing");
  }
  expectation.action = fields.Text("action").value_or("");
  expectation.for_job = fields.Text("for").value_or("");
  expectation.node = fields.Text("node").value_or("");
  expectation.zone = fields.Text("zone").value_or("");
  expectation.reason = fields.Text("reason").value_or("");
  fields.Finish();
  reading.scenario.expectations.push_back(std::move(expectation));
}

}  // namespace

void ReadExpectations(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems) {
  const std::vector<const YamlNode*> items = ItemsOf(node);
  for (size_t i = 0; i < items.size(); ++i)
    ReadExpectation(*items[i], IndexedPath("expect", i, node.IsSequence()), reading, problems);
}

}  // namespace krafla
