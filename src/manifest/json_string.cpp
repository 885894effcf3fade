#include "manifest/json_string.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace krafla {

namespace {

constexpr std::array<bool, 256> kMustEscape = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = true;
  table['\\'] = true;
  return table;
}();

bool MustEscape(char c) {
  return kMustEscape[static_cast<unsigned char>(c)];
}

void AppendEscaped(std::string& text, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      text += "\\\"";
      break;
    case '\\':
      text += "\\\\";
      break;
    case '\n':
      text += "\\n";
      break;
    case '\r':
      text += "\\r";
      break;
    case '\t':
      text += "\\t";
      break;
    default:
      text += "\\u00";
      text += kHex[static_cast<unsigned char>(c) >> 4];
      text += kHex[static_cast<unsigned char>(c) & 15];
  }
}

}  // namespace

void AppendJsonString(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    const auto special = std::find_if(text.begin(), text.end(), MustEscape);
    const auto plain = static_cast<size_t>(special - text.begin());
    json.append(text.data(), plain);
    if (special == text.end()) break;
    AppendEscaped(json, *special);
    text.remove_prefix(plain + 1);
  }
  json += '"';
}

}  // namespace krafla
