#include "base/log_text.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(LogText, AValueEndsWhereItsQuotesDo) {
  EXPECT_EQ(LogQuoted(""), R"("")");
  EXPECT_EQ(LogQuoted("cannot list resource \"pods\""), R"("cannot list resource \"pods\"")");
  EXPECT_EQ(LogQuoted(R"(C:\new)"), R"("C:\\new")");
  EXPECT_EQ(LogQuoted("two\nlines\x01"), R"("two\nlines\x01")");
  EXPECT_EQ(LogQuoted("für"), "\"für\"");
}

TEST(LogText, ALongRestIsLeftOutBetweenCharacters) {
  std::string text;
  while (text.size() < 5000) text += "ü";
  const std::string quoted = LogQuoted(text);
  EXPECT_LT(quoted.size(), 2010u);
  EXPECT_TRUE(quoted.ends_with("ü…\"")) << quoted.substr(quoted.size() - 10);
}

}  // namespace
}  // namespace krafla
