// 1. All scenarios are read; when one is wrong, nothing is run.
// 2. Each is run with its observers: the judge of expectations always, the others as asked for.
// 3. One scenario gets its summary, several get a line each.
#include "app/simulate_command.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "app/scenario_files.h"
#include "base/json_writer.h"
#include "base/yaml_node.h"
#include "scheduler/vocabulary.h"
#include "session/log.h"
#include "sim/compare.h"
#include "sim/event_log.h"
#include "sim/expectations.h"
#include "sim/report.h"
#include "sim/scenario_times.h"
#include "sim/simulation.h"
#include "sim/summary.h"

namespace krafla {

namespace {

constexpr int kExpectationFailed = 1;

// Everything that is known of a run once it is over.
struct Outcome {
  RunRecord record;
  std::vector<ExpectationResult> expectations;
  std::string report_file;

  size_t Failures() const {
    size_t count = 0;
    for (const ExpectationResult& result : expectations) count += result.met ? 0 : 1;
    return count;
  }
};

class ProgressLine {
 public:
  ProgressLine(const Scenario& scenario, bool shown, std::ostream& err)
      : scenario_(scenario), shown_(shown), err_(err) {}
  ~ProgressLine() {
    if (shown_) err_ << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const Progress& progress) {
    if (!shown_) return;
    const double whole = static_cast<double>(ElapsedNs(progress.begin, progress.end));
    const double done = static_cast<double>(ElapsedNs(progress.begin, progress.now));
    err_ << fmt::format("\r\x1b[K{}  {}  {:3.0f}%  running {}, pending {}, evictions {}",
                        scenario_.name, FormatLocalTime(progress.now, scenario_.zone),
                        whole > 0 ? 100 * done / whole : 100.0, progress.running_pods,
                        progress.pending_pods, progress.evictions)
         << std::flush;
  }

 private:
  const Scenario& scenario_;
  bool shown_;
  std::ostream& err_;
};

class SimulateRun {
 public:
  SimulateRun(const SimulateCommandOptions& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err), log_(options.verbosity) {}

  int Run();

 private:
  bool ReadAll();
  // Which of the runs that are compared.
  enum class Which { kFirst, kOther };
  // The exit code is set when something is wrong; the outcome is then empty.
  std::optional<Outcome> RunOne(const Scenario& scenario, const SchedulerConfig& config,
                                Which which = Which::kFirst);
  // How to make the same run again.
  std::string CommandLine(const Scenario& scenario, Which which) const;
  // Two runs are compared: each has a folder of its own.
  std::string ReportFolder(Which which) const;
  int RunSingle();
  int RunMany();
  void PrintExpectations(const Outcome& outcome);
  void WriteExpectationsJson(JsonWriter& json, const Outcome& outcome);
  int Written(int code);

  const SimulateCommandOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  Log log_;
  std::vector<Scenario> scenarios_;
  // --compare:
  std::optional<Scenario> other_scenario_;
  std::optional<SchedulerConfig> other_config_;
  int code_ = 0;
};

int SimulateRun::Run() {
  if (!ReadAll()) return kWrongInput;
  return scenarios_.size() == 1 ? RunSingle() : RunMany();
}

bool SimulateRun::ReadAll() {
  Diagnostics diagnostics;
  const std::vector<std::string> files = FindScenarioFiles(options_.scenarios, diagnostics);
  for (const std::string& file : files)
    scenarios_.push_back(ReadScenario(file, options_.overrides, diagnostics));
  if (files.size() > 1) {
    const std::pair<const char*, bool> single[] = {{"--report", !options_.report.empty()},
                                                   {"--events", !options_.events.empty()},
                                                   {"--compare", !options_.compare.empty()}};
    for (const auto& [option, given] : single)
      if (given)
        diagnostics.Error(option, {}, fmt::format("expected one scenario, got {}", files.size()));
  }
  if (!options_.compare.empty()) {
    Result<std::string> text = ReadFile(options_.compare);
    if (!text) {
      diagnostics.Error("--compare " + options_.compare, {}, text.error().message);
    } else {
      const YamlTree tree = ParseYaml(*text);
      if (tree.root.Find("tiers") != nullptr || tree.root.Find("actions") != nullptr) {
        other_config_ = ReadSchedulerConfig(*text, BuiltInVocabulary(),
                                            {.file_name = options_.compare}, diagnostics);
      } else {
        other_scenario_ = ReadScenario(options_.compare, options_.overrides, diagnostics);
      }
    }
  }
  Print(diagnostics, err_);
  return !diagnostics.HasErrors() && !scenarios_.empty();
}

std::string SimulateRun::ReportFolder(Which which) const {
  if (options_.compare.empty()) return options_.report;
  return (std::filesystem::path(options_.report) / (which == Which::kFirst ? "a" : "b")).string();
}

std::optional<Outcome> SimulateRun::RunOne(const Scenario& scenario, const SchedulerConfig& config,
                                           Which which) {
  Simulation simulation(scenario, config, log_);
  Diagnostics diagnostics;
  const bool sound = simulation.Prepare(diagnostics);
  Print(diagnostics, err_);
  if (!sound) {
    code_ = kWrongInput;
    return std::nullopt;
  }
  ExpectationJudge judge(scenario);
  RunRecorder recorder(scenario.zone);
  simulation.AddObserver(&judge);
  simulation.AddObserver(&recorder);

  std::ofstream events_file;
  std::unique_ptr<EventLog> events;
  const bool events_on_output = options_.events == "-";
  if (which == Which::kFirst && !options_.events.empty()) {
    if (!events_on_output) events_file.open(options_.events, std::ios::binary);
    if (!events_on_output && !events_file.is_open()) {
      err_ << "error: " << options_.events << ": cannot be written\n";
      code_ = kNotWritten;
      return std::nullopt;
    }
    events = std::make_unique<EventLog>(events_on_output ? out_ : events_file, scenario.zone);
    simulation.AddObserver(events.get());
  }
  std::optional<ReportCollector> report;
  if (!options_.report.empty()) {
    report.emplace(scenario.zone);
    simulation.AddObserver(&*report);
  }

  {
    ProgressLine line(scenario, options_.progress, err_);
    std::function<void(const Progress&)> show;
    if (options_.progress) show = [&line](const Progress& progress) { line.Show(progress); };
    simulation.Run(show);
  }
  Outcome outcome{recorder.Finish(), judge.Finish(), {}};
  if (events) {
    events->Flush();
    if (!events_on_output) events_file.close();
    if (!events_on_output && events_file.fail()) {
      err_ << "error: " << options_.events << ": the events could not be written\n";
      code_ = kNotWritten;
      return std::nullopt;
    }
  }
  if (report) {
    ReportNotes notes;
    notes.command = CommandLine(scenario, which);
    for (const ExpectationResult& result : outcome.expectations)
      notes.expectations.push_back({result.expectation->text, result.met, result.detail});
    const std::string folder = ReportFolder(which);
    Result<std::string> file = WriteReport(folder, *report, outcome.record.summary, notes);
    if (!file) {
      err_ << "error: --report " << folder << ": " << file.error().message << "\n";
      code_ = kNotWritten;
      return std::nullopt;
    }
    outcome.report_file = *file;
  }
  return outcome;
}

std::string SimulateRun::CommandLine(const Scenario& scenario, Which which) const {
  const ScenarioOverrides& overrides = options_.overrides;
  std::string line = "krafla simulate " + scenario.file;
  for (const std::string& setting : overrides.set) line += fmt::format(" --set '{}'", setting);
  if (which == Which::kOther && other_config_) {
    line += " --config " + options_.compare;
  } else if (!overrides.config.empty()) {
    line += " --config " + overrides.config;
  }
  for (const std::string& addition : overrides.add) line += " --add " + addition;
  if (overrides.until) line += fmt::format(" --until '{}'", *overrides.until);
  if (overrides.seed) line += " --seed " + *overrides.seed;
  return line;
}

void SimulateRun::PrintExpectations(const Outcome& outcome) {
  if (outcome.expectations.empty()) return;
  const size_t all = outcome.expectations.size();
  out_ << fmt::format("\nExpectations: {} of {} met\n", all - outcome.Failures(), all);
  for (const ExpectationResult& result : outcome.expectations)
    if (!result.met) out_ << "  " << ToString(result) << "\n";
}

void SimulateRun::WriteExpectationsJson(JsonWriter& json, const Outcome& outcome) {
  json.BeginArray();
  for (const ExpectationResult& result : outcome.expectations) {
    const ScenarioPlace& place = result.expectation->place;
    json.BeginObject().Key("expected").String(result.expectation->text);
    json.Key("file").String(place.file).Key("line").Integer(place.location.line);
    json.Key("met").Bool(result.met).Key("detail").String(result.detail).EndObject();
  }
  json.EndArray();
}

int SimulateRun::RunSingle() {
  const Scenario& scenario = scenarios_.front();
  std::optional<Outcome> outcome = RunOne(scenario, scenario.config);
  if (!outcome) return code_;
  std::optional<Outcome> other;
  if (other_scenario_) other = RunOne(*other_scenario_, other_scenario_->config, Which::kOther);
  if (other_config_) other = RunOne(scenario, *other_config_, Which::kOther);
  if (code_ != 0) return code_;
  std::optional<Comparison> comparison;
  if (other) comparison = Compare(outcome->record, other->record, scenario.file, options_.compare);

  // The log alone is on the output when it was asked for there.
  if (options_.events != "-") {
    if (options_.output == "json") {
      JsonWriter json;
      json.BeginObject().Key("summary");
      WriteSummaryJson(json, outcome->record.summary);
      json.Key("expectations");
      WriteExpectationsJson(json, *outcome);
      if (comparison) {
        json.Key("comparison");
        WriteComparisonJson(json, *comparison);
        json.Key("otherExpectations");
        WriteExpectationsJson(json, *other);
      }
      if (!outcome->report_file.empty()) json.Key("report").String(outcome->report_file);
      if (other && !other->report_file.empty()) json.Key("otherReport").String(other->report_file);
      json.EndObject();
      out_ << json.text() << "\n";
    } else {
      const SummaryTextOptions text{.color = options_.color};
      out_ << (comparison ? ComparisonText(*comparison, text)
                          : SummaryText(outcome->record.summary, text));
      PrintExpectations(*outcome);
      if (other && !other->expectations.empty()) {
        out_ << "\nWith " << options_.compare << ":";
        PrintExpectations(*other);
      }
      if (!outcome->report_file.empty()) out_ << "\nReport: " << outcome->report_file << "\n";
      if (other && !other->report_file.empty())
        out_ << "With " << options_.compare << ": " << other->report_file << "\n";
    }
  }
  return Written(outcome->Failures() == 0 ? 0 : kExpectationFailed);
}

int SimulateRun::RunMany() {
  size_t failed = 0;
  JsonWriter json;
  json.BeginArray();
  for (const Scenario& scenario : scenarios_) {
    const std::optional<Outcome> outcome = RunOne(scenario, scenario.config);
    if (!outcome) return code_;
    const size_t failures = outcome->Failures();
    if (failures > 0) ++failed;
    if (options_.output == "json") {
      json.BeginObject().Key("scenario").String(scenario.file).Key("summary");
      WriteSummaryJson(json, outcome->record.summary);
      json.Key("expectations");
      WriteExpectationsJson(json, *outcome);
      json.EndObject();
      continue;
    }
    out_ << fmt::format("{}  {}  {} of {} expectations met\n", failures == 0 ? "ok  " : "FAIL",
                        scenario.file, outcome->expectations.size() - failures,
                        outcome->expectations.size());
    for (const ExpectationResult& result : outcome->expectations)
      if (!result.met) out_ << "      " << ToString(result) << "\n";
    out_.flush();
  }
  json.EndArray();
  if (options_.output == "json") {
    out_ << json.text() << "\n";
  } else {
    out_ << fmt::format("{} of {} scenarios as expected\n", scenarios_.size() - failed,
                        scenarios_.size());
  }
  return Written(failed == 0 ? 0 : kExpectationFailed);
}

int SimulateRun::Written(int code) {
  out_.flush();
  if (out_) return code;
  err_ << "error: the result could not be written\n";
  return kNotWritten;
}

}  // namespace

int SimulateCommand(const SimulateCommandOptions& options, std::ostream& out, std::ostream& err) {
  return SimulateRun(options, out, err).Run();
}

}  // namespace krafla
