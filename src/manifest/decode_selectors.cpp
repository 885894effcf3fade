#include "manifest/decode_selectors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

using OpWord = std::pair<std::string_view, SelectorOp>;
constexpr std::array kLabelOps = {
    OpWord{"In", SelectorOp::kIn}, OpWord{"NotIn", SelectorOp::kNotIn},
    OpWord{"Exists", SelectorOp::kExists}, OpWord{"DoesNotExist", SelectorOp::kDoesNotExist}};
constexpr std::array kNodeOps = {
    OpWord{"In", SelectorOp::kIn},         OpWord{"NotIn", SelectorOp::kNotIn},
    OpWord{"Exists", SelectorOp::kExists}, OpWord{"DoesNotExist", SelectorOp::kDoesNotExist},
    OpWord{"Gt", SelectorOp::kGreater},    OpWord{"Lt", SelectorOp::kLess}};
constexpr std::array kFieldOps = {OpWord{"In", SelectorOp::kIn},
                                  OpWord{"NotIn", SelectorOp::kNotIn}};

struct Expression {
  SelectorRequirement requirement;
  std::string_view key;
  bool possible = true;
};

// A number as strconv.ParseInt reads it.
bool ParseNumber(std::string_view text, int64_t& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

Expression DecodeExpression(ObjectReader& reader, JsonValue& value, std::span<const OpWord> ops,
                            StringPool& strings) {
  Expression answer;
  const char* at = ObjectReader::At(value);
  std::vector<std::string_view> values;
  bool has_operator = false;
  const int errors_before = reader.errors();
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "key") {
      answer.key = reader.TextNotEmpty(field);
    } else if (key == "operator") {
      has_operator = true;
      reader.TextNotEmpty(field);
      answer.requirement.op = reader.Word(field, ops, SelectorOp::kIn);
    } else if (key == "values") {
      reader.ForEachItem(field, [&](JsonValue& item) { values.push_back(reader.Text(item)); });
    }
  });
  if (reader.errors() != errors_before) return answer;
  SelectorRequirement& requirement = answer.requirement;
  if (answer.key.empty() || !has_operator) {
    reader.Wrong(at, "expected a key and an operator");
    return answer;
  }
  requirement.key = strings.Intern(answer.key);
  switch (requirement.op) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (values.empty()) reader.Wrong(at, "the operators In and NotIn need values");
      for (const std::string_view text : values) requirement.values.push_back(strings.Intern(text));
      std::sort(requirement.values.begin(), requirement.values.end());
      requirement.values.erase(std::unique(requirement.values.begin(), requirement.values.end()),
                               requirement.values.end());
      break;
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      if (!values.empty()) reader.Wrong(at, "the operators Exists and DoesNotExist take no values");
      break;
    case SelectorOp::kGreater:
    case SelectorOp::kLess:
      if (values.size() != 1) {
        reader.Wrong(at, "the operators Gt and Lt need exactly one value");
      } else if (!ParseNumber(values[0], requirement.number)) {
        answer.possible = false;
        reader.Warn(at, fmt::format("{} is not a whole number: the term cannot be evaluated",
                                    Quoted(values[0])));
      }
      break;
  }
  return answer;
}

// One order for equal sets of requirements, however they were written.
void Sort(std::vector<SelectorRequirement>& requirements) {
  std::sort(requirements.begin(), requirements.end(),
            [](const SelectorRequirement& a, const SelectorRequirement& b) {
              return std::tie(a.key, a.op, a.number, a.values) <
                     std::tie(b.key, b.op, b.number, b.values);
            });
}

}  // namespace

LabelSelector DecodeLabelSelector(ObjectReader& reader, JsonValue& value, StringPool& strings) {
  LabelSelector selector;
  if (ObjectReader::IsNull(value)) return selector;
  selector.given = true;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "matchLabels") {
      reader.ForEachField(field, [&](std::string_view label, JsonValue& text) {
        selector.requirements.push_back({.key = strings.Intern(label),
                                         .op = SelectorOp::kIn,
                                         .values = {strings.Intern(reader.Text(text))}});
      });
    } else if (key == "matchExpressions") {
      reader.ForEachItem(field, [&](JsonValue& item) {
        selector.requirements.push_back(
            DecodeExpression(reader, item, kLabelOps, strings).requirement);
      });
    }
  });
  Sort(selector.requirements);
  return selector;
}

std::optional<NodeSelectorTerm> DecodeNodeSelectorTerm(ObjectReader& reader, JsonValue& value,
                                                       StringPool& strings) {
  NodeSelectorTerm term;
  bool possible = true;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "matchExpressions") {
      reader.ForEachItem(field, [&](JsonValue& item) {
        Expression expression = DecodeExpression(reader, item, kNodeOps, strings);
        possible = possible && expression.possible;
        term.expressions.push_back(std::move(expression.requirement));
      });
    } else if (key == "matchFields") {
      reader.ForEachItem(field, [&](JsonValue& item) {
        const char* at = ObjectReader::At(item);
        Expression expression = DecodeExpression(reader, item, kFieldOps, strings);
        if (expression.key != "metadata.name" && !expression.key.empty())
          reader.Wrong(
              at, fmt::format("expected the field metadata.name, got {}", Quoted(expression.key)));
        if (expression.requirement.values.size() > 1)
          reader.Wrong(at, "a field is compared with exactly one value");
        term.name_fields.push_back(std::move(expression.requirement));
      });
    }
  });
  if (!possible) return {};
  Sort(term.expressions);
  Sort(term.name_fields);
  return term;
}

std::vector<NodeSelectorTerm> DecodeNodeSelector(ObjectReader& reader, JsonValue& value,
                                                 StringPool& strings) {
  std::vector<NodeSelectorTerm> terms;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key != "nodeSelectorTerms") return;
    reader.ForEachItem(field, [&](JsonValue& item) {
      if (auto term = DecodeNodeSelectorTerm(reader, item, strings))
        terms.push_back(std::move(*term));
    });
  });
  return terms;
}

void AddOwnLabels(LabelSelector& selector, SelectorOp op, const std::vector<std::string_view>& keys,
                  const TextMap& own_labels, StringPool& strings) {
  if (!selector.given) return;
  for (const std::string_view key : keys) {
    const TextMap::Entry* own = own_labels.Find(key);
    if (own == nullptr) continue;
    SelectorRequirement requirement{
        .key = strings.Intern(key), .op = op, .values = {strings.Intern(own->value)}};
    auto& all = selector.requirements;
    if (std::find(all.begin(), all.end(), requirement) == all.end())
      all.push_back(std::move(requirement));
  }
  Sort(selector.requirements);
}

}  // namespace krafla
