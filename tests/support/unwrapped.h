// Text for people as one line: tests look for sentences, wherever they are wrapped.
#pragma once

#include <string>
#include <string_view>

namespace krafla::testing {

inline std::string Unwrapped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

}  // namespace krafla::testing
