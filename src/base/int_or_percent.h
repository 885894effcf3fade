// Kubernetes' "int or string" values: a count, or a percentage of something ("3", "25%").
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace krafla {

struct IntOrPercent {
  int64_t value = 0;
  bool is_percent = false;

  friend bool operator==(const IntOrPercent&, const IntOrPercent&) = default;
};

// An integer with an optional sign, or one followed by a percent sign. "5%%" is taken for "5%", as
// Kubernetes does where Volcano asks it.
Result<IntOrPercent> ParseIntOrPercent(std::string_view text);

// A count as it is, a percentage of `total` rounded up (towards positive).
Result<int64_t> ScaledIntOrPercent(std::string_view text, int64_t total);

}  // namespace krafla
