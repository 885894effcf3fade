#include "sim/scenario_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_bool.h"
#include "base/go_duration.h"
#include "model/quantity.h"

namespace krafla {

void ScenarioProblems::Error(std::string field, Location at, std::string message) {
  Add(Severity::kError, {}, std::move(field), at, std::move(message));
}

void ScenarioProblems::Warning(std::string field, Location at, std::string message) {
  Add(Severity::kWarning, {}, std::move(field), at, std::move(message));
}

void ScenarioProblems::Take(const Diagnostics& others) {
  for (const Diagnostic& d : others.items())
    Add(d.severity, d.object, d.field, d.location, d.message);
}

void ScenarioProblems::Add(Severity severity, std::string object, std::string field, Location at,
                           std::string message) {
  if (severity == Severity::kError) ++errors_;
  items_.push_back({severity, file_, at, std::move(object), std::move(field), std::move(message)});
}

ScenarioPlace ScenarioProblems::PlaceOf(Location at) const {
  if (at.line >= 0) return {file_, at};
  const auto index = static_cast<size_t>(-at.line - 1);
  return {index < settings_.size() ? settings_[index] : file_, {}};
}

void ScenarioProblems::MoveTo(Diagnostics& diagnostics) {
  const auto order = [](const Diagnostic& d) {
    // The command line comes after the file.
    return std::pair(d.location.line < 0 ? (1 << 30) - d.location.line : d.location.line,
                     d.location.column);
  };
  std::stable_sort(items_.begin(), items_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return order(a) < order(b); });
  const size_t listed = std::min(items_.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    Diagnostic& d = items_[i];
    ScenarioPlace place = PlaceOf(d.location);
    d.file = std::move(place.file);
    d.location = place.location;
    diagnostics.Add(std::move(d));
  }
  if (items_.size() > listed) {
    // Whatever is left out, the reading has failed if it has.
    Diagnostic rest{errors_ > 0 ? Severity::kError : Severity::kWarning, file_, {}, {}, {}, {}};
    rest.message = fmt::format("{} more problems are not listed", items_.size() - listed);
    diagnostics.Add(std::move(rest));
  }
  items_.clear();
}

Fields::Fields(const YamlNode& node, std::string path, ScenarioProblems& problems)
    : node_(node), path_(std::move(path)), problems_(problems) {
  if (!node.IsMapping() && !node.IsNull())
    problems_.Error(path_, node.location,
                    fmt::format("expected a mapping, got {}", Describe(node)));
}

const YamlNode* Fields::Find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  const YamlEntry* entry = node_.Find(key);
  return entry == nullptr || entry->value.IsNull() ? nullptr : &entry->value;
}

void Fields::Know(std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) Find(key);
}

std::string Fields::PathOf(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : fmt::format("{}.{}", path_, key);
}

void Fields::Error(std::string_view key, std::string message) {
  const YamlEntry* entry = node_.Find(key);
  problems_.Error(PathOf(key), entry == nullptr ? node_.location : entry->value.location,
                  std::move(message));
}

void Fields::ErrorAt(Location at, std::string_view key, std::string message) {
  problems_.Error(PathOf(key), at, std::move(message));
}

void Fields::Expected(std::string_view key, const YamlNode& value, std::string_view expected) {
  problems_.Error(PathOf(key), value.location,
                  fmt::format("expected {}, got {}", expected, Describe(value)));
}

const YamlNode* Fields::FindScalar(std::string_view key, std::string_view expected) {
  const YamlNode* value = Find(key);
  if (value == nullptr || value->IsScalar()) return value;
  Expected(key, *value, expected);
  return nullptr;
}

std::optional<std::string> Fields::Text(std::string_view key) {
  const YamlNode* value = FindScalar(key, "a word");
  if (value == nullptr) return std::nullopt;
  return value->text;
}

std::optional<bool> Fields::Bool(std::string_view key) {
  const YamlNode* value = FindScalar(key, "true or false");
  if (value == nullptr) return std::nullopt;
  const std::optional<bool> parsed = ParseGoBool(value->text);
  if (!parsed) Expected(key, *value, "true or false");
  return parsed;
}

std::optional<int64_t> Fields::Whole(std::string_view key, int64_t least, int64_t most) {
  const std::string expected = fmt::format("a whole number from {} to {}", least, most);
  const YamlNode* value = FindScalar(key, expected);
  if (value == nullptr) return std::nullopt;
  int64_t number = 0;
  const char* const end = value->text.data() + value->text.size();
  const auto [stop, error] = std::from_chars(value->text.data(), end, number);
  if (error == std::errc() && stop == end && number >= least && number <= most) return number;
  Expected(key, *value, expected);
  return std::nullopt;
}

std::optional<double> Fields::Number(std::string_view key, double least, double most) {
  const std::string expected = fmt::format("a number from {} to {}", least, most);
  const YamlNode* value = FindScalar(key, expected);
  if (value == nullptr) return std::nullopt;
  double number = 0;
  const char* const end = value->text.data() + value->text.size();
  const auto [stop, error] = std::from_chars(value->text.data(), end, number);
  if (error == std::errc() && stop == end && number >= least && number <= most) return number;
  Expected(key, *value, expected);
  return std::nullopt;
}

std::optional<int64_t> Fields::Duration(std::string_view key, int64_t least_ns) {
  const YamlNode* value = FindScalar(key, "a duration, such as 90s, 5m or 7d");
  if (value == nullptr) return std::nullopt;
  const Result<int64_t> parsed = ParseLongDuration(value->text);
  if (!parsed) {
    Error(key, parsed.error().message);
    return std::nullopt;
  }
  if (*parsed < least_ns) {
    Error(key, least_ns == 1
                   ? fmt::format("expected a duration above 0, got {}", Quoted(value->text))
                   : fmt::format("expected at least {}, got {}", FormatGoDuration(least_ns),
                                 Quoted(value->text)));
    return std::nullopt;
  }
  return *parsed;
}

std::optional<Timestamp> Fields::Time(std::string_view key, const ScenarioClock& clock) {
  const YamlNode* value = FindScalar(key, "a time, such as \"12:00\", \"day 2 12:00\" or +90m");
  if (value == nullptr) return std::nullopt;
  const Result<Timestamp> parsed = ParseScenarioTime(value->text, clock);
  if (!parsed) {
    Error(key, parsed.error().message);
    return std::nullopt;
  }
  if (clock.until.Present() && *parsed > clock.until) {
    problems_.Warning(PathOf(key), value->location,
                      fmt::format("{} is after the end of the run, {}", Quoted(value->text),
                                  FormatLocalTime(clock.until, clock.zone)));
  }
  return *parsed;
}

std::optional<std::string> Fields::Amount(std::string_view key) {
  const YamlNode* value = FindScalar(key, "an amount, such as 500m, 4 or 16Gi");
  if (value == nullptr) return std::nullopt;
  const Result<Quantity> parsed = ParseQuantity(value->text);
  if (!parsed || parsed->Negative()) {
    Expected(key, *value, "an amount, such as 500m, 4 or 16Gi");
    return std::nullopt;
  }
  return value->text;
}

std::optional<std::string> Fields::Name(std::string_view key) {
  std::optional<std::string> name = Text(key);
  if (!name) return name;
  if (std::optional<std::string> wrong = WrongName(*name)) {
    Error(key, std::move(*wrong));
    return std::nullopt;
  }
  return name;
}

std::vector<std::string> Fields::Words(std::string_view key) {
  std::vector<std::string> words;
  const YamlNode* value = Find(key);
  if (value == nullptr) return words;
  for (const YamlNode* item : ItemsOf(*value)) {
    if (item->IsScalar()) {
      words.push_back(item->text);
    } else {
      problems_.Error(PathOf(key), item->location,
                      fmt::format("expected a word, got {}", Describe(*item)));
    }
  }
  return words;
}

TextTable Fields::Texts(std::string_view key) {
  TextTable texts;
  const YamlNode* value = Find(key);
  if (value == nullptr) return texts;
  if (!value->IsMapping()) {
    Expected(key, *value, "a mapping of words");
    return texts;
  }
  for (const YamlEntry& entry : value->entries) {
    if (entry.value.IsScalar() || entry.value.IsNull()) {
      texts.emplace(entry.key, entry.value.IsScalar() ? entry.value.text : "");
    } else {
      problems_.Error(fmt::format("{}.{}", PathOf(key), entry.key), entry.value.location,
                      fmt::format("expected a word, got {}", Describe(entry.value)));
    }
  }
  return texts;
}

TextTable Fields::Amounts(std::string_view key) {
  TextTable amounts;
  const YamlNode* value = Find(key);
  if (value == nullptr) return amounts;
  if (!value->IsMapping()) {
    Expected(key, *value, "a mapping of amounts, such as {cpu: 4, memory: 16Gi}");
    return amounts;
  }
  Fields fields(*value, PathOf(key), problems_);
  for (const YamlEntry& entry : value->entries)
    if (std::optional<std::string> amount = fields.Amount(entry.key))
      amounts.emplace(entry.key, *amount);
  return amounts;
}

void Fields::Finish() {
  for (const YamlEntry& entry : node_.entries) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    std::vector<std::string_view> known(known_.begin(), known_.end());
    std::ranges::sort(known);
    problems_.Error(
        path_, entry.key_location,
        fmt::format("unknown key {}{}", Quoted(entry.key), DidYouMeanHint(entry.key, known)));
  }
}

std::optional<std::string> WrongName(std::string_view name) {
  constexpr size_t kMaxLength = 200;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool sound =
      !name.empty() && name.size() <= kMaxLength && is_letter(name.front()) &&
      is_letter(name.back()) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || c == '-' || c == '.'; });
  if (sound) return std::nullopt;
  return fmt::format(
      "expected a name of small letters, digits, '-' and '.', at most {} of them, got {}",
      kMaxLength, Quoted(name));
}

std::vector<const YamlNode*> ItemsOf(const YamlNode& node) {
  std::vector<const YamlNode*> items;
  if (!node.IsSequence()) {
    if (!node.IsNull()) items.push_back(&node);
    return items;
  }
  for (const YamlNode& item : node.items) items.push_back(&item);
  return items;
}

std::string IndexedPath(std::string_view path, size_t index, bool is_list) {
  return is_list ? fmt::format("{}[{}]", path, index) : std::string(path);
}

}  // namespace krafla
