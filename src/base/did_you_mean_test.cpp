#include "base/did_you_mean.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace krafla {
namespace {

constexpr std::array<std::string_view, 6> kWords = {"gang",       "drf",        "priority",
                                                    "proportion", "predicates", "tdm"};

TEST(DidYouMean, OneEditOfEachKindIsFound) {
  EXPECT_EQ(DidYouMean("gag", kWords), "gang");    // a letter is missing
  EXPECT_EQ(DidYouMean("ganng", kWords), "gang");  // one too many
  EXPECT_EQ(DidYouMean("gong", kWords), "gang");   // a wrong one
  EXPECT_EQ(DidYouMean("agng", kWords), "gang");   // neighbours swapped: one edit, not two
  EXPECT_EQ(DidYouMean("gang", kWords), "gang");
}

TEST(DidYouMean, LongerWordsMayHaveMoreEdits) {
  EXPECT_EQ(DidYouMean("perdicate", kWords), "predicates");
  EXPECT_EQ(DidYouMean("predictaes", kWords), "predicates");
  EXPECT_EQ(DidYouMean("proprotoin", kWords), "proportion");
}

TEST(DidYouMean, NothingIsNear) {
  EXPECT_EQ(DidYouMean("binpack", kWords), std::nullopt);
  EXPECT_EQ(DidYouMean("gxxg", kWords), std::nullopt);  // two edits in four letters
  EXPECT_EQ(DidYouMean("", kWords), std::nullopt);
  EXPECT_EQ(DidYouMean("gang", {}), std::nullopt);
}

TEST(DidYouMean, AWordOfWhichNothingRemainsIsNoMisspelling) {
  constexpr std::array<std::string_view, 2> kShort = {"a", "bc"};
  EXPECT_EQ(DidYouMean("x", kShort), std::nullopt);
  EXPECT_EQ(DidYouMean("xc", kShort), "bc");
}

TEST(DidYouMean, CaseDoesNotCount) {
  EXPECT_EQ(DidYouMean("PRIORITY", kWords), "priority");
  EXPECT_EQ(DidYouMean("Gnag", kWords), "gang");
}

TEST(DidYouMean, TheFirstOfEqualsIsNamed) {
  constexpr std::array<std::string_view, 2> kTwins = {"aaab", "aaac"};
  EXPECT_EQ(DidYouMean("aaad", kTwins), "aaab");
  constexpr std::array<std::string_view, 3> kNearerLater = {"aaabb", "aaadd", "aaad"};
  EXPECT_EQ(DidYouMean("aaad", kNearerLater), "aaad");
}

TEST(DidYouMean, MegabytesOfNoiseAreNotMeasured) {
  const std::string noise(1 << 20, 'g');
  EXPECT_EQ(DidYouMean(noise, kWords), std::nullopt);
}

TEST(DidYouMeanHint, NamesTheNearestOrAll) {
  EXPECT_EQ(DidYouMeanHint("gagn", kWords), "; did you mean \"gang\"?");
  EXPECT_EQ(DidYouMeanHint("capacity", kWords),
            "; expected one of gang, drf, priority, proportion, predicates, tdm");
  EXPECT_EQ(DidYouMeanHint("foo", std::array<std::string_view, 1>{"plugins"}),
            "; expected plugins");
  EXPECT_EQ(DidYouMeanHint("foo", {}), "");
}

TEST(DidYouMeanHint, ALongListIsCut) {
  std::array<std::string_view, 30> many;
  many.fill("word");
  const std::string hint = DidYouMeanHint("zzzzzzzz", many);
  EXPECT_TRUE(hint.ends_with("word, …")) << hint;
  EXPECT_LT(hint.size(), 130u);
}

TEST(Quoted, KeepsAMessageOnOneLine) {
  EXPECT_EQ(Quoted("a b"), "\"a b\"");
  EXPECT_EQ(Quoted("a\nb\tc\r\x01\x7F"), "\"a\\nb\\tc\\r\\x01\\x7f\"");
  EXPECT_EQ(Quoted("größe"), "\"größe\"");
}

TEST(Quoted, CutsLongTextBetweenCharacters) {
  const std::string cut = Quoted(std::string(59, 'x') + "ßßß" + std::string(1000, 'y'));
  EXPECT_EQ(cut, '"' + std::string(59, 'x') + "ß…\"");
}

}  // namespace
}  // namespace krafla
