// The word behind "krafla": which command is meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace krafla {

// What is wrong with the word, as a sentence with the command that was probably meant; nothing when
// it is a command.
std::optional<std::string> WrongCommand(std::string_view word);

// An option "--word" or "--word=value" that the command does not have, as a sentence; `known`: the
// names of those it has, without the dashes.
std::string WrongOption(std::string_view command, std::string_view word,
                        std::span<const std::string_view> known);

}  // namespace krafla
