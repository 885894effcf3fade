// Who waits is told why: when, in which words, and how often.
#include "kube/status_reports.h"

#include <simdjson.h>

#include <algorithm>

#include <fmt/ranges.h>

#include "kube/live_scheduler_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;

class StatusReportsTest : public testing::LiveSchedulerTest {
 protected:
  // Makes the reports, and the scheduler that hands them out, with a log.
  void LogTo(Lines& logged) {
    statuses.emplace(
        client, *mirror, *events,
        StatusReports::Options{.log = [&](const std::string& line) { logged.push_back(line); }});
    scheduler.emplace(
        LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
        LiveScheduler::Options{.may_write = [] { return true; }});
  }
  // A pod without PodGroup.
  void SeeBarePod(const std::string& name, const std::string& queue) {
    See(WatchedKind::kPod,
        fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a",)"
                    R"("uid":"u-{0}","annotations":{{"scheduling.volcano.sh/queue-name":"{1}"}}}},)"
                    R"("spec":{{"schedulerName":"volcano","containers":[{{"name":"c","resources":)"
                    R"({{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
                    name, queue));
  }
  void SeeQueue(const std::string& name, const std::string& spec = "") {
    See(WatchedKind::kQueue,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":)"
                    R"({{"name":"{0}","uid":"q-{0}"}},"spec":{{"weight":1{1}}}}})",
                    name, spec));
  }
  void SeeGroupIn(const std::string& queue, const std::string& name, int min_member,
                  const std::string& spec = "", const std::string& status = "{}") {
    See(WatchedKind::kPodGroup,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{0}","namespace":"a","uid":"g-{0}"}},"spec":)"
                    R"({{"minMember":{1},"queue":"{2}"{3}}},"status":{4}}})",
                    name, min_member, queue, spec, status));
  }
  void SeeNode(const std::string& cpu, bool unschedulable = false) {
    See(WatchedKind::kNode,
        fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n1"}},"spec":)"
                    R"({{"unschedulable":{}}},"status":{{"allocatable":{{"cpu":"{}","memory":)"
                    R"("8Gi","pods":"10"}}}}}})",
                    unschedulable, cpu));
  }

  // What was sent since the last call, in order: "event Pod p0 FailedScheduling: …",
  // "condition podgroups/g Unschedulable=True NotEnoughTasks: …", "phase podgroups/g Inqueue".
  Lines Told() {
    Lines told;
    for (size_t i = 0; i < client.requests.size(); ++i) {
      simdjson::dom::parser json;
      simdjson::dom::element body;
      const std::string& target = client.requests[i];
      if (target.find("/queues/") != target.npos) continue;
      if (json.parse(client.bodies[i]).get(body)) continue;
      const auto text = [](simdjson::dom::element object, const char* key) {
        std::string_view value;
        return object[key].get(value) ? std::string() : std::string(value);
      };
      if (target.find("/events") != target.npos) {
        if (!target.starts_with("POST")) continue;
        told.push_back(fmt::format("event {} {} {}: {}", text(body["involvedObject"], "kind"),
                                   text(body["involvedObject"], "name"), text(body, "reason"),
                                   text(body, "message")));
        continue;
      }
      simdjson::dom::element status;
      if (body["status"].get(status)) continue;
      const size_t end = target.rfind("/status");
      const std::string path = target.substr(0, end);
      const std::string name = path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
      if (const std::string phase = text(status, "phase"); !phase.empty())
        told.push_back(fmt::format("phase {} {}", name, phase));
      simdjson::dom::array conditions;
      if (status["conditions"].get(conditions)) continue;
      for (const simdjson::dom::element condition : conditions)
        told.push_back(fmt::format("condition {} {}={} {}: {}", name, text(condition, "type"),
                                   text(condition, "status"), text(condition, "reason"),
                                   text(condition, "message")));
    }
    client.TakeRequests();
    return told;
  }
  void Pass(int ms) {
    client.Pass(milliseconds(ms));
    AnswerAll();
  }
};

constexpr const char* kNoQueue =
    "queue \"defualt\" does not exist (did you mean \"default\"?); create it or name another in ";

TEST_F(StatusReportsTest, APodWhoseQueueDoesNotExistIsToldOnce) {
  SeeBarePod("p", "defualt");
  Cycle();
  EXPECT_EQ(statuses->waiting_pods(), 1u);
  EXPECT_FALSE(statuses->some_pod_is_looked_at()) << "no cycle could place it";
  Pass(4999);
  EXPECT_EQ(Told(), Lines{}) << "the queue may be on its way";
  Pass(1);
  const std::string why = std::string(kNoQueue) + "scheduling.volcano.sh/queue-name";
  EXPECT_EQ(Told(), (Lines{"condition pods/p PodScheduled=False Unschedulable: " + why,
                           "event Pod p FailedScheduling: " + why}));
  for (int i = 0; i < 3; ++i) {
    SeeNode(fmt::format("{}", 3 + i));
    Cycle();
    Pass(60'000);
  }
  EXPECT_EQ(Told(), Lines{});
  SeeQueue("defualt");
  Cycle();
  Lines requests = Requests();
  EXPECT_NE(std::find(requests.begin(), requests.end(), "POST /api/v1/namespaces/a/pods/p/binding"),
            requests.end())
      << fmt::format("{}", fmt::join(requests, "\n"));
  Cycle();
  EXPECT_EQ(statuses->waiting_pods(), 0u);
}

TEST_F(StatusReportsTest, APodWhosePodGroupDoesNotExistIsTold) {
  SeePod("p", "train");
  Cycle();
  Pass(5000);
  const std::string why =
      "PodGroup \"train\" does not exist in the pod's namespace; create it or name another in "
      "scheduling.k8s.io/group-name";
  EXPECT_EQ(Told(), (Lines{"condition pods/p PodScheduled=False Unschedulable: " + why,
                           "event Pod p FailedScheduling: " + why}));
  // It comes, without its queue.
  SeeGroupIn("defualt", "train", 1);
  Cycle();
  Pass(10'000);
  const std::string other =
      "queue \"defualt\" of PodGroup train does not exist (did you mean "
      "\"default\"?); create it or name another in spec.queue of the PodGroup";
  const Lines told = Told();
  EXPECT_NE(std::find(told.begin(), told.end(), "event Pod p FailedScheduling: " + other),
            told.end())
      << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, WhatComesInAnyOrderIsNotComplainedOf) {
  SeePod("p0", "g");
  SeePod("p1", "g");
  Cycle();
  Pass(3000);
  SeeGroupIn("late", "g", 2);
  Cycle();
  Pass(1000);
  SeeQueue("late");
  Cycle();
  Pass(60'000);
  for (const std::string& line : Told()) EXPECT_EQ(line.find("does not exist"), line.npos) << line;
  EXPECT_EQ(effects->counts().bound, 2u);
}

TEST_F(StatusReportsTest, APodGroupWhoseQueueDoesNotExistIsToldUntilItDoes) {
  SeeGroupIn("defualt", "g", 1);
  SeePod("p", "g");
  Cycle();
  EXPECT_EQ(Told(), Lines{});
  Pass(5000);
  const std::string why = std::string(kNoQueue) + "spec.queue";
  Lines told = Told();
  std::erase_if(told, [](const std::string& line) { return line.find(" p ") != line.npos; });
  std::erase_if(told, [](const std::string& line) { return line.find("pods/p ") != line.npos; });
  EXPECT_EQ(told, (Lines{"phase podgroups/g Pending",
                         "condition podgroups/g Unschedulable=True QueueNotFound: " + why,
                         "event PodGroup g Unschedulable: " + why}));
  // As the server shows it; the queue is there, the room is not.
  SeeGroupIn("defualt", "g", 1, "",
             fmt::format(R"({{"phase":"Pending","conditions":[{{"type":"Unschedulable","status":)"
                         R"("True","reason":"QueueNotFound","message":"{}"}}]}})",
                         "no queue"));
  SeeNode("2", true);
  SeeQueue("defualt");
  Cycle();
  Pass(0);
  told = Told();
  ASSERT_EQ(told.size(), 3u) << fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_TRUE(
      told[1].starts_with("condition podgroups/g Unschedulable=True NotEnoughResources: "
                          "1/1 tasks in gang unschedulable"))
      << told[1];
  // Without pods it is these that it lacks.
  mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = "p"}});
  SeeGroupIn("defualt", "g", 1, "",
             R"({"phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True",)"
             R"("reason":"NotEnoughResources","message":"m"}]})");
  Cycle();
  Pass(10'000);
  told = Told();
  EXPECT_NE(std::find(told.begin(), told.end(),
                      "condition podgroups/g Unschedulable=True NotEnoughTasks: 0 of the 1 pods of "
                      "minMember exist"),
            told.end())
      << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, ManyThatWaitForOneThingAreOneLineOfTheLog) {
  Lines logged;
  LogTo(logged);
  for (const char* pod : {"x", "y", "z"}) SeeBarePod(pod, "none");
  SeePod("w", "lost");
  Cycle();
  Pass(5000);
  EXPECT_EQ(
      logged,
      (Lines{"unresolved reference; the object does not exist podgroup=a/lost first=\"Pod a/w\"",
             "unresolved reference; the object does not exist queue=none first=\"Pod a/x\""}));
  EXPECT_EQ(statuses->waiting_pods(), 4u);
  SeeBarePod("v", "none");
  Cycle();
  Pass(5000);
  EXPECT_EQ(logged.size(), 2u);
}

TEST_F(StatusReportsTest, AGangIsNotCalledUnschedulableWhileItIsBeingCreated) {
  SeeGroup("g", 3);
  SeePod("p0", "g");
  Cycle();
  EXPECT_EQ(Told(), Lines{"phase podgroups/g Inqueue"});
  Pass(2000);
  SeePod("p1", "g");
  Cycle();
  Pass(1000);
  EXPECT_EQ(Told(), Lines{});
  // All are there: now it is the room that is missing.
  SeePod("p2", "g");
  Cycle();
  Pass(1000);
  const Lines told = Told();
  const auto has = [&](std::string_view begin, std::string_view part) {
    return std::any_of(told.begin(), told.end(), [&](const std::string& line) {
      return line.starts_with(begin) && line.find(part) != line.npos;
    });
  };
  const std::string why = "queue default has 0 of the 2 cpu it deserves, 3 pods ask for 3";
  EXPECT_TRUE(
      has("condition podgroups/g Unschedulable=True NotEnoughResources: 3/3 tasks in gang", why))
      << fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_TRUE(has("event PodGroup g Unschedulable: 3/3 tasks in gang", why));
  for (const char* pod : {"p0", "p1", "p2"})
    EXPECT_TRUE(has(fmt::format("event Pod {} FailedScheduling: ", pod), why)) << pod;
  EXPECT_FALSE(has("", "of the 3 pods"));
}

TEST_F(StatusReportsTest, AGangThatLacksPodsForAWhileSaysSo) {
  SeeGroup("g", 3);
  SeePod("p0", "g");
  Cycle();
  Told();
  Pass(3000);
  SeePod("p1", "g");
  Cycle();
  Pass(1999);
  EXPECT_EQ(Told(), Lines{});
  Pass(1);
  const std::string why = "2 of the 3 pods of minMember exist";
  EXPECT_EQ(Told(), (Lines{"phase podgroups/g Inqueue",
                           "condition podgroups/g Unschedulable=True NotEnoughTasks: " + why,
                           "event PodGroup g Unschedulable: " + why,
                           "condition pods/p0 PodScheduled=False Unschedulable: PodGroup g: " + why,
                           "event Pod p0 FailedScheduling: PodGroup g: " + why}));
  Pass(3000);
  EXPECT_EQ(Told(), (Lines{"condition pods/p1 PodScheduled=False Unschedulable: PodGroup g: " + why,
                           "event Pod p1 FailedScheduling: PodGroup g: " + why}));
}

TEST_F(StatusReportsTest, AGangWithoutAnyPodSaysSoAfterAWhile) {
  SeeGroup("g", 3);
  Cycle();
  EXPECT_EQ(Told(), Lines{"phase podgroups/g Inqueue"});
  Pass(4999);
  EXPECT_EQ(Told(), Lines{});
  Pass(1);
  const std::string why = "0 of the 3 pods of minMember exist";
  EXPECT_EQ(Told(), (Lines{"phase podgroups/g Inqueue",
                           "condition podgroups/g Unschedulable=True NotEnoughTasks: " + why,
                           "event PodGroup g Unschedulable: " + why}));
  // One that needs none lacks none.
  SeeGroup("h", 0);
  Cycle();
  Pass(60'000);
  for (const std::string& line : Told()) EXPECT_EQ(line.find("Unschedulable"), line.npos) << line;
}

TEST_F(StatusReportsTest, APodIsToldWhatIsTrueWhenItIsTold) {
  SeeNode("2", true);
  SeeGroup("g", 1);
  SeePod("p", "g");
  Cycle();
  Told();
  Pass(500);
  SeeNode("0");
  Cycle();
  Told();
  Pass(500);
  const std::string why =
      "no node is as large as p: it asks for 1 cpu (no node has any); pod group is not ready, 1 "
      "Pending, 1 minAvailable; queue default has 0 of the 0 cpu it deserves, p asks for "
      "1";
  Lines told = Told();
  EXPECT_EQ(told, (Lines{"condition pods/p PodScheduled=False Unschedulable: " + why,
                         "event Pod p FailedScheduling: " + why}));
  // Another cause within the while between two events: the last event names it all the same.
  SeeNode("2", true);
  Cycle();
  Pass(9999);
  told = Told();
  std::erase_if(told, [](const std::string& line) { return !line.starts_with("event Pod"); });
  EXPECT_EQ(told, Lines{});
  Pass(1);
  told = Told();
  std::erase_if(told, [](const std::string& line) { return !line.starts_with("event Pod"); });
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0],
            "event Pod p FailedScheduling: 0/1 nodes are unavailable: 1 node(s) were "
            "unschedulable.");
}

TEST_F(StatusReportsTest, APodWithResourceClaimsIsToldThatTheyAreNotSupported) {
  SeeGroup("g", 1);
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u-p",)"
      R"("annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",)"
      R"("resourceClaims":[{"name":"gpu","resourceClaimName":"gpu-1"}],"containers":[{"name":"c",)"
      R"("resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})");
  Cycle();
  EXPECT_EQ(statuses->waiting_pods(), 1u);
  Told();
  Pass(1000);
  const std::string why = "p needs ResourceClaims, which are not supported yet";
  EXPECT_EQ(Told(), (Lines{"condition pods/p PodScheduled=False Unschedulable: " + why,
                           "event Pod p FailedScheduling: " + why}));
}

TEST_F(StatusReportsTest, AMissingPriorityClassIsToldOnceAndHoldsNobodyBack) {
  Lines logged;
  LogTo(logged);
  const auto see_class = [&](const std::string& name) {
    See(WatchedKind::kPriorityClass,
        fmt::format(R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
                    R"({{"name":"{}","uid":"c-{}"}},"value":1000}})",
                    name, name));
  };
  const auto about_it = [&] {
    Lines told = Told();
    std::erase_if(told,
                  [](const std::string& line) { return line.find("PriorityClass") == line.npos; });
    return told;
  };
  SeeGroupIn("default", "g", 1, R"(,"priorityClassName":"hihg")");
  SeePod("p", "g");
  Cycle();
  EXPECT_EQ(effects->counts().bound, 0u);
  AnswerAll();
  EXPECT_EQ(effects->counts().bound, 1u) << "it is scheduled all the same";
  Pass(10'000);
  EXPECT_EQ(about_it(), Lines{}) << "there are no classes: nobody follows them";
  see_class("high");
  Cycle();
  Pass(4999);
  EXPECT_EQ(about_it(), Lines{}) << "the class may be on its way";
  Pass(1);
  const std::string why =
      "PriorityClass \"hihg\" does not exist (did you mean \"high\"?): the PodGroup has priority "
      "0, as one that names none; create it or name another in spec.priorityClassName";
  EXPECT_EQ(about_it(), Lines{"event PodGroup g PriorityClassNotFound: " + why});
  SeeGroupIn("default", "h", 1, R"(,"priorityClassName":"hihg")");
  for (const char* pod : {"h0", "h1"}) SeePod(pod, "h");
  SeeNode("1");
  Cycle();
  Pass(5000);
  // Another one of the same cause: not in the log again, and in its condition as well.
  EXPECT_EQ(about_it(), Lines{"event PodGroup h PriorityClassNotFound: " + why});
  SeeNode("1", true);
  Cycle();
  Pass(0);
  const Lines waiting = about_it();
  ASSERT_FALSE(waiting.empty());
  for (const std::string& line : waiting) EXPECT_TRUE(line.ends_with("; " + why)) << line;
  EXPECT_EQ(
      logged,
      Lines{"unresolved reference; the object does not exist priorityclass=hihg first=\"PodGroup "
            "a/g\""});
  see_class("hihg");
  Cycle();
  Pass(60'000);
  EXPECT_EQ(about_it(), Lines{});
}

TEST_F(StatusReportsTest, APodThatIsLeftOutBecauseOfItsClaimIsTold) {
  Diagnostics diagnostics;
  scheduler->SetConfig(
      ReadSchedulerConfig(std::string(kConfig) + "compatibility:\n  missing-claims: false\n",
                          BuiltInVocabulary(), {.file_name = "t"}, diagnostics));
  ASSERT_FALSE(diagnostics.HasErrors());
  SeeGroup("g", 2);
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"g0","namespace":"a","uid":"u-g0",)"
      R"("annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",)"
      R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],"containers":[)"
      R"({"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})");
  SeePod("g1", "g");
  Cycle();
  EXPECT_EQ(statuses->waiting_pods(), 2u);
  Pass(5000);
  Lines told = Told();
  const std::string why =
      "left out: PersistentVolumeClaim \"data\" does not exist in the pod's namespace; create it";
  for (const std::string& line :
       {"condition pods/g0 PodScheduled=False Unschedulable: " + why,
        "event Pod g0 FailedScheduling: " + why,
        std::string("event PodGroup g Unschedulable: 1 of the 2 pods of minMember exists; 1 pod "
                    "left out, because claims do not exist")})
    EXPECT_NE(std::find(told.begin(), told.end(), line), told.end())
        << line << "\n"
        << fmt::format("{}", fmt::join(told, "\n"));
  // The claim comes.
  See(WatchedKind::kClaim,
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":)"
      R"("a","uid":"c"},"spec":{},"status":{"phase":"Bound"}})");
  Cycle();
  Pass(0);
  Cycle();
  EXPECT_EQ(mirror->live().FindStranded().pods.size(), 0u);
}

TEST_F(StatusReportsTest, APodThatWaitsForItsPodGroupIsTold) {
  Lines logged;
  LogTo(logged);
  SeeBarePod("p", "default");
  See(WatchedKind::kPodGroup,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":)"
      R"("other","namespace":"a","uid":"g","managedFields":[{"manager":"vc-controller-manager"}]},)"
      R"("spec":{"minMember":0},"status":{}})");
  Cycle();
  EXPECT_EQ(mirror->expectations(), 0u) << "it is not bound";
  EXPECT_EQ(statuses->waiting_pods(), 1u);
  EXPECT_FALSE(statuses->some_pod_is_looked_at()) << "no cycle could place it";
  Pass(4999);
  const auto about_it = [&] {
    Lines told = Told();
    std::erase_if(told, [](const std::string& line) {
      return line.find(" pods/p") == line.npos && line.find("Pod p ") == line.npos;
    });
    return told;
  };
  EXPECT_EQ(about_it(), Lines{}) << "its PodGroup may come in a moment";
  Pass(1);
  const std::string why =
      "waits for its PodGroup: Volcano's controllers are seen; the pod names no PodGroup yet; "
      "without controllers, krafla serve --group-of-one=after=5s schedules it alone";
  EXPECT_EQ(about_it(), (Lines{"condition pods/p PodScheduled=False Unschedulable: " + why,
                               "event Pod p FailedScheduling: " + why}));
  EXPECT_EQ(logged,
            (Lines{fmt::format(
                "pods without PodGroup wait for theirs first=\"Pod a/p\" reason=\"{}\"", why)}));
  // It gets its PodGroup.
  SeeGroup("podgroup-u-p", 1);
  SeePod("p", "podgroup-u-p");
  Cycle();
  EXPECT_EQ(mirror->expectations(), 1u) << "bound";
  EXPECT_EQ(statuses->waiting_pods(), 0u);
}

TEST_F(StatusReportsTest, AHardTopologyIsNamedOnce) {
  SeeGroupIn("default", "g", 1, R"(,"networkTopology":{"mode":"hard"})");
  SeePod("p", "g");
  for (int i = 0; i < 10; ++i) {
    Cycle();
    Pass(5'000);
  }
  constexpr std::string_view kCause = "needs a hard network topology";
  size_t named = 0;
  const Lines told = Told();
  for (const std::string& line : told) {
    const size_t first = line.find(kCause);
    if (first == line.npos) continue;
    ++named;
    EXPECT_EQ(line.find(kCause, first + 1), line.npos) << line;
  }
  EXPECT_GE(named, 2u) << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, APodThatNoNodeIsLargeEnoughForReadsThatFirst) {
  SeeGroup("g", 1);
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","namespace":"a","uid":"u-big",)"
      R"("annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",)"
      R"("containers":[{"name":"c","resources":{"requests":{"cpu":"100","memory":"1Gi",)"
      R"("nvidia.com/gpu":"8"}}}]},"status":{"phase":"Pending"}})");
  Cycle();
  Pass(1000);
  const std::string why =
      "no node is as large as big: it asks for 100 cpu (the largest node has 2) and 8 "
      "nvidia.com/gpu (no node has any); ";
  const Lines told = Told();
  for (const std::string& begin :
       {std::string("condition podgroups/g Unschedulable=True NotEnoughResources: "),
        std::string("event PodGroup g Unschedulable: "),
        std::string("condition pods/big PodScheduled=False Unschedulable: "),
        std::string("event Pod big FailedScheduling: ")})
    EXPECT_TRUE(std::any_of(told.begin(), told.end(),
                            [&](const std::string& line) { return line.starts_with(begin + why); }))
        << begin << "\n"
        << fmt::format("{}", fmt::join(told, "\n"));
}

// Evicted for another: the PodGroup that waits for the room has a node, and no failure; the one
// that gave it is no longer scheduled.
TEST_F(StatusReportsTest, RoomThatIsBeingMadeIsNoFailureAndWhoGivesItIsNotScheduled) {
  See(WatchedKind::kPriorityClass,
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
      R"({"name":"high","uid":"c"},"value":1000})");
  SeeGroupIn("default", "low", 1, "",
             R"({"phase":"Running","conditions":[{"type":"Scheduled",)"
             R"("status":"True","reason":"ready"}]})");
  for (const char* pod : {"low-0", "low-1"}) SeePod(pod, "low", "n1");
  Cycle();
  Pass(1000);
  Told();
  SeeGroupIn("default", "high", 1, R"(,"priorityClassName":"high")");
  SeePod("high-0", "high");
  Cycle();
  Pass(2000);
  const Lines told = Told();
  const auto has = [&](const std::string& line) {
    return std::find(told.begin(), told.end(), line) != told.end();
  };
  const std::string all = fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_TRUE(has("event PodGroup high Nominated: waits for at most 1 pod to leave node n1"))
      << all;
  EXPECT_TRUE(has("event Pod high-0 Nominated: waits for at most 1 pod to leave node n1")) << all;
  EXPECT_TRUE(
      has("condition pods/high-0 PodScheduled=False Unschedulable: waits for at most 1 pod to "
          "leave node n1"))
      << all;
  for (const std::string& line : told) {
    EXPECT_EQ(line.find("FailedScheduling"), line.npos) << line;
    EXPECT_EQ(line.find("high Unschedulable:"), line.npos) << line;
  }
}

// Each that leaves changes the count, and is no news that could not wait.
TEST_F(StatusReportsTest, ThoseWhoLeaveOneAfterTheOtherAreNotToldOneByOne) {
  See(WatchedKind::kPriorityClass,
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
      R"({"name":"high","uid":"c"},"value":1000})");
  SeeNode("4");
  SeeGroupIn("default", "low", 1);
  for (const char* pod : {"low-0", "low-1", "low-2", "low-3"}) SeePod(pod, "low", "n1");
  SeeGroupIn("default", "high", 3, R"(,"priorityClassName":"high")");
  for (const char* pod : {"high-0", "high-1", "high-2"}) SeePod(pod, "high");
  Cycle();
  AnswerAll();
  Cycle();
  AnswerAll();
  std::string first = fmt::format("{}", fmt::join(Told(), "\n"));
  EXPECT_NE(first.find("podgroups/high Unschedulable=True NotEnoughResources: waits for at most 3 "
                       "pods to leave node n1"),
            first.npos)
      << first;
  EXPECT_NE(first.find("pods/high-0 PodScheduled=False Unschedulable: waits for at most 3 pods"),
            first.npos)
      << first;
  const auto gone = [&](const char* pod) {
    mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = pod}});
  };
  std::string leaves;
  for (const std::string pod : {"low-0", "low-1", "low-2", "low-3"})
    if (first.find("pods/" + pod + " DisruptionTarget") != first.npos) leaves = pod;
  ASSERT_FALSE(leaves.empty()) << first;
  gone(leaves.c_str());
  Cycle();
  AnswerAll();
  for (const std::string& line : Told()) EXPECT_EQ(line.find("at most 2"), line.npos) << line;
  Pass(10'000);
  const std::string later = fmt::format("{}", fmt::join(Told(), "\n"));
  EXPECT_NE(later.find("podgroups/high Unschedulable=True NotEnoughResources: waits for at most 2 "
                       "pods to leave node n1"),
            later.npos)
      << later;
}

TEST_F(StatusReportsTest, APodGroupThatHasLostItsPodsIsNoLongerScheduled) {
  const std::string scheduled =
      R"({"phase":"Running","running":2,"conditions":[{"type":"Scheduled","status":"True",)"
      R"("reason":"tasks in gang are ready to be scheduled"}]})";
  SeeGroup("g", 2, scheduled);
  SeePod("p0", "g", "n1");
  SeePod("p1", "g", "n1");
  Cycle();
  Pass(1000);
  for (const std::string& line : Told()) EXPECT_EQ(line.find("Scheduled=False"), line.npos) << line;
  // One is gone, and made anew elsewhere, where nobody may go.
  mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = "p0"}});
  SeeNode("2", true);
  SeePod("p2", "g");
  Cycle();
  Pass(1000);
  Lines told = Told();
  const std::string lost =
      "condition podgroups/g Scheduled=False TooFewPodsPlaced: fewer pods than minMember have a "
      "place";
  EXPECT_NE(std::find(told.begin(), told.end(), lost), told.end())
      << fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const std::string& line) {
    return line.starts_with("condition podgroups/g Unschedulable=True");
  }));
  // There is room again.
  SeeGroup("g", 2,
           R"({"phase":"Inqueue","conditions":[{"type":"Scheduled","status":"False","reason":)"
           R"("TooFewPodsPlaced"},{"type":"Unschedulable","status":"True","reason":"x"}]})");
  SeeNode("2");
  Cycle();
  Pass(1000);
  told = Told();
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const std::string& line) {
    return line.starts_with("condition podgroups/g Scheduled=True");
  })) << fmt::format("{}", fmt::join(told, "\n"));
  // All are gone, and nobody makes them anew.
  SeeGroup("g", 2, scheduled);
  for (const char* pod : {"p1", "p2"})
    mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = pod}});
  Cycle();
  Pass(1000);
  told = Told();
  EXPECT_NE(std::find(told.begin(), told.end(), lost), told.end())
      << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, APodGroupThatNeedsNoPodsHasLostNone) {
  SeeGroup("g", 0,
           R"({"phase":"Running","conditions":[{"type":"Scheduled","status":"True","reason":)"
           R"("tasks in gang are ready to be scheduled"}]})");
  Cycle();
  Pass(60'000);
  for (const std::string& line : Told()) EXPECT_EQ(line.find("Scheduled=False"), line.npos) << line;
}

// Nobody but gang says what is short; the two conditions agree without it, too.
TEST_F(StatusReportsTest, WhatIsNoLongerScheduledIsNotCalledScheduledElsewhere) {
  Diagnostics diagnostics;
  scheduler->SetConfig(
      ReadSchedulerConfig("actions: enqueue, allocate\ntiers:\n- plugins:\n"
                          "  - name: priority\n",
                          BuiltInVocabulary(), {.file_name = "t"}, diagnostics));
  ASSERT_FALSE(diagnostics.HasErrors());
  SeeGroup("g", 1,
           R"({"phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"False","reason":)"
           R"("Scheduled"},{"type":"Scheduled","status":"True","reason":"ready"}]})");
  Cycle();
  Pass(60'000);
  const Lines told = Told();
  for (const char* line :
       {"condition podgroups/g Scheduled=False TooFewPodsPlaced: fewer pods than minMember have a "
        "place",
        "condition podgroups/g Unschedulable=False NoLongerSo: "})
    EXPECT_NE(std::find(told.begin(), told.end(), line), told.end())
        << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, TheQueueIsNamedWhenItIsInTheWay) {
  SeeQueue("small", R"(,"capability":{"cpu":"1"})");
  SeeGroupIn("small", "g", 2);
  SeePod("p0", "g");
  SeePod("p1", "g");
  Cycle();
  Pass(1000);
  const Lines told = Told();
  for (const char* begin : {"condition podgroups/g Unschedulable=True", "event PodGroup g",
                            "condition pods/p0", "event Pod p1"})
    EXPECT_TRUE(std::any_of(told.begin(), told.end(),
                            [&](const std::string& line) {
                              return line.starts_with(begin) &&
                                     line.find("queue small") != line.npos;
                            }))
        << begin << "\n"
        << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, APodGroupThatIsNotLetInSaysSoAlsoBeforeItHasPods) {
  SeeQueue("small", R"(,"capability":{"cpu":"1"})");
  SeeGroupIn("small", "g", 2, R"(,"minResources":{"cpu":"2"})");
  Cycle();
  const Lines told = Told();
  ASSERT_EQ(told.size(), 3u) << fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_EQ(told[0], "phase podgroups/g Pending");
  EXPECT_TRUE(
      told[1].starts_with("condition podgroups/g Unschedulable=True NotEnoughResources: not "
                          "let into queue small: "))
      << told[1];
  EXPECT_TRUE(told[2].starts_with("event PodGroup g Unschedulable: not let into queue small: "))
      << told[2];
}

TEST_F(StatusReportsTest, PodsThatAreHeldByTheirGatesAreCounted) {
  SeeGroup("g", 2);
  SeePod("p0", "g");
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"a","uid":"u-p1",)"
      R"("annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",)"
      R"("schedulingGates":[{"name":"example.com/quota"}],"containers":[{"name":"c","resources":)"
      R"({"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})");
  Cycle();
  Pass(1000);
  const Lines told = Told();
  const std::string why = "1 pod waits for its scheduling gates to be removed";
  ASSERT_EQ(told.size(), 5u) << fmt::format("{}", fmt::join(told, "\n"));
  for (size_t i = 1; i < told.size(); ++i) EXPECT_TRUE(told[i].ends_with(why)) << told[i];
  EXPECT_EQ(statuses->waiting_pods(), 1u) << "who has gates is not looked at";
}

TEST_F(StatusReportsTest, TheRoleThatLacksPodsIsNamed) {
  SeeGroupIn("default", "g", 2, R"(,"minTaskMember":{"ps":1,"worker":1})");
  SeePod("p0", "g");
  SeePod("p1", "g");
  Cycle();
  Pass(5000);
  const Lines told = Told();
  EXPECT_NE(std::find(told.begin(), told.end(),
                      "event PodGroup g Unschedulable: 0 of the 1 pods of minTaskMember ps exist"),
            told.end())
      << fmt::format("{}", fmt::join(told, "\n"));
}

TEST_F(StatusReportsTest, NothingIsHeldBackAtTheEnd) {
  SeeNode("2", true);
  SeeGroup("g", 1);
  SeePod("p", "g");
  Cycle();
  Told();
  statuses->Flush();
  EXPECT_EQ(Told(), Lines{"condition pods/p PodScheduled=False Unschedulable: 0/1 nodes are "
                          "unavailable: 1 node(s) were unschedulable."});
}

}  // namespace
}  // namespace krafla
