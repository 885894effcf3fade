#include "kube/api_pages.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <condition_variable>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "record/change_feed.h"
#include "support/page_in_process.h"
#include "support/source_dir.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

namespace dom = simdjson::dom;
using std::chrono::milliseconds;

constexpr std::string_view kConfig = R"(actions: "enqueue, allocate, preempt, shuffle"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: tdm
    arguments:
      tdm.revocable-zone.rz1: 10:00-21:00
      tdm.timezone: UTC
- plugins:
  - name: predicates
  - name: proportion
)";

// A cluster with a job that runs on a zone, one that waits, and a past: two cycles, one eviction.
class ApiPagesTest : public ::testing::Test {
 protected:
  ApiPagesTest() {
    Put("Queue", "default",
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default"},)"
        R"("spec":{"weight":1,"capability":{"cpu":"8"}}})");
    Put("Namespace", "team-a",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a"}})");
    Put("Node", "n1",
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":)"
        R"({"volcano.sh/revocable-zone":"rz1"}},"status":{"allocatable":{"cpu":"2","memory":"8Gi",)"
        R"("pods":"10"}}})");
    Group("night",
          R"("volcano.sh/preemptable":"true","volcano.sh/revocable-zone":"*",)"
          R"("volcano.sh/jdb-min-available":"1")",
          "Running");
    Pod("night-0", "night", "1", R"("nodeName":"n1",)", "Running",
        R"("volcano.sh/preemptable":"true","volcano.sh/revocable-zone":"*",)");
    Group("train", "", "Inqueue");
    Pod("train-0", "train", "4", "", "Pending");
    Put("Pod", "team-a/bare",
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare","namespace":"team-a",)"
        R"("uid":"b"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":)"
        R"({"requests":{"cpu":"16"}}}]}})");
    feed.Put({.what = RecordedChange::What::kConfig, .object = std::string(kConfig), .cycle = {}});
    auto first = std::make_unique<RecordedCycle>();
    first->number = 1;
    first->at = now;
    first->wall_ms = 1.5;
    first->steps_ms = {{"open", 0.5}, {"allocate", 1}};
    first->waiting_pods = 2;
    first->evictions.push_back(
        {.pod = "team-a/low-0",
         .node = "n1",
         .action = "preempt",
         .for_pod = "team-a/night-0",
         .queue = "default",
         .reason = "priority",
         .allowed_by = "priority, gang",
         .message = "evicted by preempt for team-a/night-0 (job priority 1000 over 10), allowed by "
                    "priority, gang"});
    feed.Put({.what = RecordedChange::What::kCycle, .cycle = std::move(first)});
    auto second = std::make_unique<RecordedCycle>();
    second->number = 2;
    second->at = Timestamp{now.ns + Timestamp::kNsPerSecond};
    second->wall_ms = 0.5;
    feed.Put({.what = RecordedChange::What::kCycle, .cycle = std::move(second)});
    keeper.emplace(feed, StateKeeper::Options{});
    while (keeper->Cycles().size() < 2) std::this_thread::yield();
    pages.emplace(*keeper, Options());
  }

  ApiPages::Options Options() {
    return {.head = {.zone = "UTC"},
            .now = [this] { return now; },
            .ready = [this] { return ready.load(); },
            .run =
                [this](const PageTask& task, PageInput input, milliseconds time,
                       const std::function<bool()>& given_up) {
                  if (run) return run(task, std::move(input), time, given_up);
                  return testing::MakePageHere(task, std::move(input), time, given_up);
                }};
  }
  void Put(std::string_view kind, const std::string& key, const std::string& object,
           std::optional<JobPhase> phase = {}) {
    feed.Put({.kind = kind, .key = key, .object = object, .phase = phase, .cycle = {}});
  }
  void Group(const std::string& name, const std::string& annotations, const std::string& phase) {
    Put("PodGroup", "team-a/" + name,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{}","namespace":"team-a","uid":"{}","annotations":)"
                    R"({{{}}}}},"spec":{{"minMember":1}},"status":{{"phase":"{}"}}}})",
                    name, name, annotations, phase));
  }
  void Pod(const std::string& name, const std::string& group, const std::string& cpu,
           const std::string& spec, const std::string& phase, const std::string& annotations = "") {
    Put("Pod", "team-a/" + name,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"team-a",)"
            R"("uid":"{}","annotations":{{{}"scheduling.k8s.io/group-name":"{}"}}}},"spec":{{{})"
            R"("schedulerName":"volcano","containers":[{{"name":"c","resources":{{"requests":)"
            R"({{"cpu":"{}"}}}}}}]}},"status":{{"phase":"{}"}}}})",
            name, name, annotations, group, spec, cpu, phase));
  }
  ApiAnswer Get(const std::string& page, std::map<std::string, std::string> parameters = {}) {
    return pages->Answer({.path = "/api/v1/" + page, .parameters = std::move(parameters)});
  }
  dom::element Json(const ApiAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return parser.parse(answer.body);
  }
  static std::string Text(dom::element element) { return simdjson::to_string(element); }

  Timestamp now = Timestamp::FromUnixSeconds(1'773'144'000, 123);  // 2026-03-10T12:00:00Z
  std::atomic<bool> ready = true;
  RunPage run;  // instead of making the page here
  ChangeFeed feed;
  std::optional<StateKeeper> keeper;
  std::optional<ApiPages> pages;
  dom::parser parser;
};

TEST_F(ApiPagesTest, JobsSayWhyTheyWait) {
  const dom::element answer = Json(Get("jobs"));
  const dom::array jobs = answer["jobs"];
  ASSERT_EQ(jobs.size(), 3u) << Text(answer);
  EXPECT_EQ(std::string_view(jobs.at(0)["name"]), "night");
  EXPECT_TRUE(jobs.at(0)["waitsFor"].is_null());
  EXPECT_EQ(int64_t(jobs.at(0)["pods"]["running"]), 1);
  EXPECT_EQ(std::string_view(jobs.at(1)["name"]), "bare");
  EXPECT_EQ(std::string_view(jobs.at(1)["kind"]), "Pod");
  EXPECT_EQ(std::string_view(jobs.at(2)["name"]), "train");
  EXPECT_EQ(std::string_view(jobs.at(2)["phase"]), "Inqueue");
  EXPECT_NE(Text(jobs.at(2)["waitsFor"]).find("needs annotation volcano.sh/revocable-zone"),
            std::string::npos)
      << Text(jobs.at(2));
  EXPECT_EQ(int64_t(jobs.at(2)["pods"]["waiting"]), 1);
}

// A pod whose claim is not there: whether its job knows of it is up to the configuration in force.
TEST_F(ApiPagesTest, PagesAndExplanationsFollowTheConfiguration) {
  const auto put = [&](const std::function<void()>& change) {
    const uint64_t version = keeper->version();
    change();
    while (keeper->version() == version) std::this_thread::yield();
    now.ns += 60 * Timestamp::kNsPerSecond;  // a view is kept for a while
  };
  const auto waiting = [&] {
    const dom::array jobs = Json(Get("jobs"))["jobs"];
    for (const dom::element job : jobs)
      if (std::string_view(job["name"]) == "train") return int64_t(job["pods"]["waiting"]);
    return int64_t{-1};
  };
  const auto explained = [&] {
    return Get("explain", {{"kind", "pod"}, {"name", "team-a/train-1"}, {"as", "text"}}).body;
  };
  put([&] {
    Pod("train-1", "train", "1",
        R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"none"}}],)", "Pending");
  });
  EXPECT_EQ(waiting(), 2);
  const std::string before = explained();
  put([&] {
    feed.Put({.what = RecordedChange::What::kConfig,
              .object = std::string(kConfig) + "compatibility:\n  missing-claims: false\n",
              .cycle = {}});
  });
  EXPECT_EQ(waiting(), 1);
  EXPECT_NE(explained(), before);
  EXPECT_NE(explained().find("team-a/train-1 is left out"), std::string::npos) << explained();
  const dom::array jobs = Json(Get("jobs"))["jobs"];
  for (const dom::element job : jobs) {
    if (std::string_view(job["name"]) != "train") continue;
    EXPECT_NE(Text(job["waitsFor"])
                  .find("; pod train-1 is left out: PersistentVolumeClaim \\\"none\\\" does not "
                        "exist"),
              std::string::npos)
        << Text(job);
  }
}

// Emptiness is not to be taken for the truth.
TEST_F(ApiPagesTest, AReplicaThatDoesNotLeadSaysSo) {
  for (const char* page : {"queues", "jobs", "zones", "evictions", "cycles"})
    EXPECT_EQ(Get(page).body.find("\"leading\""), std::string::npos) << "there is no election";
  Leadership who{.leads = false, .leader = "node-7_0123"};
  pages->SetLeadership([&] { return who; });
  for (const char* page : {"jobs", "evictions", "cycles"})
    EXPECT_TRUE(Get(page).body.ends_with(
        R"("leading":false,"leader":"node-7_0123","note":"this replica does not lead: evictions )"
        R"(and cycles are shown by the one that does"})"
        "\n"))
        << Get(page).body;
  for (const char* page : {"queues", "zones"})
    EXPECT_TRUE(Get(page).body.ends_with("\"leading\":false,\"leader\":\"node-7_0123\"}\n"))
        << Get(page).body;
  who = {.leads = true, .leader = ""};
  EXPECT_TRUE(Get("evictions").body.ends_with("\"leading\":true,\"leader\":null}\n"))
      << Get("evictions").body;
}

// Whatever the plugins remember, which here is nothing.
TEST_F(ApiPagesTest, JobsTellWhatTheyHaveLost) {
  const auto evictions_of = [&](const std::string& name) {
    now.ns += 60 * Timestamp::kNsPerSecond;  // a view is kept for a while
    const dom::array jobs = Json(Get("jobs"))["jobs"];
    for (const dom::element job : jobs)
      if (std::string_view(job["name"]) == name) return Text(job["evictions"]);
    return std::string("no such job");
  };
  EXPECT_EQ(evictions_of("train"), R"({"forOthers":[],"last":null})");
  const auto evict = [&](uint64_t number, int64_t second, const std::string& pod,
                         const std::string& job, bool for_other) {
    auto cycle = std::make_unique<RecordedCycle>();
    cycle->number = number;
    cycle->at = Timestamp::FromUnixSeconds(1'773'144'000 + second);
    cycle->evictions.push_back({.pod = "team-a/" + pod,
                                .uid = pod,
                                .node = "n1",
                                .action = "preempt",
                                .for_pod = for_other ? "team-a/train-0" : "",
                                .job = "team-a/" + job,
                                .queue = "default",
                                .for_other = for_other,
                                .reason = {},
                                .allowed_by = {},
                                .message = {}});
    feed.Put({.what = RecordedChange::What::kCycle, .cycle = std::move(cycle)});
    while (keeper->Cycles().front().number != number) std::this_thread::yield();
  };
  evict(3, 10, "night-0", "night", true);
  evict(4, 20, "night-1", "night", true);
  evict(5, 30, "train-9", "train", false);
  EXPECT_EQ(evictions_of("night"),
            R"({"forOthers":["2026-03-10T12:00:10Z","2026-03-10T12:00:20Z"],)"
            R"("last":"2026-03-10T12:00:20Z"})");
  EXPECT_EQ(evictions_of("train"), R"({"forOthers":[],"last":"2026-03-10T12:00:30Z"})");
  EXPECT_EQ(evictions_of("bare"), R"({"forOthers":[],"last":null})");
  // The first one is seen to stay, the second one ends.
  const auto see = [&](const std::string& pod, const std::string& uid, const std::string& more) {
    const uint64_t version = keeper->version();
    Put("Pod", "team-a/" + pod,
        fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":)"
                    R"("team-a","uid":"{}"{},"annotations":{{"scheduling.k8s.io/group-name":)"
                    R"("night"}}}},"spec":{{"schedulerName":"volcano","nodeName":"n1",)"
                    R"("containers":[{{"name":"c"}}]}},"status":{{"phase":"Running"}}}})",
                    pod, uid, more));
    while (keeper->version() == version) std::this_thread::yield();
  };
  see("night-1", "night-1", R"(,"deletionTimestamp":"2026-03-10T12:00:20Z")");
  see("night-0", "night-0", "");
  EXPECT_EQ(evictions_of("night"),
            R"({"forOthers":["2026-03-10T12:00:20Z"],"last":"2026-03-10T12:00:20Z"})");
  // A successor of the same name is no refusal.
  evict(6, 40, "night-0", "night", true);
  see("night-0", "successor", "");
  EXPECT_EQ(evictions_of("night"),
            R"({"forOthers":["2026-03-10T12:00:20Z","2026-03-10T12:00:40Z"],)"
            R"("last":"2026-03-10T12:00:40Z"})");
  std::vector<std::string> refused;
  const dom::array evictions = Json(Get("evictions"))["evictions"];
  for (const dom::element eviction : evictions)
    if (bool(eviction["refused"])) refused.push_back(Text(eviction["cycle"]));
  EXPECT_EQ(refused, std::vector<std::string>{"3"});
}

TEST_F(ApiPagesTest, PagesFollowTheStateAfterTheClockWasSetBack) {
  int made = 0;
  run = [&](const PageTask& task, PageInput input, milliseconds time,
            const std::function<bool()>& given_up) {
    ++made;
    return testing::MakePageHere(task, std::move(input), time, given_up);
  };
  EXPECT_EQ(Get("queues").status, 200);
  EXPECT_EQ(Get("queues").status, 200);
  EXPECT_EQ(made, 1);
  now.ns -= 3600 * Timestamp::kNsPerSecond;
  EXPECT_EQ(Get("queues").status, 200);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(Get("queues").status, 200);
  EXPECT_EQ(made, 2);
}

TEST_F(ApiPagesTest, JobsThatWaitForWhatDoesNotExistAreListed) {
  const uint64_t version = keeper->version();
  Put("PodGroup", "team-a/stuck",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"stuck",)"
      R"("namespace":"team-a","uid":"s"},"spec":{"minMember":1,"queue":"defautl"},"status":{}})");
  while (keeper->version() < version + 1) std::this_thread::yield();
  Pod("stuck-0", "stuck", "1", "", "Pending");
  Pod("alone-0", "nobody", "1", "", "Pending");
  while (keeper->version() < version + 3) std::this_thread::yield();
  now.ns += 60 * Timestamp::kNsPerSecond;
  const dom::array jobs = Json(Get("jobs"))["jobs"];
  std::vector<std::string> names;
  for (const dom::element job : jobs) names.push_back(std::string(std::string_view(job["name"])));
  EXPECT_EQ(names, (std::vector<std::string>{"night", "nobody", "bare", "stuck", "train"}));
  EXPECT_EQ(
      Text(jobs.at(1)),
      R"({"namespace":"team-a","name":"nobody","kind":"PodGroup","queue":"","phase":null,)"
      R"("priority":null,"minMember":null,"created":null,"pods":{"total":1,"waiting":1,)"
      R"("binding":0,"bound":0,"running":0,"releasing":0,"succeeded":0,"failed":0},)"
      R"("waitsFor":"PodGroup \"nobody\" does not exist in the pod's namespace; create it or )"
      R"(name another in scheduling.k8s.io/group-name","evictions":{"forOthers":[],"last":null}})");
  EXPECT_EQ(std::string_view(jobs.at(3)["queue"]), "defautl");
  EXPECT_EQ(std::string_view(jobs.at(3)["phase"]), "Pending");
  EXPECT_EQ(std::string_view(jobs.at(3)["waitsFor"]),
            "queue \"defautl\" does not exist (did you mean \"default\"?); create it or name "
            "another in spec.queue");
}

TEST_F(ApiPagesTest, APodThatWaitsForItsPodGroupSaysSo) {
  const uint64_t version = keeper->version();
  feed.Put({.what = RecordedChange::What::kMark,
            .kind = "Pod",
            .key = "team-a/bare",
            .mark = {AssumedMark::What::kAwaitsGroup, "controllers"},
            .cycle = {}});
  while (keeper->version() < version + 1) std::this_thread::yield();
  now.ns += 60 * Timestamp::kNsPerSecond;
  const std::string why =
      "waits for its PodGroup: Volcano's controllers are seen; the pod names no PodGroup yet";
  bool found = false;
  for (const dom::element job : Json(Get("jobs"))["jobs"]) {
    if (std::string_view(job["name"]) != "bare") continue;
    found = true;
    EXPECT_EQ(std::string_view(job["kind"]), "Pod");
    EXPECT_TRUE(std::string_view(job["waitsFor"]).starts_with(why)) << Text(job);
    EXPECT_EQ(int64_t(job["pods"]["waiting"]), 1);
  }
  EXPECT_TRUE(found);
  for (const char* kind : {"pod", "job"}) {
    const std::string text =
        Get("explain", {{"kind", kind}, {"name", "team-a/bare"}, {"as", "json"}}).body;
    EXPECT_NE(text.find("team-a/bare " + why), std::string::npos) << text;
  }
}

TEST_F(ApiPagesTest, QueuesShowWhatTheyHold) {
  const dom::array queues = Json(Get("queues"))["queues"];
  ASSERT_EQ(queues.size(), 1u);
  const dom::element queue = queues.at(0);
  EXPECT_EQ(std::string_view(queue["name"]), "default");
  EXPECT_EQ(double(queue["allocated"]["cpu"]), 1000);
  EXPECT_EQ(double(queue["capability"]["cpu"]), 8000);
  EXPECT_EQ(int64_t(queue["pods"]["placed"]), 1);
  EXPECT_EQ(int64_t(queue["pods"]["waiting"]), 2);
  EXPECT_EQ(int64_t(queue["jobs"]["Running"]), 1);
}

TEST_F(ApiPagesTest, ZonesShowTheirWindowAndWhoIsThere) {
  const dom::array zones = Json(Get("zones"))["zones"];
  ASSERT_EQ(zones.size(), 1u);
  const dom::element zone = zones.at(0);
  EXPECT_TRUE(bool(zone["open"]));
  EXPECT_EQ(std::string_view(zone["nextChange"]), "2026-03-10T21:00:00Z");
  EXPECT_EQ(int64_t(zone["pods"]["mayBeTakenOff"]), 1);
  EXPECT_EQ(Text(zone["jobs"]),
            R"([{"job":"team-a/night","pods":1,"mayBeTakenOff":1,"budget":"minAvailable 1"}])");
}

TEST_F(ApiPagesTest, RowsCanBeChosenAndLimited) {
  EXPECT_EQ(dom::array(Json(Get("jobs", {{"namespace", "other"}}))["jobs"]).size(), 0u);
  EXPECT_EQ(dom::array(Json(Get("jobs", {{"queue", "default"}}))["jobs"]).size(), 3u);
  EXPECT_EQ(dom::array(Json(Get("jobs", {{"queue", "none"}}))["jobs"]).size(), 0u);
  const dom::element one = Json(Get("jobs", {{"limit", "1"}}));
  EXPECT_EQ(dom::array(one["jobs"]).size(), 1u);
  EXPECT_EQ(int64_t(one["leftOut"]), 2);
  EXPECT_EQ(dom::array(Json(Get("evictions", {{"namespace", "team-b"}}))["evictions"]).size(), 0u);
  EXPECT_EQ(dom::array(Json(Get("evictions", {{"queue", "default"}}))["evictions"]).size(), 1u);
  EXPECT_EQ(dom::array(Json(Get("cycles", {{"limit", "1"}}))["cycles"]).size(), 1u);
}

TEST_F(ApiPagesTest, TheSameStateGivesTheSameBytes) {
  for (const char* page : {"jobs", "queues", "zones", "evictions", "cycles"})
    EXPECT_EQ(Get(page).body, Get(page).body);
}

TEST_F(ApiPagesTest, WrongRequestsAreToldApart) {
  EXPECT_EQ(Get("job").status, 404);
  EXPECT_NE(Get("job").body.find("\"/api/v1/jobs\""), std::string::npos);
  EXPECT_EQ(pages->Answer({.path = "/api"}).status, 404);
  EXPECT_EQ(pages->Answer({.method = "POST", .path = "/api/v1/jobs"}).status, 405);
  EXPECT_EQ(pages->Answer({.method = "HEAD", .path = "/api/v1/jobs"}).status, 200);
  EXPECT_NE(Get("jobs", {{"queu", "x"}}).body.find("did you mean \\\"queue\\\""), std::string::npos)
      << Get("jobs", {{"queu", "x"}}).body;
  for (const char* limit : {"0", "-1", "x", "1x", "1000000"})
    EXPECT_EQ(Get("jobs", {{"limit", limit}}).status, 400) << limit;
  const ApiAnswer misspelt = Get("explain", {{"kind", "jb"}, {"name", "x"}});
  EXPECT_EQ(misspelt.status, 400);
  EXPECT_EQ(misspelt.body, R"({"error":"kind: expected job, pod, queue or zone, got \"jb\"; )"
                           R"(did you mean \"job\"?"})"
                           "\n");
  EXPECT_EQ(Get("explain", {{"kind", "Deployment"}, {"name", "x"}}).body,
            R"({"error":"kind: expected job, pod, queue or zone, got \"Deployment\""})"
            "\n");
  EXPECT_EQ(Get("explain", {{"kind", "job"}}).status, 400);
  EXPECT_EQ(Get("explain", {{"kind", "job"}, {"name", "x"}, {"as", "xml"}}).status, 400);
}

TEST_F(ApiPagesTest, NotReadyIsNotEmpty) {
  ready = false;
  for (const char* page : {"jobs", "queues", "zones", "explain"})
    EXPECT_EQ(Get(page).status, 503) << page;
  EXPECT_EQ(Get("jobs").retry_after_s, 1);
}

TEST_F(ApiPagesTest, ExplainsWhatTheSchedulerSees) {
  const ApiAnswer text =
      Get("explain", {{"kind", "job"}, {"name", "team-a/train"}, {"as", "text"}});
  EXPECT_EQ(text.status, 200);
  EXPECT_TRUE(text.body.starts_with("team-a/train waits")) << text.body;
  const dom::element json = Json(Get("explain", {{"kind", "zone"}, {"name", "rz1"}}));
  EXPECT_EQ(std::string_view(json["kind"]), "zone");
  const ApiAnswer unknown = Get("explain", {{"kind", "job"}, {"name", "team-a/trian"}});
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find("no PodGroup \\\"team-a/trian\\\" in the cluster; did you mean "
                              "\\\"team-a/train\\\"?"),
            std::string::npos)
      << unknown.body;
}

TEST_F(ApiPagesTest, APodThatWasEvictedCanStillBeAskedAbout) {
  const ApiAnswer gone =
      Get("explain", {{"kind", "pod"}, {"name", "team-a/low-0"}, {"as", "text"}});
  EXPECT_EQ(gone.status, 200) << gone.body;
  std::string words = gone.body;
  std::replace(words.begin(), words.end(), '\n', ' ');
  EXPECT_EQ(words,
            "team-a/low-0 is gone: it was evicted by preempt for team-a/night-0 (job priority 1000 "
            "over 10), allowed by priority, gang, in cycle 1 at 2026-03-10T12:00:00Z. ");
  EXPECT_EQ(Get("explain", {{"kind", "pod"}, {"name", "team-a/low-1"}}).status, 404);
  EXPECT_EQ(Get("explain", {{"kind", "job"}, {"name", "team-a/low-0"}}).status, 404);
}

TEST_F(ApiPagesTest, OfAPodThatIsNotThereItSaysWhoElseMayKnow) {
  const auto asked = [&](const char* kind) {
    const ApiAnswer answer = Get("explain", {{"kind", kind}, {"name", "team-a/other"}});
    EXPECT_EQ(answer.status, 404);
    return answer.body;
  };
  const auto has = [](const std::string& body, std::string_view words) {
    return body.find(words) != body.npos;
  };
  EXPECT_TRUE(has(asked("pod"), "; evictions before this process began are not known here"))
      << asked("pod");
  EXPECT_FALSE(has(asked("job"), "evictions before"));
  Leadership who{.leads = true, .leader = "node-1_a"};
  pages->SetLeadership([&] { return who; });
  EXPECT_TRUE(has(asked("pod"), "; evictions before this process began to lead are not known here"))
      << asked("pod");
  who = {.leads = false, .leader = "node-7_b"};
  EXPECT_TRUE(has(asked("pod"),
                  "; this replica does not lead: evictions are known to the one "
                  "that does, node-7_b\""))
      << asked("pod");
  who.leader.clear();
  EXPECT_TRUE(has(asked("pod"), "known to the one that does\"")) << asked("pod");
}

TEST_F(ApiPagesTest, AJobWithoutPodsWaitsForThem) {
  const uint64_t version = keeper->version();
  Group("empty", "", "Inqueue");
  while (keeper->version() == version) std::this_thread::yield();
  std::string waits_for;
  for (const dom::element job : Json(Get("jobs"))["jobs"].get_array())
    if (std::string_view(job["name"]) == "empty") waits_for = Text(job["waitsFor"]);
  EXPECT_EQ(waits_for, "\"its pods: there are none yet\"");
}

TEST_F(ApiPagesTest, APodWithoutPodGroupIsExplainedByItsName) {
  for (const auto& [kind, name] : {std::pair("job", "team-a/bare"), std::pair("pod", "team-a/bare"),
                                   std::pair("job", "team-a/pod:bare")}) {
    const ApiAnswer told = Get("explain", {{"kind", kind}, {"name", name}, {"as", "text"}});
    EXPECT_EQ(told.status, 200) << told.body;
    EXPECT_TRUE(told.body.starts_with("team-a/bare waits")) << told.body;
    EXPECT_NE(told.body.find("no PodGroup, a group of its own: 0 of 1 pod ready"),
              std::string::npos)
        << told.body;
  }
}

TEST_F(ApiPagesTest, APodWithoutPodGroupWhoseQueueDoesNotExistIsToldSo) {
  const uint64_t version = keeper->version();
  Put("Pod", "team-a/lost",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"lost","namespace":"team-a","uid":"l",)"
      R"("annotations":{"scheduling.volcano.sh/queue-name":"defautl"}},"spec":{"schedulerName":)"
      R"("volcano","containers":[{"name":"c"}]}})");
  while (keeper->version() == version) std::this_thread::yield();
  for (const char* kind : {"job", "pod"}) {
    const ApiAnswer told =
        Get("explain", {{"kind", kind}, {"name", "team-a/lost"}, {"as", "text"}});
    EXPECT_EQ(told.status, 200) << told.body;
    EXPECT_TRUE(
        told.body.starts_with("team-a/lost waits: its queue \"defautl\" does not exist; did "
                              "you mean \"default\"?\n"))
        << told.body;
  }
}

TEST_F(ApiPagesTest, PagesDoNotWaitForAnExplanation) {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false;
  bool go_on = false;
  run = [&](const PageTask& task, PageInput input, milliseconds time,
            const std::function<bool()>& given_up) {
    if (task.what == PageTask::What::kExplain) {
      std::unique_lock lock(mutex);
      inside = true;
      changed.notify_all();
      changed.wait(lock, [&] { return go_on; });
    }
    return testing::MakePageHere(task, std::move(input), time, given_up);
  };
  ApiAnswer first;
  std::thread asks([&] { first = Get("explain", {{"kind", "queue"}, {"name", "default"}}); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside; });
  }
  EXPECT_EQ(Get("jobs").status, 200);
  {
    const std::scoped_lock lock(mutex);
    go_on = true;
    changed.notify_all();
  }
  asks.join();
  EXPECT_EQ(first.status, 200);
}

TEST_F(ApiPagesTest, AFailingPageProcessIsAnAnswerThatSaysSo) {
  PageOutcome outcome;
  run = [&](const PageTask&, const PageInput&, milliseconds, const std::function<bool()>&) {
    return outcome;
  };
  const auto explained = [&](PageOutcome::What what, const char* message) {
    outcome = {.what = what, .message = message};
    return Get("explain", {{"kind", "job"}, {"name", "team-a/train"}});
  };
  const ApiAnswer failed =
      explained(PageOutcome::What::kFailed, "an internal check failed in its process");
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body,
            R"({"error":"explaining job \"team-a/train\" failed: an internal check failed in its )"
            R"(process; the scheduler is not affected, and its log says more"})"
            "\n");
  EXPECT_EQ(explained(PageOutcome::What::kOutOfMemory, "x").status, 500);
  for (const auto what : {PageOutcome::What::kTimedOut, PageOutcome::What::kNotStarted,
                          PageOutcome::What::kGivenUp}) {
    const ApiAnswer later = explained(what, "it took longer than 40 s");
    EXPECT_EQ(later.status, 503);
    EXPECT_EQ(later.retry_after_s, 2);
    EXPECT_NE(later.body.find("failed: it took longer than 40 s"), std::string::npos) << later.body;
  }
  outcome = {.message = "an internal check failed in its process"};
  const ApiAnswer page = Get("jobs");
  EXPECT_EQ(page.status, 503);
  EXPECT_NE(page.body.find("the page could not be made: an internal check failed in its process"),
            std::string::npos)
      << page.body;
  run = nullptr;
  EXPECT_EQ(Get("jobs").status, 200) << "the next attempt starts from the beginning";
}

TEST_F(ApiPagesTest, AnExplanationIsGivenUpWithItsClient) {
  std::atomic<bool> gone = false;
  std::atomic<bool> running = false;
  run = [&](const PageTask&, const PageInput&, milliseconds,
            const std::function<bool()>& given_up) {
    running = true;
    while (!given_up()) std::this_thread::sleep_for(milliseconds(1));
    return PageOutcome{.what = PageOutcome::What::kGivenUp, .message = "its caller is gone"};
  };
  ApiRequest request{.path = "/api/v1/explain",
                     .parameters = {{"kind", "queue"}, {"name", "default"}}};
  request.given_up = [&] { return gone.load(); };
  ApiAnswer answer;
  std::thread asks([&] { answer = pages->Answer(request); });
  while (!running) std::this_thread::yield();
  gone = true;
  asks.join();
  EXPECT_EQ(answer.status, 503);
  // And with the scheduler.
  running = gone = false;
  std::thread asks_again([&] { answer = pages->Answer(request); });
  while (!running) std::this_thread::yield();
  pages->Stop();
  asks_again.join();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("about to stop"), std::string::npos) << answer.body;
}

TEST_F(ApiPagesTest, NoAnswerHoldsARawControlCharacter) {
  const uint64_t version = keeper->version();
  Put("PodGroup", "team-a/rude",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"rude",)"
      R"("namespace":"team-a","uid":"r"},"spec":{"minMember":1,"queue":"q\u009b2J\u001b[2J\u007f"},)"
      R"("status":{}})");
  while (keeper->version() == version) std::this_thread::yield();
  now.ns += 60 * Timestamp::kNsPerSecond;
  const auto is_clean = [](const std::string& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      const auto byte = static_cast<unsigned char>(body[i]);
      if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
      if (byte == 0xC2 && static_cast<unsigned char>(body[i + 1]) < 0xA0) return false;
    }
    return true;
  };
  const std::string jobs = Get("jobs").body;
  EXPECT_NE(jobs.find("q\\u009b2J"), std::string::npos) << jobs;
  EXPECT_TRUE(is_clean(jobs)) << jobs;
  for (const char* as : {"json", "text"}) {
    const std::string body =
        Get("explain", {{"kind", "job"}, {"name", "team-a/rude"}, {"as", as}}).body;
    EXPECT_NE(body.find("2J"), std::string::npos) << body;
    EXPECT_TRUE(is_clean(body)) << body;
  }
  const std::string unknown =
      Get("explain", {{"kind", "job"}, {"name", "a\x1b/\xC2\x9B\x9B"}}).body;
  EXPECT_TRUE(is_clean(unknown)) << unknown;
}

TEST_F(ApiPagesTest, WhoeverWaitsWhenItStopsIsTold) {
  pages->Stop();
  EXPECT_EQ(Get("jobs").status, 503);
  EXPECT_EQ(Get("explain", {{"kind", "queue"}, {"name", "default"}}).status, 503);
}

// Every example of the documentation is what this cluster answers.
TEST_F(ApiPagesTest, TheDocumentationShowsRealAnswers) {
  std::ifstream file(testing::SourceDir() + "/docs/api.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string doc = text.str();
  size_t examples = 0;
  for (size_t at = 0; (at = doc.find("```\nGET ", at)) != std::string::npos;) {
    const size_t begin = at + 8;
    const size_t line_end = doc.find('\n', begin);
    const size_t end = doc.find("```", line_end);
    std::string target = doc.substr(begin, line_end - begin);
    std::string body = doc.substr(line_end + 1, end - line_end - 1);
    ApiRequest request;
    const size_t question = target.find('?');
    request.path = target.substr(0, question);
    while (question != std::string::npos && target.find('?') != std::string::npos) {
      std::string rest = target.substr(target.find('?') + 1);
      std::stringstream pairs(rest);
      for (std::string pair; std::getline(pairs, pair, '&');)
        request.parameters[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
      break;
    }
    // Lines are broken for reading; the answer is one line.
    std::string shown;
    std::stringstream lines(body);
    for (std::string line; std::getline(lines, line);)
      shown += line.substr(line.find_first_not_of(' '));
    EXPECT_EQ(pages->Answer(request).body, shown + "\n") << target;
    ++examples;
    at = end;
  }
  EXPECT_GE(examples, 5u);
}

}  // namespace
}  // namespace krafla
