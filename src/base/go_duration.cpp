#include "base/go_duration.h"

#include <array>
#include <optional>

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;

// The magnitude of the most negative value; the positive side ends one earlier.
constexpr uint64_t kMagnitudeLimit = uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  uint64_t ns;
};

constexpr std::array kUnits = {
    Unit{"s", kSecond},
    Unit{"m", kMinute},
    Unit{"h", kHour},
    Unit{"ms", kMillisecond},
    Unit{"us", kMicrosecond},
    Unit{"ns", 1},
    Unit{"\u00b5s", kMicrosecond},  // micro sign
    Unit{"\u03bcs", kMicrosecond},  // Greek letter mu
};

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::unexpected<Error> NotADuration(std::string_view text) {
  return Fail(fmt::format("\"{}\" is not a duration; write 90s, 5m or 1h30m", text));
}

std::unexpected<Error> MissingUnit(std::string_view text) {
  return Fail(
      fmt::format("\"{}\" is not a duration, the unit is missing; write 90s, 5m or 1h30m", text));
}

std::unexpected<Error> TooLong(std::string_view text) {
  return Fail(fmt::format("\"{}\" is too long for a duration; the limit is about 292 years", text));
}

// Takes the leading digits off `rest`; empty when their value passes the limit.
std::optional<uint64_t> TakeInteger(std::string_view& rest) {
  uint64_t value = 0;
  size_t used = 0;
  for (; used < rest.size() && IsDigit(rest[used]); ++used) {
    const uint64_t digit = static_cast<uint64_t>(rest[used] - '0');
    if (value > (kMagnitudeLimit - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  rest.remove_prefix(used);
  return value;
}

struct Fraction {
  uint64_t numerator = 0;
  double denominator = 1;
};

// Takes the leading digits off `rest`. Digits that no longer fit are dropped: they are far below a
// nanosecond.
Fraction TakeFraction(std::string_view& rest) {
  Fraction fraction;
  bool full = false;
  size_t used = 0;
  for (; used < rest.size() && IsDigit(rest[used]); ++used) {
    const uint64_t digit = static_cast<uint64_t>(rest[used] - '0');
    full = full || fraction.numerator > (kMagnitudeLimit - 1) / 10 ||
           fraction.numerator * 10 + digit > kMagnitudeLimit;
    if (full) continue;
    fraction.numerator = fraction.numerator * 10 + digit;
    fraction.denominator *= 10;
  }
  rest.remove_prefix(used);
  return fraction;
}

// Takes everything up to the next number off `rest`.
std::string_view TakeUnitName(std::string_view& rest) {
  const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
  rest.remove_prefix(name.size());
  return name;
}

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// `value / unit` with as many decimals as are needed, at most `decimals`.
std::string FormatDecimal(uint64_t value, uint64_t unit, int decimals) {
  std::string text = fmt::format("{}", value / unit);
  if (value % unit == 0) return text;
  text += fmt::format(".{:0{}}", value % unit, decimals);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

Result<int64_t> ParseGoDuration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return 0;
  if (rest.empty()) return NotADuration(text);

  uint64_t total = 0;
  while (!rest.empty()) {
    const size_t before_integer = rest.size();
    const std::optional<uint64_t> integer = TakeInteger(rest);
    if (!integer) return TooLong(text);
    bool has_digits = rest.size() != before_integer;
    Fraction fraction;
    if (!rest.empty() && rest[0] == '.') {
      rest.remove_prefix(1);
      const size_t before_fraction = rest.size();
      fraction = TakeFraction(rest);
      has_digits = has_digits || rest.size() != before_fraction;
    }
    if (!has_digits) return NotADuration(text);

    const std::string_view unit_name = TakeUnitName(rest);
    if (unit_name.empty()) return MissingUnit(text);
    const Unit* unit = FindUnit(unit_name);
    if (unit == nullptr) return NotADuration(text);

    if (*integer > kMagnitudeLimit / unit->ns) return TooLong(text);
    // The fraction goes through a double because Go's does, and its cut-off shows in the result:
    // "0.3333333333333333333h" is 20m0s there and one nanosecond less in exact arithmetic.
    const uint64_t part =
        *integer * unit->ns +
        static_cast<uint64_t>(static_cast<double>(fraction.numerator) *
                              (static_cast<double>(unit->ns) / fraction.denominator));
    if (part > kMagnitudeLimit || total > kMagnitudeLimit - part) return TooLong(text);
    total += part;
  }
  if (negative) return static_cast<int64_t>(uint64_t{0} - total);
  if (total == kMagnitudeLimit) return TooLong(text);
  return static_cast<int64_t>(total);
}

std::string FormatGoDuration(int64_t duration_ns) {
  const uint64_t magnitude = Magnitude(duration_ns);
  const char* sign = duration_ns < 0 ? "-" : "";
  if (magnitude == 0) return "0s";
  if (magnitude < kMicrosecond) return fmt::format("{}{}ns", sign, magnitude);
  if (magnitude < kMillisecond) {
    return fmt::format("{}{}\u00b5s", sign, FormatDecimal(magnitude, kMicrosecond, 3));
  }
  if (magnitude < kSecond) {
    return fmt::format("{}{}ms", sign, FormatDecimal(magnitude, kMillisecond, 6));
  }
  const std::string seconds = FormatDecimal(magnitude % kMinute, kSecond, 9);
  const uint64_t minutes = magnitude / kMinute;
  if (minutes == 0) return fmt::format("{}{}s", sign, seconds);
  if (minutes < 60) return fmt::format("{}{}m{}s", sign, minutes, seconds);
  return fmt::format("{}{}h{}m{}s", sign, minutes / 60, minutes % 60, seconds);
}

std::string FormatShortDuration(int64_t duration_ns) {
  const uint64_t seconds = Magnitude(duration_ns) / kSecond;
  if (seconds == 0) return "0s";
  std::string text = duration_ns < 0 ? "-" : "";
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds / 60 % 60 != 0) text += fmt::format("{}m", seconds / 60 % 60);
  if (seconds % 60 != 0) text += fmt::format("{}s", seconds % 60);
  return text;
}

}  // namespace krafla
