// Instants, as Kubernetes writes them (RFC 3339) and as we compare them (nanoseconds since 1970).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

// An instant, or none. "None" is Kubernetes' zero time (year 1), the value of a creationTimestamp
// that is not there: it sorts before every instant, so orders need no special case for it.
struct Timestamp {
  static constexpr int64_t kAbsentNs = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNsPerSecond = 1'000'000'000;

  int64_t ns = kAbsentNs;  // since the Unix epoch, without leap seconds

  // Instants outside of the years 1678 to 2261 become the nearest one that can be held.
  static Timestamp FromUnixSeconds(int64_t seconds, int64_t nanoseconds = 0);

  constexpr bool Present() const { return ns != kAbsentNs; }

  // The second that has begun, also before 1970.
  constexpr int64_t UnixSeconds() const {
    return ns / kNsPerSecond - (ns % kNsPerSecond < 0 ? 1 : 0);
  }

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// From `from` to `to`, saturating as Go's Time.Sub does: since an absent instant an age has passed.
int64_t ElapsedNs(Timestamp from, Timestamp to);

// An instant and the offset it was written with: "2026-03-15T08:00:00+08:00" has 28800.
struct ZonedTimestamp {
  Timestamp time;
  int offset_seconds = 0;
};

// Accepts Z and ±hh:mm and any number of decimals, cut off after the ninth. The zero time
// "0001-01-01T00:00:00Z" is read as absent.
Result<ZonedTimestamp> ParseRfc3339(std::string_view text);

// In UTC, seconds cut off. Absent is written as the zero time.
std::string FormatRfc3339(Timestamp time);

}  // namespace krafla
