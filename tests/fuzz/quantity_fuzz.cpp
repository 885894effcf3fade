// Amounts, durations, timestamps, percentages and windows: whatever the bytes, an answer or a
// sentence.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/go_duration.h"
#include "base/int_or_percent.h"
#include "base/timestamp.h"
#include "model/quantity.h"
#include "model/zone_window.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto quantity = krafla::ParseQuantity(text)) {
    // Rounded away from zero, so never less than what the thousandths say.
    const int64_t whole = quantity->Value();
    const int64_t thousandths = quantity->MilliValue() / 1000;
    if (quantity->Negative() ? whole > thousandths : whole < thousandths) std::abort();
  } else if (quantity.error().message.empty()) {
    std::abort();
  }
  if (const auto duration = krafla::ParseGoDuration(text))
    if (krafla::ParseGoDuration(krafla::FormatGoDuration(*duration)).value_or(*duration + 1) !=
        *duration)
      std::abort();
  (void)krafla::ScaledIntOrPercent(text, 10);
  (void)krafla::ParseRfc3339(text);
  if (const auto window = krafla::ParseZoneWindow(text)) {
    const auto now = krafla::Timestamp::FromUnixSeconds(1773144000 + static_cast<int64_t>(size));
    const bool open = krafla::IsOpen(*window, now, {});
    const auto change = krafla::NextChange(*window, now, {});
    if (change && krafla::IsOpen(*window, *change, {}) == open) std::abort();
  }
  return 0;
}
