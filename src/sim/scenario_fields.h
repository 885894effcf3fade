// Reading one mapping of a scenario file: typed fields, and a complaint with its place for
// everything that is not as it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/yaml_node.h"
#include "sim/scenario.h"
#include "sim/scenario_times.h"

namespace krafla {

// The complaints about one file. A place with a line below 0 is not in the file but in the -line'th
// of the options that changed it ("--set seed=7").
class ScenarioProblems {
 public:
  explicit ScenarioProblems(std::string file, std::vector<std::string> settings = {})
      : file_(std::move(file)), settings_(std::move(settings)) {}

  void Error(std::string field, Location at, std::string message);
  void Warning(std::string field, Location at, std::string message);
  // What another reader found in a part of this file.
  void Take(const Diagnostics& others);

  bool HasErrors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  const std::string& file() const { return file_; }
  ScenarioPlace PlaceOf(Location at) const;

  // Hands everything over, sorted by place. The last call.
  void MoveTo(Diagnostics& diagnostics);

 private:
  void Add(Severity severity, std::string object, std::string field, Location at,
           std::string message);

  // Past this many a file is noise.
  static constexpr size_t kMaxListed = 200;

  std::string file_;
  std::vector<std::string> settings_;
  std::vector<Diagnostic> items_;  // places as they came
  size_t errors_ = 0;
};

class Fields {
 public:
  // `path` is how messages name the mapping: "cluster.nodes[0]"; empty for the file itself.
  // Anything but a mapping is a complaint, and has no fields.
  Fields(const YamlNode& node, std::string path, ScenarioProblems& problems);

  // Null when the key is absent or has no value. Every key that is asked for is a known one.
  const YamlNode* Find(std::string_view key);
  // Known, though nobody asks for them here.
  void Know(std::span<const std::string_view> keys);

  // Nothing when the key is absent, or wrong, which has been said then.
  std::optional<std::string> Text(std::string_view key);
  std::optional<bool> Bool(std::string_view key);
  std::optional<int64_t> Whole(std::string_view key, int64_t least, int64_t most);
  std::optional<double> Number(std::string_view key, double least, double most);
  std::optional<int64_t> Duration(std::string_view key, int64_t least_ns = 0);
  std::optional<Timestamp> Time(std::string_view key, const ScenarioClock& clock);
  std::optional<std::string> Amount(std::string_view key);
  // A Kubernetes name.
  std::optional<std::string> Name(std::string_view key);
  // One word, or a list of words.
  std::vector<std::string> Words(std::string_view key);
  // A mapping of words; empty when absent.
  TextTable Texts(std::string_view key);
  // A mapping of amounts.
  TextTable Amounts(std::string_view key);

  void Error(std::string_view key, std::string message);
  void ErrorAt(Location at, std::string_view key, std::string message);
  // Complains of keys nobody asked for. The last call.
  void Finish();

  const YamlNode& node() const { return node_; }
  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view key) const;
  ScenarioProblems& problems() { return problems_; }

 private:
  const YamlNode* FindScalar(std::string_view key, std::string_view expected);
  void Expected(std::string_view key, const YamlNode& value, std::string_view expected);

  const YamlNode& node_;
  std::string path_;
  ScenarioProblems& problems_;
  // Copies: keys are also asked for by the text of another node, which may be gone by Finish.
  std::vector<std::string> known_;
};

// Checks a Kubernetes name; the sentence says what is wrong with it.
std::optional<std::string> WrongName(std::string_view name);

// The items of a list, or the one value that stands in place of a list of one.
std::vector<const YamlNode*> ItemsOf(const YamlNode& node);

std::string IndexedPath(std::string_view path, size_t index, bool is_list = true);

}  // namespace krafla
