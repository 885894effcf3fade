#include "base/log_text.h"

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr size_t kMostBytes = 2000;

}  // namespace

std::string LogQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool starts_character = (byte & 0xC0) != 0x80;
    if (quoted.size() >= kMostBytes && starts_character) {
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
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

}  // namespace krafla
