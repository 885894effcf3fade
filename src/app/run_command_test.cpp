#include "app/run_command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/source_dir.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using namespace testing;

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

Ran RunOn(RunCommandOptions options, const std::string& input) {
  options.now = "2026-03-10T12:00:00Z";
  std::stringstream in(input);
  std::stringstream out;
  std::stringstream err;
  const int code = RunCommand(options, in, out, err);
  return {code, out.str(), err.str()};
}

TEST(RunCommandTest, AnEmptyClusterIsNotPassedOverInSilence) {
  const Ran nothing = RunOn({.cluster = {"-"}}, QueueYaml());
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.err,
            "warning: no Node in the input: nothing can be placed\n"
            "warning: no pod in the input: there is nothing to schedule\n");
  EXPECT_EQ(RunOn({.cluster = {"-"}}, QueueYaml() + NodeYaml()).err,
            "warning: no pod in the input: there is nothing to schedule\n");
  EXPECT_EQ(RunOn({.cluster = {"-"}}, QueueYaml() + NodeYaml() + PodGroupYaml() + PodYaml()).err,
            "");
}

TEST(RunCommandTest, TheConfigurationMayComeFromStandardInput) {
  const std::string folder = testing::SourceDir() + "/examples/preempt";
  const std::string cluster = folder + "/cluster.yaml";
  std::stringstream config;
  config << std::ifstream(folder + "/scheduler.yaml").rdbuf();
  const Ran ran = RunOn({.cluster = {cluster}, .config = "-"}, config.str());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, RunOn({.cluster = {cluster}, .config = folder + "/scheduler.yaml"}, "").out);
  EXPECT_TRUE(ran.out.contains("preempt: 2 evicted")) << ran.out;
  const Ran wrong = RunOn({.cluster = {cluster}, .config = "-"}, "actions: preemt\n");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.err.contains("did you mean \"preempt\"?")) << wrong.err;
}

TEST(RunCommandTest, StandardInputIsReadOnce) {
  const Ran ran = RunOn({.cluster = {"-"}, .config = "-"}, QueueYaml());
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.err.contains("standard input cannot be both the configuration and the cluster"))
      << ran.err;
  EXPECT_EQ(ran.out, "");
}

}  // namespace
}  // namespace krafla
