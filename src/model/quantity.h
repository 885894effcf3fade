// Kubernetes' resource.Quantity: the notation of amounts in manifests ("500m", "64Gi", "1e3").
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace krafla {

// An exact amount in billionths, the finest step Kubernetes keeps.
class Quantity {
 public:
  using Nano = __int128;
  static constexpr Nano kNanoPerUnit = 1'000'000'000;

  constexpr Quantity() = default;
  static constexpr Quantity FromNano(Nano nano) { return Quantity(nano); }

  // In units and in thousandths, rounded away from zero. What does not fit into 64 bits saturates:
  // Kubernetes wraps around or gives 0 there ("1E".MilliValue() is 0), and a request for more than
  // the world has must not look like a small one.
  int64_t Value() const;
  int64_t MilliValue() const;

  constexpr bool Negative() const { return nano_ < 0; }
  constexpr bool IsZero() const { return nano_ == 0; }

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  constexpr explicit Quantity(Nano nano) : nano_(nano) {}

  Nano nano_ = 0;
};

// The grammar:
//   quantity = [sign] number suffix          number = digits [. [digits]] | . digits
//   suffix   = "" n u m k M G T P E | Ki Mi Gi Ti Pi Ei | (e | E) [sign] digits
// Digits beyond the nano are rounded away from zero. A magnitude with a binary suffix is capped at
// 2^63-1, as Kubernetes does; others are exact up to about 1.7e29 and an error that says "too
// large" beyond. No blanks are accepted: Kubernetes trims them when it decodes JSON, not here.
Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace krafla
