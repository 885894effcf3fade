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

TEST(LogText, WhatIsNoTextIsBoundedToo) {
  EXPECT_LT(LogQuoted(std::string(5000, '\x80')).size(), 2010u);
}

TEST(LogText, OrdersToATerminalAreNotPassedOn) {
  EXPECT_EQ(LogQuoted("a\xC2\x9B"
                      "2J"),
            R"("a\u009b2J")");
  EXPECT_EQ(LogQuoted("a\xC2\xA7"), "\"a\xC2\xA7\"");
}

TEST(LogText, NamesAreQuotedWhereTheyAreNone) {
  EXPECT_EQ(LogWord("team-a/train.7"), "team-a/train.7");
  EXPECT_EQ(LogWord(""), R"("")");
  EXPECT_EQ(LogWord("x\nleading lease=evil"), R"("x\nleading lease=evil")");
  EXPECT_EQ(LogWord("a b"), R"("a b")");
}

}  // namespace
}  // namespace krafla
