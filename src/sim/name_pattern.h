// Names in scenario files: "team-a/train", "n-00*", "*". A star stands for any run of characters,
// slashes included.
#pragma once

#include <string_view>

namespace krafla {

bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace krafla
