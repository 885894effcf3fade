#include "base/go_bool.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(GoBool, TwelveSpellingsAreKnown) {
  for (const char* text : {"1", "t", "T", "true", "TRUE", "True"}) {
    EXPECT_EQ(ParseGoBool(text), std::optional(true)) << text;
  }
  for (const char* text : {"0", "f", "F", "false", "FALSE", "False"}) {
    EXPECT_EQ(ParseGoBool(text), std::optional(false)) << text;
  }
}

TEST(GoBool, EverythingElseIsNeither) {
  for (const char* text : {"", " ", " true", "true ", "tRUE", "fALSE", "yes", "no", "on", "off",
                           "y", "n", "01", "10", "-1", "tru", "truee"}) {
    EXPECT_EQ(ParseGoBool(text), std::nullopt) << '"' << text << '"';
  }
  EXPECT_EQ(ParseGoBool(std::string_view("1\0", 2)), std::nullopt);
}

}  // namespace
}  // namespace krafla
