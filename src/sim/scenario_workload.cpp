// The section workload: jobs at times, arrivals, traces, manifests; and --add.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

constexpr int64_t kMaxCopies = 100'000;
constexpr int64_t kMaxArrivals = 1'000'000;

void ReadArrivals(Fields& entry, const YamlNode& node, JobShape job, ScenarioReading& reading) {
  Fields fields(node, entry.PathOf("arrivals"), entry.problems());
  Arrivals arrivals;
  arrivals.job = std::move(job);
  constexpr std::array<std::string_view, 2> kProcesses = {"fixed", "poisson"};
  if (const auto process = fields.Text("process")) {
    if (*process == "poisson") {
      arrivals.process = Arrivals::Process::kPoisson;
    } else if (*process != "fixed") {
      fields.Error("process", fmt::format("unknown process {}{}", Quoted(*process),
                                          DidYouMeanHint(*process, kProcesses)));
    }
  }
  const auto every = fields.Duration("every", 1);
  const auto rate = fields.Text("rate");
  if (every) arrivals.every_ns = *every;
  if (rate) {
    const Result<int64_t> parsed = ParseRate(*rate);
    if (!parsed) fields.Error("rate", parsed.error().message);
    if (parsed) arrivals.every_ns = *parsed;
    if (every) fields.Error("rate", "every says it already; keep one of the two");
  }
  if (!rate && fields.node().Find("every") == nullptr)
    fields.Error("every", "expected the time between two jobs, or a rate such as 30/h");
  arrivals.from = fields.Time("from", reading.clock).value_or(reading.clock.start);
  arrivals.until = fields.Time("until", reading.clock).value_or(reading.clock.until);
  if (arrivals.until < arrivals.from) fields.Error("until", "expected a time after from");
  arrivals.limit = static_cast<int32_t>(fields.Whole("limit", 0, kMaxArrivals).value_or(-1));
  fields.Finish();
  int64_t times = 1;
  if (arrivals.every_ns > 0) {
    const int64_t expected = ElapsedNs(arrivals.from, arrivals.until) / arrivals.every_ns;
    if (arrivals.limit < 0 && expected > kMaxArrivals)
      fields.Error("every", fmt::format("about {} jobs would arrive; at most {} are possible",
                                        expected, kMaxArrivals));
    times = std::clamp<int64_t>(expected, 0, arrivals.limit < 0 ? kMaxArrivals : arrivals.limit);
  }
  if (ClaimJobName(arrivals.job, entry, reading, times))
    reading.scenario.arrivals.push_back(std::move(arrivals));
}

void ReadJobEntry(Fields& fields, std::optional<Timestamp> at, ScenarioReading& reading) {
  JobShape job = ReadJob(fields, reading);
  const auto own_time = fields.Time("at", reading.clock);
  const Timestamp time = at ? *at : own_time.value_or(reading.clock.start);
  const auto count = fields.Whole("count", 1, kMaxCopies);
  if (const YamlNode* arrivals = fields.Find("arrivals")) {
    if (fields.node().Find("at") != nullptr)
      fields.Error("at", "arrivals say when; write arrivals.from");
    if (count) fields.Error("count", "arrivals say how many; write arrivals.limit");
    ReadArrivals(fields, *arrivals, std::move(job), reading);
    return;
  }
  if (!count) {
    if (ClaimJobName(job, fields, reading))
      reading.scenario.submissions.push_back({time, std::move(job)});
    return;
  }
  for (int64_t i = 1; i <= *count; ++i) {
    JobShape copy = job;
    copy.name = fmt::format("{}-{}", job.name, i);
    if (!ClaimJobName(copy, fields, reading)) break;
    reading.scenario.submissions.push_back({time, std::move(copy)});
  }
}

void ReadManifestEntry(Fields& fields, std::optional<Timestamp> at, ScenarioReading& reading) {
  ManifestSubmission submission;
  submission.place = fields.problems().PlaceOf(fields.node().location);
  const auto own_time = fields.Time("at", reading.clock);
  submission.at = at ? *at : own_time.value_or(reading.clock.start);
  submission.run_time = ReadRunTime(fields, "runTime");
  if (const auto file = fields.Text("manifest")) {
    submission.file = ResolvePath(*file, reading.folder);
    if (ReadNamedFile(fields, "manifest", submission.file)) {
      ReadManifestNames(submission.file, reading);
      reading.scenario.manifest_submissions.push_back(std::move(submission));
    }
  }
}

void ReadTraceEntry(Fields& fields, std::optional<Timestamp> at, ScenarioReading& reading) {
  const auto own_time = fields.Time("at", reading.clock);
  const Timestamp from = at ? *at : own_time.value_or(reading.clock.start);
  const auto file = fields.Text("trace");
  if (!file) return;
  const std::string path = ResolvePath(*file, reading.folder);
  if (const auto text = ReadNamedFile(fields, "trace", path))
    ReadTrace(fields, path, *text, from, reading);
}

// A manifest is told by its kind.
bool IsManifest(const YamlTree& tree) {
  return !tree.complete || tree.root.Find("kind") != nullptr ||
         tree.root.Find("apiVersion") != nullptr;
}

}  // namespace

void ReadWorkload(const YamlNode& node, std::string_view path, std::optional<Timestamp> at,
                  ScenarioReading& reading, ScenarioProblems& problems) {
  const std::vector<const YamlNode*> items = ItemsOf(node);
  for (size_t i = 0; i < items.size(); ++i) {
    Fields fields(*items[i], IndexedPath(path, i, node.IsSequence()), problems);
    if (items[i]->IsNull())
      problems.Error(fields.path(), items[i]->location, "expected a mapping, got nothing");
    if (!items[i]->IsMapping()) continue;
    if (items[i]->Find("manifest") != nullptr) {
      ReadManifestEntry(fields, at, reading);
    } else if (items[i]->Find("trace") != nullptr) {
      ReadTraceEntry(fields, at, reading);
    } else {
      // Misspelt, these would make another kind of entry.
      fields.Know(std::array<std::string_view, 2>{"manifest", "trace"});
      ReadJobEntry(fields, at, reading);
    }
    fields.Finish();
  }
}

void ReadAddition(const std::string& argument, ScenarioReading& reading) {
  const size_t sign = argument.rfind('@');
  const std::string file = argument.substr(0, sign);
  ScenarioProblems problems(file);
  std::optional<Timestamp> at;
  if (sign != std::string::npos) {
    const Result<Timestamp> time =
        ParseScenarioTime(std::string_view(argument).substr(sign + 1), reading.clock);
    if (!time) {
      reading.diagnostics.Error("--add " + argument, {}, time.error().message);
      return;
    }
    at = *time;
    if (*time > reading.clock.until)
      reading.diagnostics.Warning(
          "--add " + argument, {},
          fmt::format("{} is after the end of the run, {}", Quoted(argument.substr(sign + 1)),
                      FormatLocalTime(reading.clock.until, reading.clock.zone)));
  }
  const YamlNode nothing;
  Fields option(nothing, "", problems);
  const auto text = ReadOptionFile(option, "--add", file);
  if (text) {
    const YamlTree tree = ParseYaml(*text);
    if (IsManifest(tree)) {
      ManifestSubmission submission{at.value_or(reading.clock.start), file, {}, {file, {1, 1}}};
      ReadManifestNames(file, reading);
      reading.scenario.manifest_submissions.push_back(std::move(submission));
    } else {
      for (const YamlProblem& problem : tree.problems)
        problems.Error("", problem.location, problem.message);
      const std::string folder =
          std::exchange(reading.folder,
                        file.find('/') == std::string::npos ? "" : file.substr(0, file.rfind('/')));
      ReadWorkload(tree.root, "workload", at, reading, problems);
      reading.folder = folder;
    }
  }
  problems.MoveTo(reading.diagnostics);
}

}  // namespace krafla
