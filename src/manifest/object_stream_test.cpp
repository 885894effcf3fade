#include "manifest/object_stream.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "manifest/json_scanner.h"
#include "manifest/line_table.h"

namespace krafla {
namespace {

struct Read {
  std::vector<std::string> objects;
  std::vector<std::string> messages;
};

void Keep(Read& read, const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.items()) read.messages.push_back(ToString(item));
}

Read FromText(std::string_view text) {
  Read read;
  Diagnostics diagnostics;
  ReadObjectsFromText(
      text, "f",
      [&](const ObjectText& object) {
        EXPECT_EQ(object.file, "f");
        read.objects.emplace_back(object.json);
      },
      diagnostics);
  Keep(read, diagnostics);
  return read;
}

Read FromInputs(const std::vector<std::string>& inputs, const std::string& standard_input = {}) {
  Read read;
  Diagnostics diagnostics;
  std::istringstream stream(standard_input);
  ReadObjects(
      inputs, stream, [&](const ObjectText& object) { read.objects.emplace_back(object.json); },
      diagnostics);
  Keep(read, diagnostics);
  return read;
}

std::string OnlyMessage(std::string_view text) {
  const Read read = FromText(text);
  EXPECT_EQ(read.messages.size(), 1u);
  return read.messages.empty() ? "" : read.messages.front();
}

// Where `needle` of the object number `index` stands in `text`.
Location Where(std::string_view text, size_t index, std::string_view needle) {
  Location at;
  size_t count = 0;
  Diagnostics diagnostics;
  ReadObjectsFromText(
      text, "f",
      [&](const ObjectText& object) {
        if (count++ != index) return;
        const size_t offset = object.json.find(needle);
        ASSERT_NE(offset, std::string_view::npos) << object.json;
        at = object.locate(offset);
      },
      diagnostics);
  EXPECT_GT(count, index);
  return at;
}

void ExpectAt(Location at, int line, int column) {
  EXPECT_EQ(at.line, line);
  EXPECT_EQ(at.column, column);
}

using Texts = std::vector<std::string>;

const std::string kA = R"({"kind":"A","apiVersion":"v1"})";
const std::string kB = R"({"kind":"B","apiVersion":"v1"})";

TEST(ObjectStreamTest, OneJsonObject) {
  EXPECT_EQ(FromText(kA).objects, Texts{kA});
  EXPECT_EQ(FromText("\n\t " + kA + "\r\n").objects, Texts{kA});
  EXPECT_TRUE(FromText(kA).messages.empty());
}

TEST(ObjectStreamTest, JsonLinesAndJoinedObjects) {
  EXPECT_EQ(FromText(kA + "\n" + kB + "\n" + kA).objects, (Texts{kA, kB, kA}));
  EXPECT_EQ(FromText(kA + kB).objects, (Texts{kA, kB}));
  EXPECT_EQ(FromText(kA + "\r\n\r\n" + kB).objects, (Texts{kA, kB}));
}

TEST(ObjectStreamTest, ListsAreOpenedWhereverTheirKindStands) {
  const std::string items = R"("items":[)" + kA + "," + kB + "]";
  EXPECT_EQ(FromText(R"({"kind":"List",)" + items + "}").objects, (Texts{kA, kB}));
  EXPECT_EQ(FromText("{" + items + R"(,"kind":"List","metadata":{"items":[1]}})").objects,
            (Texts{kA, kB}));
  EXPECT_EQ(FromText(R"({"kind":"List","items":[]})").objects, Texts{});
  EXPECT_EQ(FromText(R"({"kind":"List","items":null})").objects, Texts{});
  EXPECT_EQ(FromText(R"({"kind":"List"})").objects, Texts{});
  EXPECT_TRUE(FromText(R"({"kind":"PodList","items":null})").objects.empty());
  EXPECT_EQ(FromText("[" + kA + " , " + kB + "]").objects, (Texts{kA, kB}));
}

TEST(ObjectStreamTest, ListsInListsAreOpened) {
  const std::string inner = R"({"items":[)" + kB + R"(],"kind":"List"})";
  const std::string text = R"({"items":[)" + kA + "," + inner + R"(,{"kind":"List","items":[)" +
                           inner + "]}," + kA + R"(],"kind":"List"})" + kB;
  EXPECT_EQ(FromText(text).objects, (Texts{kA, kB, kB, kA, kB}));
}

TEST(ObjectStreamTest, OnlyListsAreOpened) {
  const std::string object = R"({"kind":"Menu","items":[{"kind":"Dish"},7]})";
  EXPECT_EQ(FromText(object).objects, Texts{object});
  const std::string named = R"({"kind":"WhiteList","spec":{"items":[]}})";
  EXPECT_EQ(FromText(named).objects, Texts{named});
  EXPECT_TRUE(FromText(object + named).messages.empty());
}

TEST(ObjectStreamTest, ItemsOfTypedListsNeedNoKind) {
  const Read read = FromText(R"({"items":[{"metadata":{"name":"x"}},{},{ },{"kind":"Pod"},)" + kA +
                             R"(],"kind":"PodList","apiVersion":"v1"})");
  EXPECT_TRUE(read.messages.empty());
  EXPECT_EQ(read.objects,
            (Texts{R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}})",
                   R"({"kind":"Pod","apiVersion":"v1"})", R"({"kind":"Pod","apiVersion":"v1" })",
                   R"({"apiVersion":"v1","kind":"Pod"})", kA}));
  EXPECT_EQ(FromText(R"({"kind":"JobList","items":[{"spec":1}]})").objects,
            Texts{R"({"kind":"Job","spec":1})"});
  EXPECT_EQ(FromText("kind: QueueList\napiVersion: s/v1\nitems:\n- spec: 1\n").objects,
            Texts{R"({"kind":"Queue","apiVersion":"s/v1","spec":1})"});
}

TEST(ObjectStreamTest, YamlDocuments) {
  const Read read = FromText(
      "# a comment\n---\napiVersion: v1\nkind: A\n---\n---\n# nothing\n...\n---\nkind: B\nx: "
      "[1]\n");
  EXPECT_TRUE(read.messages.empty());
  EXPECT_EQ(read.objects, (Texts{R"({"apiVersion":"v1","kind":"A"})", R"({"kind":"B","x":[1]})"}));
}

TEST(ObjectStreamTest, YamlListsAndJsonInYaml) {
  const Read read = FromText("kind: List\nitems:\n- kind: A\n- kind: List\n  items: [{kind: B}]\n");
  EXPECT_EQ(read.objects, (Texts{R"({"kind":"A"})", R"({"kind":"B"})"}));
  EXPECT_EQ(FromText("--- " + kA + "\n--- \n" + kB).objects, (Texts{kA, kB}));
}

TEST(ObjectStreamTest, ByteOrderMarksAndLineEnds) {
  EXPECT_EQ(FromText("\xEF\xBB\xBF" + kA).objects, Texts{kA});
  EXPECT_EQ(FromText("\xEF\xBB\xBFkind: A\r\nx: 1\r\n---\r\nkind: B\r\n").objects,
            (Texts{R"({"kind":"A","x":1})", R"({"kind":"B"})"}));
  ExpectAt(Where("\xEF\xBB\xBF{\"kind\":\"A\"}", 0, "\"A\""), 1, 9);
  ExpectAt(Where("\xEF\xBB\xBFkind: A\n", 0, "\"A\""), 1, 7);
  EXPECT_EQ(OnlyMessage(std::string("\xFF\xFEk\0", 4)),
            "f:1:1: error: the file is encoded as UTF-16; save it as UTF-8");
}

TEST(ObjectStreamTest, NothingIsReadFromNothing) {
  for (const char* text : {"", " \n\t\r\n", "# comment\n", "---\n---\n", "\xEF\xBB\xBF"}) {
    const Read read = FromText(text);
    EXPECT_TRUE(read.objects.empty());
    EXPECT_TRUE(read.messages.empty()) << read.messages.front();
  }
}

TEST(ObjectStreamTest, LocatesJson) {
  const std::string text =
      "{\n"
      "  \"items\": [\n"
      "    {\"kind\": \"\u00e9\", \"x\": 1},\n"
      "    {\n"
      "      \"kind\": \"B\",\n"
      "\t\"spec\": {}\n"
      "    }\n"
      "  ],\n"
      "  \"kind\": \"List\"\n"
      "}\n";
  ExpectAt(Where(text, 0, "{"), 3, 5);
  ExpectAt(Where(text, 0, "1}"), 3, 24);
  ExpectAt(Where(text, 1, "{"), 4, 5);
  ExpectAt(Where(text, 1, "\"B\""), 5, 15);
  ExpectAt(Where(text, 1, "{}"), 6, 10);
}

TEST(ObjectStreamTest, LocatesItemsOfTypedLists) {
  const std::string text = "{\"kind\":\"PodList\",\n\"items\":[\n {\"spec\":\n  1}]}";
  ExpectAt(Where(text, 0, "{"), 3, 2);
  ExpectAt(Where(text, 0, "\"Pod\""), 3, 2);
  ExpectAt(Where(text, 0, "\"spec\""), 3, 3);
  ExpectAt(Where(text, 0, "1}"), 4, 3);
}

TEST(ObjectStreamTest, LocatesYaml) {
  const std::string text = "kind: A\n---\nkind: List\nitems:\n- kind: B\n  spec:\n    x: yes\n";
  ExpectAt(Where(text, 0, "\"A\""), 1, 7);
  ExpectAt(Where(text, 1, "{"), 5, 3);
  ExpectAt(Where(text, 1, "true"), 7, 8);
}

TEST(ObjectStreamTest, LocatesFarIntoLargeTexts) {
  std::string text = "{\"kind\":\"List\",\"items\":[\n";
  for (int i = 0; i < 20'000; ++i) {
    text += (i > 0 ? ",\n" : "") + std::string("{\"kind\":\"A\",\"n\":") + std::to_string(i) + "}";
  }
  text += "]}";
  ExpectAt(Where(text, 0, "0}"), 2, 17);
  ExpectAt(Where(text, 19'999, "19999}"), 20'001, 17);
  ExpectAt(Where(text, 7777, "7777}"), 7779, 17);
}

TEST(ObjectStreamTest, LineTableAgreesWithCounting) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += i % 977 == 0 ? "\n" : i % 3 == 0 ? "\u00e9" : "x";
  LineTable table(text);
  Location counted{1, 1};
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i % 1013 == 0 || i == text.size()) {
      const Location at = table.At(i);
      ASSERT_EQ(at.line, counted.line);
      ASSERT_EQ(at.column, counted.column);
    }
    if (i == text.size()) break;
    if (text[i] == '\n') {
      counted = {counted.line + 1, 1};
    } else if ((text[i] & 0xC0) != 0x80) {
      ++counted.column;
    }
  }
}

TEST(ObjectStreamTest, TruncatedJsonSaysWhereItEnded) {
  const std::string text =
      "{\"kind\":\"List\",\"items\":[\n" + kA + ",\n{\"kind\":\"B\",\"spec\":{\"x\":[1";
  EXPECT_EQ(
      OnlyMessage(text),
      "f:3:27: error: the file is incomplete: it ends inside the object that starts at line 3, "
      "column 1");
  EXPECT_EQ(OnlyMessage("[" + kA + ","),
            "f:1:33: error: the file is incomplete: the list of objects is not closed");
  EXPECT_EQ(OnlyMessage("[" + kA),
            "f:1:32: error: the file is incomplete: the list of objects is not closed");
}

TEST(ObjectStreamTest, EveryTruncationIsReportedOnce) {
  const std::string text =
      R"({"items":[{"kind":"A","s":"\u00e9\ud83d\ude00\\\n","n":-1.5e+3,"t":true,)"
      R"("l":[null,{}]}],"kind":"List"})";
  ASSERT_TRUE(FromText(text).messages.empty());
  for (size_t size = 1; size < text.size(); ++size) {
    const Read read = FromText(text.substr(0, size));
    EXPECT_TRUE(read.objects.empty()) << size;
    ASSERT_EQ(read.messages.size(), 1u) << size;
    EXPECT_NE(read.messages[0].find("the file is incomplete"), std::string::npos)
        << text.substr(0, size) << "\n"
        << read.messages[0];
  }
}

TEST(ObjectStreamTest, JsonMistakesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"kind\":\"A\" \"x\":1}",
       "1:13: error: this is not JSON: expected ',' or '}' after the value, got '\"'"},
      {"{\"kind\":\"A\",}",
       "1:13: error: this is not JSON: expected a key in double quotes, got '}'"},
      {"{kind: A}", "1:2: error: this is not JSON: expected a key in double quotes, got 'k'"},
      {"{\"kind\" \"A\"}", "1:9: error: this is not JSON: expected ':' after the key, got '\"'"},
      {"{\"a\":{\"b\":1]}",
       "1:12: error: this is not JSON: expected ',' or '}' after the value, got ']'"},
      {"{\"a\":[1 2]}",
       "1:9: error: this is not JSON: expected ',' or ']' after the value, got '2'"},
      {"{\"a\":[1,]}", "1:9: error: this is not JSON: expected a value, got ']'"},
      {"{\"a\":\u00e9}", "1:6: error: this is not JSON: expected a value, got '\u00e9'"},
      {"{\"a\":\xFE}", "1:6: error: this is not JSON: expected a value, got the byte 0xFE"},
      {"{\"a\":tru}", "1:6: error: this is not JSON: expected a value, got 't'"},
      {"{\"a\":01}", "1:6: error: this is not JSON: this is not a number of JSON"},
      {"{\"a\":1.}", "1:6: error: this is not JSON: this is not a number of JSON"},
      {"{\"a\":-}", "1:6: error: this is not JSON: this is not a number of JSON"},
      {"{\"a\":1e}", "1:6: error: this is not JSON: this is not a number of JSON"},
      {"{\"a\":+1}", "1:6: error: this is not JSON: expected a value, got '+'"},
      {"{\"a\":\"\\q\"}",
       "1:8: error: this is not JSON: expected an escape such as \\n or \\\", got 'q'"},
      {"{\"a\":\"\\u12x4\"}",
       "1:7: error: this is not JSON: expected four hexadecimal digits behind \\u"},
      {"{\"a\":\"\\ud800\"}",
       "1:7: error: this is not JSON: the escape \\ud800 is one half of a character without the "
       "other"},
      {"{\"a\":\"b\nc\"}",
       "1:8: error: this is not JSON: the character '\\n' must be escaped in a string; is the "
       "closing quote "
       "missing?"},
      {kA + "x", "1:31: error: this is not JSON: expected a value, got 'x'"},
      {kA + " 5",
       "1:32: error: a document that is not an API object: expected a mapping with apiVersion and "
       "kind"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(OnlyMessage(text), "f:" + message) << text;
  }
}

TEST(ObjectStreamTest, FlowStyleDocumentsAreYaml) {
  Diagnostics diagnostics;
  int objects = 0;
  ReadObjectsFromText(
      "{\"kind\":\"A\",\"apiVersion\":\"v1\"}\n---\n{kind: B, apiVersion: v1}\n", "f",
      [&](const ObjectText&) { ++objects; }, diagnostics);
  EXPECT_EQ(objects, 2);
  EXPECT_TRUE(diagnostics.items().empty());
}

TEST(ObjectStreamTest, TemplatesAreRecognised) {
  EXPECT_EQ(OnlyMessage("\n{{- if .Values.enabled }}\nkind: A\n{{- end }}\n"),
            "f:2:1: error: '{{' is neither JSON nor YAML; is this a template that still has to be "
            "rendered?");
  EXPECT_EQ(OnlyMessage("kind: A\nmetadata:\n  name: {{ .Values.name }}-a\n"),
            "f:3:9: error: '{{' is not YAML; is this a template that still has to be rendered?");
}

TEST(ObjectStreamTest, WhatStandsBeforeAJsonMistakeIsRead) {
  const Read read = FromText(kA + "\n" + kB + "\n{\"kind\":}\n" + kA);
  EXPECT_EQ(read.objects, (Texts{kA, kB}));
  EXPECT_EQ(read.messages, Texts{"f:3:9: error: this is not JSON: expected a value, got '}'"});
}

TEST(ObjectStreamTest, DepthIsBounded) {
  const std::string deep = "{\"kind\":\"A\",\"x\":" + std::string(100'000, '[');
  EXPECT_EQ(OnlyMessage(deep), "f:1:216: error: this is not JSON: nested deeper than 200 levels");
  std::string lists;
  for (int i = 0; i < 10'000; ++i) lists += "{\"kind\":\"List\",\"items\":[";
  EXPECT_NE(OnlyMessage(lists).find("nested deeper than 200 levels"), std::string::npos);
  const std::string fits =
      "{\"kind\":\"A\",\"x\":" + std::string(199, '[') + std::string(199, ']') + "}";
  EXPECT_EQ(FromText(fits).objects, Texts{fits});
  // Aliases can nest deeper than the lines that hold them.
  std::string yaml = "kind: A\na0: &a0 [x]\n";
  for (int i = 1; i < 250; ++i) {
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_NE(OnlyMessage(yaml).find("nested deeper than 200 levels"), std::string::npos);
}

TEST(ObjectStreamTest, TextMustBeUtf8) {
  const Read read = FromText("{\"kind\":\"A\",\n\"x\":\"ab\xC3(\"}\n" + kB);
  EXPECT_EQ(read.objects, Texts{kB});
  EXPECT_EQ(read.messages, Texts{"f:2:8: error: this byte is not UTF-8; save the file as UTF-8"});
  EXPECT_EQ(OnlyMessage("kind: A\nx: ab\xC3(\n"),
            "f:2:7: error: this byte is not UTF-8; save the file as UTF-8");
  for (const std::string wrong :
       {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(FindNotUtf8("a" + wrong + "b"), 1u);
  }
  const std::string good = "a\u00e9\u20ac\U0001F600\uD7FF\uE000";
  EXPECT_EQ(FindNotUtf8(good), good.size());
}

TEST(ObjectStreamTest, WhatIsNoObjectIsReported) {
  EXPECT_EQ(OnlyMessage("kind: A\n---\nmetadata: {}\n"),
            "f:3:1: error: a document without kind; is it an object of Kubernetes?");
  EXPECT_EQ(OnlyMessage("--- text\n"),
            "f:1:5: error: a document that is not an API object: expected a mapping with "
            "apiVersion and kind");
  EXPECT_EQ(OnlyMessage("{\"kind\":\"List\",\"items\":[\n" + kA + ",\n5]}"),
            "f:3:1: error: an item of a List that is not an API object: expected a mapping with "
            "apiVersion and "
            "kind");
  EXPECT_EQ(OnlyMessage("kind: List\nitems:\n- spec: {}\n"),
            "f:3:3: error: an item of a List without kind; is it an object of Kubernetes?");
  EXPECT_EQ(OnlyMessage("kind: List\nitems: {a: 1}\n"),
            "f:2:8: error: the items of a List must be a list");
  EXPECT_EQ(OnlyMessage("kind: 5\n"),
            "f:1:1: error: a document without kind; is it an object of Kubernetes?");
}

TEST(ObjectStreamTest, MessagesAboutOneFileAreBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{}\n";
  const Read read = FromText(text);
  ASSERT_EQ(read.messages.size(), 20u);
  // As many as these would take minutes if each were looked for.
  std::string many = "{\"kind\":\"List\",\"items\":[0";
  for (int i = 0; i < 2'000'000; ++i) many += ",1";
  EXPECT_EQ(FromText(many + "]}").messages.size(), 20u);
  EXPECT_NE(read.messages.back().find("further problems like this are not listed"),
            std::string::npos);
}

TEST(ObjectStreamTest, NoiseGivesOneMessageSoon) {
  std::mt19937_64 random(7);
  for (const char* start : {"", "{", "[", "a: ", "{\"kind\":\""}) {
    std::string noise = start;
    while (noise.size() < (size_t{8} << 20)) {
      const uint64_t word = random();
      noise.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    const Read read = FromText(noise);
    EXPECT_TRUE(read.objects.empty());
    EXPECT_EQ(read.messages.size(), 1u);
  }
}

TEST(ObjectStreamTest, PrintableNoiseGivesOneMessageSoon) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> letter(' ', '~');
  for (const char* start : {"{", "[", "a: "}) {
    std::string noise = start;
    for (int i = 0; i < (1 << 20); ++i)
      noise += i % 80 == 79 ? '\n' : static_cast<char>(letter(random));
    EXPECT_EQ(FromText(noise).messages.size(), 1u);
  }
}

TEST(ObjectStreamTest, SyntaxErrorsInYamlEndTheFile) {
  const Read read = FromText("kind: A\n---\nkind: [\n---\nkind: B\n");
  EXPECT_EQ(read.objects, Texts{R"({"kind":"A"})"});
  EXPECT_EQ(read.messages.size(), 1u);
}

TEST(ObjectStreamTest, ObjectsMayBeReadBeyondTheirEnd) {
  for (const std::string& text :
       {kA, std::string("kind: A\n"), R"({"kind":"PodList","items":[{"a":1}]})" + std::string()}) {
    Diagnostics diagnostics;
    simdjson::ondemand::parser parser;
    int count = 0;
    ReadObjectsFromText(
        text, "f",
        [&](const ObjectText& object) {
          simdjson::ondemand::document document;
          ASSERT_FALSE(parser
                           .iterate(object.json.data(), object.json.size(),
                                    object.json.size() + simdjson::SIMDJSON_PADDING)
                           .get(document));
          std::string_view kind;
          EXPECT_FALSE(document["kind"].get(kind));
          unsigned sum = 0;
          for (size_t i = 0; i < simdjson::SIMDJSON_PADDING; ++i) {
            sum += static_cast<unsigned char>(*(object.json.data() + object.json.size() + i));
          }
          EXPECT_LT(sum, 100'000u);
          ++count;
        },
        diagnostics);
    EXPECT_EQ(count, 1);
  }
}

// The scanner must take exactly the numbers and words that JSON has.
TEST(JsonScannerTest, TakesWhatIsJson) {
  for (const std::string text :
       {"0", "-0", "10", "1.5", "-1.25e10", "1E-7", "1e+2", "true", "false", "null", "\"\"",
        "\"a\\/b\"", "\"12345678\"", "\"1234567\\\"890123456789\"", "[]", "{}", "[[],[{}]]",
        " [ 1 , { \"a\" : \"b\" } ] ", "\"\\ud83d\\ude00\""}) {
    JsonScanner scanner(text);
    EXPECT_TRUE(scanner.SkipValue()) << text << ": " << scanner.problem().message;
    EXPECT_TRUE(scanner.AtEnd()) << text;
  }
  for (const std::string text :
       {"",          " ",       "-",      "+1",        "01",          "1.",
        ".5",        "1e",      "tru",    "nul",       "True",        "\"",
        "\"\\",      "\"\\u12", "\"\t\"", "[",         "]",           "[1",
        "[1,",       "[,1]",    "{",      "{\"a\"",    "{\"a\":",     "{\"a\":1",
        "{\"a\":1,", "{1:2}",   "[1}",    "{\"a\":1]", "\"\\udc00\"", "\"\\ud83dx\""}) {
    JsonScanner scanner(text);
    EXPECT_FALSE(scanner.SkipValue()) << text;
    EXPECT_FALSE(scanner.problem().message.empty());
  }
  const std::string with_zero("[1\0]", 4);
  JsonScanner scanner(with_zero);
  EXPECT_FALSE(scanner.SkipValue());
}

TEST(JsonScannerTest, WalksObjectsAndLists) {
  const std::string text = R"( {"a" : 1 , "b":[ {"c":2}, 3 ] ,"d":"x"} )";
  JsonScanner scanner(text);
  Texts seen;
  std::string_view key;
  ASSERT_TRUE(scanner.EnterObject());
  while (scanner.NextKey(key)) {
    seen.emplace_back(key);
    if (key != "b") {
      ASSERT_TRUE(scanner.SkipValue());
      continue;
    }
    ASSERT_TRUE(scanner.EnterList());
    while (scanner.NextItem()) {
      seen.emplace_back(1, scanner.Peek());
      ASSERT_TRUE(scanner.SkipValue());
    }
  }
  EXPECT_FALSE(scanner.failed());
  EXPECT_TRUE(scanner.AtEnd());
  EXPECT_EQ(seen, (Texts{"a", "b", "{", "3", "d"}));
}

class ObjectFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(::testing::TempDir()) /
            ("object_stream_" + std::string(test->name()) + "_" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string Path(const std::string& name) const { return (root_ / name).string(); }

  std::filesystem::path root_;
};

TEST_F(ObjectFilesTest, FilesAndStandardInputInOrder) {
  Write("a.json", kA);
  Write("noextension", "kind: C\n");
  const Read read = FromInputs({Path("a.json"), "-", Path("noextension")}, kB);
  EXPECT_TRUE(read.messages.empty());
  EXPECT_EQ(read.objects, (Texts{kA, kB, R"({"kind":"C"})"}));
}

TEST_F(ObjectFilesTest, ContentsDecideNotTheExtension) {
  Write("a.yaml", kA);
  Write("b.json", "kind: B\n");
  const Read read = FromInputs({Path("a.yaml"), Path("b.json")});
  EXPECT_EQ(read.objects, (Texts{kA, R"({"kind":"B"})"}));
}

TEST_F(ObjectFilesTest, DirectoriesAreReadByNameAndRecursively) {
  Write("b.yml", "kind: B\n");
  Write("a/z.json", R"({"kind":"Z"})");
  Write("a/deeper/y.yaml", "kind: Yy\n");
  Write("c.yaml", "kind: C\n");
  Write("empty.yaml", "# rendered to nothing\n");
  Write("notes.txt", "no: kind\n");
  Write(".hidden.yaml", "kind: Hidden\n");
  Write("..2024_01/b.yml", "kind: Again\n");
  const Read read = FromInputs({root_.string()});
  EXPECT_TRUE(read.messages.empty()) << read.messages.front();
  EXPECT_EQ(read.objects,
            (Texts{R"({"kind":"Yy"})", R"({"kind":"Z"})", R"({"kind":"B"})", R"({"kind":"C"})"}));
}

TEST_F(ObjectFilesTest, LinksToFilesAreFollowedAndLoopsAreHarmless) {
  Write("real/a.yaml", "kind: A\n");
  std::filesystem::create_symlink("real/a.yaml", root_ / "b.yaml");
  std::filesystem::create_directory_symlink(".", root_ / "loop");
  std::filesystem::create_directory_symlink("..", root_ / "real" / "up");
  const Read read = FromInputs({root_.string() + "/"});
  EXPECT_TRUE(read.messages.empty());
  EXPECT_EQ(read.objects, (Texts{R"({"kind":"A"})", R"({"kind":"A"})"}));
  // Named on the command line, a link to a directory is a directory.
  EXPECT_EQ(FromInputs({Path("loop")}).objects.size(), 2u);

  std::filesystem::create_symlink("self.yaml", root_ / "self.yaml");
  std::filesystem::create_symlink("nowhere", root_ / "broken.yaml");
  EXPECT_EQ(FromInputs({root_.string()}).messages.size(), 2u);
}

TEST_F(ObjectFilesTest, WhatCannotBeReadIsNamedAndTheRestIsRead) {
  Write("a.json", kA);
  const Read read = FromInputs({Path("missing.yaml"), Path("a.json")});
  EXPECT_EQ(read.messages,
            Texts{Path("missing.yaml") + ": error: cannot be read: No such file or directory"});
  EXPECT_EQ(read.objects, Texts{kA});
  if (::geteuid() != 0) {
    Write("secret.yaml", "kind: A\n");
    ::chmod(Path("secret.yaml").c_str(), 0);
    EXPECT_EQ(FromInputs({Path("secret.yaml")}).messages.size(), 1u);
  }
}

TEST_F(ObjectFilesTest, EmptyInputsAreWarnedOf) {
  EXPECT_EQ(FromInputs({root_.string()}).messages,
            Texts{root_.string() +
                  ": warning: there are no .yaml, .yml or .json files in this directory"});
  Write("empty.yaml", "");
  EXPECT_EQ(FromInputs({Path("empty.yaml"), "-"}).messages,
            (Texts{Path("empty.yaml") + ": warning: is empty: there are no objects in it",
                   "-: warning: is empty: there are no objects in it"}));
  EXPECT_TRUE(FromInputs({root_.string()}).messages.empty());
}

TEST_F(ObjectFilesTest, PipesAndLargeInputsAreReadWhole) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += kA + "\n";
  EXPECT_EQ(FromInputs({"-"}, text).objects.size(), 50'000u);
  Write("large.json", text);
  EXPECT_EQ(FromInputs({Path("large.json")}).objects.size(), 50'000u);

  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ofstream(Path("pipe"), std::ios::binary) << text;
    ::_exit(0);
  }
  EXPECT_EQ(FromInputs({Path("pipe")}).objects.size(), 50'000u);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// File sizes around a page, where a text without padding would end at the end of what is mapped.
TEST_F(ObjectFilesTest, FilesOfWholePages) {
  const size_t mapped = 2 << 20;  // from here on
  for (const size_t size : {size_t{4095}, size_t{4096}, size_t{4097}, size_t{65'536}, mapped,
                            mapped + 1, mapped + 4032, mapped + 4033, mapped + 4095}) {
    std::string text = R"({"kind":"A","x":")";
    text += std::string(size - text.size() - 2, 'x') + "\"}";
    ASSERT_EQ(text.size(), size);
    Write("page.json", text);
    EXPECT_EQ(FromInputs({Path("page.json")}).objects, Texts{text});
  }
}

}  // namespace
}  // namespace krafla
