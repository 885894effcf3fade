#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>

namespace krafla {
namespace {

TEST(JsonWriter, EmptyContainers) {
  EXPECT_EQ(JsonWriter().BeginObject().EndObject().text(), "{}");
  EXPECT_EQ(JsonWriter().BeginArray().EndArray().text(), "[]");
}

TEST(JsonWriter, CommasStandBetweenItemsOnly) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a").BeginArray().Integer(1).Integer(2).BeginObject().EndObject().EndArray();
  json.Key("b").BeginObject().Key("c").Bool(true).Key("d").Null().EndObject();
  json.Key("e").BeginArray().EndArray();
  json.Key("f").String("g");
  json.EndObject();
  EXPECT_EQ(json.text(), R"({"a":[1,2,{}],"b":{"c":true,"d":null},"e":[],"f":"g"})");
}

TEST(JsonWriter, ArraysOfContainers) {
  JsonWriter json;
  json.BeginArray();
  for (int i = 0; i < 2; ++i)
    json.BeginArray().BeginObject().Key("i").Integer(i).EndObject().EndArray();
  json.EndArray();
  EXPECT_EQ(json.text(), R"([[{"i":0}],[{"i":1}]])");
}

std::string Number(double value) {
  return JsonWriter().Number(value).text();
}

TEST(JsonWriter, WholeNumbersHaveNoPoint) {
  EXPECT_EQ(Number(0), "0");
  EXPECT_EQ(Number(-0.0), "0");
  EXPECT_EQ(Number(2000), "2000");
  EXPECT_EQ(Number(-3), "-3");
  EXPECT_EQ(Number(4294967296.0), "4294967296");
}

TEST(JsonWriter, FractionsReadBackToTheSameNumber) {
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(-2.5), "-2.5");
  for (const double value : {1.0 / 3, 1e-9, 123456.789, 1e300, 5e-324, 9.1e15})
    EXPECT_EQ(std::strtod(Number(value).c_str(), nullptr), value) << Number(value);
}

TEST(JsonWriter, NoWordForInfinity) {
  EXPECT_EQ(Number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Number(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, IntegersOfFullWidth) {
  EXPECT_EQ(JsonWriter().Integer(std::numeric_limits<int64_t>::min()).text(),
            "-9223372036854775808");
}

TEST(JsonWriter, TextIsEscaped) {
  EXPECT_EQ(JsonWriter().String("say \"hi\" \\ now").text(), R"("say \"hi\" \\ now")");
  EXPECT_EQ(JsonWriter().String("a\nb\tc\rd").text(), R"("a\nb\tc\rd")");
  EXPECT_EQ(JsonWriter().String(std::string("\x00\x01\x1f", 3)).text(), R"("\u0000\u0001\u001f")");
  EXPECT_EQ(JsonWriter().String("größer / √").text(), "\"größer / √\"");
}

TEST(JsonWriter, KeysAreEscapedToo) {
  EXPECT_EQ(JsonWriter().BeginObject().Key("a\"b").Integer(1).EndObject().text(), R"({"a\"b":1})");
}

}  // namespace
}  // namespace krafla
