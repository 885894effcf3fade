#include "sim/name_pattern.h"

namespace krafla {

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  // Greedy with one step back: when the rest does not fit, the last star takes one more character.
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t star_takes_to = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_takes_to = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_takes_to;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace krafla
