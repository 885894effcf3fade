// The word behind "krafla": which command is meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krafla {

// What is wrong with the word, as a sentence with the command that was probably meant; nothing when
// it is a command.
std::optional<std::string> WrongCommand(std::string_view word);

}  // namespace krafla
