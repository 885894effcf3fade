#include "base/base64.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> Values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kValues = Values();

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int8_t value = kValues[static_cast<uint8_t>(c)];
    if (value < 0 || padding != 0)
      return Fail(fmt::format("is not base64: byte {} does not belong there", i + 1));
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++digits % 4 == 0) {
      bytes.push_back(static_cast<char>(bits >> 16));
      bytes.push_back(static_cast<char>(bits >> 8));
      bytes.push_back(static_cast<char>(bits));
      bits = 0;
    }
  }
  if ((digits + padding) % 4 != 0 || digits % 4 == 1 || padding > 2)
    return Fail("is not base64: it ends too early");
  if (digits % 4 == 2) {
    bytes.push_back(static_cast<char>(bits >> 4));
  } else if (digits % 4 == 3) {
    bytes.push_back(static_cast<char>(bits >> 10));
    bytes.push_back(static_cast<char>(bits >> 2));
  }
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    const size_t taken = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 4; ++j)
      text.push_back(j <= taken ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

}  // namespace krafla
