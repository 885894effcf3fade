// The scheduler's configuration inside of a scenario: a mapping, a block of text, or a file.
#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "config/config_tree.h"
#include "scheduler/vocabulary.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

void ReadConfigFile(const std::string& path, const std::string& text, ScenarioReading& reading) {
  Scenario& scenario = reading.scenario;
  scenario.scheduler_config = text;
  scenario.scheduler_config_file = path;
  scenario.scheduler_config_at = {1, 1};
  ConfigReadOptions options;
  options.file_name = path;
  scenario.config = ReadSchedulerConfig(text, BuiltInVocabulary(), options, reading.diagnostics);
}

void ReadInlineConfig(const YamlNode& node, ScenarioProblems& problems, ScenarioReading& reading) {
  Scenario& scenario = reading.scenario;
  scenario.scheduler_config = ToJson(node);
  scenario.scheduler_config_file = problems.file();
  scenario.scheduler_config_at = node.location;
  ConfigReadOptions options;
  options.file_name = problems.file();
  Diagnostics found;
  scenario.config = ReadSchedulerConfigTree({node, {}, true}, BuiltInVocabulary(), options, found);
  problems.Take(found);
}

}  // namespace

void ReadScheduler(Fields& root, const std::string& replacement, ScenarioReading& reading) {
  const YamlNode* own = root.Find("scheduler");
  const auto file = root.Text("schedulerConfig");
  if (own != nullptr && file)
    root.Error("schedulerConfig", "scheduler says it already; keep one of the two");
  if (!replacement.empty()) {
    ScenarioProblems problems("--config " + replacement);
    const YamlNode nothing;
    Fields option(nothing, "", problems);
    if (const auto text = ReadOptionFile(option, "", replacement))
      ReadConfigFile(replacement, *text, reading);
    problems.MoveTo(reading.diagnostics);
  } else if (own != nullptr) {
    if (own->IsMapping()) {
      ReadInlineConfig(*own, root.problems(), reading);
    } else {
      root.Error("scheduler", fmt::format("expected a configuration, as a mapping or as a block of "
                                          "text (scheduler: |), got {}",
                                          Describe(*own)));
    }
  } else if (file) {
    const std::string path = ResolvePath(*file, reading.folder);
    if (const auto text = ReadNamedFile(root, "schedulerConfig", path))
      ReadConfigFile(path, *text, reading);
  } else {
    ReadConfigFile("default configuration", std::string(DefaultSchedulerConfigText()), reading);
  }
}

}  // namespace krafla
