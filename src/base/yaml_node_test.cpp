#include "base/yaml_node.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace krafla {
namespace {

std::string Show(const YamlProblem& problem) {
  return fmt::format("{}:{}: {}", problem.location.line, problem.location.column, problem.message);
}

// All problems of a text, one per line.
std::string ProblemsOf(std::string_view text, const YamlLimits& limits = {}) {
  std::string shown;
  for (const YamlProblem& problem : ParseYaml(text, limits).problems) {
    if (!shown.empty()) shown += '\n';
    shown += Show(problem);
  }
  return shown;
}

YamlNode MustParse(std::string_view text) {
  YamlTree tree = ParseYaml(text);
  EXPECT_TRUE(tree.complete);
  for (const YamlProblem& problem : tree.problems) ADD_FAILURE() << Show(problem);
  return std::move(tree.root);
}

std::string JsonOf(std::string_view text) {
  return ToJson(MustParse(text));
}

void ExpectAt(Location at, int line, int column) {
  EXPECT_EQ(at.line, line);
  EXPECT_EQ(at.column, column);
}

TEST(YamlNode, EveryKeyAndValueKnowsItsPlace) {
  const YamlNode root = MustParse(
      "# a comment\n"
      "tiers:\n"
      "- plugins:\n"
      "  - name: gang\n"
      "    größe: \"8Gi\"\n");
  ExpectAt(root.location, 2, 1);
  const YamlEntry& tiers = root.entries.at(0);
  EXPECT_EQ(tiers.key, "tiers");
  ExpectAt(tiers.key_location, 2, 1);
  ExpectAt(tiers.value.location, 3, 1);
  const YamlEntry& plugins = tiers.value.items.at(0).entries.at(0);
  ExpectAt(plugins.key_location, 3, 3);
  const YamlNode& plugin = plugins.value.items.at(0);
  ExpectAt(plugin.location, 4, 5);
  ExpectAt(plugin.Find("name")->value.location, 4, 11);
  // Columns count characters, not bytes.
  ExpectAt(plugin.Find("größe")->key_location, 5, 5);
  ExpectAt(plugin.Find("größe")->value.location, 5, 12);
  EXPECT_EQ(plugin.Find("colour"), nullptr);
}

TEST(YamlNode, KindsAndQuotes) {
  const YamlNode root =
      MustParse("[plain, 'single', \"double\", ~, null, NULL, '', [], {}, !!str 1]");
  const auto& items = root.items;
  ASSERT_EQ(items.size(), 10u);
  EXPECT_TRUE(items[0].IsScalar());
  EXPECT_FALSE(items[0].quoted);
  EXPECT_TRUE(items[1].quoted);
  EXPECT_TRUE(items[2].quoted);
  EXPECT_TRUE(items[3].IsNull());
  EXPECT_TRUE(items[4].IsNull());
  EXPECT_TRUE(items[5].IsNull());
  EXPECT_TRUE(items[6].IsScalar());  // quoted, so it is text of no length
  EXPECT_TRUE(items[7].IsSequence());
  EXPECT_TRUE(items[8].IsMapping());
  EXPECT_TRUE(items[9].quoted);
}

TEST(YamlNode, ScalarsStayText) {
  const YamlNode root =
      MustParse("a: 08:00-21:00\nb: 12:30\nc: 2024-01-01\nd: 010\ne: 1_000\nf: yes\n");
  EXPECT_EQ(root.Find("a")->value.text, "08:00-21:00");
  EXPECT_EQ(root.Find("b")->value.text, "12:30");
  EXPECT_EQ(root.Find("c")->value.text, "2024-01-01");
  EXPECT_EQ(root.Find("d")->value.text, "010");
  EXPECT_EQ(root.Find("e")->value.text, "1_000");
  EXPECT_EQ(root.Find("f")->value.text, "yes");
}

TEST(YamlNode, BlockTextIsQuoted) {
  const YamlNode root = MustParse("a: |\n  one\n  two\nb: >-\n  one\n  two\n");
  EXPECT_EQ(root.Find("a")->value.text, "one\ntwo\n");
  EXPECT_TRUE(root.Find("a")->value.quoted);
  EXPECT_EQ(root.Find("b")->value.text, "one two");
}

TEST(YamlNode, AnEmptyTextIsNull) {
  for (const char* text :
       {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "~", "\xEF\xBB\xBF"}) {
    const YamlNode root = MustParse(text);
    EXPECT_TRUE(root.IsNull()) << text;
  }
}

TEST(YamlNode, AByteOrderMarkDoesNotShiftColumns) {
  const YamlNode root = MustParse(
      "\xEF\xBB\xBF"
      "a: 1\nb: 2\n");
  ExpectAt(root.Find("a")->key_location, 1, 1);
  ExpectAt(root.Find("b")->key_location, 2, 1);
}

TEST(YamlNode, AnOffsetIntoTextIsAColumnWhenTheSourceShowsIt) {
  const YamlNode root = MustParse(
      "plain: ab, cd\n"
      "quoted: \"äb, cd\"\n"
      "escaped: \"\\x61b, cd\"\n"
      "block: |\n  ab, cd\n"
      "lines: ab,\n  cd\n"
      "anchored: &x ab, cd\n"
      "alias: *x\n"
      "tagged: ! ab, cd\n");
  ExpectAt(root.Find("plain")->value.At(4), 1, 12);
  ExpectAt(root.Find("quoted")->value.At(5), 2, 14);  // ä has two bytes
  ExpectAt(root.Find("escaped")->value.At(4), 3, 10);
  ExpectAt(root.Find("block")->value.At(4), 4, 8);
  ExpectAt(root.Find("lines")->value.At(4), 6, 8);
  ExpectAt(root.Find("anchored")->value.At(4), 8, 11);
  ExpectAt(root.Find("alias")->value.At(4), 9, 8);
  ExpectAt(root.Find("tagged")->value.At(4), 10, 9);
}

TEST(YamlNode, ARepeatedKeyNamesBothPlacesAndTheFirstStands) {
  const YamlTree tree = ParseYaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n\"a\": 4\n");
  EXPECT_TRUE(tree.complete);
  ASSERT_EQ(tree.problems.size(), 3u);
  EXPECT_EQ(Show(tree.problems[0]),
            "4:3: the key \"c\" is given twice; the first is at line 3, column 3");
  EXPECT_EQ(Show(tree.problems[1]),
            "5:1: the key \"a\" is given twice; the first is at line 1, column 1");
  EXPECT_EQ(Show(tree.problems[2]),
            "6:1: the key \"a\" is given twice; the first is at line 1, column 1");
  EXPECT_EQ(ToJson(tree.root), R"({"a":1,"b":{"c":1}})");
}

TEST(YamlNode, OnlyWordsAreKeys) {
  EXPECT_EQ(ProblemsOf("? [a]\n: 1\n"), "1:3: expected a word as the key of a mapping, got a list");
  EXPECT_EQ(ProblemsOf("{{a: 1}: 2}"),
            "1:2: expected a word as the key of a mapping, got a mapping");
  EXPECT_EQ(ProblemsOf("a: &x [1]\n*x : 2\n"),
            "2:1: expected a word as the key of a mapping, got a list");
  EXPECT_EQ(ProblemsOf("?\n: 2\n"), "1:2: expected a key before the ':', got nothing");
  EXPECT_EQ(JsonOf("\"\": 1"), R"({"":1})");
  EXPECT_EQ(JsonOf("~: 1"), R"({"~":1})");
}

TEST(YamlNode, MergeKeysAreRefused) {
  EXPECT_EQ(ProblemsOf("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\n"),
            "3:3: merge keys (<<) are not understood; write the merged keys out");
  EXPECT_EQ(JsonOf("\"<<\": 1"), R"({"<<":1})");
}

TEST(YamlNode, CoreTagsAreTakenOthersRefused) {
  EXPECT_EQ(
      JsonOf("[!!str 1, !!int 2, !!float 3.5, !!bool true, !!null '', !!seq [], !!map {}, ! 4]"),
      R"(["1",2,3.5,true,null,[],{},"4"])");
  EXPECT_EQ(ProblemsOf("a: !!binary aGVsbG8=\nb: !secret x\nc: !<tag:example.com,2000:t> y\n"),
            "1:4: the tag !!binary is not understood; leave it out\n"
            "2:4: the tag !secret is not understood; leave it out\n"
            "3:4: the tag tag:example.com,2000:t is not understood; leave it out");
  EXPECT_EQ(ProblemsOf("a: !!seq x\nb: !!str [1]\n"),
            "1:4: the tag !!seq does not fit the value it stands before\n"
            "2:4: the tag !!str does not fit the value it stands before");
  EXPECT_EQ(ProblemsOf("a: !x!y z\n"), "1:4: this tag is not understood; leave it out");
}

TEST(YamlNode, OneDocumentOnly) {
  EXPECT_EQ(JsonOf("---\na: 1\n"), R"({"a":1})");
  EXPECT_EQ(JsonOf("a: 1\n---\n"), R"({"a":1})");
  EXPECT_EQ(JsonOf("a: 1\n---\n# nothing\n---\n"), R"({"a":1})");
  const YamlTree tree = ParseYaml("a: 1\n---\nb: 2\n");
  EXPECT_TRUE(tree.complete);
  EXPECT_EQ(ToJson(tree.root), R"({"a":1})");
  ASSERT_EQ(tree.problems.size(), 1u);
  EXPECT_EQ(Show(tree.problems[0]),
            "3:1: a second document starts here; the file may hold only one");
  EXPECT_EQ(ProblemsOf("a: 1\n--- x\n"),
            "2:5: a second document starts here; the file may hold only one");
  EXPECT_EQ(ProblemsOf("a: 1\n--- ''\n"),
            "2:5: a second document starts here; the file may hold only one");
}

TEST(YamlNode, AliasesAreResolved) {
  EXPECT_EQ(JsonOf("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n"),
            R"({"a":{"k":[1,2]},"b":{"k":[1,2]},"c":[{"k":[1,2]},{"k":[1,2]}]})");
  EXPECT_EQ(JsonOf("[&x 1, *x, &x 2, *x]"), "[1,1,2,2]");
  EXPECT_EQ(JsonOf("&k key: 1\nother: *k\n"), R"({"key":1,"other":"key"})");
  const YamlNode root = MustParse("a: &x\n  k: 1\nb: *x\n");
  const YamlNode& alias = root.Find("b")->value;
  ExpectAt(alias.location, 3, 4);
  ExpectAt(alias.Find("k")->value.location, 2, 6);
}

TEST(YamlNode, AliasesThatLeadNowhereAreErrors) {
  EXPECT_EQ(ProblemsOf("a: *x\n"), "1:4: the alias *x has no anchor: nothing above is marked &x");
  EXPECT_EQ(ProblemsOf("a: &x [1, *x]\n"),
            "1:11: the alias *x stands inside the value it refers to");
  EXPECT_FALSE(ParseYaml("a: *x\n").complete);
}

TEST(YamlNode, AnchorBombsAreDefused) {
  std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n",
                          i, i - 1);
  }
  const YamlTree tree = ParseYaml(laughs);
  EXPECT_FALSE(tree.complete);
  ASSERT_EQ(tree.problems.size(), 1u);
  EXPECT_EQ(
      tree.problems[0].message,
      "the anchors and aliases of the file unfold to more than 50000 values or 4194304 bytes; "
      "write the values out");
  // One long text many times: few nodes, many bytes.
  std::string bytes = "a: &a " + std::string(100'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) bytes += "*a, ";
  EXPECT_NE(ProblemsOf(bytes + "]\n").find("unfold to more than"), std::string::npos);
  // Depth through aliases.
  std::string deep = "- &a0 [x]\n";
  for (int i = 1; i < 100; ++i) deep += fmt::format("- &a{} [*a{}]\n", i, i - 1);
  EXPECT_NE(ProblemsOf(deep).find("makes the file nest deeper than 64 levels"), std::string::npos);
}

TEST(YamlNode, Limits) {
  EXPECT_EQ(ProblemsOf("a: 1", {.max_bytes = 3}), "1:1: the file has 4 bytes; at most 3 are read");
  EXPECT_EQ(ProblemsOf("[[[x]]]", {.max_depth = 3}), "");
  EXPECT_EQ(ProblemsOf("[[[[x]]]]", {.max_depth = 3}), "1:4: the file nests deeper than 3 levels");
  EXPECT_EQ(ProblemsOf("[a, b]", {.max_nodes = 3}), "");
  EXPECT_EQ(ProblemsOf("[a, b, c]", {.max_nodes = 3}), "1:8: the file holds more than 3 values");
}

TEST(YamlNode, SyntaxErrorsInPlainWords) {
  EXPECT_EQ(ProblemsOf("a: 1\nb: \"open\nc: 2\n"),
            "2:4: the quoted text that starts here is not closed; the closing quote is missing");
  EXPECT_EQ(ProblemsOf("a: 'open\n"),
            "1:4: the quoted text that starts here is not closed; the closing quote is missing");
  EXPECT_EQ(ProblemsOf("a: 'open\n---\nb"),
            "1:4: the quoted text that starts here is not closed before the next '---' or '...'");
  EXPECT_EQ(ProblemsOf("a: \"C:\\dir\"\n"),
            "1:7: this escape is not known; in double quotes write \\\\ for a backslash, or use "
            "single quotes");
  EXPECT_EQ(ProblemsOf("a:\n\tb: 1\n"), "2:1: a tab is not allowed here; indent with spaces");
  EXPECT_EQ(ProblemsOf("a: @home\n"), "1:4: a value cannot start with \"@\"; put it in quotes");
  EXPECT_EQ(ProblemsOf("größe: `x`\n"), "1:8: a value cannot start with \"`\"; put it in quotes");
  EXPECT_EQ(ProblemsOf("a: [1, 2\nb: 3\n"),
            "2:2: expected ',' or ']' in the list that starts at line 1, column 4");
  EXPECT_EQ(ProblemsOf("a: {x: 1\nb: 3]\n"),
            "2:2: expected ',' or '}' in the mapping that starts at line 1, column 4");
  EXPECT_EQ(ProblemsOf("a: 1\n  b: 2\n"),
            "2:4: a ':' is not allowed here; check the indentation, or quote the text if the ':' "
            "belongs to it");
  EXPECT_EQ(ProblemsOf("a:\n    b: 1\n  c: 2\n"),
            "3:3: expected the next key of the mapping that starts at line 1, column 1; check the "
            "indentation");
  EXPECT_EQ(ProblemsOf("- a\nb: 1\n"),
            "2:1: expected the next '- ' of the list that starts at line 1, column 1; check the "
            "indentation");
  EXPECT_EQ(ProblemsOf("a: 1\nactions \"x\"\ntiers: 2\n"),
            "2:1: expected a ':' after the key that starts here");
  EXPECT_EQ(ProblemsOf("a: - b\n"), "1:4: a '- ' is not allowed here; check the indentation");
  EXPECT_EQ(ProblemsOf("[a]\n]\n"),
            "2:1: expected the end of the file here; check the indentation");
  EXPECT_EQ(ProblemsOf("{a: 1, : 2}"), "1:8: expected a key or a value here");
  EXPECT_EQ(ProblemsOf("a: ]\n"), "1:4: expected a value here");
  EXPECT_EQ(ProblemsOf("a: &\n"),
            "1:5: this is not YAML: did not find expected alphabetic or numeric character while "
            "scanning an anchor");
  EXPECT_EQ(ProblemsOf("%YAML 3.0\n---\na: 1\n"), "1:1: expected YAML 1.1 or 1.2");
}

TEST(YamlNode, BytesThatAreNoText) {
  EXPECT_EQ(ProblemsOf("a: 1\nb: x\xFFy\n"), "2:5: this byte is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(ProblemsOf("ä: \x01\n"), "1:4: the control character U+0001 is not allowed in YAML");
  EXPECT_EQ(ProblemsOf(std::string_view("a: \0b", 5)),
            "1:4: the control character U+0000 is not allowed in YAML");
  EXPECT_EQ(ProblemsOf("\xFF\xFE"
                       "a\0"),
            "1:1: the file is encoded as UTF-16; save it as UTF-8");
}

TEST(YamlNode, EverySequenceOfTwoBytesIsSurvived) {
  std::string text(2, ' ');
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      text[0] = static_cast<char>(i);
      text[1] = static_cast<char>(j);
      const YamlTree tree = ParseYaml(text);
      EXPECT_TRUE(tree.complete || !tree.problems.empty());
    }
  }
}

TEST(YamlNode, AMegabyteOfAnythingIsQuick) {
  for (std::string_view unit :
       {"[",   "{",     "]",       "- ",    "? ",  ": ",  "\t",     " ",   "\n",   "\"",
        "'",   "!",     "&",       "*",     "&a ", "!a ", "[a,",    "{a:", "a: ",  "a\n",
        "-\n", "- a\n", "%",       "---\n", "|",   ">",   "#",      ",",   "\xFF", "\xC3\xA4",
        "[?",  "\"\\",  "a:\n - ", "[\n",   "{\n", "? [", "&a [*a,"}) {
    std::string text;
    while (text.size() < (1u << 20)) text += unit;
    // Quadratic work would not end before the patience of whoever waits for the test.
    const YamlTree tree = ParseYaml(text);
    EXPECT_TRUE(tree.complete || !tree.problems.empty()) << unit;
  }
  EXPECT_EQ(ProblemsOf(std::string(1 << 20, '[')), "1:65: the file nests deeper than 64 levels");
}

TEST(YamlNode, ManyKeysAreQuick) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("key{}: {}\n", i, i);
  const YamlNode root = MustParse(text);
  EXPECT_EQ(root.entries.size(), 100'000u);
}

TEST(ToJson, ScalarsKeepTheirMeaning) {
  EXPECT_EQ(JsonOf("[0, -1, 1.5, 1e3, 1E-3, True, FALSE, ~]"),
            "[0,-1,1.5,1e3,1E-3,true,false,null]");
  EXPECT_EQ(JsonOf("[010, 1., .5, 1e, -, +1, 0x10, .inf, yes, 12:30, '1', 1a]"),
            R"(["010","1.",".5","1e","-","+1","0x10",".inf","yes","12:30","1","1a"])");
  EXPECT_EQ(JsonOf(R"(["a\"b\\c\nd\te\u0001ä"])"), R"(["a\"b\\c\nd\te\u0001ä"])");
  EXPECT_EQ(JsonOf("{a: {}, b: [], c: [{d: 1}]}"), R"({"a":{},"b":[],"c":[{"d":1}]})");
}

TEST(Describe, SaysWhatANodeIs) {
  EXPECT_EQ(Describe(MustParse("")), "nothing");
  EXPECT_EQ(Describe(MustParse("gang")), "\"gang\"");
  EXPECT_EQ(Describe(MustParse("[1]")), "a list");
  EXPECT_EQ(Describe(MustParse("{a: 1}")), "a mapping");
  EXPECT_EQ(Describe(Location{3, 5}), "line 3, column 5");
}

}  // namespace
}  // namespace krafla
