#include "app/command_words.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(CommandWords, CommandsAreRight) {
  for (const char* word : {"run", "simulate", "explain", "check", "serve", "bench"})
    EXPECT_EQ(WrongCommand(word), std::nullopt) << word;
}

TEST(CommandWords, AMisspeltOneIsGuessed) {
  EXPECT_EQ(WrongCommand("simulat"), "unknown command \"simulat\"; did you mean \"simulate\"?");
  EXPECT_EQ(WrongCommand("sim"), "unknown command \"sim\"; did you mean \"simulate\"?");
  EXPECT_EQ(WrongCommand("explian"), "unknown command \"explian\"; did you mean \"explain\"?");
  EXPECT_EQ(WrongCommand("Run"), "unknown command \"Run\"; did you mean \"run\"?");
  EXPECT_EQ(WrongCommand("checks"), "unknown command \"checks\"; did you mean \"check\"?");
}

TEST(CommandWords, WhereNoneIsNearAllAreNamed) {
  EXPECT_EQ(WrongCommand("apply"),
            "unknown command \"apply\"; there are: run, simulate, explain, check, serve, bench");
  // Also for words with bytes that no terminal should see.
  EXPECT_EQ(WrongCommand("\x1b[2J"),
            "unknown command \"\\x1b[2J\"; there are: run, simulate, explain, check, serve, bench");
}

TEST(CommandWords, AMisspeltOptionIsGuessed) {
  constexpr std::string_view kKnown[] = {"cluster", "config", "now"};
  EXPECT_EQ(WrongOption("run", "--clster", kKnown),
            "run: unknown option --clster; did you mean --cluster?");
  EXPECT_EQ(WrongOption("run", "--cofnig=a.yaml", kKnown),
            "run: unknown option --cofnig; did you mean --config?");
  EXPECT_EQ(WrongOption("run", "--everything", kKnown),
            "run: unknown option --everything; krafla run --help lists all of them");
}

}  // namespace
}  // namespace krafla
