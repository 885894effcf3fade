#include "config/config_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "base/go_bool.h"
#include "base/go_duration.h"

namespace krafla {

namespace {

// from_chars takes no '+', YAML and Go do.
std::string_view WithoutPlus(std::string_view text) {
  const bool signed_number = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return signed_number ? text.substr(1) : text;
}

// Decimal only. A leading zero means octal in YAML 1.1 and nothing in Go's Atoi, so we refuse it.
std::optional<int64_t> ParseInt(std::string_view text) {
  text = WithoutPlus(text);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseFloat(std::string_view text) {
  text = WithoutPlus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// Go's spellings for quoted text; YAML's because a plain `on` arrives in Volcano as true.
std::optional<bool> ParseBool(std::string_view text) {
  const std::optional<bool> value = ParseGoBool(text);
  return value ? value : ParseYamlBool(text);
}

bool HasType(std::string_view text, ArgumentType type) {
  switch (type) {
    case ArgumentType::kInt:
      return ParseInt(text).has_value();
    case ArgumentType::kFloat:
      return ParseFloat(text).has_value();
    case ArgumentType::kBool:
      return ParseBool(text).has_value();
    case ArgumentType::kDuration:
      return ParseGoDuration(text).has_value();
    case ArgumentType::kString:
    case ArgumentType::kAny:
      return true;
  }
  return false;
}

std::string_view Expectation(ArgumentType type) {
  switch (type) {
    case ArgumentType::kInt:
      return "a whole number such as 10";
    case ArgumentType::kFloat:
      return "a number such as 1.5";
    case ArgumentType::kBool:
      return "true or false";
    case ArgumentType::kDuration:
      return "a duration such as 90s, 5m or 1h30m";
    case ArgumentType::kString:
      return "text";
    case ArgumentType::kAny:
      return "a value";
  }
  return {};
}

bool FitsType(const YamlNode& value, ArgumentType type) {
  if (type == ArgumentType::kAny) return true;
  return value.IsScalar() && HasType(value.text, type);
}

bool IsPrefix(const ArgumentSpec& spec) {
  return spec.key.ends_with('*');
}

std::string_view PrefixOf(const ArgumentSpec& spec) {
  return std::string_view(spec.key).substr(0, spec.key.size() - 1);
}

// The exact key, else the longest prefix that leaves something for the '*'.
const ArgumentSpec* FindSpec(const std::vector<ArgumentSpec>& specs, std::string_view key) {
  const ArgumentSpec* best = nullptr;
  for (const ArgumentSpec& spec : specs) {
    if (!IsPrefix(spec)) {
      if (spec.key == key) return &spec;
      continue;
    }
    const std::string_view prefix = PrefixOf(spec);
    const bool fits = key.starts_with(prefix) && key.size() > prefix.size();
    if (fits && (best == nullptr || prefix.size() > PrefixOf(*best).size())) best = &spec;
  }
  return best;
}

// What follows as many dots as `prefix` has: the part of a misspelt key meant for the '*'.
std::string_view TailOf(std::string_view key, std::string_view prefix) {
  auto dots = std::count(prefix.begin(), prefix.end(), '.');
  size_t at = 0;
  for (; dots > 0; --dots) {
    at = key.find('.', at);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  return key.substr(at);
}

// An unknown argument among others that are known. "tdm.revokable-zone.rz1" is compared with
// "tdm.revocable-zone.rz1", not with "tdm.revocable-zone.*".
void ComplainUnknownArgument(const YamlEntry& argument, const VocabularyEntry& entry,
                             const std::string& owner, ConfigProblems& problems) {
  constexpr std::string_view kConsequence = "it is dropped";
  if (entry.arguments.empty()) {
    problems.Complain({owner, {}, ConfigTopic::kUnknownArgument}, argument.key_location,
                      fmt::format("unknown argument {}; the {} takes none", Quoted(argument.key),
                                  owner.substr(0, owner.find(' '))),
                      kConsequence);
    return;
  }
  std::vector<std::string> candidates;
  for (const ArgumentSpec& spec : entry.arguments) {
    const std::string_view tail = IsPrefix(spec) ? TailOf(argument.key, PrefixOf(spec)) : "";
    candidates.push_back(tail.empty() ? spec.key : fmt::format("{}{}", PrefixOf(spec), tail));
  }
  std::vector<std::string_view> known(candidates.begin(), candidates.end());
  if (!problems.IsFull() && !DidYouMean(argument.key, known)) {
    // Nothing is near: the list shows the keys as they are declared.
    for (size_t i = 0; i < known.size(); ++i) known[i] = entry.arguments[i].key;
  }
  problems.ComplainUnknown({owner, {}}, argument.key_location, "argument", argument.key, known,
                           kConsequence);
}

void CheckValue(const YamlEntry& argument, const std::string& text, const ArgumentSpec& spec,
                const std::string& owner, ConfigProblems& problems) {
  const ConfigSubject subject{owner, argument.key, ConfigTopic::kBadValue};
  const YamlNode& value = argument.value;
  if (!FitsType(value, spec.type)) {
    problems.Complain(subject, value.location,
                      fmt::format("expected {}, got {}", Expectation(spec.type), Describe(value)),
                      spec.type == ArgumentType::kString ? "" : "the default is used");
    return;
  }
  if (!spec.validate) return;
  // What becomes of a value that is refused here is for its owner to decide: no consequence.
  if (const auto wrong = spec.validate(text)) {
    problems.Complain(subject, value.location, *wrong, "");
  }
}

}  // namespace

std::optional<bool> ParseYamlBool(std::string_view text) {
  for (std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    if (text == word) return true;
  }
  for (std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::optional<bool> ReadBool(const YamlNode& node, const ConfigSubject& subject,
                             std::string_view consequence, ConfigProblems& problems) {
  const std::optional<bool> value = node.IsScalar() ? ParseYamlBool(node.text) : std::nullopt;
  if (!value) {
    problems.Complain({subject.object, subject.field, ConfigTopic::kBadValue}, node.location,
                      fmt::format("expected true or false, got {}", Describe(node)), consequence);
  }
  return value;
}

Arguments ReadArguments(const YamlNode& node, const VocabularyEntry& entry,
                        const std::string& owner, ConfigProblems& problems) {
  Arguments arguments;
  if (node.IsNull()) return arguments;  // `arguments:` with everything below commented out
  if (!node.IsMapping()) {
    problems.Complain(
        {owner, "arguments"}, node.location,
        fmt::format("expected a mapping of argument names to values, got {}", Describe(node)),
        "it is dropped");
    return arguments;
  }
  for (const YamlEntry& argument : node.entries) {
    const ArgumentSpec* spec = FindSpec(entry.arguments, argument.key);
    if (spec == nullptr) {
      ComplainUnknownArgument(argument, entry, owner, problems);
      continue;
    }
    const YamlNode& value = argument.value;
    const bool collection = value.IsSequence() || value.IsMapping();
    std::string text = collection ? ToJson(value) : value.text;
    CheckValue(argument, text, *spec, owner, problems);
    // Kept even when it was refused: the reading has failed, or is lenient and the owner must still
    // see that the key is there (a revocable zone with a bad window is configured and never open).
    arguments.items.push_back({argument.key, std::move(text), value.location});
  }
  return arguments;
}

const Argument* Arguments::Find(std::string_view key) const {
  for (const Argument& item : items) {
    if (item.key == key) return &item;
  }
  return nullptr;
}

std::optional<int64_t> Arguments::GetInt(std::string_view key) const {
  const Argument* argument = Find(key);
  return argument == nullptr ? std::nullopt : ParseInt(argument->text);
}

std::optional<double> Arguments::GetFloat(std::string_view key) const {
  const Argument* argument = Find(key);
  return argument == nullptr ? std::nullopt : ParseFloat(argument->text);
}

std::optional<bool> Arguments::GetBool(std::string_view key) const {
  const Argument* argument = Find(key);
  return argument == nullptr ? std::nullopt : ParseBool(argument->text);
}

std::optional<int64_t> Arguments::GetDurationNs(std::string_view key) const {
  const Argument* argument = Find(key);
  if (argument == nullptr) return std::nullopt;
  const Result<int64_t> duration_ns = ParseGoDuration(argument->text);
  return duration_ns ? std::optional(*duration_ns) : std::nullopt;
}

std::optional<std::string_view> Arguments::GetString(std::string_view key) const {
  const Argument* argument = Find(key);
  if (argument == nullptr) return std::nullopt;
  return argument->text;
}

}  // namespace krafla
