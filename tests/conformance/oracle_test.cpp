// What Volcano did on 605 recorded clusters, and what we do with profile volcano: binds, evictions,
// pipelined pods and PodGroup phases must be equal. The recordings are data; exceptions.txt names
// those that cannot be equal, and why.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "support/cycle.h"
#include "support/gzip_lines.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::map<std::string, std::string> binds;
  std::vector<std::string> evictions;
  std::map<std::string, std::string> pipelined;
  std::map<std::string, std::string> phases;
  bool operator==(const Outcome&) const = default;
};

std::string Show(const std::map<std::string, std::string>& map) {
  std::string text;
  for (const auto& [k, v] : map) text += k + "=" + v + " ";
  return text;
}

std::string Difference(const Outcome& want, const Outcome& got) {
  std::string text;
  if (want.binds != got.binds)
    text += "\n  binds want " + Show(want.binds) + "\n        got  " + Show(got.binds);
  if (want.evictions != got.evictions) {
    text += "\n  evictions want ";
    for (const auto& e : want.evictions) text += e + " ";
    text += "\n            got  ";
    for (const auto& e : got.evictions) text += e + " ";
  }
  if (want.pipelined != got.pipelined)
    text +=
        "\n  pipelined want " + Show(want.pipelined) + "\n            got  " + Show(got.pipelined);
  if (want.phases != got.phases)
    text += "\n  phases want " + Show(want.phases) + "\n         got  " + Show(got.phases);
  return text;
}

std::map<std::string, std::string> ReadMap(simdjson::dom::element element) {
  std::map<std::string, std::string> map;
  for (auto field : simdjson::dom::object(element))
    map[std::string(field.key)] = std::string(std::string_view(field.value));
  return map;
}

// name -> reason, from lines "name: reason".
std::map<std::string, std::string> ReadExceptions() {
  std::map<std::string, std::string> exceptions;
  std::ifstream file(testing::SourceDir() + "/tests/conformance/exceptions.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    exceptions[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return exceptions;
}

TEST(RecordedClusters, AreDecidedAsVolcanoDid) {
  const std::map<std::string, std::string> exceptions = ReadExceptions();
  EXPECT_LE(exceptions.size(), 5u);
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(testing::SourceDir() + "/tests/conformance/cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int total = 0;
  int exact = 0;
  int excepted = 0;
  simdjson::dom::parser parser;
  for (const fs::path& file : files) {
    for (const std::string& line : ReadGzipLines(file.string())) {
      simdjson::dom::element root;
      ASSERT_EQ(parser.parse(line).get(root), simdjson::SUCCESS) << file;
      ++total;
      CycleInput input;
      input.config = std::string(std::string_view(root["conf"]));
      input.now = std::string(std::string_view(root["now"]));
      if (input.now.empty()) input.now = "2026-03-10T12:00:00Z";
      input.profile = "volcano";
      input.lenient = true;
      input.cluster = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":" +
                      simdjson::to_string(root["objects"]) + "}";
      const std::string name{std::string_view(root["name"])};
      auto canonical = root["canonical"];
      Outcome want;
      want.binds = ReadMap(canonical["binds"]);
      want.pipelined = ReadMap(canonical["pipelined"]);
      want.phases = ReadMap(canonical["phases"]);
      for (auto e : simdjson::dom::array(canonical["evictions"]))
        want.evictions.emplace_back(std::string_view(e));
      std::sort(want.evictions.begin(), want.evictions.end());

      Cycle cycle(input);
      cycle.Run();
      const Outcome got{cycle.Binds(), cycle.Evictions(), cycle.Pipelined(), cycle.Phases()};
      if (got == want) {
        ++exact;
        EXPECT_FALSE(exceptions.contains(name))
            << name << " is listed as an exception and is equal";
        continue;
      }
      if (exceptions.contains(name)) {
        ++excepted;
        bool panics = false;
        EXPECT_EQ(root["upstreamPanics"].get(panics), simdjson::SUCCESS) << name;
        EXPECT_EQ(want.evictions, got.evictions) << name;
        continue;
      }
      ADD_FAILURE() << name << Difference(want, got);
    }
  }
  std::cout << "recorded clusters: " << exact << " of " << total << " exact, " << excepted
            << " listed exceptions\n";
  EXPECT_EQ(total, 605);
}

}  // namespace
}  // namespace krafla::testing
