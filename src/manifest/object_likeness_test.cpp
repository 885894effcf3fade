#include "manifest/object_likeness.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace krafla {
namespace {

using Part = ObjectLikeness::Part;

class LikenessTest : public ::testing::Test {
 protected:
  // An object of five pieces: the second is a text that may be another, the fourth a value that is
  // passed over.
  void KeepMarked(const std::string& before, const std::string& name, const std::string& between,
                  const std::string& passed_over, const std::string& behind) {
    json_ = before + name + between + passed_over + behind;
    const std::string_view text = json_;
    likeness_.Begin(text);
    // In whatever order they are met.
    likeness_.NotePassedOver(
        text.substr(before.size() + name.size() + between.size(), passed_over.size()));
    likeness_.NoteText(Part::kName, text.substr(before.size(), name.size()));
    likeness_.Keep();
  }
  // "no", or the names that were found.
  std::string Match(std::string text) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    std::vector<ObjectLikeness::Difference> differences;
    if (!likeness_.Matches(text, differences)) return "no";
    std::string found;
    for (const auto& [part, value] : differences) {
      EXPECT_EQ(part, Part::kName);
      found += "[" + std::string(value) + "]";
    }
    return found;
  }

  std::string json_;
  ObjectLikeness likeness_;
};

TEST_F(LikenessTest, OnlyPartsThatWereNotedMayDiffer) {
  KeepMarked(R"({"name":")", "web-0", R"(","ip":)", R"("10.0.0.1")", R"(,"phase":"Running"})");
  EXPECT_EQ(Match(json_), "[web-0]");
  EXPECT_EQ(Match(R"({"name":"w","ip":"10.0.0.1","phase":"Running"})"), "[w]");
  EXPECT_EQ(
      Match(R"({"name":"a-name-of-more-than-sixteen-characters","ip":"::1","phase":"Running"})"),
      "[a-name-of-more-than-sixteen-characters]");
  EXPECT_EQ(Match(R"({"name":"web-0","ip":"10.0.0.1","phase":"Pending"})"), "no");
  EXPECT_EQ(Match(R"({"name":"web-0","uid":"10.0.0.1","phase":"Running"})"), "no");
  EXPECT_EQ(Match(R"({"name": "web-0","ip":"10.0.0.1","phase":"Running"})"), "no");
}

TEST_F(LikenessTest, TheTextMustEndWhereTheObjectDid) {
  KeepMarked(R"({"name":")", "a", R"(","ip":)", "1", "}");
  EXPECT_EQ(Match(R"({"name":"a","ip":1)"), "no");
  EXPECT_EQ(Match(R"({"name":"a","ip":1}})"), "no");
  EXPECT_EQ(Match(R"({"name":"a","ip":1} )"), "no");
  EXPECT_EQ(Match(R"({"name":"a)"), "no");
  EXPECT_EQ(Match(R"({"name":)"), "no");
  EXPECT_EQ(Match(""), "no");
}

TEST_F(LikenessTest, TextsThatSomebodyHasToLookAtAreNotAlike) {
  KeepMarked(R"({"name":")", "a", R"(","ip":)", "1", "}");
  EXPECT_EQ(Match(R"({"name":"","ip":1})"), "no");
  EXPECT_EQ(Match(R"({"name":"a\"b","ip":1})"), "no");
  EXPECT_EQ(Match(R"({"name":"\u0061","ip":1})"), "no");
  EXPECT_EQ(Match("{\"name\":\"a\nb\",\"ip\":1}"), "no");
  EXPECT_EQ(Match("{\"name\":\"\xC3\xA4\",\"ip\":1}"), "no");
  EXPECT_EQ(Match(R"({"name":null,"ip":1})"), "no");
  EXPECT_EQ(Match(R"({"name":"a, b","ip":1})"), "[a, b]");
}

TEST_F(LikenessTest, WhatIsPassedOverMayBeAnyValue) {
  for (const char* before : {"1", "null", R"("10.0.0.1")", R"({"a":[1,2]})", R"(["a"])"}) {
    KeepMarked(R"({"name":")", "a", R"(","ip":)", before, R"(,"x":1})");
    for (const char* now :
         {"1", "12", "-1.5e3", "null", "true", R"("")", R"("10.0.0.12")", R"("a\"b")", "{}",
          R"({"a":[1,2]})", R"({"a":[1,{"b":"]"}]})", "[]", R"(["a","b"])"})
      EXPECT_EQ(Match(std::string(R"({"name":"a","ip":)") + now + R"(,"x":1})"), "[a]")
          << before << " " << now;
    for (const char* wrong : {"", "1 2", "nul", R"("a)", "[1", R"({"a"})"})
      EXPECT_EQ(Match(std::string(R"({"name":"a","ip":)") + wrong + R"(,"x":1})"), "no")
          << before << " " << wrong;
  }
}

TEST_F(LikenessTest, TextsThatStandElsewhereAreNotNoted) {
  json_ = R"({"name":"a\u0062"})";
  likeness_.Begin(json_);
  likeness_.NoteText(Part::kName, "ab");  // as it was decoded
  likeness_.Keep();
  EXPECT_EQ(Match(json_), "");
  EXPECT_EQ(Match(R"({"name":"a\u0063"})"), "no");
}

TEST_F(LikenessTest, PartsThatOverlapAreNoLikeness) {
  json_ = R"({"name":"web-0"})";
  likeness_.Begin(json_);
  likeness_.NoteText(Part::kName, std::string_view(json_).substr(9, 5));
  likeness_.NotePassedOver(std::string_view(json_).substr(8, 7));
  likeness_.Keep();
  EXPECT_FALSE(likeness_.kept());
  EXPECT_EQ(Match(json_), "no");
}

TEST_F(LikenessTest, NothingIsLikeWhatWasForgotten) {
  KeepMarked(R"({"name":")", "a", R"(","ip":)", "1", "}");
  EXPECT_EQ(Match(json_), "[a]");
  likeness_.Forget();
  EXPECT_EQ(Match(json_), "no");
  likeness_.Begin(json_);
  EXPECT_EQ(Match(json_), "no");
}

}  // namespace
}  // namespace krafla
