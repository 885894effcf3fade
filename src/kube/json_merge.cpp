#include "kube/json_merge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "manifest/json_scanner.h"

namespace krafla {

namespace {

// Raw JSON, as it stands in the text.
struct Field {
  std::string_view key;  // between its quotes
  std::string_view value;
};

bool IsObject(std::string_view json) {
  return json.starts_with('{');
}

// Takes the value that comes next.
std::string_view TakeValue(JsonScanner& scanner, std::string_view text) {
  scanner.Peek();
  const size_t begin = scanner.offset();
  if (!scanner.SkipValue()) return {};
  return text.substr(begin, scanner.offset() - begin);
}

std::vector<Field> FieldsOf(std::string_view object) {
  std::vector<Field> fields;
  JsonScanner scanner(object);
  if (!scanner.EnterObject()) return fields;
  std::string_view key;
  while (scanner.NextKey(key)) {
    const std::string_view value = TakeValue(scanner, object);
    if (scanner.failed()) break;
    fields.push_back({key, value});
  }
  return fields;
}

std::vector<std::string_view> ItemsOf(std::string_view list) {
  std::vector<std::string_view> items;
  JsonScanner scanner(list);
  if (!scanner.EnterList()) return items;
  while (scanner.NextItem()) {
    const std::string_view value = TakeValue(scanner, list);
    if (scanner.failed()) break;
    items.push_back(value);
  }
  return items;
}

std::string_view Find(const std::vector<Field>& fields, std::string_view key) {
  const auto it =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  return it == fields.end() ? std::string_view() : it->value;
}

std::string Merged(std::string_view target, std::string_view patch, PatchType type);

std::string MergedConditions(std::string_view target, std::string_view patch) {
  std::vector<std::pair<std::string_view, std::string>> conditions;  // by type
  for (const std::string_view item :
       target.starts_with('[') ? ItemsOf(target) : std::vector<std::string_view>())
    conditions.emplace_back(Find(FieldsOf(item), "type"), item);
  for (const std::string_view item : ItemsOf(patch)) {
    const std::string_view type = Find(FieldsOf(item), "type");
    const auto known = std::find_if(conditions.begin(), conditions.end(),
                                    [&](const auto& one) { return one.first == type; });
    if (known == conditions.end()) {
      conditions.emplace_back(type, Merged({}, item, PatchType::kStrategic));
    } else {
      known->second = Merged(known->second, item, PatchType::kStrategic);
    }
  }
  std::string out = "[";
  for (const auto& [condition, text] : conditions) {
    if (out.size() > 1) out += ',';
    out += text;
  }
  return out + "]";
}

std::string Merged(std::string_view target, std::string_view patch, PatchType type) {
  if (!IsObject(patch)) return std::string(patch);
  const std::vector<Field> old = IsObject(target) ? FieldsOf(target) : std::vector<Field>();
  const std::vector<Field> wanted = FieldsOf(patch);
  std::string out = "{";
  const auto write = [&](std::string_view key, std::string_view value) {
    if (out.size() > 1) out += ',';
    out += fmt::format("\"{}\":{}", key, value);
  };
  const auto merge = [&](std::string_view key, std::string_view before, std::string_view value) {
    if (value == "null") return;
    if (type == PatchType::kStrategic && key == "conditions" && value.starts_with('[')) {
      write(key, MergedConditions(before, value));
    } else {
      write(key, Merged(before, value, type));
    }
  };
  for (const Field& field : old) {
    const std::string_view value = Find(wanted, field.key);
    if (value.empty()) {
      write(field.key, field.value);
    } else {
      merge(field.key, field.value, value);
    }
  }
  for (const Field& field : wanted)
    if (Find(old, field.key).empty()) merge(field.key, {}, field.value);
  return out + "}";
}

Result<bool> CheckObject(const std::string& text, std::string_view what) {
  JsonScanner scanner(text);
  if (scanner.Peek() != '{') return Fail(fmt::format("{} is no JSON object", what));
  if (!scanner.SkipValue() || !scanner.AtEnd())
    return Fail(fmt::format("{} is no JSON: {} at byte {}", what,
                            scanner.failed() ? scanner.problem().message : "text follows",
                            scanner.offset()));
  return true;
}

}  // namespace

Result<std::string> ApplyPatch(std::string_view object, std::string_view patch, PatchType type) {
  // Copies end with a zero byte, which the scanner needs. Checked as a whole first: below, every
  // value is known to be complete.
  const std::string target(object);
  const std::string change(patch);
  if (const Result<bool> good = CheckObject(target, "the object"); !good)
    return Fail(good.error().message);
  if (const Result<bool> good = CheckObject(change, "the patch"); !good)
    return Fail(good.error().message);
  const std::string_view trimmed = std::string_view(target).substr(target.find('{'));
  const std::string_view change_trimmed = std::string_view(change).substr(change.find('{'));
  return Merged(trimmed, change_trimmed, type);
}

std::string MetadataText(std::string_view object, std::string_view field) {
  const std::string text(object);
  if (const Result<bool> good = CheckObject(text, "the object"); !good) return {};
  const std::string_view metadata = Find(FieldsOf(text), "metadata");
  if (!IsObject(metadata)) return {};
  const std::string_view value = Find(FieldsOf(metadata), field);
  if (value.size() < 2 || value.front() != '"') return {};
  return std::string(value.substr(1, value.size() - 2));
}

}  // namespace krafla
