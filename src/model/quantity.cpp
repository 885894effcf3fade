// How a quantity is read:
//   1. Plain digits and a known suffix, nearly all there is, become one multiplication.
//   2. Otherwise the text is split into sign, digits before and after the point, and suffix.
//   3. A decimal suffix or exponent only moves the point: the digits up to the ninth place after it
//      are the nanos, and any non-zero digit behind adds one.
//   4. A binary suffix multiplies the digits before and after the point separately.
#include "model/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace krafla {

namespace {

using Nano = Quantity::Nano;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr int kNanoDigits = 9;
constexpr size_t kSafeDigits = 18;  // always fit into 64 bits
constexpr Nano kBinaryCap = kMaxInt64 * Quantity::kNanoPerUnit;

// A quantity is number * 10^decimal_exponent, or number * 2^binary_exponent if that is not 0.
struct Suffix {
  int64_t decimal_exponent = 0;
  int binary_exponent = 0;
};

// 10^0 to 10^27: the factors from nanos to the decimal suffixes.
constexpr std::array<Nano, 28> kPowersOfTen = [] {
  std::array<Nano, 28> powers{};
  Nano power = 1;
  for (Nano& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view LeadingDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  return text.substr(0, count);
}

// How many thousands a prefix stands for, -3 (n) to 6 (E); empty for other letters.
constexpr std::optional<int> FindThousands(char prefix) {
  switch (prefix) {
    case 'n':
      return -3;
    case 'u':
      return -2;
    case 'm':
      return -1;
    case 'k':
      return 1;
    case 'M':
      return 2;
    case 'G':
      return 3;
    case 'T':
      return 4;
    case 'P':
      return 5;
    case 'E':
      return 6;
    default:
      return std::nullopt;
  }
}

constexpr std::optional<Suffix> FindNamedSuffix(std::string_view name) {
  if (name.empty()) return Suffix{};
  if (name.size() == 1) {
    const std::optional<int> thousands = FindThousands(name[0]);
    if (thousands) return Suffix{.decimal_exponent = 3 * *thousands};
  } else if (name.size() == 2 && name[1] == 'i') {
    // The binary kilo is a capital K, the decimal one is not.
    if (name[0] == 'K') return Suffix{.binary_exponent = 10};
    const std::optional<int> thousands = FindThousands(name[0]);
    if (thousands && *thousands > 1) return Suffix{.binary_exponent = 10 * *thousands};
  }
  return std::nullopt;
}

// "e3", "E-3", "e+3".
std::optional<Suffix> FindExponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Suffix suffix;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, suffix.decimal_exponent);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return suffix;
}

// false when the result does not fit.
bool AppendDigit(Nano& value, char digit) {
  return !__builtin_mul_overflow(value, Nano{10}, &value) &&
         !__builtin_add_overflow(value, Nano{digit - '0'}, &value);
}

bool AnyNonZero(std::string_view digits) {
  return digits.find_first_not_of('0') != std::string_view::npos;
}

// Empty when the magnitude does not fit.
std::optional<Nano> DecimalNano(std::string_view before_point, std::string_view after_point,
                                int64_t exponent) {
  if (!AnyNonZero(before_point) && !AnyNonZero(after_point)) return 0;
  // More digits than this overflow, or vanish below the nano, whatever the number: with the bound
  // the sums below cannot overflow themselves.
  const int64_t bound = static_cast<int64_t>(before_point.size() + after_point.size()) + 100;
  if (exponent > bound) return std::nullopt;
  if (exponent < -bound) return 1;

  int64_t wanted = static_cast<int64_t>(before_point.size()) + exponent + kNanoDigits;
  Nano nano = 0;
  bool more = false;
  for (const std::string_view digits : {before_point, after_point}) {
    for (const char digit : digits) {
      if (wanted <= 0) {
        more = more || digit != '0';
      } else if (!AppendDigit(nano, digit)) {
        return std::nullopt;
      }
      --wanted;
    }
  }
  for (; wanted > 0; --wanted) {
    if (!AppendDigit(nano, '0')) return std::nullopt;
  }
  if (more && __builtin_add_overflow(nano, Nano{1}, &nano)) return std::nullopt;
  return nano;
}

Nano BinaryNano(std::string_view before_point, std::string_view after_point, int exponent) {
  Nano integer = 0;
  for (const char digit : before_point) {
    integer = integer * 10 + (digit - '0');
    if (integer << exponent > kMaxInt64) return kBinaryCap;
  }
  // 0.d1d2d3 * factor = (d1 * factor + (d2 * factor + (d3 * factor) / 10) / 10) / 10. Cutting off
  // at each step gives the same whole number as cutting off at the end, for any number of digits.
  const Nano factor = Quantity::kNanoPerUnit << exponent;
  Nano fraction = 0;
  bool more = false;
  for (size_t i = after_point.size(); i-- > 0;) {
    const Nano step = (after_point[i] - '0') * factor + fraction;
    more = more || step % 10 != 0;
    fraction = step / 10;
  }
  const Nano nano = (integer << exponent) * Quantity::kNanoPerUnit + fraction + (more ? 1 : 0);
  return nano < kBinaryCap ? nano : kBinaryCap;
}

Result<Quantity> ParseAnyQuantity(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view before_point = LeadingDigits(rest);
  rest.remove_prefix(before_point.size());
  std::string_view after_point;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    after_point = LeadingDigits(rest);
    rest.remove_prefix(after_point.size());
  }
  // Kubernetes reads "m" or "-" as 0; its own grammar wants a digit, and so do we.
  if (before_point.empty() && after_point.empty()) {
    return Fail(fmt::format("\"{}\" is not a quantity; write 500m, 2, 64Gi or 1e3", text));
  }
  std::optional<Suffix> suffix = FindNamedSuffix(rest);
  if (!suffix) suffix = FindExponent(rest);
  if (!suffix) {
    return Fail(
        fmt::format("\"{}\" is not a quantity, the suffix \"{}\" is not valid; "
                    "write 500m, 2, 64Gi or 1e3",
                    text, rest));
  }
  const std::optional<Nano> nano =
      suffix->binary_exponent != 0
          ? BinaryNano(before_point, after_point, suffix->binary_exponent)
          : DecimalNano(before_point, after_point, suffix->decimal_exponent);
  if (!nano) return Fail(fmt::format("\"{}\" is too large for a quantity", text));
  return Quantity::FromNano(negative ? -*nano : *nano);
}

// nano / step, rounded away from zero and saturated.
int64_t RoundedQuotient(Nano nano, int64_t step) {
  const Nano quotient = nano / step;
  const Nano remainder = nano - quotient * step;
  const Nano rounded = quotient + (remainder > 0 ? 1 : remainder < 0 ? -1 : 0);
  if (rounded > kMaxInt64) return kMaxInt64;
  if (rounded < kMinInt64) return kMinInt64;
  return static_cast<int64_t>(rounded);
}

}  // namespace

int64_t Quantity::Value() const {
  return RoundedQuotient(nano_, 1'000'000'000);
}

int64_t Quantity::MilliValue() const {
  return RoundedQuotient(nano_, 1'000'000);
}

Result<Quantity> ParseQuantity(std::string_view text) {
  int64_t number = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < kSafeDigits && IsDigit(text[digits])) {
    number = number * 10 + (text[digits++] - '0');
  }
  const std::optional<Suffix> suffix = FindNamedSuffix(text.substr(digits));
  if (digits == 0 || !suffix) return ParseAnyQuantity(text);
  const Nano factor =
      suffix->binary_exponent != 0
          ? Quantity::kNanoPerUnit << suffix->binary_exponent
          : kPowersOfTen[static_cast<size_t>(suffix->decimal_exponent + kNanoDigits)];
  Nano nano = 0;
  if (__builtin_mul_overflow(Nano{number}, factor, &nano)) return ParseAnyQuantity(text);
  if (suffix->binary_exponent != 0 && nano > kBinaryCap) nano = kBinaryCap;
  return Quantity::FromNano(nano);
}

}  // namespace krafla
