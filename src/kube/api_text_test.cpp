#include "kube/api_text.h"

#include <gtest/gtest.h>

#include <optional>

#include <fmt/format.h>

namespace krafla {
namespace {

TEST(ApiText, AnEventOfAWatch) {
  ApiTextParser parser;
  const WatchLine event =
      parser
          .ParseWatchLine(
              R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p",)"
              R"("namespace":"a","uid":"u","resourceVersion":"7"},"spec":{}}})")
          .value();
  EXPECT_EQ(event.type, WatchEventType::kModified);
  EXPECT_EQ(event.head.ns, "a");
  EXPECT_EQ(event.head.name, "p");
  EXPECT_EQ(event.head.uid, "u");
  EXPECT_EQ(event.head.resource_version, "7");
  EXPECT_TRUE(event.object.starts_with(R"({"kind":"Pod")")) << event.object;
  EXPECT_TRUE(event.object.ends_with(R"("spec":{}})")) << event.object;
}

TEST(ApiText, TheBookmarkThatEndsTheList) {
  ApiTextParser parser;
  const WatchLine end =
      parser
          .ParseWatchLine(
              R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9",)"
              R"("annotations":{"k8s.io/initial-events-end":"true"}}}})")
          .value();
  EXPECT_TRUE(end.initial_events_end);
  EXPECT_EQ(end.head.resource_version, "9");
  EXPECT_FALSE(
      parser.ParseWatchLine(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})")
          .value()
          .initial_events_end);
}

TEST(ApiText, ErrorsHaveACodeAndAMessage) {
  ApiTextParser parser;
  const WatchLine error =
      parser
          .ParseWatchLine(
              R"({"type":"ERROR","object":{"kind":"Status","message":"too old","code":410}})")
          .value();
  EXPECT_EQ(error.type, WatchEventType::kError);
  EXPECT_EQ(error.error_code, 410);
  EXPECT_EQ(error.error_message, "too old");
}

TEST(ApiText, LinesThatAreNoEvents) {
  ApiTextParser parser;
  EXPECT_FALSE(parser.ParseWatchLine("").has_value());
  EXPECT_FALSE(parser.ParseWatchLine("nonsense").has_value());
  EXPECT_EQ(parser.ParseWatchLine(R"({"type":"MOVED","object":{"metadata":{}}})").error().message,
            "an event of the unknown type \"MOVED\"");
  EXPECT_EQ(parser.ParseWatchLine(R"({"type":"ADDED"})").error().message,
            "an event without object");
  EXPECT_EQ(parser.ParseWatchLine(R"({"type":"ADDED","object":{"kind":"Pod"}})").error().message,
            "the object of an event has no metadata");
}

TEST(ApiText, APageOfAListNamesItsObjectsKind) {
  ApiTextParser parser;
  std::vector<std::string> objects;
  const auto page = parser.ParseList(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"c"},)"
      R"("items":[{"metadata":{"name":"a","namespace":"n","resourceVersion":"3"}},)"
      R"({"metadata":{"name":"b","namespace":"n"}}]})",
      [&](std::string object, ObjectHead head) { objects.push_back(head.name + " " + object); });
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "c");
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_TRUE(objects[0].starts_with("a {")) << objects[0];
  EXPECT_NE(objects[0].find(R"("kind":"Pod")"), std::string::npos) << objects[0];
}

TEST(ApiText, APodGroupKeepsItsStatus) {
  ApiTextParser parser;
  const ObjectHead head =
      parser
          .ParseHead(Padded(R"({"kind":"PodGroup","metadata":{"name":"g"},"spec":{},)"
                            R"("status":{"phase":"Inqueue"}})"))
          .value();
  EXPECT_EQ(head.status, R"({"phase":"Inqueue"})");
  EXPECT_EQ(parser.ParseHead(Padded(R"({"kind":"Pod","metadata":{"name":"g"},"status":{}})"))
                .value()
                .status,
            "");
}

TEST(ApiText, TheOwnerThatIsTheControllerIsKept) {
  ApiTextParser parser;
  const auto uid = [&](const std::string& owners) {
    return parser
        .ParseHead(Padded(R"({"kind":"Pod","metadata":{"name":"p","ownerReferences":)" + owners +
                          R"(,"resourceVersion":"7"}})"))
        .value()
        .controller_uid;
  };
  EXPECT_EQ(uid(R"([{"kind":"X","uid":"a"},{"kind":"Y","uid":"b","controller":true}])"), "b");
  EXPECT_EQ(uid(R"([{"controller":true,"uid":"c"},{"uid":"d","controller":false}])"), "c");
  for (const char* none : {"[]", "{}", "7", "null", R"([{"uid":"a"}])", R"([7,null])",
                           R"([{"uid":"a","controller":"true"}])"})
    EXPECT_EQ(uid(none), "") << none;
}

TEST(ApiText, WhatVolcanosControllersHaveWrittenIsKnownByItsManagers) {
  ApiTextParser parser;
  const auto written = [&](const std::string& kind, const std::string& manager) {
    return parser
        .ParseHead(Padded(
            fmt::format(R"({{"kind":"{}","metadata":{{"managedFields":[{{"manager":"kubectl"}},)"
                        R"({{"fieldsV1":{{"f:status":{{}}}},"manager":"{}"}}],"name":"x"}}}})",
                        kind, manager)))
        .value()
        .written_by_controllers;
  };
  EXPECT_TRUE(written("PodGroup", "vc-controller-manager"));
  EXPECT_TRUE(written("Queue", "queue-controller"));
  EXPECT_FALSE(written("Queue", "vc-scheduler"));
  EXPECT_FALSE(written("Pod", "vc-controller-manager")) << "not looked at";
}

TEST(ApiText, MessagesOfRefusals) {
  EXPECT_EQ(MessageOf(R"({"kind":"Status","message":"pods \"x\" not found"})"),
            "pods \"x\" not found");
  EXPECT_EQ(MessageOf("upstream\nfailed"), "upstream failed");
}

// What is not there in a list is deleted: half a list must not count as a whole one.
TEST(ApiText, AListThatIsCutAnywhereIsNoList) {
  const std::string page =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)"
      R"({"metadata":{"name":"a","namespace":"x"},"spec":{"containers":[{}]}},)"
      R"({"metadata":{"name":"b","namespace":"x"}}]})";
  const auto names = [](const std::string& body) -> std::optional<size_t> {
    ApiTextParser parser;
    size_t count = 0;
    if (!parser.ParseList(body, [&](const std::string&, const ObjectHead&) { ++count; }))
      return std::nullopt;
    return count;
  };
  EXPECT_EQ(names(page), 2u);
  for (size_t size = 0; size < page.size(); ++size)
    EXPECT_EQ(names(page.substr(0, size)), std::nullopt) << page.substr(0, size);
}

TEST(ApiText, OnlyAListCountsAsAList) {
  ApiTextParser parser;
  const auto problem = [&](const std::string& body) -> std::string {
    const auto page = parser.ParseList(body, [](const std::string&, const ObjectHead&) {});
    return page ? "" : page.error().message;
  };
  EXPECT_EQ(problem(R"({"kind":"NodeList","metadata":{"resourceVersion":"5"},"items":[]})"), "");
  EXPECT_EQ(problem(R"({"kind":"NodeList","metadata":{"resourceVersion":"5"},"items":null})"), "");
  EXPECT_EQ(problem(R"([])"), "the list is not a JSON object");
  EXPECT_EQ(problem(R"({"kind":"Status","metadata":{}})"),
            "expected an object whose kind ends with List");
  EXPECT_EQ(problem(R"({"kind":"NodeList","items":[]})"),
            "the list has no metadata that can be read");
  EXPECT_EQ(problem(R"({"kind":"NodeList","metadata":{},"items":[]})"),
            "the list has no metadata.resourceVersion");
  EXPECT_EQ(problem(R"({"kind":"NodeList","metadata":{"resourceVersion":"5"}})"),
            "the list has no items");
  EXPECT_EQ(problem(R"({"kind":"NodeList","metadata":{"resourceVersion":"5"},"items":{}})"),
            "the items of the list are cut off or are not an array");
}

TEST(ApiText, ObjectsWithoutANameAreCountedAndLeftOut) {
  ApiTextParser parser;
  size_t count = 0;
  const auto page = parser.ParseList(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)"
      R"({"metadata":{"uid":"u"}},{"metadata":{"name":"n"}}]})",
      [&](const std::string&, const ObjectHead&) { ++count; });
  ASSERT_TRUE(page);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(page->unnamed, 1u);
}

}  // namespace
}  // namespace krafla
