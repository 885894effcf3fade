// docs/reliability.md names the tests that hold each promise: they have to exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// All files with that ending below a folder, without white space: declarations may span lines.
std::string Squeezed(const fs::path& folder, std::string_view ending) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().string().ends_with(ending)) all += TextOf(entry.path());
  std::erase_if(all, [](char c) { return c == ' ' || c == '\n'; });
  return all;
}

// What stands between backquotes in the rows of tables.
std::vector<std::string> QuotedInTables(const std::string& page) {
  std::vector<std::string> quoted;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    for (size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1)) {
      const size_t end = line.find('`', at + 1);
      if (end == std::string::npos) break;
      quoted.push_back(line.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return quoted;
}

bool IsSuiteAndName(const std::string& text) {
  if (text.empty() || text[0] < 'A' || text[0] > 'Z') return false;
  return std::count(text.begin(), text.end(), '.') == 1 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '*';
         });
}

TEST(ReliabilityDoc, EveryTestThatItNamesExists) {
  const fs::path root = SourceDir();
  const std::string units = Squeezed(root / "src", "_test.cpp") + Squeezed(root / "tests", ".cpp");
  const std::string python = Squeezed(root / "tests/e2e", ".py");
  size_t seen = 0;
  for (const std::string& text : QuotedInTables(TextOf(root / "docs/reliability.md"))) {
    if (text.starts_with("test_")) {
      const bool is_file = fs::exists(root / "tests/e2e" / (text + ".py"));
      const size_t star = text.find('*');
      const std::string name =
          star == std::string::npos ? "def" + text + "(" : "def" + text.substr(0, star);
      EXPECT_TRUE(is_file || python.find(name) != std::string::npos) << text;
      ++seen;
    } else if (text.starts_with("tests/")) {
      EXPECT_TRUE(fs::exists(root / text)) << text;
      ++seen;
    } else if (IsSuiteAndName(text)) {
      const size_t dot = text.find('.');
      std::string declared = "(" + text.substr(0, dot) + "," + text.substr(dot + 1);
      if (declared.ends_with('*')) {
        declared.pop_back();
      } else {
        declared += ')';
      }
      EXPECT_NE(units.find(declared), std::string::npos) << text;
      ++seen;
    }
  }
  EXPECT_GT(seen, 80u);
}

}  // namespace
}  // namespace krafla::testing
