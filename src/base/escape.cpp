#include "base/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

namespace {

unsigned char ByteAt(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool IsPlainAscii(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F;
}

}  // namespace

size_t Utf8LengthAt(std::string_view text, size_t at) {
  const unsigned char first = ByteAt(text, at);
  if (first < 0x80) return 1;
  // Overlong forms, surrogates and numbers beyond U+10FFFF narrow the range of the second byte.
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || at + length > text.size()) return 0;
  if (ByteAt(text, at + 1) < low || ByteAt(text, at + 1) > high) return 0;
  for (size_t i = 2; i < length; ++i)
    if ((ByteAt(text, at + i) & 0xC0) != 0x80) return 0;
  return length;
}

bool IsControlAt(std::string_view text, size_t at, size_t length) {
  const unsigned char first = ByteAt(text, at);
  if (length == 1) return first < 0x20 || first == 0x7F;
  return length == 2 && first == 0xC2 && ByteAt(text, at + 1) < 0xA0;
}

std::string EscapeControls(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlainAscii)) return std::string(text);
  std::string escaped;
  escaped.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size();) {
    const unsigned char byte = ByteAt(text, at);
    const size_t length = Utf8LengthAt(text, at);
    if (length == 0) {
      escaped += fmt::format("\\x{:02x}", byte);
      ++at;
      continue;
    }
    if (byte == '\n') {
      escaped += "\\n";
    } else if (byte == '\t') {
      escaped += "\\t";
    } else if (byte == '\r') {
      escaped += "\\r";
    } else if (!IsControlAt(text, at, length)) {
      escaped += text.substr(at, length);
    } else if (length == 1) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += fmt::format("\\u00{:02x}", ByteAt(text, at + 1));
    }
    at += length;
  }
  return escaped;
}

}  // namespace krafla
