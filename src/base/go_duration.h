// Durations in Go's notation ("1h30m", "1.5s"), which Kubernetes and Volcano use in annotations,
// arguments and flags. In memory they are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

// What time.ParseDuration accepts, with its rounding; a value that does not fit is an error.
Result<int64_t> ParseGoDuration(std::string_view text);

// Duration.String(): "1h0m0s", "1.5ms", "0s". ParseGoDuration reads it back to the same value.
std::string FormatGoDuration(int64_t duration_ns);

// For people: whole seconds, cut off, without the parts that are zero: "3m12s", "1h", "0s".
std::string FormatShortDuration(int64_t duration_ns);

}  // namespace krafla
