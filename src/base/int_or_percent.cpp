#include "base/int_or_percent.h"

#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

namespace krafla {

Result<IntOrPercent> ParseIntOrPercent(std::string_view text) {
  std::string_view number = text;
  while (number.ends_with('%')) number.remove_suffix(1);
  IntOrPercent parsed{.value = 0, .is_percent = number.size() != text.size()};
  // from_chars knows no plus; "+-5" must not slip through when it is taken off.
  if (number.starts_with('+') && !number.starts_with("+-")) number.remove_prefix(1);
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, parsed.value);
  if (error == std::errc::result_out_of_range) {
    return Fail(fmt::format("\"{}\" is too large a number", text));
  }
  if (error != std::errc{} || stop != end) {
    return Fail(
        fmt::format("\"{}\" is neither a whole number nor a percentage; write 3 or 25%", text));
  }
  return parsed;
}

Result<int64_t> ScaledIntOrPercent(std::string_view text, int64_t total) {
  const Result<IntOrPercent> parsed = ParseIntOrPercent(text);
  if (!parsed) return std::unexpected(parsed.error());
  if (!parsed->is_percent) return parsed->value;
  const __int128 hundredfold = static_cast<__int128>(parsed->value) * total;
  // Division cuts towards zero, which is already up for negative products.
  const __int128 scaled = hundredfold / 100 + (hundredfold % 100 > 0 ? 1 : 0);
  if (scaled > std::numeric_limits<int64_t>::max() ||
      scaled < std::numeric_limits<int64_t>::min()) {
    return Fail(fmt::format("{} of {} is too large a number", text, total));
  }
  return static_cast<int64_t>(scaled);
}

}  // namespace krafla
