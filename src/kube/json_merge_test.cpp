// Patches applied on our side, as an API server would.
#include "kube/json_merge.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

std::string Merge(const std::string& object, const std::string& patch,
                  PatchType type = PatchType::kMerge) {
  const Result<std::string> merged = ApplyPatch(object, patch, type);
  return merged ? *merged : "error: " + merged.error().message;
}

// The cases of RFC 7386, appendix A, as far as both sides are objects.
TEST(JsonMerge, AMergePatchFollowsItsRfc) {
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"a":null})"), "{}");
  EXPECT_EQ(Merge(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(Merge(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merge(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(Merge(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(Merge(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(Merge(R"({"e":null})", R"({"a":1})"), R"({"e":null,"a":1})");
  EXPECT_EQ(Merge(R"({})", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

TEST(JsonMerge, WhatAPatchDoesNotNameStaysByteForByte) {
  EXPECT_EQ(Merge(R"( {"n": 1.50, "big":123456789012345678901, "t":"\u003c" , "s":{"x":[ 1 ]}} )",
                  R"({"s":{"y":true}})"),
            R"({"n":1.50,"big":123456789012345678901,"t":"\u003c","s":{"x":[ 1 ],"y":true}})");
}

TEST(JsonMerge, AStrategicPatchMergesConditionsByType) {
  EXPECT_EQ(Merge(R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
                  R"({"type":"PodScheduled","status":"True","lastProbeTime":null}]}})",
                  R"({"status":{"conditions":[{"type":"PodScheduled","status":"False"},)"
                  R"({"type":"DisruptionTarget","status":"True"}],"nominatedNodeName":null}})",
                  PatchType::kStrategic),
            R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
            R"({"type":"PodScheduled","status":"False","lastProbeTime":null},)"
            R"({"type":"DisruptionTarget","status":"True"}]}})");
  EXPECT_EQ(Merge(R"({"status":{}})", R"({"status":{"conditions":[{"type":"A"}]}})",
                  PatchType::kStrategic),
            R"({"status":{"conditions":[{"type":"A"}]}})");
}

TEST(JsonMerge, TextsThatAreNoObjectsAreRefused) {
  EXPECT_EQ(Merge("[]", "{}"), "error: the object is no JSON object");
  EXPECT_EQ(Merge("{}", ""), "error: the patch is no JSON object");
  EXPECT_TRUE(Merge(R"({"a":)", "{}").starts_with("error: the object is no JSON: "));
  EXPECT_TRUE(Merge("{} x", "{}").starts_with("error: the object is no JSON: "));
}

TEST(JsonMerge, MetadataIsFound) {
  EXPECT_EQ(MetadataText(R"({"kind":"Pod","metadata":{"name":"p","uid":"u-1"}})", "uid"), "u-1");
  EXPECT_EQ(MetadataText(R"({"metadata":{"uid":7}})", "uid"), "");
  EXPECT_EQ(MetadataText(R"({"spec":{}})", "uid"), "");
  EXPECT_EQ(MetadataText("", "uid"), "");
}

}  // namespace
}  // namespace krafla
