#include "check/case_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "app/command_inputs.h"
#include "support/source_dir.h"

namespace krafla::testing {

namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool TakePrefix(std::string& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.erase(0, prefix.size());
  return true;
}

}  // namespace

std::string DefaultConfig() {
  return ReadText(testing::SourceDir() + "/tests/check/default.yaml");
}

std::vector<CheckBlock> ReadCaseFile(const std::string& path) {
  std::vector<CheckBlock> blocks;
  std::string* part = nullptr;
  std::istringstream lines(ReadText(path));
  for (std::string line; std::getline(lines, line);) {
    if (TakePrefix(line, "=== ")) {
      blocks.push_back({.name = line});
      part = nullptr;
      continue;
    }
    if (blocks.empty()) continue;
    CheckBlock& block = blocks.back();
    if (TakePrefix(line, "--- now ")) {
      block.now = line;
    } else if (TakePrefix(line, "--- profile ")) {
      block.profile = line;
    } else if (line == "--- config") {
      part = &block.config;
    } else if (line == "--- cluster") {
      block.has_cluster = true;
      part = &block.cluster;
    } else if (line == "--- expect") {
      part = &block.expect;
    } else if (part != nullptr) {
      *part += line + '\n';
    } else {
      ADD_FAILURE() << path << ": a line outside of all parts: " << line;
    }
  }
  return blocks;
}

CheckReport RunBlock(const CheckBlock& block) {
  Diagnostics problems;
  CheckRequest request{.config_file = "config",
                       .config_text = block.config.empty() ? DefaultConfig() : block.config,
                       .profile = std::nullopt,
                       .cluster = {},
                       .time = TimeOf(block.now, problems)};
  EXPECT_FALSE(problems.HasErrors()) << block.now;
  if (!block.profile.empty()) request.profile = block.profile;
  if (block.has_cluster) request.cluster = {"-"};
  std::istringstream in(block.cluster);
  return RunCheck(request, in);
}

std::string FindingsOf(const CheckReport& report, std::string_view code) {
  std::string text;
  for (const Finding& finding : report.findings) {
    if (finding.code != code) continue;
    const Location& at = finding.place.location;
    std::string place = finding.place.file.empty() ? "nowhere" : finding.place.file;
    if (at.line > 0) place += fmt::format(":{}:{}", at.line, at.column);
    text += fmt::format("{} {}: {}{}{}\n", place, ToString(finding.level), finding.object,
                        finding.object.empty() ? "" : ": ", finding.message);
    for (const std::string& detail : finding.details) text += fmt::format("  {}\n", detail);
  }
  return text;
}

}  // namespace krafla::testing
