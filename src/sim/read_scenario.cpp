// 1. The text becomes a tree with places; a configuration that is a block of text becomes part of
//    the tree, at its own lines.
// 2. --set, --seed and --until change the tree; what they put in is marked as theirs.
// 3. Each section is read by a function of its own, which complains and goes on.
#include "sim/read_scenario.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "base/whole_file.h"
#include "sim/scenario_fields.h"
#include "sim/scenario_sections.h"
#include "sim/scenario_set.h"

namespace krafla {

namespace {

constexpr std::string_view kDefaultStart = "2026-01-05 00:00";  // a Monday
constexpr int64_t kDay = 86'400 * Timestamp::kNsPerSecond;
constexpr int64_t kLongestRunDays = 3660;

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The lines of a block of text below `at`, with everything above as blank lines: read as YAML, all
// places are those of the file.
std::string BlockInPlace(std::string_view source, Location at) {
  const std::vector<std::string_view> lines = Lines(source);
  const auto indent = [](std::string_view line) { return line.find_first_not_of(' '); };
  const auto header = static_cast<size_t>(at.line - 1);
  // The key's own indentation, past dashes of lists, is less than that of the block.
  const size_t outer =
      header < lines.size() ? std::min(indent(lines[header]), lines[header].size()) : 0;
  std::string text(header + 1, '\n');
  for (size_t i = header + 1; i < lines.size(); ++i) {
    const size_t own = indent(lines[i]);
    const bool blank = own == std::string_view::npos || lines[i][own] == '\r';
    if (!blank && own <= outer) break;
    text += lines[i];
    text += '\n';
  }
  return text;
}

class ScenarioReader {
 public:
  ScenarioReader(std::string_view text, const std::string& file_name,
                 const ScenarioOverrides& overrides, Diagnostics& diagnostics)
      : text_(text),
        overrides_(overrides),
        diagnostics_(diagnostics),
        problems_(file_name, OptionTexts(overrides)),
        reading_{scenario_, {}, {}, {}, diagnostics_, {}, 0} {
    scenario_.file = file_name;
    reading_.folder = std::filesystem::path(file_name).parent_path().string();
  }

  Scenario Read() {
    YamlTree tree = ParseYaml(text_);
    for (const YamlProblem& problem : tree.problems)
      problems_.Error("", problem.location, problem.message);
    if (tree.complete) {
      if (tree.root.IsNull()) {
        problems_.Error("", {1, 1},
                        "the scenario is empty; expected at least cluster and workload");
      } else {
        UnfoldSchedulerText(tree.root);
        ApplySettings(tree.root);
        ReadRoot(tree.root);
      }
    }
    problems_.MoveTo(diagnostics_);
    return std::move(scenario_);
  }

 private:
  // What changed the tree, in the order of their marks.
  static std::vector<std::string> OptionTexts(const ScenarioOverrides& overrides) {
    std::vector<std::string> texts;
    for (const std::string& setting : overrides.set) texts.push_back("--set " + setting);
    if (overrides.seed) texts.push_back("--seed " + *overrides.seed);
    if (overrides.until) texts.push_back("--until " + *overrides.until);
    return texts;
  }

  void UnfoldSchedulerText(YamlNode& root) {
    for (YamlEntry& entry : root.entries) {
      YamlNode& node = entry.value;
      if (entry.key != "scheduler" || !node.IsScalar() || !node.quoted || node.verbatim ||
          node.text.find('\n') == std::string::npos)
        continue;
      YamlTree tree = ParseYaml(BlockInPlace(text_, node.location));
      for (const YamlProblem& problem : tree.problems)
        problems_.Error("scheduler", problem.location, problem.message);
      if (tree.complete && tree.problems.empty()) node = std::move(tree.root);
      if (!tree.complete) scheduler_is_readable_ = false;
    }
  }

  void ApplySettings(YamlNode& root) {
    if (!root.IsMapping()) return;
    std::vector<std::string> settings = overrides_.set;
    if (overrides_.seed) settings.push_back("seed=" + *overrides_.seed);
    if (overrides_.until) settings.push_back("until=" + *overrides_.until);
    for (size_t i = 0; i < settings.size(); ++i) {
      const int mark = -static_cast<int>(i) - 1;
      if (const auto wrong = ApplySetting(settings[i], mark, root))
        problems_.Error("", {mark, 0}, *wrong);
    }
  }

  void ReadRoot(const YamlNode& root) {
    Fields fields(root, "", problems_);
    if (!root.IsMapping()) return;
    scenario_.name =
        fields.Text("name").value_or(std::filesystem::path(scenario_.file).stem().string());
    ReadTimes(fields);
    if (const auto seed = fields.Whole("seed", 0, INT64_MAX))
      scenario_.seed = static_cast<uint64_t>(*seed);
    constexpr int64_t kMillisecond = 1'000'000;
    scenario_.schedule_period_ns =
        fields.Duration("schedulePeriod", kMillisecond).value_or(scenario_.schedule_period_ns);
    scenario_.cycle_delay_ns =
        fields.Duration("cycleDelay", kMillisecond).value_or(scenario_.cycle_delay_ns);
    if (scenario_.cycle_delay_ns > scenario_.schedule_period_ns)
      fields.Error("cycleDelay", fmt::format("expected at most the schedulePeriod of {}, got {}",
                                             FormatGoDuration(scenario_.schedule_period_ns),
                                             FormatGoDuration(scenario_.cycle_delay_ns)));
    scenario_.max_clock_skew_ns =
        fields.Duration("maxClockSkew").value_or(scenario_.max_clock_skew_ns);
    scenario_.recreate_after_ns =
        fields.Duration("recreateAfter").value_or(scenario_.recreate_after_ns);
    if (const YamlNode* kubelet = fields.Find("kubelet")) ReadKubelet(*kubelet);

    if (const YamlNode* cluster = fields.Find("cluster")) {
      ReadCluster(*cluster, reading_, problems_);
    } else if (root.Find("cluster") == nullptr) {
      fields.Error("cluster", "expected a mapping with nodes or manifests, got nothing");
    }
    ReadQueues(fields.Find("queues"), reading_, problems_);
    ReadPriorityClasses(fields.Find("priorityClasses"), reading_, problems_);
    if (scheduler_is_readable_) {
      ReadScheduler(fields, overrides_.config, reading_);
    } else {
      fields.Find("scheduler");
      fields.Find("schedulerConfig");
    }
    if (const YamlNode* workload = fields.Find("workload"))
      ReadWorkload(*workload, "workload", std::nullopt, reading_, problems_);
    for (const std::string& addition : overrides_.add) ReadAddition(addition, reading_);
    std::ranges::stable_sort(scenario_.submissions, {}, &Submission::at);
    if (const YamlNode* faults = fields.Find("faults")) ReadFaults(*faults, reading_, problems_);
    std::ranges::stable_sort(scenario_.faults, {}, &Fault::at);
    if (const YamlNode* expect = fields.Find("expect"))
      ReadExpectations(*expect, reading_, problems_);
    fields.Finish();
  }

  void ReadTimes(Fields& fields) {
    ScenarioClock& clock = reading_.clock;
    const auto start = fields.Text("start");
    if (const auto zone = fields.Text("timezone")) {
      const Result<TimeZone> found = FindTimeZone(*zone);
      if (found) clock.zone = *found;
      if (!found) fields.Error("timezone", found.error().message);
    } else if (start) {
      const Result<ZonedTimestamp> zoned = ParseRfc3339(*start);
      if (zoned) clock.zone = FixedOffset(zoned->offset_seconds);
    }
    Result<Timestamp> begin =
        ParseAbsoluteTime(start.value_or(std::string(kDefaultStart)), clock.zone);
    if (!begin) {
      fields.Error("start", begin.error().message);
      begin = ParseAbsoluteTime(kDefaultStart, {});
    }
    clock.start = *begin;
    Timestamp end{clock.start.ns + kDay};
    if (const auto until = fields.Text("until")) {
      if (const Result<int64_t> duration = ParseLongDuration(*until)) {
        SetEnd(fields, *until, *duration, end);
      } else if (const Result<Timestamp> instant = ParseScenarioTime(*until, clock)) {
        SetEnd(fields, *until, ElapsedNs(clock.start, *instant), end);
      } else {
        fields.Error("until", fmt::format("expected a duration, such as 24h or 7d, or a time, such "
                                          "as \"day 2 08:00\", got {}",
                                          Quoted(*until)));
      }
      if (end <= clock.start) fields.Error("until", "the end is not after the start");
    }
    clock.until = end;
    scenario_.start = clock.start;
    scenario_.until = clock.until;
    scenario_.zone = clock.zone;
    scenario_.zone_name = clock.zone.name();
  }

  void SetEnd(Fields& fields, std::string_view until, int64_t duration_ns, Timestamp& end) {
    if (duration_ns > kLongestRunDays * kDay) {
      fields.Error("until", fmt::format("a run lasts {} days at most, got {}", kLongestRunDays,
                                        Quoted(until)));
    } else {
      end.ns = reading_.clock.start.ns + duration_ns;
    }
  }

  void ReadKubelet(const YamlNode& node) {
    Fields fields(node, "kubelet", problems_);
    KubeletShape& kubelet = scenario_.kubelet;
    kubelet.startup_ns = fields.Duration("startup").value_or(kubelet.startup_ns);
    kubelet.termination_ns = fields.Duration("termination").value_or(kubelet.termination_ns);
    kubelet.jitter = fields.Number("jitter", 0, 1).value_or(kubelet.jitter);
    fields.Finish();
  }

  std::string_view text_;
  const ScenarioOverrides& overrides_;
  Diagnostics& diagnostics_;
  ScenarioProblems problems_;
  Scenario scenario_;
  ScenarioReading reading_;
  bool scheduler_is_readable_ = true;
};

}  // namespace

Scenario ReadScenario(const std::string& path, const ScenarioOverrides& overrides,
                      Diagnostics& diagnostics) {
  const Result<std::string> text = ReadWholeFile(path);
  if (!text) {
    diagnostics.Error(path, {}, text.error().message);
    return {};
  }
  return ReadScenarioText(*text, path, overrides, diagnostics);
}

Scenario ReadScenarioText(std::string_view text, const std::string& file_name,
                          const ScenarioOverrides& overrides, Diagnostics& diagnostics) {
  return ScenarioReader(text, file_name, overrides, diagnostics).Read();
}

}  // namespace krafla
