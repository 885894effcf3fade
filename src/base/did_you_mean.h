// Help for messages about words a user wrote: the nearest known word, and the word itself in a form
// that may stand in a message whatever bytes it holds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace krafla {

// The known word nearest to `word`, the first of equals; nothing when none is near enough to be
// meant. Distance: insertions, deletions, substitutions and swaps of neighbours, upper and lower
// case being equal; near is at most a third of the word's length, and one edit for short words.
std::optional<std::string_view> DidYouMean(std::string_view word,
                                           std::span<const std::string_view> known);

// The end of a sentence about an unknown word: `; did you mean "gang"?`, or, when nothing is near,
// `; expected one of drf, gang, priority`. Empty when nothing is known.
std::string DidYouMeanHint(std::string_view word, std::span<const std::string_view> known);

// `text` on one line and of bounded length: control characters as \n, \t, \x01 or \u009b, a
// long rest as "…".
std::string Printable(std::string_view text);

// Printable, in double quotes.
std::string Quoted(std::string_view text);

}  // namespace krafla
