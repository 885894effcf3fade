// The image cannot be built in a test; that what its recipe names exists, and that it fits the
// Deployment, can be read.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "app/check_command.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = testing::SourceDir();

std::string TextOf(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

// The words of each instruction; continued lines are one.
std::vector<std::vector<std::string>> Instructions(const std::string& recipe) {
  std::vector<std::vector<std::string>> instructions;
  std::istringstream lines(recipe);
  bool continued = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (!continued) instructions.emplace_back();
    continued = line.ends_with('\\');
    if (continued) line.pop_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) instructions.back().push_back(word);
  }
  return instructions;
}

TEST(DeployFiles, WhatTheImageIsMadeOfExists) {
  size_t copied = 0;
  size_t scripts = 0;
  size_t targets = 0;
  for (const auto& words : Instructions(TextOf(kRoot / "deploy/Dockerfile"))) {
    if (words[0] == "COPY" && !words[1].starts_with("--from=")) {
      for (size_t i = 1; i + 1 < words.size(); ++i, ++copied)
        EXPECT_TRUE(fs::exists(kRoot / words[i])) << words[i];
    }
    if (words[0] != "RUN") continue;
    if (words[1].starts_with("scripts/")) {
      ++scripts;
      EXPECT_EQ(::access((kRoot / words[1]).c_str(), X_OK), 0) << words[1];
    }
    if (words[1] == "make") {
      ++targets;
      EXPECT_NE(TextOf(kRoot / "Makefile").find("\n" + words[2] + ":"), std::string::npos)
          << words[2];
    }
  }
  EXPECT_EQ(copied, 7u);
  EXPECT_EQ(scripts, 1u);
  EXPECT_EQ(targets, 1u);
}

// CMake refuses to go on when a file it names is missing.
TEST(DeployFiles, WhatTheBuildNamesIsInTheImage) {
  const std::string recipe = TextOf(kRoot / "deploy/Dockerfile");
  const std::string build = TextOf(kRoot / "CMakeLists.txt");
  for (const char* folder : {"bench", "deploy", "src"}) {
    EXPECT_NE(build.find(std::string(folder) + "/"), std::string::npos) << folder;
    EXPECT_NE(recipe.find(std::string("COPY ") + folder + " " + folder + "\n"), std::string::npos)
        << folder;
  }
}

// What users begin with must not be what `krafla check` warns of.
TEST(DeployFiles, ThePackageHasEveryManifest) {
  const std::string build = TextOf(kRoot / "CMakeLists.txt");
  const size_t list = build.find("install(FILES LICENSE");
  ASSERT_NE(list, std::string::npos);
  const std::string installed = build.substr(list, build.find(')', list) - list);
  size_t manifests = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "deploy")) {
    if (entry.path().extension() != ".yaml") continue;
    ++manifests;
    const std::string name = "deploy/" + entry.path().filename().string();
    EXPECT_NE(installed.find(name), std::string::npos) << name;
  }
  EXPECT_GE(manifests, 6u);
}

// The fault that stops scheduling altogether must not depend on an operator who reads the log.
TEST(DeployFiles, SkippedActionsRaiseAnAlert) {
  const std::string alerts = TextOf(kRoot / "deploy/alerts.yaml");
  EXPECT_NE(alerts.find("krafla_scheduling_suspended == 1 or krafla_skipped_actions > 0"),
            std::string::npos);
}

TEST(DeployFiles, TheFlowSchemaCoversProbesOfTheWatches) {
  EXPECT_NE(TextOf(kRoot / "deploy/flow-schema.yaml").find("nonResourceURLs: [/version]"),
            std::string::npos);
}

TEST(DeployFiles, TheConfigurationHasNoTraps) {
  std::istringstream lines(TextOf(kRoot / "deploy/krafla.yaml"));
  std::string config;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && !line.starts_with("    ")) break;
    if (inside) config += line.substr(4) + "\n";
    inside = inside || line == "  scheduler.conf: |";
  }
  ASSERT_NE(config.find("preempt"), std::string::npos) << config;
  const fs::path file = fs::temp_directory_path() / ("krafla-deploy-" + std::to_string(::getpid()));
  std::ofstream(file) << config;
  CheckCommandOptions options;
  options.config = file.string();
  options.strict = true;
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  EXPECT_EQ(CheckCommand(options, in, out, err), 0) << out.str() << err.str();
  fs::remove(file);
}

TEST(DeployFiles, AlertsNameMetricsThatExist) {
  std::string sources;
  for (const auto& entry : fs::directory_iterator(kRoot / "src/kube"))
    if (entry.path().extension() == ".cpp") sources += TextOf(entry.path());
  const std::string alerts = TextOf(kRoot / "deploy/alerts.yaml");
  size_t names = 0;
  for (size_t at = alerts.find("krafla_"); at != std::string::npos;
       at = alerts.find("krafla_", at + 1), ++names) {
    const size_t end = alerts.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    const std::string name = alerts.substr(at, end - at);
    EXPECT_NE(sources.find('"' + name + '"'), std::string::npos) << name;
  }
  EXPECT_GT(names, 10u);
}

TEST(DeployFiles, BaseImagesArePinnedByDigest) {
  size_t bases = 0;
  for (const auto& words : Instructions(TextOf(kRoot / "deploy/Dockerfile"))) {
    if (words[0] != "FROM") continue;
    ++bases;
    const size_t at = words[1].find("@sha256:");
    ASSERT_NE(at, std::string::npos) << words[1];
    EXPECT_EQ(words[1].size() - at, 8u + 64u) << words[1];
  }
  EXPECT_EQ(bases, 2u);
}

TEST(DeployFiles, TheShippedConfigurationHonoursPodDisruptionBudgets) {
  const std::string deployment = TextOf(kRoot / "deploy/krafla.yaml");
  EXPECT_NE(deployment.find("\n    eviction-api: true\n"), std::string::npos);
  EXPECT_NE(deployment.find("\n      - name: pdb\n"), std::string::npos);
}

TEST(DeployFiles, TheImageFitsTheDeployment) {
  const std::string recipe = TextOf(kRoot / "deploy/Dockerfile");
  const std::string deployment = TextOf(kRoot / "deploy/krafla.yaml");
  EXPECT_NE(recipe.find("\nUSER 65532:65532\n"), std::string::npos);
  EXPECT_NE(deployment.find("runAsUser: 65532\n"), std::string::npos);
  EXPECT_NE(recipe.find(" -t krafla:latest "), std::string::npos);
  EXPECT_NE(deployment.find("image: krafla:latest\n"), std::string::npos);
  EXPECT_NE(deployment.find("imagePullPolicy: IfNotPresent\n"), std::string::npos)
      << "an image of one's own is nowhere to be pulled from";
  // Where the package puts it; the Deployment gives arguments only.
  EXPECT_NE(recipe.find("ENTRYPOINT [\"/usr/bin/krafla\"]"), std::string::npos);
  const std::string build = TextOf(kRoot / "CMakeLists.txt");
  EXPECT_NE(build.find("install(TARGETS krafla RUNTIME DESTINATION bin)"), std::string::npos);
  EXPECT_NE(build.find("set(CPACK_PACKAGING_INSTALL_PREFIX /usr)"), std::string::npos);
  EXPECT_EQ(deployment.find("command:"), std::string::npos);
}

// The service's user is made up when it starts: a kubeconfig that it can read without systemd's
// help can be read by every user of the machine.
TEST(DeployFiles, TheServiceGetsItsKubeconfigAsACredential) {
  const std::string unit = TextOf(kRoot / "deploy/krafla.service");
  EXPECT_NE(unit.find("\nDynamicUser=yes\n"), std::string::npos);
  EXPECT_NE(unit.find("\nLoadCredential=kubeconfig:/etc/krafla/kubeconfig\n"), std::string::npos);
  EXPECT_NE(unit.find("\nEnvironment=KUBECONFIG=%d/kubeconfig\n"), std::string::npos);
  std::istringstream lines(TextOf(kRoot / "deploy/krafla.default"));
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with('#') || line.find("--kubeconfig") == std::string::npos) << line;
}

}  // namespace
}  // namespace krafla::testing
