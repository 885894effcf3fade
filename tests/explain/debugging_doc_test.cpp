// docs/debugging.md is held against the sources and the program: every function it names exists,
// every output it shows is what the command prints.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "app/explain_command.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = testing::SourceDir();

std::string ReadAll(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// `Class::Function()` or `Function()` in the text, and what follows `break `.
std::set<std::string> FunctionsNamed(const std::string& text) {
  std::set<std::string> names;
  const std::regex in_text("`([A-Za-z:]+)\\(\\)`");
  const std::regex in_gdb("\n    break ([A-Za-z:]+)");
  for (const std::regex& form : {in_text, in_gdb})
    for (std::sregex_iterator it(text.begin(), text.end(), form), end; it != end; ++it)
      names.insert((*it)[1]);
  return names;
}

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether "class NAME" or "struct NAME" stands somewhere in the text, perhaps with an alignas
// between the two. (A regular expression says this in a line, but takes minutes for all sources
// under sanitizers.)
bool HasClass(std::string_view text, std::string_view cls) {
  const std::string name = " " + std::string(cls);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end < text.size() && IsWordChar(text[end])) continue;
    std::string_view before = text.substr(0, at);
    if (before.ends_with(')')) {
      const size_t alignment = before.rfind(" alignas(");
      if (alignment == std::string_view::npos || before.find('\n', alignment) != before.npos)
        continue;
      before = before.substr(0, alignment);
    }
    for (const std::string_view keyword : {"class", "struct"})
      if (before.ends_with(keyword) && (before.size() == keyword.size() ||
                                        !IsWordChar(before[before.size() - keyword.size() - 1])))
        return true;
  }
  return false;
}

// Whether the function is declared or defined somewhere in the text: a type goes before its name.
bool HasFunction(std::string_view text, std::string_view function) {
  const std::string call = " " + std::string(function) + "(";
  for (size_t at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1)) {
    if (at == 0) continue;
    const char before = text[at - 1];
    if (std::isalpha(static_cast<unsigned char>(before)) != 0 || before == '>' || before == '&' ||
        before == '*')
      return true;
  }
  return false;
}

// In one file: the class (for a member), and the function with a body or a declaration.
bool IsDefined(const std::string& name, const std::vector<std::string>& sources) {
  const size_t colons = name.rfind("::");
  const std::string cls = colons == std::string::npos ? "" : name.substr(0, colons);
  const std::string function = colons == std::string::npos ? name : name.substr(colons + 2);
  for (const std::string& source : sources) {
    if (!cls.empty() && source.find(name + "(") != std::string::npos) return true;
    if (!cls.empty() && !HasClass(source, cls)) continue;
    if (HasFunction(source, function)) return true;
  }
  return false;
}

TEST(DebuggingDoc, EveryFunctionItNamesExists) {
  std::vector<std::string> sources;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_test.cpp") && (name.ends_with(".cpp") || name.ends_with(".h")))
      sources.push_back(ReadAll(entry.path()));
  }
  const std::set<std::string> names = FunctionsNamed(ReadAll(kRoot / "docs/debugging.md"));
  EXPECT_GT(names.size(), 25u);
  for (const std::string& name : names) EXPECT_TRUE(IsDefined(name, sources)) << name;
  EXPECT_FALSE(IsDefined("PreemptAction::Bogus", sources));
  EXPECT_FALSE(IsDefined("BogusFunction", sources));
  EXPECT_FALSE(IsDefined("PreemptAct::Run", sources));
  EXPECT_FALSE(IsDefined("PreemptAction::Ru", sources));
}

TEST(DebuggingDoc, EveryFileItNamesExists) {
  const std::string text = ReadAll(kRoot / "docs/debugging.md");
  const std::regex path("\\b((src|examples)/[a-z_/0-9-]+\\.(cpp|h|yaml))");
  size_t found = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end; ++it, ++found)
    EXPECT_TRUE(fs::exists(kRoot / (*it)[1].str())) << (*it)[1];
  EXPECT_GT(found, 20u);
}

ExplainCommandOptions ParseCommand(const std::string& line) {
  ExplainCommandOptions options;
  std::stringstream words(line);
  std::string word;
  words >> word >> word;  // "krafla explain"
  words >> options.kind >> options.name;
  while (words >> word) {
    std::string value;
    words >> value;
    if (word == "--cluster") {
      options.cluster.push_back((kRoot / value).string());
    } else if (word == "--config") {
      options.config = (kRoot / value).string();
    } else if (word == "--now") {
      options.now = value;
    } else if (word == "--compatibility") {
      options.compatibility = value;
    } else {
      ADD_FAILURE() << "an option this test does not know: " << word;
    }
  }
  return options;
}

TEST(DebuggingDoc, EveryOutputItShowsIsPrinted) {
  const std::vector<std::string> lines = Lines(ReadAll(kRoot / "docs/debugging.md"));
  size_t blocks = 0;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i] != "```console") continue;
    ASSERT_TRUE(lines[i + 1].starts_with("$ krafla explain ")) << lines[i + 1];
    const std::string command = lines[i + 1].substr(2);
    std::vector<std::string> shown;
    for (i += 2; i < lines.size() && lines[i] != "```"; ++i) shown.push_back(lines[i]);
    std::stringstream in;
    std::stringstream out;
    std::stringstream err;
    EXPECT_EQ(ExplainCommand(ParseCommand(command), in, out, err), 0) << command << err.str();
    std::vector<std::string> printed = Lines(out.str());
    if (!shown.empty() && shown.back() == "...") {  // the rest is left out
      shown.pop_back();
      ASSERT_LE(shown.size(), printed.size()) << command;
      printed.resize(shown.size());
    }
    EXPECT_EQ(shown, printed) << command;
    ++blocks;
  }
  EXPECT_GE(blocks, 8u);
}

}  // namespace
}  // namespace krafla::testing
