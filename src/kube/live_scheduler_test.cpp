#include "kube/live_scheduler_test.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/replay.h"
#include "record/scheduler_tap.h"
#include "record/state_keeper.h"
#include "scheduler/vocabulary.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::LiveSchedulerTest;

constexpr const char* kGroup = "/apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups/g";

TEST_F(LiveSchedulerTest, AGangIsBoundAndItsPhaseWritten) {
  SeeGroup("g", 2);
  SeePod("p0", "g");
  SeePod("p1", "g");
  Cycle();
  const Lines bodies = client.bodies;
  EXPECT_EQ(Requests(),
            (Lines{"POST /api/v1/namespaces/a/pods/p0/binding",
                   "POST /api/v1/namespaces/a/pods/p1/binding", fmt::format("PATCH {}", kGroup)}));
  EXPECT_NE(bodies[2].find(R"("phase":"Inqueue")"), std::string::npos) << bodies[2];
  // Until the server shows it nothing is asked for twice.
  Cycle();
  EXPECT_EQ(Requests(), Lines{});
  AnswerAll();
  Cycle();
  EXPECT_EQ(Requests(), Lines{});
}

TEST_F(LiveSchedulerTest, AStatusTheServerHasAlreadyIsNotWritten) {
  SeeGroup("g", 1,
           R"({"phase":"Running","running":1,"conditions":[{"type":"Scheduled","status":"True",)"
           R"("reason":"tasks in gang are ready to be scheduled"}]})");
  SeePod("p0", "g", "n1");
  Cycle();
  EXPECT_EQ(Requests(), Lines{}) << "as after a restart";
  // Somebody else wrote over it.
  SeeGroup("g", 1, R"({"phase":"Pending"})");
  Cycle();
  EXPECT_EQ(Requests(), (Lines{fmt::format("PATCH {}", kGroup)}));
}

TEST_F(LiveSchedulerTest, AWaitingPodIsToldAfterASecondUnlessItFindsItsPlace) {
  SeeGroup("g", 3);
  for (const char* pod : {"p0", "p1", "p2"}) SeePod(pod, "g");
  Cycle();
  EXPECT_EQ(Requests(), (Lines{fmt::format("PATCH {}", kGroup)}));
  client.Pass(milliseconds(999));
  EXPECT_EQ(Requests(), Lines{});
  client.Pass(milliseconds(1));
  Lines told = Requests();
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (Lines{"PATCH /api/v1/namespaces/a/pods/p0/status",
                         "PATCH /api/v1/namespaces/a/pods/p1/status",
                         "PATCH /api/v1/namespaces/a/pods/p2/status"}));
  AnswerAll();

  SeeGroup("h", 1);
  SeePod("q0", "h");
  SeeGroup("i", 3);
  SeePod("r0", "i");
  Cycle();
  Requests();
  See(WatchedKind::kNode,
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":)"
      R"({"cpu":"9","memory":"8Gi","pods":"10"}}})");
  SeePod("r1", "i");
  SeePod("r2", "i");
  Cycle();
  Requests();
  client.Pass(milliseconds(5000));
  for (const std::string& line : Requests())
    EXPECT_EQ(line.find("/r"), line.npos) << line << ": it has its place";
}

// Written down before the eviction, taken back after its refusal; a restart in between aside.
TEST_F(LiveSchedulerTest, ARefusedEvictionIsNotWrittenDownForGood) {
  See(WatchedKind::kPriorityClass,
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},)"
      R"("value":100})");
  SeeGroup("g", 0);
  SeePod("p0", "g", "n1");
  SeePod("p1", "g", "n1");
  See(WatchedKind::kPodGroup,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"h",)"
      R"("namespace":"a","uid":"g-h"},"spec":{"minMember":1,"priorityClassName":"high"},)"
      R"("status":{"phase":"Inqueue"}})");
  SeePod("q0", "h");
  Cycle();
  const auto memory_written = [&](std::string_view with) {
    return std::count_if(client.bodies.begin(), client.bodies.end(), [&](const std::string& body) {
      return body.find("krafla.io/evictions") != body.npos && body.find(with) != body.npos;
    });
  };
  EXPECT_EQ(memory_written("2026-"), 1);
  ASSERT_NE(loop->memory().FindJobEvictions("a/g"), nullptr);
  // The order of requests is not the point: the memory and the condition are taken, the rest is
  // refused for as long as anybody asks.
  std::string victim;
  for (int round = 0; round < 20 && victim.empty(); ++round) {
    for (const std::string& request : client.requests)
      if (request.starts_with("DELETE ")) victim = request.substr(request.rfind('/') + 1);
    if (victim.empty() && client.open() != 0) client.Answer(200);
  }
  ASSERT_FALSE(victim.empty());
  while (client.open() != 0) client.Answer(403, R"({"message":"no"})");
  client.TakeRequests();
  client.Pass(milliseconds(1000));
  while (client.open() != 0)
    client.Answer(
        200,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"a","uid":"u-{}",)"
            R"("resourceVersion":"99","annotations":{{"scheduling.k8s.io/group-name":"g"}}}},"spec":)"
            R"({{"schedulerName":"volcano","nodeName":"n1","containers":[{{"name":"c","resources":)"
            R"({{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Running"}}}})",
            victim, victim));
  client.TakeRequests();
  SchedulerConfig idle = loop->config();
  idle.actions.clear();
  loop->SetConfig(idle);
  Cycle();
  EXPECT_EQ(loop->memory().FindJobEvictions("a/g"), nullptr);
  EXPECT_EQ(memory_written("\"krafla.io/evictions\":null"), 1)
      << fmt::format("{}", fmt::join(client.bodies, "\n"));
}

TEST_F(LiveSchedulerTest, JobsThatEvictEachOtherInTurnAreReported) {
  for (const auto& [name, value] : {std::pair("high", 100), std::pair("low", 1)})
    See(WatchedKind::kPriorityClass,
        fmt::format(R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
                    R"({{"name":"{}"}},"value":{}}})",
                    name, value));
  const auto see = [&](const std::string& name, const std::string& priority, bool runs) {
    See(WatchedKind::kPodGroup,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{0}","namespace":"a","uid":"g-{0}"}},"spec":)"
                    R"({{"minMember":{1},"priorityClassName":"{2}"}},"status":{{"phase":"{3}"}}}})",
                    name, runs ? 0 : 1, priority, runs ? "Running" : "Inqueue"));
    See(WatchedKind::kPod,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a",)"
            R"("uid":"u-{0}","annotations":{{"scheduling.k8s.io/group-name":"{0}"}}}},"spec":)"
            R"({{"schedulerName":"volcano",{1}"containers":[{{"name":"c","resources":{{"requests":)"
            R"({{"cpu":"2"}}}}}}]}},"status":{{"phase":"{2}"}}}})",
            name, runs ? R"("nodeName":"n1",)" : "", runs ? "Running" : "Pending"));
  };
  Lines logged;
  scheduler.emplace(
      LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
      LiveScheduler::Options{.may_write =
                                 [this] {
                                   scheduler->Stop();  // one round is enough
                                   return true;
                                 },
                             .log = [&](const std::string& line) { logged.push_back(line); }});
  const auto reports = [&] {
    return std::count_if(client.bodies.begin(), client.bodies.end(), [](const std::string& body) {
      return body.find("EvictionLoop") != body.npos;
    });
  };
  // Each takes the other's place twice; whoever waits is the more important one.
  for (const auto& [in, out] :
       {std::pair("x", "y"), std::pair("y", "x"), std::pair("x", "y"), std::pair("y", "x")}) {
    EXPECT_EQ(reports(), 0);
    client.TakeRequests();
    for (const char* name : {"x", "y"})
      mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = name}});
    see(in, "low", true);
    see(out, "high", false);
    client.Pass(milliseconds(60'000));
    Cycle();
    AnswerAll();
    const Lines requests = Requests();
    EXPECT_NE(std::find(requests.begin(), requests.end(),
                        fmt::format("DELETE /api/v1/namespaces/a/pods/{}", in)),
              requests.end())
        << fmt::format("{}", fmt::join(requests, "\n"));
  }
  client.TakeRequests();
  inbox.PutTask([] {});  // something to wake up for
  scheduler->Run(milliseconds(0));
  const std::string text = "a/x evicted a/y twice and a/y evicted a/x twice within 1h";
  EXPECT_NE(std::find(logged.begin(), logged.end(),
                      fmt::format("jobs evict each other in turn ring=\"{}\"", text)),
            logged.end())
      << fmt::format("{}", fmt::join(logged, "\n"));
  EXPECT_EQ(reports(), 2) << fmt::format("{}", fmt::join(client.bodies, "\n"));
  for (const std::string& body : client.bodies)
    if (body.find("EvictionLoop") != body.npos) {
      EXPECT_NE(body.find(text), body.npos) << body;
      EXPECT_NE(body.find(R"("kind":"PodGroup")"), body.npos) << body;
      EXPECT_NE(body.find(R"("type":"Warning")"), body.npos) << body;
    }
  EXPECT_NE(metrics.Text().find("krafla_eviction_loops_total 1"), std::string::npos);
}

TEST_F(LiveSchedulerTest, TheHeartbeatNamesThePhaseInWhichTheThreadHangs) {
  Heartbeat heartbeat(std::chrono::milliseconds(50));
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  scheduler.emplace(
      LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
      LiveScheduler::Options{.may_write = [] { return true; },
                             .on_cycle = [&](const Session&, const std::vector<JobPhaseChange>&,
                                             double) { released.wait(); },
                             .heartbeat = &heartbeat});
  std::thread hanging([&] { Cycle(); });
  while (!heartbeat.Hangs()) std::this_thread::yield();
  EXPECT_EQ(heartbeat.Look().phase, "cycle: handing over decisions");
  EXPECT_TRUE(heartbeat.Problem()->ends_with("phase \"cycle: handing over decisions\""));
  release.set_value();
  hanging.join();
  EXPECT_FALSE(heartbeat.Hangs());
}

TEST_F(LiveSchedulerTest, EachActionOfACycleIsAPhase) {
  Lines steps;
  loop->SetOnStep([&](std::string_view step) { steps.emplace_back(step); });
  Cycle();
  EXPECT_EQ(steps, (Lines{"open", "enqueue", "allocate", "preempt", "close"}));
}

// While nothing happens too, often enough for any bound.
TEST_F(LiveSchedulerTest, AnIdleThreadIsAlive) {
  Heartbeat heartbeat(std::chrono::milliseconds(600));
  scheduler.emplace(
      LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
      LiveScheduler::Options{.may_write = [] { return true; },
                             .heartbeat = &heartbeat,
                             .longest_wait = std::chrono::milliseconds(20)});
  std::thread thread([&] { scheduler->Run(std::chrono::milliseconds(0)); });
  for (int i = 0; i < 400; ++i) {
    EXPECT_FALSE(heartbeat.Hangs()) << heartbeat.Look().phase;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  scheduler->Stop();
  thread.join();
  EXPECT_EQ(heartbeat.Look().phase, "");
}

TEST_F(LiveSchedulerTest, NothingIsWrittenAboutAGroupThatExistsHereOnly) {
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u"},"spec":)"
      R"({"schedulerName":"volcano","containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
  Cycle();
  for (const std::string& line : Requests()) EXPECT_EQ(line.find("podgroups"), line.npos) << line;
}

// Two gangs and volumes for one and a half of them, on nodes of their own.
class LiveVolumesTest : public LiveSchedulerTest {
 protected:
  static constexpr std::string_view kVolumesConfig = R"(
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
)";
  LiveVolumesTest() {
    std::filesystem::remove_all(folder);
    StateKeeper::Options keeping;
    keeping.writer = std::move(*RecordWriter::Start(
        {.folder = folder,
         .head = {.version = "t", .begun = {}, .why = {}, .zone = "UTC", .world = {}},
         .now = [this] { return client.Now(); },
         .log = {}}));
    keeper = std::make_unique<StateKeeper>(feed, std::move(keeping));
    tap.OnConfig(std::string(kVolumesConfig));
    Diagnostics diagnostics;
    loop->SetConfig(
        ReadSchedulerConfig(kVolumesConfig, BuiltInVocabulary(), {.file_name = "t"}, diagnostics));
    loop->SetBeforeSession([this](CycleMemory& memory) { tap.BeforeCycle(memory); });
    mirror->SetObserver([this](RecordedChange change) { tap.OnChange(std::move(change)); });
    scheduler.emplace(
        LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
        LiveScheduler::Options{
            .may_write = [] { return true; },
            .on_cycle =
                [this](const Session& session, const std::vector<JobPhaseChange>& phases,
                       double wall_ms) {
                  tap.OnCycle(session, phases, loop->cycles() + 1, wall_ms);
                }});
    // What came before somebody looked is seen again.
    SeeNamespaceAndQueues();
    See(WatchedKind::kStorageClass,
        R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"local"},)"
        R"("provisioner":"kubernetes.io/no-provisioner",)"
        R"("volumeBindingMode":"WaitForFirstConsumer"})");
    for (int i = 1; i <= 3; ++i) {
      See(WatchedKind::kNode,
          fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n{0}",)"
                      R"("labels":{{"host":"n{0}"}}}},"status":{{"allocatable":)"
                      R"({{"cpu":"8","memory":"8Gi","pods":"10"}}}}}})",
                      i));
      SeeVolume(i, "");
    }
  }
  ~LiveVolumesTest() override { std::filesystem::remove_all(folder); }

  void SeeVolume(int i, const std::string& claim_ref) {
    See(WatchedKind::kVolume,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"PersistentVolume","metadata":{{"name":"v{0}",)"
            R"("uid":"vu{0}"}},"spec":{{"storageClassName":"local","capacity":{{"storage":"1Gi"}},)"
            R"("accessModes":["ReadWriteOnce"],"nodeAffinity":{{"required":{{"nodeSelectorTerms":)"
            R"([{{"matchExpressions":[{{"key":"host","operator":"In","values":["n{0}"]}}]}}]}}}}{1}}},)"
            R"("status":{{"phase":"Available"}}}})",
            i, claim_ref));
  }
  void SeeGang(const std::string& name) {
    SeeGroup(name, 2);
    for (int i = 0; i < 2; ++i) {
      See(WatchedKind::kClaim,
          fmt::format(R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{)"
                      R"("name":"{0}{1}","namespace":"a","uid":"c-{0}{1}"}},"spec":{{)"
                      R"("storageClassName":"local","accessModes":["ReadWriteOnce"],)"
                      R"("resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
                      name, i));
      See(WatchedKind::kPod,
          fmt::format(
              R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}{1}","namespace":"a",)"
              R"("uid":"u-{0}{1}","annotations":{{"scheduling.k8s.io/group-name":"{0}"}}}},)"
              R"("spec":{{"schedulerName":"volcano","volumes":[{{"name":"v",)"
              R"("persistentVolumeClaim":{{"claimName":"{0}{1}"}}}}],"containers":[{{"name":"c",)"
              R"("resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
              name, i));
    }
  }
  // Writes of volumes and bindings.
  Lines VolumeWrites() {
    Lines lines = Requests();
    std::erase_if(lines, [](const std::string& line) {
      return line.find("/persistentvolumes/") == line.npos && line.find("/binding") == line.npos;
    });
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  // A replay of what was recorded decides the same.
  void ExpectReplayed(uint64_t cycles, uint64_t binds) {
    keeper.reset();
    const std::vector<std::string> segments = *RecordSegments(folder);
    ASSERT_EQ(segments.size(), 1u);
    uint64_t replayed_binds = 0;
    const Result<ReplayResult> replayed = ReplaySegment(
        segments[0], [&](uint64_t, Timestamp, const std::vector<std::string>& decisions) {
          for (const std::string& line : decisions) replayed_binds += line.starts_with("bind ");
        });
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_FALSE(replayed->difference)
        << replayed->difference->recorded << " / " << replayed->difference->replayed;
    EXPECT_EQ(replayed->cycles, cycles);
    EXPECT_EQ(replayed_binds, binds);
  }

  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("krafla-volumes-{}", getpid()))
          .string();
  ChangeFeed feed;
  SchedulerTap tap{feed};
  std::unique_ptr<StateKeeper> keeper;
};

TEST_F(LiveVolumesTest, ASecondGangIsNotGivenTheVolumesOfTheFirst) {
  SeeGang("g");
  Cycle();
  EXPECT_EQ(VolumeWrites(),
            (Lines{"PATCH /api/v1/persistentvolumes/v1", "PATCH /api/v1/persistentvolumes/v2"}));
  // Before the server has answered, and before anything is seen.
  SeeGang("h");
  Cycle();
  EXPECT_EQ(VolumeWrites(), Lines{}) << "one volume is left, and it needs two";
  EXPECT_EQ(mirror->volumes().size(), 2u);
  // The first one is refused its volumes: these are free again, for whoever comes first.
  while (client.open() != 0) client.Answer(403);
  EXPECT_EQ(mirror->volumes().size(), 0u);
  Requests();
  Cycle();
  EXPECT_EQ(VolumeWrites(),
            (Lines{"PATCH /api/v1/persistentvolumes/v1", "PATCH /api/v1/persistentvolumes/v2"}));
  Cycle();
  // What was assumed is part of the record.
  ExpectReplayed(4, 4);
}

// A pod whose claim is not there, where nobody asks for volumes: whether its job knows of it is up
// to the configuration.
TEST_F(LiveVolumesTest, AReloadedConfigurationSaysHowObjectsAreTaken) {
  const auto reload = [&](std::string_view missing_claims) {
    const std::string text = fmt::format(
        "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n"
        "compatibility:\n  missing-claims: {}\n",
        missing_claims);
    tap.OnConfig(text);
    Diagnostics diagnostics;
    scheduler->SetConfig(
        ReadSchedulerConfig(text, BuiltInVocabulary(), {.file_name = "t"}, diagnostics));
    EXPECT_FALSE(diagnostics.HasErrors());
  };
  SeeGroup("g", 1);
  SeeGroup("h", 1);
  See(WatchedKind::kPod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"g0","namespace":"a","uid":"u-g0",)"
      R"("annotations":{"scheduling.k8s.io/group-name":"h"}},"spec":{"schedulerName":"volcano",)"
      R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"none"}}],"containers":[)"
      R"({"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})");
  SeePod("g1", "g");
  EXPECT_EQ(mirror->live().cluster().tasks.size(), 2u);
  reload("false");
  EXPECT_EQ(mirror->live().cluster().tasks.size(), 1u) << "its job does not know of it";
  Cycle();
  EXPECT_EQ(VolumeWrites(), Lines{"POST /api/v1/namespaces/a/pods/g1/binding"});
  const uint64_t before = mirror->live().version();
  reload("true");
  EXPECT_GT(mirror->live().version(), before);
  Cycle();
  EXPECT_EQ(VolumeWrites(), Lines{"POST /api/v1/namespaces/a/pods/g0/binding"});
  ExpectReplayed(2, 2);
}

}  // namespace
}  // namespace krafla
