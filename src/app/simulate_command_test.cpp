#include "app/simulate_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace krafla {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = R"(start: 2026-03-10 12:00
until: 1h
cluster: {nodes: {name: n, cpu: 4, memory: 8Gi}}
workload: [{job: team/a, cpu: 1, memory: 1Gi, runTime: 10m}]
expect:
- {completed: team/a, by: "12:11"}
)";
constexpr const char* kDisappointed = R"(start: 2026-03-10 12:00
until: 1h
cluster: {nodes: {name: n, cpu: 4, memory: 8Gi}}
workload: [{job: team/a, cpu: 8, memory: 1Gi}]
expect:
- {bound: team/a, by: "12:01"}
)";

class SimulateCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("simulate_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_ / "files");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  static std::string ReadBack(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  int Run(const SimulateCommandOptions& options) {
    std::ostringstream out, err;
    const int code = SimulateCommand(options, out, err);
    out_ = Relative(out.str());
    err_ = Relative(err.str());
    return code;
  }
  // Without the name of the folder.
  std::string Relative(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }

  fs::path folder_;
  std::string out_;
  std::string err_;
};

TEST_F(SimulateCommandTest, OneScenarioGetsItsSummary) {
  EXPECT_EQ(Run({.scenarios = {Write("good.yaml", kGood)}}), 0);
  EXPECT_NE(out_.find("Expectations: 1 of 1 met\n"), std::string::npos) << out_;
  EXPECT_EQ(err_, "");
}

TEST_F(SimulateCommandTest, AFailedExpectationIsNamedAndFailsTheCommand) {
  EXPECT_EQ(Run({.scenarios = {Write("sad.yaml", kDisappointed)}}), 1);
  EXPECT_NE(out_.find("  sad.yaml:6: expected bound: team/a, by: 12:01; team/a had none of its 1 "
                      "pod bound by 12:01:00\n"),
            std::string::npos)
      << out_;
}

TEST_F(SimulateCommandTest, SeveralScenariosGetALineEach) {
  Write("a.yaml", kGood);
  Write("b.yaml", kDisappointed);
  Write("files/other.yaml", "not a scenario");
  Write("jobs.csv", "not one either");
  const char* const expected =
      "ok    a.yaml  1 of 1 expectations met\n"
      "FAIL  b.yaml  0 of 1 expectations met\n"
      "      b.yaml:6: expected bound: team/a, by: 12:01; team/a had none of its 1 pod bound by "
      "12:01:00\n"
      "1 of 2 scenarios as expected\n";
  EXPECT_EQ(Run({.scenarios = {folder_.string()}}), 1);
  EXPECT_EQ(out_, expected);
  // As a shell expands **: everything, files twice.
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  EXPECT_EQ(Run({.scenarios = {folder_.string(), at("a.yaml"), at("b.yaml"), at("files"),
                               at("files/other.yaml"), at("jobs.csv")}}),
            1);
  EXPECT_EQ(out_, expected);
}

TEST_F(SimulateCommandTest, WrongInputRunsNothing) {
  const std::string good = Write("good.yaml", kGood);
  EXPECT_EQ(Run({.scenarios = {good, Write("bad.yaml", "clutser: {}\n"), "missing.yaml"}}), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_,
            "bad.yaml:1:1: error: cluster: expected a mapping with nodes or manifests, got "
            "nothing\n"
            "bad.yaml:1:1: error: unknown key \"clutser\"; did you mean \"cluster\"?\n"
            "missing.yaml: error: cannot be read: No such file or directory\n");
  EXPECT_EQ(Run({.scenarios = {good, Write("second.yaml", kGood)}, .report = "r"}), 2);
  EXPECT_EQ(err_, "--report: error: expected one scenario, got 2\n");
  EXPECT_EQ(Run({.scenarios = {good}, .compare = "missing.yaml"}), 2);
  EXPECT_EQ(err_, "--compare missing.yaml: error: cannot be read: No such file or directory\n");
}

TEST_F(SimulateCommandTest, AJobOfAManifestWithoutItsQueueIsWarnedOfAndSaysWhyItWaits) {
  Write("job.yaml",
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
        "metadata: {name: extra, namespace: red}\n"
        "spec:\n  schedulerName: volcano\n  minAvailable: 1\n  queue: rde\n  tasks:\n"
        "  - {name: w, replicas: 1, template: {spec: {containers: [{name: c, image: x}]}}}\n");
  const std::string scenario = Write("s.yaml",
                                     "until: 1h\ncluster: {nodes: {name: n, cpu: 4, memory: 8Gi}}\n"
                                     "queues: {red: {}}\nworkload: [{manifest: job.yaml}]\n");
  EXPECT_EQ(Run({.scenarios = {scenario}}), 0);
  EXPECT_EQ(
      err_,
      "s.yaml:4:12: warning: job red/extra waits for ever: there is no queue \"rde\"; did you "
      "mean \"red\"?\n");
  EXPECT_NE(out_.find("there is no queue \"rde\"\n"), std::string::npos) << out_;
}

TEST_F(SimulateCommandTest, TheSameRunGivesTheSameBytes) {
  const std::string path = Write("good.yaml", kGood);
  const std::string first = (folder_ / "1.jsonl").string();
  const std::string second = (folder_ / "2.jsonl").string();
  EXPECT_EQ(Run({.scenarios = {path}, .events = first, .output = "json"}), 0);
  const std::string summary = out_;
  EXPECT_EQ(Run({.scenarios = {path}, .events = second, .output = "json"}), 0);
  EXPECT_EQ(out_, summary);
  EXPECT_TRUE(out_.starts_with("{\"summary\":{")) << out_;
  EXPECT_NE(ReadBack(first).find("\"event\":\"pod-bound\""), std::string::npos);
  EXPECT_EQ(ReadBack(first), ReadBack(second));
  EXPECT_EQ(Run({.scenarios = {path}, .events = "-"}), 0);
  EXPECT_EQ(out_, ReadBack(first));
  EXPECT_EQ(Run({.scenarios = {path}, .events = (folder_ / "no/such/file").string()}), 1);
  EXPECT_EQ(err_, "error: no/such/file: cannot be written\n");
}

TEST_F(SimulateCommandTest, ComparesWithAnotherConfigurationOrScenario) {
  const std::string good = Write("good.yaml", kGood);
  const std::string config = Write("conf.yaml", "actions: enqueue\ntiers: []\n");
  EXPECT_EQ(Run({.scenarios = {good}, .compare = config}), 0);
  EXPECT_NE(out_.find("With conf.yaml:\nExpectations: 0 of 1 met\n"), std::string::npos) << out_;
  const std::string sad = Write("sad.yaml", kDisappointed);
  EXPECT_EQ(Run({.scenarios = {good}, .compare = sad}), 0);
  EXPECT_EQ(Run({.scenarios = {sad}, .compare = good}), 1);
}

TEST_F(SimulateCommandTest, WritesTheReport) {
  EXPECT_EQ(Run({.scenarios = {Write("good.yaml", kGood)}, .report = (folder_ / "out").string()}),
            0);
  EXPECT_NE(out_.find("Report: out/index.html\n"), std::string::npos) << out_;
  EXPECT_NE(ReadBack((folder_ / "out/index.html").string()).find("</html>"), std::string::npos);
}

TEST_F(SimulateCommandTest, WritesAReportOfEachRunThatIsCompared) {
  const std::string good = Write("good.yaml", kGood);
  const std::string config = Write("conf.yaml", "actions: enqueue\ntiers: []\n");
  const std::string out = (folder_ / "out").string();
  EXPECT_EQ(Run({.scenarios = {good}, .compare = config, .report = out}), 0);
  EXPECT_NE(out_.find("Report: out/a/index.html\nWith conf.yaml: out/b/index.html\n"),
            std::string::npos)
      << out_;
  const std::string first = Relative(ReadBack(out + "/a/index.html"));
  const std::string other = Relative(ReadBack(out + "/b/index.html"));
  EXPECT_EQ(first.find("--config conf.yaml"), std::string::npos);
  EXPECT_NE(other.find("krafla simulate good.yaml --config conf.yaml"), std::string::npos);
  EXPECT_EQ(Run({.scenarios = {good}, .compare = config, .report = out, .output = "json"}), 0);
  EXPECT_NE(out_.find(R"("otherReport":"out/b/index.html")"), std::string::npos) << out_;
}

}  // namespace
}  // namespace krafla
