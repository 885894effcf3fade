#include "base/log_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

namespace {

constexpr size_t kMostBytes = 2000;

}  // namespace

std::string LogQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool starts_character = (byte & 0xC0) != 0x80;
    if (quoted.size() >= kMostBytes + (starts_character ? 0 : 3)) {
      quoted += "…";
      break;
    }
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else if (byte >= 0x80 && byte < 0xA0 && quoted.back() == '\xC2') {
      // U+0080 to U+009F: a terminal may take them for orders.
      quoted.pop_back();
      quoted += fmt::format("\\u00{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

std::string LogWord(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._/:-").find(c) != std::string_view::npos;
  };
  const bool plain =
      !text.empty() && text.size() <= kMostBytes && std::all_of(text.begin(), text.end(), is_plain);
  return plain ? std::string(text) : LogQuoted(text);
}

}  // namespace krafla
