#include "manifest/json_path.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

std::string PathOf(std::string_view json, std::string_view value) {
  return JsonPathAt(json, json.find(value));
}

TEST(JsonPath, NamesFieldsItemsAndKeysWithDots) {
  const std::string_view json =
      R"({"kind":"Pod","spec":{"containers":[{"name":"a"},{"resources":{"requests":)"
      R"({"cpu":1,"nvidia.com/gpu":2}}}],"priority":"high"}})";
  EXPECT_EQ(PathOf(json, "\"a\""), "spec.containers[0].name");
  EXPECT_EQ(PathOf(json, "1,"), "spec.containers[1].resources.requests.cpu");
  EXPECT_EQ(PathOf(json, "2}"), "spec.containers[1].resources.requests[\"nvidia.com/gpu\"]");
  EXPECT_EQ(PathOf(json, "\"high\""), "spec.priority");
  EXPECT_EQ(PathOf(json, "{\"resources\""), "spec.containers[1]");
}

TEST(JsonPath, IsEmptyForTheObjectItself) {
  EXPECT_EQ(JsonPathAt(R"({"a":1})", 0), "");
}

TEST(JsonPath, PassesOverBracketsAndQuotesInsideStrings) {
  const std::string_view json = R"({"a":"x\"}],","b":{"c":7}})";
  EXPECT_EQ(PathOf(json, "7"), "b.c");
}

TEST(JsonPath, StandsTextThatIsNotJson) {
  EXPECT_EQ(JsonPathAt("}]\"abc", 6), "");
  EXPECT_EQ(JsonPathAt("", 10), "");
}

}  // namespace
}  // namespace krafla
