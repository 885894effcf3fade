// Every scenario file of the project is run, and does what it expects of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "session/log.h"
#include "sim/expectations.h"
#include "sim/read_scenario.h"
#include "sim/simulation.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ScenarioFiles() {
  const fs::path root = testing::SourceDir();
  std::vector<std::string> files;
  for (const char* folder : {"tests/scenarios", "examples/scenarios"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path path = fs::relative(entry.path(), root);
      // What scenarios use stands in folders of this name.
      if (path.extension() == ".yaml" && path.parent_path().filename() != "files")
        files.push_back(path.string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, DoWhatTheyExpect) {
  Diagnostics diagnostics;
  const Scenario scenario =
      ReadScenario((fs::path(testing::SourceDir()) / GetParam()).string(), {}, diagnostics);
  for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  ASSERT_FALSE(diagnostics.HasErrors());
  ASSERT_FALSE(scenario.expectations.empty()) << "a scenario without expectations tests nothing";

  Log log(0);
  Simulation simulation(scenario, scenario.config, log);
  ASSERT_TRUE(simulation.Prepare(diagnostics));
  ExpectationJudge judge(scenario);
  simulation.AddObserver(&judge);
  simulation.Run({});
  for (const ExpectationResult& result : judge.Finish())
    EXPECT_TRUE(result.met) << ToString(result);
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = fs::path(info.param).replace_extension().string();
  name.erase(0, name.find("scenarios/") + std::string("scenarios/").size());
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Scenarios, ::testing::ValuesIn(ScenarioFiles()), TestName);

}  // namespace
}  // namespace krafla::testing
