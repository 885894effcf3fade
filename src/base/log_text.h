// Text as the value of a key in a log line: error="409 \"web-0\" is bound already".
#pragma once

#include <string>
#include <string_view>

namespace krafla {

// In double quotes and on one line: quotes and backslashes are escaped, control characters are \n,
// \t, \r or \x01. A rest beyond 2000 bytes is "…".
std::string LogQuoted(std::string_view text);

// A name as the value of a key: as it is where it is one word of letters, digits and ._/:- ; else
// quoted. Names that objects refer to may be any text.
std::string LogWord(std::string_view text);

}  // namespace krafla
