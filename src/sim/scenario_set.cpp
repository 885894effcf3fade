#include "sim/scenario_set.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/result.h"

namespace krafla {

namespace {

struct Step {
  std::string key;
  bool in_brackets = false;
  std::string path;  // up to and with this step
};

Result<std::vector<Step>> ParsePath(std::string_view path) {
  std::vector<Step> steps;
  size_t at = 0;
  while (at < path.size()) {
    Step step;
    if (path[at] == '[') {
      const size_t end = path.find(']', at);
      if (end == std::string_view::npos) return Fail("the bracket is not closed");
      step.key = path.substr(at + 1, end - at - 1);
      step.in_brackets = true;
      at = end + 1;
    } else {
      if (path[at] == '.') ++at;
      const size_t end = std::min(path.find_first_of(".[", at), path.size());
      step.key = path.substr(at, end - at);
      at = end;
    }
    if (step.key.empty()) return Fail("a key is missing in the path");
    step.path = path.substr(0, at);
    steps.push_back(std::move(step));
  }
  if (steps.empty()) return Fail("expected key=value, such as seed=7");
  return steps;
}

void Mark(YamlNode& node, int mark) {
  node.location = {mark, 0};
  node.verbatim = false;
  for (YamlNode& item : node.items) Mark(item, mark);
  for (YamlEntry& entry : node.entries) {
    entry.key_location = {mark, 0};
    Mark(entry.value, mark);
  }
}

std::optional<size_t> AsIndex(std::string_view text) {
  size_t index = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return index;
}

// "train" for {name: train} and for {job: team-a/train}, which is "team-a/train" as well.
bool IsCalled(const YamlNode& item, std::string_view name) {
  for (const char* key : {"name", "job"}) {
    const YamlEntry* entry = item.Find(key);
    if (entry == nullptr) continue;
    const std::string& text = entry->value.text;
    if (text == name || (text.size() > name.size() && text.ends_with(name) &&
                         text[text.size() - name.size() - 1] == '/'))
      return true;
  }
  return false;
}

Result<YamlNode*> StepIntoList(YamlNode& list, const Step& step) {
  if (!step.in_brackets)
    return Fail(
        fmt::format("{} is inside of a list; write [0] or [name] before it", Quoted(step.key)));
  if (const auto index = AsIndex(step.key)) {
    if (*index < list.items.size()) return &list.items[*index];
    return Fail(fmt::format("{} does not exist; the list has {} item{}, counted from 0",
                            Quoted(step.path), list.items.size(),
                            list.items.size() == 1 ? "" : "s"));
  }
  std::vector<std::string_view> names;
  for (YamlNode& item : list.items) {
    if (IsCalled(item, step.key)) return &item;
    for (const char* key : {"name", "job"}) {
      const YamlEntry* name = item.Find(key);
      if (name == nullptr) continue;
      const std::string_view text = name->value.text;
      names.push_back(step.key.find('/') == std::string::npos ? text.substr(text.rfind('/') + 1)
                                                              : text);
    }
  }
  return Fail(
      fmt::format("{} does not exist{}", Quoted(step.path), DidYouMeanHint(step.key, names)));
}

Result<YamlNode*> StepInto(YamlNode& node, const Step& step, int mark) {
  if (node.IsSequence()) return StepIntoList(node, step);
  if (node.IsNull()) {
    node = YamlNode{.kind = YamlKind::kMapping, .location = {mark, 0}};
  } else if (node.IsScalar()) {
    return Fail(fmt::format("{} does not exist: there is only the value {} before it",
                            Quoted(step.path), Quoted(node.text)));
  }
  for (YamlEntry& entry : node.entries)
    if (entry.key == step.key) return &entry.value;
  // One mapping may stand in place of a list of one.
  if (step.in_brackets && step.key == "0") return &node;
  node.entries.push_back({step.key, {mark, 0}, {}});
  return &node.entries.back().value;
}

// Queues by their names: one that is not there would be made, without a word. Whoever changes
// something of it, and has written nearly the name of another, has meant that one.
std::optional<std::string> MisspeltQueue(const YamlNode& queues, const Step& step) {
  constexpr size_t kTooShortToTell = 2;
  if (!queues.IsMapping() || step.key == "default" || step.key.size() <= kTooShortToTell)
    return std::nullopt;
  std::vector<std::string_view> names;
  for (const YamlEntry& entry : queues.entries) {
    if (entry.key == step.key) return std::nullopt;
    names.push_back(entry.key);
  }
  const auto near = DidYouMean(step.key, names);
  if (!near) return std::nullopt;
  return fmt::format("there is no queue {}; did you mean {}? (a new one is written {}={{...}})",
                     Quoted(step.key), Quoted(*near), step.path);
}

}  // namespace

std::optional<std::string> ApplySetting(std::string_view setting, int mark, YamlNode& root) {
  size_t sign = setting.find('=');
  // An equals sign may be part of a key in brackets.
  for (size_t open = setting.find('['); open != std::string_view::npos && open < sign;
       open = setting.find('[', open + 1)) {
    const size_t close = setting.find(']', open);
    if (close != std::string_view::npos && sign < close) sign = setting.find('=', close);
  }
  if (sign == std::string_view::npos || sign == 0) return "expected key=value, such as seed=7";
  const Result<std::vector<Step>> steps = ParsePath(setting.substr(0, sign));
  if (!steps) return steps.error().message;
  if (setting.find_first_not_of(" \t", sign + 1) == std::string_view::npos)
    return "expected a value after the equals sign, got nothing; null takes the key back";
  YamlTree value = ParseYaml(setting.substr(sign + 1));
  if (!value.problems.empty())
    return fmt::format("the value is no YAML: {}", value.problems.front().message);
  YamlNode* at = &root;
  constexpr size_t kQueue = 1;  // queues[research].weight
  for (size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    if (i == kQueue && steps->front().key == "queues" && i + 1 < steps->size())
      if (std::optional<std::string> misspelt = MisspeltQueue(*at, step)) return misspelt;
    const Result<YamlNode*> next = StepInto(*at, step, mark);
    if (!next) return next.error().message;
    at = *next;
  }
  Mark(value.root, mark);
  *at = std::move(value.root);
  return std::nullopt;
}

}  // namespace krafla
