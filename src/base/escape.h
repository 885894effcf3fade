// Text that may reach a terminal or a log: control characters are spelled out, so that a name taken
// from an object cannot move the cursor, change colors or start a new line. Used by every writer of
// messages, JSON and text output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krafla {

// The length of the UTF-8 character that begins at `text[at]`; 0: the byte begins none.
size_t Utf8LengthAt(std::string_view text, size_t at);

// Whether the character of `length` bytes at `text[at]` is a control character: U+0000 to U+001F,
// U+007F, U+0080 to U+009F. Terminals execute the last group too (U+009B begins a sequence).
bool IsControlAt(std::string_view text, size_t at, size_t length);

// Control characters as \n, \t, \r, \x1b or \u009b; bytes that are not UTF-8 as \xff. Everything
// else is unchanged.
std::string EscapeControls(std::string_view text);

}  // namespace krafla
