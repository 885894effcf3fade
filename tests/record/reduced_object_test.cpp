// What is kept of objects is enough: cycles on reduced objects decide as cycles on whole ones.
#include "manifest/reduced_object.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>

#include "manifest/object_stream.h"
#include "property/for_all.h"
#include "support/cycle.h"
#include "support/gzip_lines.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

std::string Reduced(const std::string& text) {
  std::string list;
  Diagnostics problems;
  simdjson::dom::parser parser;
  ReadObjectsFromText(
      text, "test",
      [&](const ObjectText& object) {
        const std::string json(object.json);
        simdjson::dom::element root;
        std::string_view kind;
        if (parser.parse(json).get(root) || root["kind"].get_string().get(kind)) return;
        list += ReduceObject(kind, json).value_or(json) + "\n";
      },
      problems);
  EXPECT_FALSE(problems.HasErrors());
  return list;
}

std::string Decided(CycleInput input) {
  Cycle cycle(input);
  cycle.Run();
  return Summary(cycle);
}

TEST(ReducedObject, DecidesAsTheWholeOneOnRandomClusters) {
  ForAll(60, {}, [](const RandomCluster& random) {
    CycleInput input{.cluster = random.Text(), .config = random.config, .now = random.now};
    if (!random.profile.empty()) input.profile = random.profile;
    const std::string whole = Decided(input);
    input.cluster = Reduced(input.cluster);
    const std::string reduced = Decided(input);
    return whole == reduced ? std::string() : whole + "\nreduced:\n" + reduced;
  });
}

TEST(ReducedObject, DecidesAsTheWholeOneOnRecordedClusters) {
  simdjson::dom::parser parser;
  size_t cases = 0;
  for (const auto& entry :
       fs::directory_iterator(testing::SourceDir() + "/tests/conformance/cases")) {
    const std::vector<std::string> lines = ReadGzipLines(entry.path().string());
    for (size_t i = 0; i < lines.size(); i += 5) {
      simdjson::dom::element root;
      ASSERT_EQ(parser.parse(lines[i]).get(root), simdjson::SUCCESS);
      CycleInput input{.profile = "volcano", .lenient = true};
      input.config = std::string(std::string_view(root["conf"]));
      if (const std::string now{std::string_view(root["now"])}; !now.empty()) input.now = now;
      input.cluster = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":" +
                      simdjson::to_string(root["objects"]) + "}";
      const std::string whole = Decided(input);
      input.cluster = Reduced(input.cluster);
      EXPECT_EQ(Decided(input), whole) << entry.path() << " line " << i + 1;
      ++cases;
    }
  }
  EXPECT_GT(cases, 100u);
}

TEST(ReducedObject, LeavesOutWhatNobodyReads) {
  const auto reduced = ReduceObject(
      "Pod",
      "{\"apiVersion\": \"v1\",\n \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\", "
      "\"annotations\": {\"vault\": \"token\", \"volcano.sh/preemptable\": \"true\"}, "
      "\"managedFields\": [{}]}, \"spec\": {\"containers\": [{\"name\": \"c\", \"env\": "
      "[{\"name\": "
      "\"PASSWORD\", \"value\": \"x\"}], \"args\": [\"--token=x\"], \"resources\": {\"requests\": "
      "{\n\"cpu\": \"1\", \"odd\\\"\\n\": \"2 3\"}}}], \"volumes\": [{\"name\": \"v\", \"secret\": "
      "{\"secretName\": \"s\"}}]}, \"status\": {\"phase\": \"Running\", \"podIP\": \"10.0.0.1\"}}");
  ASSERT_TRUE(reduced);
  EXPECT_EQ(*reduced,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":)"
            R"({"volcano.sh/preemptable":"true"}},"spec":{"containers":[{"name":"c","resources":)"
            R"({"requests":{"cpu":"1","odd\"\n":"2 3"}}}],"volumes":[]},)"
            R"("status":{"phase":"Running"}})");
}

TEST(ReducedObject, OfListsItemsStayThatSomebodyReads) {
  const auto reduced = ReduceObject(
      "Pod",
      R"({"spec":{"volumes":[{"name":"a","emptyDir":{}},{"name":"b","persistentVolumeClaim":)"
      R"({"claimName":"c","readOnly":true}},{"name":"d","image":{"reference":"i"}},7]},)"
      R"("status":{"conditions":[{"type":"Ready","status":"True"},{"status":"True","type":)"
      R"("PodScheduled"},{"type":"Initialized","status":"True"}],"containerStatuses":[{"name":"x",)"
      R"("state":{}},{"name":"y","resources":{}}]}})");
  ASSERT_TRUE(reduced);
  EXPECT_EQ(
      *reduced,
      R"({"spec":{"volumes":[{"name":"b","persistentVolumeClaim":{"claimName":"c"}},)"
      R"({"name":"d","image":{"reference":"i"}},7]},"status":{"conditions":[{"type":"Ready",)"
      R"("status":"True"},{"status":"True","type":"PodScheduled"}],"containerStatuses":[{"name":"y","resources":{}}]}})");
}

TEST(ReducedObject, WhatIsNoObjectIsNothing) {
  EXPECT_FALSE(ReduceObject("Secret", "{}"));
  EXPECT_FALSE(ReduceObject("Pod", "[]"));
  EXPECT_FALSE(ReduceObject("Pod", "{\"spec\":"));
  EXPECT_FALSE(ReduceObject("Pod", "{} x"));
}

}  // namespace
}  // namespace krafla::testing
