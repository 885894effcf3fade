#include "kube/request_kind.h"

#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "kube/watched_kinds.h"

namespace krafla {
namespace {

std::string Kind(std::string_view method, std::string_view target) {
  const RequestKind kind = KindOf(method, target);
  return fmt::format("{} {}", kind.verb, kind.resource);
}

TEST(RequestKind, HasTheVerbAndResourceOfARole) {
  constexpr const char* kGroups = "/apis/scheduling.volcano.sh/v1beta1";
  const std::string group = fmt::format("{}/namespaces/a/podgroups/g", kGroups);
  EXPECT_EQ(Kind("GET", "/api/v1/pods?limit=500"), "list pods");
  EXPECT_EQ(Kind("GET", "/api/v1/pods?watch=true&resourceVersion=7"), "watch pods");
  EXPECT_EQ(Kind("GET", "/api/v1/namespaces/a/pods/p"), "get pods");
  EXPECT_EQ(Kind("GET", "/api/v1/namespaces/a/pods"), "list pods");
  EXPECT_EQ(Kind("GET", "/api/v1/namespaces"), "list namespaces");
  EXPECT_EQ(Kind("GET", "/api/v1/namespaces/a"), "get namespaces");
  EXPECT_EQ(Kind("POST", "/api/v1/namespaces/a/pods/p/binding"), "create pods/binding");
  EXPECT_EQ(Kind("POST", "/api/v1/namespaces/a/pods/p/eviction"), "create pods/eviction");
  EXPECT_EQ(Kind("PATCH", "/api/v1/namespaces/a/pods/p/status"), "patch pods/status");
  EXPECT_EQ(Kind("DELETE", "/api/v1/namespaces/a/pods/p"), "delete pods");
  EXPECT_EQ(Kind("PATCH", group), "patch podgroups");
  EXPECT_EQ(Kind("PUT", group + "/status"), "update podgroups/status");
  EXPECT_EQ(Kind("PATCH", fmt::format("{}/queues/q/status", kGroups)), "patch queues/status");
  EXPECT_EQ(Kind("PATCH", "/apis/coordination.k8s.io/v1/namespaces/s/leases/l"), "patch leases");
  EXPECT_EQ(Kind("POST", "/api/v1/namespaces/a/events"), "create events");
  for (const WatchedKindInfo& info : kWatchedKinds)
    EXPECT_EQ(Kind("GET", info.path), fmt::format("list {}", info.resource));
}

// Labels of metrics must not grow with what a name or a server happens to be.
TEST(RequestKind, WhatIsNotKnownIsOther) {
  for (const char* target : {"/version", "/", "", "/api", "/api/v1", "/apis/x/v1",
                             "/apis/x/v1/widgets/w", "/api/v1/namespaces/a/pods/p/log", "//api//"})
    EXPECT_EQ(KindOf("GET", target).resource, "other") << target;
}

}  // namespace
}  // namespace krafla
