// The scheduling thread without a network, for tests: messages in, requests out.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "kube/live_scheduler.h"
#include "kube/scripted_client_test.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {

class LiveSchedulerTest : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;
  using What = ObjectMessage::What;

  static constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: cdp
    arguments: {cdp.max-evictions: 2}
- plugins:
  - name: predicates
  - name: proportion
)";

  LiveSchedulerTest() {
    MirrorOptions options;
    for (const WatchedKindInfo& info : kWatchedKinds) options.kinds.push_back(info.kind);
    options.before_taking = [this](WatchedKind kind, const std::string& key, bool) {
      KRAFLA_CHECK(broken != fmt::format("{} {}", InfoOf(kind).name, key), "on purpose");
    };
    mirror.emplace(std::move(options));
    events.emplace(client, EventRecorder::Options{});
    effects.emplace(client, *mirror, *events,
                    Effects::Options{.on_evicted = [this](const EvictOrder& order) {
                      loop->EvictionTaken(order.pod.Key());
                    }});
    statuses.emplace(client, *mirror, *events, StatusReports::Options{});
    Diagnostics diagnostics;
    loop.emplace(mirror->live(),
                 ReadSchedulerConfig(kConfig, BuiltInVocabulary(), {.file_name = "t"}, diagnostics),
                 TimeZone(), log);
    EXPECT_FALSE(diagnostics.HasErrors());
    scheduler.emplace(
        LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
        LiveScheduler::Options{.may_write = [] { return true; }});
    for (const WatchedKindInfo& info : kWatchedKinds)
      mirror->Apply({What::kSyncBegins, info.kind, {}, {}});
    SeeNamespaceAndQueues();
    See(WatchedKind::kNode,
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"n"},"status":{"allocatable":)"
        R"({"cpu":"2","memory":"8Gi","pods":"10"}}})");
    for (const WatchedKindInfo& info : kWatchedKinds)
      mirror->Apply({What::kSyncEnds, info.kind, {}, {}});
  }
  void SeeNamespaceAndQueues() {
    See(WatchedKind::kNamespace,
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})");
    for (const char* name : {"default", "root"})
      See(WatchedKind::kQueue,
          fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",)"
                      R"("metadata":{{"name":"{}","uid":"q"}},"spec":{{"weight":1}}}})",
                      name));
  }
  void See(WatchedKind kind, const std::string& json) {
    ObjectMessage message{What::kSeen, kind, Padded(json), {}};
    message.head = parser.ParseHead(message.object).value();
    message.head.resource_version = fmt::format("{}", ++version);
    mirror->Apply(std::move(message));
  }
  void SeeGroup(const std::string& name, int min_member, const std::string& status = "{}") {
    See(WatchedKind::kPodGroup,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{}","namespace":"a","uid":"g-{}"}},)"
                    R"("spec":{{"minMember":{}}},"status":{}}})",
                    name, name, min_member, status));
  }
  void SeePod(const std::string& name, const std::string& group, const std::string& node = "") {
    See(WatchedKind::kPod,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"a",)"
            R"("uid":"u-{}","annotations":{{"scheduling.k8s.io/group-name":"{}"}}}},)"
            R"("spec":{{"schedulerName":"volcano",{}"containers":[{{"name":"c","resources":)"
            R"({{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"{}"}}}})",
            name, name, group, node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node),
            node.empty() ? "Pending" : "Running"));
  }
  void Cycle() { scheduler->RunCycle(client.Now()); }
  Lines Requests() {
    Lines lines = client.TakeRequests();
    std::erase_if(lines, [](const std::string& l) {
      return l.find("/events") != l.npos || l.find("/queues/") != l.npos;
    });
    return lines;
  }
  // All that is open gets a good answer.
  void AnswerAll() {
    while (client.open() != 0) client.Answer(200);
  }

  std::string broken;  // "Kind key" of an object that cannot be taken
  ScriptedClient client;
  ApiTextParser parser;
  Inbox inbox;
  ServeMetrics metrics;
  Log log{0};
  std::optional<ClusterMirror> mirror;
  std::optional<EventRecorder> events;
  std::optional<Effects> effects;
  std::optional<StatusReports> statuses;
  std::optional<SchedulingLoop> loop;
  std::optional<LiveScheduler> scheduler;
  int version = 0;
};

}  // namespace krafla::testing
