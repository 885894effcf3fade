#include "manifest/yaml_to_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/yaml_scalar.h"

namespace krafla {
namespace {

struct Converted {
  std::vector<std::string> documents;
  std::vector<YamlProblem> problems;
};

Converted Convert(std::string_view yaml, const YamlToJsonLimits& limits = {}) {
  Converted converted;
  YamlToJsonSink sink;
  sink.document = [&](const PositionedJson& json) { converted.documents.push_back(json.text()); };
  sink.problem = [&](const YamlProblem& problem) { converted.problems.push_back(problem); };
  YamlToJson(yaml, sink, limits);
  return converted;
}

// The JSON of the only document; what is wrong instead, if something is.
std::string ToJson(std::string_view yaml) {
  const Converted converted = Convert(yaml);
  if (!converted.problems.empty()) {
    const YamlProblem& problem = converted.problems.front();
    return Describe(problem.location) + ": " + problem.message;
  }
  return converted.documents.size() == 1 ? converted.documents.front() : "not one document";
}

std::string ValueOf(const std::string& scalar) {
  const std::string json = ToJson("a: " + scalar);
  return json.starts_with("{\"a\":") ? json.substr(5, json.size() - 6) : json;
}

// Where the first `needle` of the JSON came from.
Location Where(std::string_view yaml, std::string_view needle) {
  Location at;
  YamlToJsonSink sink;
  sink.problem = [](const YamlProblem& problem) { ADD_FAILURE() << problem.message; };
  sink.document = [&](const PositionedJson& json) {
    const size_t offset = json.text().find(needle);
    ASSERT_NE(offset, std::string::npos) << json.text();
    at = json.Locate(offset);
  };
  YamlToJson(yaml, sink);
  return at;
}

void ExpectAt(Location at, int line, int column) {
  EXPECT_EQ(at.line, line);
  EXPECT_EQ(at.column, column);
}

TEST(YamlToJsonTest, NestsMappingsAndLists) {
  EXPECT_EQ(ToJson("a:\n  b: x\n  c:\n  - 1\n  - d: [z, {e: f}]\n  g: {}\n  h: []\n"),
            R"({"a":{"b":"x","c":[1,{"d":["z",{"e":"f"}]}],"g":{},"h":[]}})");
}

TEST(YamlToJsonTest, SplitsDocumentsAndSkipsEmptyOnes) {
  const Converted converted = Convert(
      "# nothing\n---\n---\na: 1\n...\n---\n# still nothing\n---\nb: 2\n--- {c: 3}\n--- ~\n---\n");
  EXPECT_TRUE(converted.problems.empty());
  EXPECT_EQ(converted.documents,
            (std::vector<std::string>{R"({"a":1})", R"({"b":2})", R"({"c":3})"}));
  EXPECT_TRUE(Convert("").documents.empty());
  EXPECT_TRUE(Convert("# only a comment\n").documents.empty());
}

// The expected values were printed by sigs.k8s.io/yaml 1.6, except where a comment says otherwise.
TEST(YamlToJsonTest, PlainScalarsMeanWhatTheyMeanToKubectl) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"y", "true"},
      {"n", "false"},
      {"Y", "true"},
      {"yes", "true"},
      {"No", "false"},
      {"on", "true"},
      {"Off", "false"},
      {"TRUE", "true"},
      {"tRUE", R"("tRUE")"},
      {"~", "null"},
      {"null", "null"},
      {"NULL", "null"},
      {"nULL", R"("nULL")"},
      {"", "null"},
      {"0", "0"},
      {"12", "12"},
      {"-7", "-7"},
      {"0644", "420"},
      {"08", "8"},
      {"010", "8"},
      {"-010", "-8"},
      {"00", "0"},
      {"+1", "1"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"-0x10", "-16"},
      {"0o17", "15"},
      {"0o8", R"("0o8")"},
      {"0b101", "5"},
      {"-0b11", "-3"},
      {"0b2", R"("0b2")"},
      {"0x", R"("0x")"},
      {"0xg", R"("0xg")"},
      {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
      {"0x1FFFFFFFFFFFFFFFF", R"("0x1FFFFFFFFFFFFFFFF")"},
      {"-0x8000000000000000", "-9223372036854775808"},
      {"1_000", "1000"},
      {"1__0", "10"},
      {"1_", "1"},
      {"0_7", "7"},
      {"1_0.5", "10.5"},
      {"_1", R"("_1")"},
      {"._5", R"("._5")"},
      {".5", "0.5"},
      {"+.5", "0.5"},
      {"-.5", "-0.5"},
      {"1.", "1"},
      {"1.0", "1"},
      {"0.", "0"},
      {"2.50", "2.50"},  // kubectl writes 2.5
      {"1e3", "1000"},
      {"1e+5", "100000"},
      {"1e-7", "1e-7"},
      {"-0", "0"},
      {"01.5", "1.5"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      // Whoever wants a number is to say that these are too large; kubectl rounds the one and makes
      // the other text.
      {"184467440737095516160", "184467440737095516160"},
      {"1e400", "1e400"},
      {"2024-01-01", R"("2024-01-01")"},
      {"2024-01-01T00:00:00Z", R"("2024-01-01T00:00:00Z")"},
      {"12:30:45", R"("12:30:45")"},
      {"1:30", R"("1:30")"},
      {"1.2.3", R"("1.2.3")"},
      {"1Gi", R"("1Gi")"},
      {"500m", R"("500m")"},
      {"+", R"("+")"},
      {"1e", R"("1e")"},
      {"e3", R"("e3")"},
      {".", R"(".")"},
      {"..", R"("..")"},
      {"<<", R"("<<")"},
      {"=", R"("=")"},
      {"nginx:1.25", R"("nginx:1.25")"},
      {"'12'", R"("12")"},
      {"\"yes\"", R"("yes")"},
      {"''", R"("")"},
      {"!!str 1", R"("1")"},
      {"! 12", R"("12")"},
      {"!!int \"12\"", "12"},
      {"!!float 1", "1"},
      {"!!float 1.5", "1.5"},
      {"!!bool yes", "true"},
      {"!!null ''", "null"},
  };
  for (const auto& [yaml, json] : cases) EXPECT_EQ(ValueOf(yaml), json) << yaml;
}

TEST(YamlToJsonTest, NumbersWithoutJsonFormAreRefused) {
  for (const char* yaml : {".inf", "-.INF", "+.Inf", ".nan", ".NaN"}) {
    EXPECT_NE(ValueOf(yaml).find("line 1, column 4: "), std::string::npos) << ValueOf(yaml);
    EXPECT_EQ(ValueOf("'" + std::string(yaml) + "'"), '"' + std::string(yaml) + '"');
  }
}

TEST(YamlToJsonTest, TextIsEscapedAndBlockScalarsAreText) {
  EXPECT_EQ(ValueOf(R"("a\"b\\c\n\t\x01\u00e9\U0001F600")"),
            "\"a\\\"b\\\\c\\n\\t\\u0001\u00e9\U0001F600\"");
  EXPECT_EQ(ToJson("a: |\n  1\n  two\nb: >-\n  3\n  4\nc: |+\n  x\n\n"),
            R"({"a":"1\ntwo\n","b":"3 4","c":"x\n\n"})");
  EXPECT_EQ(ToJson("a: one\n  two\n"), R"({"a":"one two"})");
}

TEST(YamlToJsonTest, CarriageReturnsAreLineBreaks) {
  EXPECT_EQ(ToJson("a:\r\n- b\r\n- |\r\n  c\r\n"), R"({"a":["b","c\n"]})");
}

TEST(YamlToJsonTest, JsonIsYaml) {
  EXPECT_EQ(ToJson("---\n{\"a\": [1, true, null, \"x\\u0041\"],\n\t\"b\": {}}"),
            R"({"a":[1,true,null,"xA"],"b":{}})");
}

TEST(YamlToJsonTest, KeysBecomeText) {
  EXPECT_EQ(ToJson("1: a\n0x10: b\nyes: c\n1.0: d\n'2': e\n2024-01-01: f\n"),
            "line 4, column 1: the key \"1\" is given twice; the first is at line 1, column 1");
  EXPECT_EQ(ToJson("1: a\n0x10: b\nno: c\n1.5: d\n'2': e\n2024-01-01: f\n"),
            R"({"1":"a","16":"b","false":"c","1.5":"d","2":"e","2024-01-01":"f"})");
}

TEST(YamlToJsonTest, KeysThatCannotBeTextAreRefused) {
  EXPECT_EQ(ToJson("a: 1\n~: b\n"), "line 2, column 1: ~ cannot be a key; put it in quotes");
  EXPECT_EQ(ToJson("?\n: b\n"), "line 1, column 2: a key is missing before the ':'");
  EXPECT_EQ(ToJson("? [a]\n: b\n"),
            "line 1, column 3: expected a word as the key of a mapping, got a list");
  EXPECT_EQ(
      ToJson("x: {{ .Values.name }}\n"),
      "line 1, column 4: '{{' is not YAML; is this a template that still has to be rendered?");
  EXPECT_EQ(ToJson("x: { {a: 1}: b }\n"),
            "line 1, column 6: expected a word as the key of a mapping, got a mapping");
}

TEST(YamlToJsonTest, RepeatedKeysNameBothPlaces) {
  EXPECT_EQ(ToJson("m:\n  a: 1\n  b: 2\n  a: 3\n"),
            "line 4, column 3: the key \"a\" is given twice; the first is at line 2, column 3");
  std::string many = "m:\n";
  for (int i = 0; i < 40; ++i) many += "  key" + std::to_string(i) + ": x\n";
  EXPECT_EQ(Convert(many).problems.size(), 0u);
  EXPECT_EQ(ToJson(many + "  key7: y\n"),
            "line 42, column 3: the key \"key7\" is given twice; the first is at line 9, column 3");
  EXPECT_EQ(ToJson("- a: 1\n- a: 2\n- {a: {a: {a: 1}}}\n"),
            R"([{"a":1},{"a":2},{"a":{"a":{"a":1}}}])");
}

TEST(YamlToJsonTest, AliasesRepeatWhatIsAnchored) {
  EXPECT_EQ(ToJson("a: &x {p: [1, 2]}\nb: *x\nc: [*x, &y z, *y]\n*y : w\n"),
            R"({"a":{"p":[1,2]},"b":{"p":[1,2]},"c":[{"p":[1,2]},"z","z"],"z":"w"})");
  EXPECT_EQ(ToJson("a: &x 1\nb: &x 2\nc: *x\n"), R"({"a":1,"b":2,"c":2})");
  EXPECT_EQ(ToJson("&k a: *k\n"), R"({"a":"a"})");
  EXPECT_EQ(ToJson("a: &n 5\n? *n\n: x\n"), R"({"a":5,"5":"x"})");
}

TEST(YamlToJsonTest, WrongAliasesAreRefused) {
  EXPECT_EQ(ToJson("a: *b\n"),
            "line 1, column 4: the alias *b has no anchor: nothing above is marked &b");
  EXPECT_EQ(ToJson("a: &x [*x]\n"),
            "line 1, column 8: the alias *x stands inside the value it refers to");
  EXPECT_EQ(ToJson("a: &x [1]\n? *x\n: 2\n"),
            "line 2, column 3: expected a word as the key of a mapping");
  const Converted next = Convert("a: &x 1\n---\nb: *x\n");
  EXPECT_EQ(next.documents.size(), 1u);
  EXPECT_EQ(next.problems.size(), 1u) << "anchors end with their document";
}

TEST(YamlToJsonTest, MergeKeysFillInWhatIsMissing) {
  EXPECT_EQ(ToJson("x: &a {p: 1, q: 2}\nz: {<<: *a, q: 3}\n"),
            R"({"x":{"p":1,"q":2},"z":{"q":3,"p":1}})");
  EXPECT_EQ(ToJson("x: &a {p: 1, q: 2}\nw: &b {q: 5, r: [6]}\nz:\n  <<: [*a, *b]\n  p: 0\n"),
            R"({"x":{"p":1,"q":2},"w":{"q":5,"r":[6]},"z":{"p":0,"q":2,"r":[6]}})");
  EXPECT_EQ(ToJson("z: {<<: {a: 1}, <<: {b: 2, a: 3}}\n"), R"({"z":{"a":1,"b":2}})");
  EXPECT_EQ(ToJson("z: {<<: &m {a: 1}, b: *m}\n"), R"({"z":{"b":{"a":1},"a":1}})");
  EXPECT_EQ(ToJson("a: &a {x: 1}\nb: &b {<<: *a, w: 2}\nc: {<<: *b}\n"),
            R"({"a":{"x":1},"b":{"w":2,"x":1},"c":{"w":2,"x":1}})");
  EXPECT_EQ(ToJson("z: {'<<': {a: 1}}\n"), R"({"z":{"<<":{"a":1}}})");
  EXPECT_EQ(ToJson("z: {<<: {}, <<: []}\n"), R"({"z":{}})");
}

TEST(YamlToJsonTest, MergeKeysTakeOnlyMappings) {
  for (const char* yaml :
       {"z: {<<: 3}\n", "z: {<<: [{a: 1}, 2]}\n", "z: {<<: x}\n", "z: {<<: }\n"}) {
    EXPECT_NE(ToJson(yaml).find("a merge key (<<) takes a mapping or a list of mappings"),
              std::string::npos)
        << ToJson(yaml);
  }
}

TEST(YamlToJsonTest, BillionLaughsAreStopped) {
  std::string bomb = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) bomb += (k > 0 ? ", " : "") + last;
    bomb += "]\n";
  }
  const Converted converted = Convert(bomb);
  EXPECT_TRUE(converted.documents.empty());
  ASSERT_EQ(converted.problems.size(), 1u);
  EXPECT_NE(converted.problems[0].message.find("anchors and aliases"), std::string::npos);

  std::string merges = "a0: &a0 {x: 1}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = std::to_string(i - 1);
    merges += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {<<: *a" + last + ", k" +
              last + ": *a" + last + "}\n";
  }
  EXPECT_EQ(Convert(merges).problems.size(), 1u);
}

TEST(YamlToJsonTest, DepthIsBounded) {
  EXPECT_EQ(Convert(std::string(200, '[') + std::string(200, ']')).documents.size(), 1u);
  const Converted flow = Convert(std::string(100'000, '['));
  ASSERT_EQ(flow.problems.size(), 1u);
  EXPECT_EQ(flow.problems[0].message, "the document nests deeper than 200 levels");
  std::string block;
  for (int i = 0; i < 5000; ++i) block += "- ";
  EXPECT_EQ(Convert(block + "x").problems.size(), 1u);
}

TEST(YamlToJsonTest, TagsOutsideTheCoreAreRefused) {
  EXPECT_EQ(ToJson("a: !foo 1\n"),
            "line 1, column 4: the tag !foo is not understood; leave it out");
  EXPECT_EQ(ToJson("a:\n  - !!binary aGk=\n"),
            "line 2, column 5: the tag !!binary is not understood; leave it out");
  EXPECT_EQ(ToJson("a: !!set {x}\n"),
            "line 1, column 4: the tag !!set is not understood; leave it out");
  EXPECT_EQ(ToJson("a: !!int 1.0\n"), "line 1, column 4: the tag !!int does not fit \"1.0\"");
  EXPECT_EQ(ToJson("a: !!bool x\n"), "line 1, column 4: the tag !!bool does not fit \"x\"");
  EXPECT_EQ(ToJson("a: !!map {b: !!seq [1]}\n"), R"({"a":{"b":[1]}})");
  EXPECT_NE(ToJson("a: !!seq {b: 1}\n").find("is not understood"), std::string::npos);
}

TEST(YamlToJsonTest, AWrongDocumentDoesNotHideTheNext) {
  const Converted converted = Convert("a: 1\na: 2\n---\nb: 1\n---\nc: *x\nd: *y\n---\ne: 2\n");
  EXPECT_EQ(converted.documents, (std::vector<std::string>{R"({"b":1})", R"({"e":2})"}));
  EXPECT_EQ(converted.problems.size(), 2u) << "one for each document";
  EXPECT_EQ(Convert("a: *x\nb: [\n").problems.size(), 1u);
  EXPECT_EQ(Convert("a: *x\n---\nb: [\n").problems.size(), 2u);
}

TEST(YamlToJsonTest, SyntaxErrorsEndTheReading) {
  const Converted converted = Convert("a: 1\n---\nb: [1, 2\n---\nc: 1\n");
  EXPECT_EQ(converted.documents, (std::vector<std::string>{R"({"a":1})"}));
  ASSERT_EQ(converted.problems.size(), 1u);
  ExpectAt(converted.problems[0].location, 4, 1);

  EXPECT_EQ(ToJson("a:\n\tb: 1\n"),
            "line 2, column 1: a tab is not allowed here; indent with spaces");
  EXPECT_EQ(Convert("a: 'x\n").problems.size(), 1u);
  EXPECT_EQ(Convert("a: b: c\n").problems.size(), 1u);
  EXPECT_EQ(Convert("a: \xFF\n").problems.size(), 1u);
  EXPECT_EQ(Convert("a: \x01\n").problems.size(), 1u);
}

TEST(YamlToJsonTest, KnowsWhereKeysAndValuesStand) {
  const std::string yaml =
      "# comment\n"
      "kind: Pod\n"
      "spec:\n"
      "  containers:\n"
      "  - name: \"\u00e9\"\n"
      "    resources: {requests: {cpu: 1}}\n";
  ExpectAt(Where(yaml, "{\"kind\""), 2, 1);
  ExpectAt(Where(yaml, "\"Pod\""), 2, 7);
  ExpectAt(Where(yaml, "\"spec\""), 3, 1);
  ExpectAt(Where(yaml, "{\"containers"), 4, 3);
  ExpectAt(Where(yaml, "{\"name"), 5, 5);
  ExpectAt(Where(yaml, "\"\u00e9\""), 5, 11);
  ExpectAt(Where(yaml, "{\"requests"), 6, 16);
  ExpectAt(Where(yaml, "\"cpu\""), 6, 28);
  ExpectAt(Where(yaml, "1}"), 6, 33);
}

TEST(YamlToJsonTest, AliasesStandWhereTheyAreUsedAndTheirInsideWhereItWasWritten) {
  const std::string yaml =
      "a: &x\n"
      "  p: 1\n"
      "b: *x\n"
      "c:\n"
      "  <<: *x\n"
      "  q: 2\n";
  ExpectAt(Where(yaml, "{\"p\":1},\"c"), 3, 4);
  ExpectAt(Where(yaml, "\"p\":1},\"c"), 2, 3);
  ExpectAt(Where(yaml, "\"p\":1}}"), 2, 3);
  ExpectAt(Where(yaml, "1}}"), 2, 6);
  ExpectAt(Where(yaml, "2,\"p"), 6, 6);
}

TEST(YamlToJsonTest, ColumnsCountCharacters) {
  ExpectAt(Where("{\u00e9\u00e9: \U0001F600, b: xyz}", "\"xyz\""), 1, 12);
}

}  // namespace
}  // namespace krafla
