// The JSON side of yaml_node.h.
#include <fmt/format.h>

#include "base/yaml_node.h"

namespace krafla {

namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool IsJsonNumber(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t whole = at;
  at = SkipDigits(text, at);
  if (at == whole || (text[whole] == '0' && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = at + 1;
    at = SkipDigits(text, fraction);
    if (at == fraction) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t exponent = at;
    at = SkipDigits(text, exponent);
    if (at == exponent) return false;
  }
  return at == text.size();
}

void AppendString(std::string_view text, std::string& out) {
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendScalar(const YamlNode& node, std::string& out) {
  const std::string& text = node.text;
  if (node.quoted) {
    AppendString(text, out);
  } else if (text == "true" || text == "True" || text == "TRUE") {
    out += "true";
  } else if (text == "false" || text == "False" || text == "FALSE") {
    out += "false";
  } else if (IsJsonNumber(text)) {
    out += text;
  } else {
    AppendString(text, out);
  }
}

// Recursion is as deep as the tree, which is bounded.
void Append(const YamlNode& node, std::string& out) {
  switch (node.kind) {
    case YamlKind::kNull:
      out += "null";
      return;
    case YamlKind::kScalar:
      AppendScalar(node, out);
      return;
    case YamlKind::kSequence:
      out += '[';
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ',';
        Append(node.items[i], out);
      }
      out += ']';
      return;
    case YamlKind::kMapping:
      out += '{';
      for (size_t i = 0; i < node.entries.size(); ++i) {
        if (i > 0) out += ',';
        AppendString(node.entries[i].key, out);
        out += ':';
        Append(node.entries[i].value, out);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string ToJson(const YamlNode& node) {
  std::string json;
  Append(node, json);
  return json;
}

}  // namespace krafla
