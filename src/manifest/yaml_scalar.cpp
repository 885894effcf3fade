#include "manifest/yaml_scalar.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

namespace krafla {

namespace {

using Kind = YamlScalarKind;

constexpr std::array<std::pair<std::string_view, Kind>, 38> kWords = {{
    {"~", Kind::kNull},          {"null", Kind::kNull},       {"Null", Kind::kNull},
    {"NULL", Kind::kNull},       {"true", Kind::kTrue},       {"True", Kind::kTrue},
    {"TRUE", Kind::kTrue},       {"false", Kind::kFalse},     {"False", Kind::kFalse},
    {"FALSE", Kind::kFalse},     {"yes", Kind::kTrue},        {"Yes", Kind::kTrue},
    {"YES", Kind::kTrue},        {"no", Kind::kFalse},        {"No", Kind::kFalse},
    {"NO", Kind::kFalse},        {"on", Kind::kTrue},         {"On", Kind::kTrue},
    {"ON", Kind::kTrue},         {"off", Kind::kFalse},       {"Off", Kind::kFalse},
    {"OFF", Kind::kFalse},       {"y", Kind::kTrue},          {"Y", Kind::kTrue},
    {"n", Kind::kFalse},         {"N", Kind::kFalse},         {".inf", Kind::kNotFinite},
    {".Inf", Kind::kNotFinite},  {".INF", Kind::kNotFinite},  {"+.inf", Kind::kNotFinite},
    {"+.Inf", Kind::kNotFinite}, {"+.INF", Kind::kNotFinite}, {"-.inf", Kind::kNotFinite},
    {"-.Inf", Kind::kNotFinite}, {"-.INF", Kind::kNotFinite}, {".nan", Kind::kNotFinite},
    {".NaN", Kind::kNotFinite},  {".NAN", Kind::kNotFinite},
}};

constexpr size_t kLongestWord = 5;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view LeadingDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  return text.substr(0, count);
}

// Sign and digits, taken apart.
struct Parts {
  bool negative = false;
  std::string_view before;    // the point
  std::string_view after;     // the point
  std::string_view exponent;  // with its sign
  bool whole = true;          // neither point nor exponent
};

// False when `text` is not of the form [sign] digits [. digits] [e [sign] digits], one group of
// digits being enough.
bool Split(std::string_view text, Parts& parts) {
  if (text.starts_with('-') || text.starts_with('+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.before = LeadingDigits(text);
  text.remove_prefix(parts.before.size());
  if (text.starts_with('.')) {
    parts.whole = false;
    text.remove_prefix(1);
    parts.after = LeadingDigits(text);
    text.remove_prefix(parts.after.size());
  }
  if (parts.before.empty() && parts.after.empty()) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    parts.whole = false;
    text.remove_prefix(1);
    parts.exponent = text;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view digits = LeadingDigits(text);
    if (digits.empty()) return false;
    text.remove_prefix(digits.size());
  }
  return text.empty();
}

std::string_view WithoutLeadingZeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits.empty() ? "0" : digits;
}

YamlScalar Integer(bool negative, std::string_view digits, std::string& scratch) {
  scratch.assign(negative && digits != "0" ? "-" : "").append(digits);
  return {Kind::kInteger, scratch};
}

// 0x1F, 0b101, 0o17, 0644. Text when it does not fit into 64 bits, as for Go.
YamlScalar BasedInteger(bool negative, std::string_view digits, int base, std::string& scratch) {
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  const uint64_t most = negative ? uint64_t{1} << 63 : std::numeric_limits<uint64_t>::max();
  if (error != std::errc{} || stop != end || value > most) return {};
  std::array<char, 24> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return Integer(negative, {text.data(), written.ptr}, scratch);
}

int BaseOf(char letter) {
  switch (letter) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      return 0;
  }
}

// kubectl passes numbers through a double, so that 2.0 and 1e3 are whole numbers to whoever wants
// one.
YamlScalar Float(const Parts& parts, std::string& scratch) {
  scratch.assign(parts.negative ? "-" : "").append(WithoutLeadingZeros(parts.before));
  if (!parts.after.empty()) scratch.append(".").append(parts.after);
  if (!parts.exponent.empty()) scratch.append("e").append(parts.exponent);
  constexpr double kExact = 1e15;
  double value = 0;
  const char* const end = scratch.data() + scratch.size();
  const auto [stop, error] = std::from_chars(scratch.data(), end, value);
  if (error == std::errc{} && std::fabs(value) < kExact && value == std::trunc(value)) {
    scratch = std::to_string(static_cast<int64_t>(value));
  }
  return {Kind::kFloat, scratch};
}

YamlScalar Number(std::string_view text, std::string& scratch) {
  const bool negative = text.front() == '-';
  const bool has_sign = negative || text.front() == '+';
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (digits.size() > 2 && digits[0] == '0' && BaseOf(digits[1]) != 0) {
    return BasedInteger(negative, digits.substr(2), BaseOf(digits[1]), scratch);
  }
  Parts parts;
  if (!Split(text, parts)) return {};
  if (!parts.whole) return Float(parts, scratch);
  if (parts.before.size() > 1 && parts.before.front() == '0') {
    YamlScalar octal = BasedInteger(negative, parts.before.substr(1), 8, scratch);
    if (octal.kind == Kind::kInteger) return octal;
    return Integer(negative, WithoutLeadingZeros(parts.before), scratch);
  }
  // Nearly always.
  if (!has_sign) return {Kind::kInteger, text};
  return Integer(negative, parts.before, scratch);
}

bool MayBeWord(char first) {
  return std::string_view("nNtTfFyYoO~.+-").find(first) != std::string_view::npos;
}

}  // namespace

YamlScalar ResolvePlainScalar(std::string_view text, std::string& scratch) {
  if (text.empty()) return {Kind::kNull, {}};
  const char first = text.front();
  if (text.size() <= kLongestWord && MayBeWord(first)) {
    for (const auto& [word, kind] : kWords) {
      if (word == text) return {kind, {}};
    }
  }
  if (!IsDigit(first) && first != '-' && first != '+' && first != '.') return {};
  if (text.find('_') == std::string_view::npos) return Number(text, scratch);
  // Go removes them wherever they stand, except behind a point that comes first.
  if (first == '.') return {};
  std::string plain(text);
  std::erase(plain, '_');
  YamlScalar scalar = Number(plain, scratch);
  if (!scalar.number.empty() && scalar.number.data() != scratch.data()) {
    scratch = plain;
    scalar.number = scratch;
  }
  return scalar;
}

}  // namespace krafla
