#include "base/escape.h"

#include <gtest/gtest.h>

#include "base/did_you_mean.h"
#include "base/json_writer.h"

namespace krafla {
namespace {

std::string AsJson(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.text();
}

TEST(Escape, PlainAndForeignTextIsUnchanged) {
  for (const char* text : {"", "team-a/train", "作业 \"high\" – 60 %", "\xF0\x9F\x9A\x80"})
    EXPECT_EQ(EscapeControls(text), text);
}

TEST(Escape, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(EscapeControls("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(EscapeControls("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(EscapeControls(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(EscapeControls("a\xC2\x9B"
                           "2J\xC2\x80\xC2\x9F\xC2\xA0"),
            "a\\u009b2J\\u0080\\u009f\xC2\xA0");
}

TEST(Escape, BytesThatAreNotUtf8AreSpelledOut) {
  // A lone C1 byte, an overlong form, a surrogate, a number beyond U+10FFFF, a cut-off character.
  EXPECT_EQ(EscapeControls("\x9B"), "\\x9b");
  EXPECT_EQ(EscapeControls("\xC0\x9B"), "\\xc0\\x9b");
  EXPECT_EQ(EscapeControls("\xED\xA0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(EscapeControls("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(EscapeControls("x\xE4\xBD"), "x\\xe4\\xbd");
}

TEST(Escape, JsonTextHoldsNoRawControlCharacter) {
  EXPECT_EQ(AsJson("\x1b[2J \xC2\x9B"
                   "2J \x7f \xC2\xA0"),
            "\"\\u001b[2J \\u009b2J \\u007f \xC2\xA0\"");
  EXPECT_EQ(AsJson("a\x9B\xC3\xA9"), "\"a\\ufffd\xC3\xA9\"");
}

TEST(Escape, QuotedWordsOfMessagesHoldNoRawControlCharacter) {
  EXPECT_EQ(Quoted("a\xC2\x9B\x1b\x9B"), "\"a\\u009b\\x1b\\x9b\"");
}

}  // namespace
}  // namespace krafla
