// Reads the sources and keeps the house in order: an include points only to an earlier layer, files
// stay small, nothing unfinished is left lying about.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = testing::SourceDir();

// What each folder of src/ may include beside itself. docs/architecture.md shows the picture.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"model", {"base"}},
    {"config", {"base"}},
    {"fair_share", {"base", "model"}},
    {"session", {"base", "model", "config"}},
    {"kube_rules", {"base", "model", "session"}},
    {"plugins", {"base", "model", "config", "fair_share", "session", "kube_rules"}},
    {"actions", {"base", "model", "config", "session"}},
    {"cluster_state", {"base", "model"}},
    {"scheduler", {"base", "model", "config", "session", "cluster_state"}},
    {"manifest", {"base", "model", "cluster_state"}},
    {"check", {"base", "model", "config", "session", "scheduler", "manifest"}},
    {"explain", {"base", "model", "config", "fair_share", "session", "cluster_state"}},
    {"sim",
     {"base", "model", "config", "session", "cluster_state", "scheduler", "manifest", "explain"}},
    {"record",
     {"base", "model", "config", "session", "cluster_state", "scheduler", "manifest", "explain"}},
    {"kube",
     {"base", "model", "config", "session", "kube_rules", "cluster_state", "scheduler", "manifest",
      "explain", "record"}},
    {"app",
     {"base", "model", "config", "session", "scheduler", "manifest", "cluster_state", "check",
      "explain", "sim", "kube", "record"}},
};

std::vector<fs::path> Sources(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> Lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool IsTest(const fs::path& path) {
  return path.stem().string().ends_with("_test");
}

TEST(RepoTidy, IncludesPointOnlyToEarlierLayers) {
  const std::regex include("^#include \"([a-z_]+)/[^\"]+\"");
  for (const fs::path& path : Sources(kRoot / "src")) {
    const std::string layer = fs::relative(path, kRoot / "src").begin()->string();
    ASSERT_TRUE(kMayInclude.contains(layer)) << "a new folder needs a row here: " << layer;
    for (const std::string& line : Lines(path)) {
      std::smatch match;
      if (!std::regex_search(line, match, include) || match[1] == layer) continue;
      if (IsTest(path) && match[1] == "support") continue;
      EXPECT_TRUE(kMayInclude.at(layer).contains(match[1])) << path << ": " << line;
    }
  }
}

TEST(RepoTidy, HeadersAreGuardedAndFilesStaySmall) {
  for (const fs::path& path : Sources(kRoot / "src")) {
    const std::vector<std::string> lines = Lines(path);
    const bool header = path.extension() == ".h";
    if (header) {
      EXPECT_TRUE(std::find(lines.begin(), lines.end(), "#pragma once") != lines.end()) << path;
    }
    EXPECT_LE(lines.size(), header ? 300u : 800u) << path << " hides a second subject";
  }
}

// Two types of one name in one namespace are one to the linker, which keeps whichever destructor it
// meets first.
TEST(RepoTidy, EveryTypeOfTheNamespaceHasANameOfItsOwn) {
  const std::regex type("^(class|struct|enum class|enum) ([A-Za-z0-9_]+)( final)?( :.*)? \\{.*");
  std::map<std::string, fs::path> defined;
  for (const fs::path& path : Sources(kRoot / "src")) {
    if (IsTest(path)) continue;
    bool nameless = false;
    for (const std::string& line : Lines(path)) {
      if (line == "namespace {") nameless = true;
      if (line == "}  // namespace") nameless = false;
      std::smatch match;
      if (nameless || !std::regex_match(line, match, type)) continue;
      const auto [known, is_new] = defined.emplace(match[2], path);
      EXPECT_TRUE(is_new) << match[2] << " is defined in " << path << " and " << known->second;
    }
  }
  EXPECT_GT(defined.size(), 300u);
}

TEST(RepoTidy, NothingUnfinishedAndNoPathsOfAMachine) {
  // Spelled in pieces so that this file does not find itself.
  const std::regex unfinished(std::string("\\b(TO") + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b");
  const std::regex machine(std::string("/(ro") + "ot|ho" + "me|wo" + "rk)/");
  for (const char* folder : {"src", "tests", "scripts", "docs", "examples"}) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".gz") continue;
      size_t number = 0;
      for (const std::string& line : Lines(entry.path())) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, unfinished))
            << entry.path() << ":" << number << ": " << line;
        EXPECT_FALSE(std::regex_search(line, machine))
            << entry.path() << ":" << number << ": " << line;
      }
    }
  }
}

TEST(RepoTidy, EveryPluginAndSwitchIsDocumented) {
  std::stringstream plugins;
  plugins << std::ifstream(kRoot / "docs/plugins.md").rdbuf();
  for (const auto& entry : fs::directory_iterator(kRoot / "src/plugins")) {
    const std::string name = entry.path().stem().string();
    EXPECT_NE(plugins.str().find("## " + name), std::string::npos)
        << "docs/plugins.md has no section for " << name;
  }
}

}  // namespace
}  // namespace krafla::testing
