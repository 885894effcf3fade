// What a plugin or an action says about the arguments it takes, so that a configuration can be
// checked before anything runs. Lives beside the configuration because both sides include it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krafla {

enum class ArgumentType {
  kInt,
  kFloat,
  kBool,      // true/false and Go's other spellings (1, t, T, TRUE, …)
  kDuration,  // Go syntax: 90s, 5m, 1h30m
  kString,
  kAny,  // accepted as it is (lists and maps too), not looked into
};

struct ArgumentSpec {
  std::string key;  // exact, or a prefix when it ends with '*' ("tdm.revocable-zone.*")
  ArgumentType type = ArgumentType::kString;
  std::string help;
  // A further look at the text; returns what is wrong, or nothing.
  std::function<std::optional<std::string>(std::string_view)> validate = {};
};

// A plugin or an action, as far as the configuration needs to know it.
struct VocabularyEntry {
  std::string name;
  std::vector<ArgumentSpec> arguments;
};

// All names a configuration may use.
struct Vocabulary {
  std::vector<VocabularyEntry> plugins;
  std::vector<VocabularyEntry> actions;
};

}  // namespace krafla
