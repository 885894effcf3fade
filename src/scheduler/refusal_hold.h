// A pod that the API refused to bind or to evict is not asked about again at once: for a while that
// grows with each refusal it goes on counting as bound, or as leaving. The same for a live cluster
// and for a simulated one.
#pragma once

#include <algorithm>
#include <chrono>

namespace krafla {

// 1 s, 2 s, 4 s, … 60 s. `earlier`: refusals of the same pod since something was last granted.
constexpr std::chrono::milliseconds HoldAfterRefusal(int earlier) {
  constexpr std::chrono::milliseconds kFirst{1'000};
  constexpr std::chrono::milliseconds kLongest{60'000};
  return std::min(kLongest, kFirst * (1 << std::clamp(earlier, 0, 6)));
}

}  // namespace krafla
