#include "app/command_words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/did_you_mean.h"

namespace krafla {

std::optional<std::string> WrongCommand(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kCommands = {"run",   "simulate", "explain",
                                                                "check", "serve",    "bench"};
  if (std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end()) return std::nullopt;
  // The beginning of one, or one with more behind it, is as good as a slip.
  const auto longer = [&](std::string_view command) {
    return word.size() >= 2 && (command.starts_with(word) || word.starts_with(command));
  };
  std::optional<std::string_view> near = DidYouMean(word, kCommands);
  if (const auto found = std::find_if(kCommands.begin(), kCommands.end(), longer);
      !near && found != kCommands.end())
    near = *found;
  return fmt::format("unknown command {}{}", Quoted(word),
                     near ? fmt::format("; did you mean {}?", Quoted(*near))
                          : fmt::format("; there are: {}", fmt::join(kCommands, ", ")));
}

std::string WrongOption(std::string_view command, std::string_view word,
                        std::span<const std::string_view> known) {
  std::string_view name = word.substr(0, word.find('='));
  if (name.starts_with("--")) name.remove_prefix(2);
  const auto near = DidYouMean(name, known);
  return fmt::format("{}: unknown option --{}; {}", command, Printable(name),
                     near ? fmt::format("did you mean --{}?", *near)
                          : fmt::format("krafla {} --help lists all of them", command));
}

}  // namespace krafla
