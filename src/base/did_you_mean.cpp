#include "base/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/escape.h"

namespace krafla {

namespace {

constexpr size_t kMaxPrintedBytes = 60;
constexpr size_t kMaxListedWords = 16;

// Independent of the locale, and defined for every byte.
char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool SameLetter(char a, char b) {
  return ToLower(a) == ToLower(b);
}

// The optimal string alignment distance (no substring is edited twice), three rows at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = previous[j - 1] + (SameLetter(a[i - 1], b[j - 1]) ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped =
          i > 1 && j > 1 && SameLetter(a[i - 1], b[j - 2]) && SameLetter(a[i - 2], b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string_view> DidYouMean(std::string_view word,
                                           std::span<const std::string_view> known) {
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  std::optional<std::string_view> nearest;
  size_t nearest_distance = limit + 1;
  for (std::string_view candidate : known) {
    // The difference in length is a lower bound, and spares us the table for megabytes of noise.
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= nearest_distance) continue;
    const size_t distance = EditDistance(word, candidate);
    // A word of which no letter remains is not a misspelling.
    if (distance >= nearest_distance || distance >= word.size()) continue;
    nearest = candidate;
    nearest_distance = distance;
  }
  return nearest;
}

std::string DidYouMeanHint(std::string_view word, std::span<const std::string_view> known) {
  if (known.empty()) return {};
  if (const auto nearest = DidYouMean(word, known)) {
    return fmt::format("; did you mean {}?", Quoted(*nearest));
  }
  std::string hint = known.size() == 1 ? "; expected " : "; expected one of ";
  for (size_t i = 0; i < known.size(); ++i) {
    if (i == kMaxListedWords) return hint + ", …";
    if (i > 0) hint += ", ";
    hint += known[i];
  }
  return hint;
}

std::string Printable(std::string_view text) {
  std::string printed;
  for (size_t at = 0; at < text.size();) {
    if (printed.size() >= kMaxPrintedBytes) return printed + "…";
    const size_t length = std::max<size_t>(1, Utf8LengthAt(text, at));
    printed += EscapeControls(text.substr(at, length));
    at += length;
  }
  return printed;
}

std::string Quoted(std::string_view text) {
  return '"' + Printable(text) + '"';
}

}  // namespace krafla
