#include "kube/leader_lease.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

namespace krafla {
namespace {

const LeaseOptions kUs{.identity = "us"};
const Timestamp kNow = Timestamp::FromUnixSeconds(1'773'000'000, 1'500);

TEST(LeaderLease, WhatALeaseSays) {
  const LeaseRecord record =
      ParseLease(R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"a",)"
                 R"("renewTime":"t","leaseDurationSeconds":15,"leaseTransitions":3}})")
          .value();
  EXPECT_EQ(record.holder, "a");
  EXPECT_EQ(record.renew_time, "t");
  EXPECT_EQ(record.duration_s, 15);
  EXPECT_EQ(record.transitions, 3);
  EXPECT_EQ(ParseLease(R"({"metadata":{"resourceVersion":"7"}})").value().holder, "");
  EXPECT_FALSE(ParseLease("{}").has_value());
}

TEST(LeaderLease, ARenewalIsForTheVersionThatWasReadAndKeepsTheTime) {
  const LeaseRecord before{.holder = "us", .resource_version = "7", .transitions = 3};
  EXPECT_EQ(LeasePatch(kUs, before, kNow),
            R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"us",)"
            R"("leaseDurationSeconds":15,"renewTime":"2026-03-08T20:00:00.000001Z"}})");
  const std::string taken =
      LeasePatch(kUs, {.holder = "a", .resource_version = "7", .transitions = 3}, kNow);
  EXPECT_NE(taken.find(R"("leaseTransitions":4)"), std::string::npos) << taken;
  EXPECT_NE(taken.find("acquireTime"), std::string::npos) << taken;
}

TEST(LeaderLease, FieldsOfAWrongTypeAreNamedAndCountAsAbsent) {
  const LeaseRecord record =
      ParseLease(R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":5,)"
                 R"("leaseDurationSeconds":"15","renewTime":null}})")
          .value();
  EXPECT_EQ(record.problem, "spec.holderIdentity: expected text, got 5");
  EXPECT_EQ(record.holder, "");
  EXPECT_EQ(record.duration_s, 0);
  EXPECT_EQ(record.renew_time, "");
  EXPECT_FALSE(ParseLease("no JSON").has_value());
  EXPECT_FALSE(ParseLease("[]").has_value());
}

TEST(LeaderLease, ADurationWithAPartOfASecondIsRoundedUp) {
  LeaseOptions options = kUs;
  options.lease_duration = std::chrono::milliseconds(2100);
  EXPECT_NE(LeaseBody(options, kNow).find(R"("leaseDurationSeconds":3)"), std::string::npos);
  options.lease_duration = std::chrono::milliseconds(400);
  EXPECT_NE(LeaseBody(options, kNow).find(R"("leaseDurationSeconds":1)"), std::string::npos);
}

TEST(LeaderLease, AnUpdateKeepsWhatIsNotOurs) {
  const LeaseRecord before =
      ParseLease(R"({"metadata":{"resourceVersion":"7","labels":{"a":"b"},"uid":"u"},)"
                 R"("spec":{"holderIdentity":"us","acquireTime":"t0","leaseTransitions":3}})")
          .value();
  EXPECT_EQ(LeaseUpdate(kUs, before, kNow),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{)"
            R"("name":"volcano","namespace":"volcano-system","resourceVersion":"7",)"
            R"("labels":{"a":"b"}},"spec":{"holderIdentity":"us","leaseDurationSeconds":15,)"
            R"("renewTime":"2026-03-08T20:00:00.000001Z","acquireTime":"t0",)"
            R"("leaseTransitions":3}})");
  EXPECT_EQ(ReleaseUpdate(kUs, before, kNow),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{)"
            R"("name":"volcano","namespace":"volcano-system","resourceVersion":"7",)"
            R"("labels":{"a":"b"}},"spec":{"holderIdentity":"","leaseDurationSeconds":1,)"
            R"("leaseTransitions":3,"renewTime":"2026-03-08T20:00:00.000001Z"}})");
}

TEST(LeaderLease, AnotherReplicasLeaseRunsOutByOurOwnClock) {
  using std::chrono::seconds;
  LeaseWatch watch(seconds(15));
  const LeaseWatch::Clock::time_point start{};
  LeaseRecord record{.holder = "a", .renew_time = "1", .duration_s = 15};
  EXPECT_FALSE(watch.IsFree(record, start)) << "never at the first look, however old it says it is";
  EXPECT_EQ(watch.FreeAt(), start + seconds(15));
  EXPECT_FALSE(watch.IsFree(record, start + seconds(14)));
  record.renew_time = "2";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(16))) << "it was renewed";
  EXPECT_EQ(watch.since(), start + seconds(16));
  EXPECT_FALSE(watch.IsFree(record, start + seconds(30)));
  EXPECT_TRUE(watch.IsFree(record, start + seconds(31)));
  EXPECT_TRUE(watch.IsFree({.holder = ""}, start)) << "given up";
  EXPECT_EQ(watch.FreeAt(), std::nullopt);
}

TEST(LeaderLease, ALeaseThatNamesNoDurationIsGoodForOurs) {
  using std::chrono::seconds;
  LeaseWatch watch(seconds(4));
  const LeaseWatch::Clock::time_point start{};
  const LeaseRecord record{.holder = "a", .renew_time = "1"};
  EXPECT_FALSE(watch.IsFree(record, start));
  EXPECT_FALSE(watch.IsFree(record, start + seconds(3)));
  EXPECT_TRUE(watch.IsFree(record, start + seconds(4)));
}

// Which replica holds it is not known: any change is a sign of life.
TEST(LeaderLease, AnUnreadableLeaseIsTakenWhenNothingChangesInItForItsTime) {
  using std::chrono::seconds;
  LeaseWatch watch(seconds(4));
  const LeaseWatch::Clock::time_point start{};
  LeaseRecord record{.resource_version = "1", .problem = "spec.holderIdentity: …"};
  EXPECT_FALSE(watch.IsFree(record, start));
  record.resource_version = "2";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(3)));
  EXPECT_FALSE(watch.IsFree(record, start + seconds(6)));
  EXPECT_TRUE(watch.IsFree(record, start + seconds(7)));
}

// Clocks that a test moves.
struct TestClocks {
  ClockReading reading{.wall = kNow,
                       .boot = BootClock::time_point(std::chrono::hours(100)),
                       .steady = ClockReading::Steady::time_point(std::chrono::hours(90))};
  void Pass(std::chrono::milliseconds time) {
    reading.boot += time;
    reading.steady += time;
  }
  void Suspend(std::chrono::milliseconds time) { reading.boot += time; }
};

TEST(LeaseTerm, CountsFromTheRequest) {
  using std::chrono::seconds;
  TestClocks clocks;
  LeaseTerm term;
  EXPECT_FALSE(term.MayWrite(clocks.reading));
  EXPECT_EQ(term.AgeSeconds(clocks.reading), std::nullopt);
  const ClockReading asked = clocks.reading;
  clocks.Pass(seconds(3));
  term.Renewed(asked, seconds(10));
  EXPECT_TRUE(term.MayWrite(clocks.reading));
  EXPECT_EQ(term.WriteUntil(clocks.reading), asked.steady + seconds(10));
  EXPECT_EQ(term.AgeSeconds(clocks.reading), 3);
  clocks.Pass(seconds(7));
  EXPECT_FALSE(term.MayWrite(clocks.reading));
  EXPECT_TRUE(term.IsOver(clocks.reading));
}

TEST(LeaseTerm, AfterASuspendNothingIsWrittenBeforeTheLeaseWasRenewed) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  TestClocks clocks;
  LeaseTerm term;
  term.Renewed(clocks.reading, seconds(10));
  clocks.Pass(seconds(1));
  clocks.Suspend(milliseconds(100));
  EXPECT_TRUE(term.MayWrite(clocks.reading)) << "two clocks are never read at the same moment";
  clocks.Suspend(seconds(2));
  EXPECT_FALSE(term.MayWrite(clocks.reading));
  EXPECT_LE(term.WriteUntil(clocks.reading), clocks.reading.steady);
  EXPECT_FALSE(term.IsOver(clocks.reading)) << "it may still be renewed";
  term.Renewed(clocks.reading, seconds(10));
  EXPECT_TRUE(term.MayWrite(clocks.reading));
  clocks.Suspend(seconds(3'600));
  EXPECT_FALSE(term.MayWrite(clocks.reading));
  EXPECT_TRUE(term.IsOver(clocks.reading)) << "CLOCK_MONOTONIC says that no time has passed";
}

// An API server with one Lease.
class LeaseServer {
 public:
  LeaseServer() {
    InitializeHttp();
    server_.new_task_queue = [] { return new httplib::ThreadPool(8); };
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases";
    server_.Get(path + "/volcano", [&](const httplib::Request&, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      ++gets;
      Answer(response);
    });
    server_.Post(path, [&](const httplib::Request& request, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      Write(request, response, "create");
    });
    server_.Patch(path + "/volcano", [&](const httplib::Request& r, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      Write(r, response, "patch");
    });
    server_.Put(path + "/volcano", [&](const httplib::Request& r, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      Write(r, response, "update");
    });
    const int port = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([&] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    credentials_.emplace(KubeConnection{.server = fmt::format("http://127.0.0.1:{}", port)},
                         ProcessSurroundings());
    channel_.emplace(*credentials_, HttpChannelOptions{.name = "lease"});
  }
  ~LeaseServer() {
    channel_.reset();
    server_.stop();
    thread_.join();
  }

  LeaseOptions Options(const std::string& identity) {
    return {.identity = identity,
            .lease_duration = std::chrono::milliseconds(2000),
            .renew_deadline = std::chrono::milliseconds(1500),
            .retry_period = std::chrono::milliseconds(50),
            .log = [this](const std::string& line) {
              const std::scoped_lock lock(mutex_);
              lines_.push_back(line);
            }};
  }
  std::unique_ptr<LeaderLease> Start(LeaseOptions options) {
    return std::make_unique<LeaderLease>(*channel_, outages_, std::move(options));
  }
  // As another program writes it.
  void SetBody(const std::string& body) {
    const std::scoped_lock lock(mutex_);
    foreign_ = body;
  }
  void Delete() {
    const std::scoped_lock lock(mutex_);
    foreign_.reset();
    version_ = 0;
  }
  void Forbid(const std::string& verb) {
    const std::scoped_lock lock(mutex_);
    forbidden_ = verb;
  }
  std::vector<std::string> Lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }
  bool Logged(const std::string& text) {
    for (const std::string& line : Lines())
      if (line.find(text) != line.npos) return true;
    return false;
  }
  bool Eventually(const std::function<bool()>& check) {
    for (int i = 0; i < 5'000; ++i) {
      if (check()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  std::vector<std::string> Writes() {
    const std::scoped_lock lock(mutex_);
    return writes_;
  }
  std::atomic<int> gets = 0;

 private:
  void Answer(httplib::Response& response) {
    if (foreign_) return response.set_content(*foreign_, "application/json");
    if (version_ == 0) {
      response.status = 404;
      return;
    }
    response.set_content(
        fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{{"holderIdentity":"{}",)"
                    R"("renewTime":"{}","leaseDurationSeconds":{}}}}})",
                    version_, lease_.holder, lease_.renew_time, lease_.duration_s),
        "application/json");
  }
  void Write(const httplib::Request& request, httplib::Response& response,
             const std::string& verb) {
    writes_.push_back(verb);
    if (verb == forbidden_) {
      response.status = 403;
      return;
    }
    std::string body = request.body;
    if (verb == "create") body.replace(body.find("{\"name\""), 1, R"({"resourceVersion":"0",)");
    const LeaseRecord record = ParseLease(body).value();
    const std::string current =
        foreign_ ? ParseLease(*foreign_).value().resource_version : fmt::format("{}", version_);
    if (record.resource_version != current) {
      response.status = 409;
      return;
    }
    foreign_.reset();
    lease_ = record;
    ++version_;
    Answer(response);
  }

  httplib::Server server_;
  std::thread thread_;
  std::optional<Credentials> credentials_;
  std::optional<HttpChannel> channel_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::string> writes_;
  std::optional<std::string> foreign_;
  std::string forbidden_;
  LeaseRecord lease_;
  int version_ = 0;
  OutageLog outages_{{.server = "x",
                      .after = [](std::chrono::milliseconds, const std::function<void()>&) {},
                      .log =
                          [this](const std::string& line) {
                            const std::scoped_lock lock(mutex_);
                            lines_.push_back(line);
                          }}};
};

TEST(LeaderElection, OneLeadsAndTheOtherNamesItAndTakesOverWhenItGivesUp) {
  LeaseServer server;
  const auto first = server.Start(server.Options("first"));
  ASSERT_TRUE(server.Eventually([&] { return first->MayWrite(); }));
  EXPECT_TRUE(server.Logged("acquired leader lease lease=volcano-system/volcano identity=first"));
  const auto second = server.Start(server.Options("second"));
  ASSERT_TRUE(server.Eventually([&] { return server.Logged("leader lease held by \"first\""); }));
  EXPECT_EQ(second->Holder(), "first");
  EXPECT_LT(*second->RenewalAgeSeconds(), 1.0);
  EXPECT_LT(*first->RenewalAgeSeconds(), 1.0);
  first->Release();
  ASSERT_TRUE(server.Eventually([&] { return second->MayWrite(); }));
  EXPECT_FALSE(first->MayWrite());
}

// A leader knows what it wrote last: it does not read the Lease before each renewal.
TEST(LeaderElection, ALeaderRenewsWithOneRequest) {
  LeaseServer server;
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return server.Writes().size() >= 5; }));
  EXPECT_EQ(server.gets, 1);
}

TEST(LeaderElection, ALeaderWhoseSchedulingThreadHangsIsSucceeded) {
  LeaseServer server;
  std::atomic<bool> healthy = true;
  std::atomic<bool> lost = false;
  LeaseOptions options = server.Options("first");
  options.healthy = [&] { return healthy.load(); };
  options.on_lost = [&] { lost = true; };
  const auto first = server.Start(std::move(options));
  ASSERT_TRUE(server.Eventually([&] { return first->MayWrite(); }));
  const auto second = server.Start(server.Options("second"));
  ASSERT_TRUE(server.Eventually([&] { return server.Logged("leader lease held by"); }));
  healthy = false;
  ASSERT_TRUE(server.Eventually([&] { return second->MayWrite(); }));
  EXPECT_TRUE(lost);
  EXPECT_FALSE(first->MayWrite());
  EXPECT_TRUE(
      server.Logged("lost leader lease lease=volcano-system/volcano because=\"the "
                    "scheduling thread hangs\""));
}

TEST(LeaderElection, AStandbyWhoseSchedulingThreadHangsDoesNotTakeTheLease) {
  LeaseServer server;
  LeaseOptions options = server.Options("us");
  std::atomic<bool> healthy = false;
  options.healthy = [&] { return healthy.load(); };
  const auto lease = server.Start(std::move(options));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(server.gets, 0);
  healthy = true;
  EXPECT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
}

// The role of Volcano's own chart: get, create, update, watch.
TEST(LeaderElection, WherePatchIsForbiddenTheLeaseIsUpdated) {
  LeaseServer server;
  server.Forbid("patch");
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return server.Writes().size() >= 5; }));
  EXPECT_TRUE(lease->MayWrite());
  std::vector<std::string> writes = server.Writes();
  writes.resize(4);
  EXPECT_EQ(writes, (std::vector<std::string>{"create", "patch", "update", "update"}));
  lease->Release();
  EXPECT_EQ(server.Writes().back(), "update");
  EXPECT_FALSE(server.Logged("forbids"));
}

TEST(LeaderElection, AnUnreadableLeaseIsOneLineAndIsTakenInTheEnd) {
  LeaseServer server;
  server.SetBody(
      R"({"metadata":{"resourceVersion":"77"},"spec":{"holderIdentity":["x"],"renewTime":3}})");
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  int lines = 0;
  for (const std::string& line : server.Lines())
    if (line.starts_with("the leader lease cannot be read lease=volcano-system/volcano error="))
      ++lines;
  EXPECT_EQ(lines, 1);
}

// The leader's Lease is overwritten by something that is no Lease: it goes on.
TEST(LeaderElection, ALeaderRepairsItsLease) {
  LeaseServer server;
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  server.SetBody(R"({"metadata":{"resourceVersion":"77"},"spec":{"holderIdentity":5}})");
  ASSERT_TRUE(server.Eventually([&] { return server.Logged("the leader lease cannot be read"); }));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(lease->MayWrite());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(server.Logged("lost leader lease"));
}

TEST(LeaderElection, WhatIsNoJsonIsOneLineAndNothingIsWritten) {
  LeaseServer server;
  server.SetBody("<html>");
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return server.gets > 5; }));
  EXPECT_FALSE(lease->MayWrite());
  EXPECT_EQ(server.Lines(), (std::vector<std::string>{"the leader lease cannot be read "
                                                      "lease=volcano-system/volcano "
                                                      "error=\"the Lease is no JSON\""}));
  EXPECT_TRUE(server.Writes().empty());
}

// A machine that was suspended: its leader finds the Lease taken, and has written nothing.
TEST(LeaderElection, AfterASuspendTheLeaseIsCheckedFirst) {
  LeaseServer server;
  std::mutex mutex;
  std::chrono::nanoseconds suspended{0};
  LeaseOptions options = server.Options("us");
  options.clocks = [&] {
    ClockReading now = ReadClocks();
    const std::scoped_lock lock(mutex);
    now.boot += suspended;
    return now;
  };
  options.retry_period = std::chrono::milliseconds(300);
  const auto lease = server.Start(std::move(options));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  const size_t writes = server.Writes().size();
  {
    const std::scoped_lock lock(mutex);
    suspended = std::chrono::hours(1);
  }
  EXPECT_FALSE(lease->MayWrite());
  EXPECT_LE(lease->write_until(), LeaderLease::Clock::now());
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); })) << "it is still ours";
  EXPECT_GT(server.Writes().size(), writes);
  EXPECT_TRUE(
      server.Logged("the machine was suspended; nothing is written before the leader "
                    "lease was checked for_s=3600.0"));
}

// How long a standby needs: the Lease runs out as seen by the standby, which looks often enough.
TEST(LeaderElection, AStandbyTakesOverSoonAfterTheLeaseHasRunOut) {
  LeaseServer server;
  const std::string renewed =
      R"({"metadata":{"resourceVersion":"77"},"spec":{)"
      R"("holderIdentity":"gone","renewTime":"t","leaseDurationSeconds":1}})";
  server.SetBody(renewed);
  const auto begin = LeaderLease::Clock::now();
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  const auto took = LeaderLease::Clock::now() - begin;
  EXPECT_GE(took, std::chrono::milliseconds(1000));
  EXPECT_LE(took, std::chrono::milliseconds(3000)) << "it looks when the Lease runs out";
}

constexpr const char* kHeldByAnother =
    R"({"metadata":{"resourceVersion":"77"},"spec":{)"
    R"("holderIdentity":"other","renewTime":"t","leaseDurationSeconds":1}})";

// The leader may not have noticed yet: its term runs.
TEST(LeaderElection, AStandbyCreatesADeletedLeaseWhenItsTermHasRunOut) {
  LeaseServer server;
  server.SetBody(kHeldByAnother);
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return server.Logged("leader lease held by \"other\""); }));
  server.Delete();
  const auto begin = LeaderLease::Clock::now();
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  EXPECT_GE(LeaderLease::Clock::now() - begin, std::chrono::milliseconds(1000));
}

TEST(LeaderElection, ALeaderCreatesItsDeletedLeaseAtOnce) {
  LeaseServer server;
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  server.Delete();
  ASSERT_TRUE(server.Eventually([&] {
    const std::vector<std::string> writes = server.Writes();
    return std::count(writes.begin(), writes.end(), "create") == 2;
  }));
  EXPECT_TRUE(lease->MayWrite());
  EXPECT_FALSE(server.Logged("lost leader lease"));
}

// As after a restore of etcd: another replica has taken the Lease since, and its term runs.
TEST(LeaderElection, ALeaseThatNamesUsIsNotOursBeforeWeAskedForIt) {
  LeaseServer server;
  server.SetBody(R"({"metadata":{"resourceVersion":"77"},"spec":{)"
                 R"("holderIdentity":"us","renewTime":"t","leaseDurationSeconds":1}})");
  const auto begin = LeaderLease::Clock::now();
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  EXPECT_GE(LeaderLease::Clock::now() - begin, std::chrono::milliseconds(1000));
}

TEST(LeaderElection, AnUnreadableFieldDoesNotHideThatAnotherReplicaHoldsTheLease) {
  LeaseServer server;
  const auto lease = server.Start(server.Options("us"));
  ASSERT_TRUE(server.Eventually([&] { return lease->MayWrite(); }));
  server.SetBody(
      R"({"metadata":{"resourceVersion":"77"},"spec":{"holderIdentity":"other","renewTime":3}})");
  EXPECT_TRUE(server.Eventually([&] { return server.Logged("lost leader lease"); }));
  EXPECT_FALSE(lease->MayWrite());
}

// A leader that can no longer renew has nothing under way when it says that it has lost.
TEST(LeaderLease, WhatIsUnderWayEndsWithTheLease) {
  using std::chrono::milliseconds;
  InitializeHttp();
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(8); };
  std::atomic<bool> renews = true;
  std::atomic<int> refused = 0;
  const std::string lease = R"({"metadata":{"resourceVersion":"7"},"spec":{}})";
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano";
  server.Get(path, [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(lease, "application/json");
  });
  server.Patch(path, [&](const httplib::Request&, httplib::Response& response) {
    response.status = renews ? 200 : 500;
    if (!renews) ++refused;
    response.set_content(lease, "application/json");
  });
  std::atomic<int> held = 0;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  server.Post("/write", [&](const httplib::Request&, httplib::Response&) {
    ++held;
    released.wait();
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  {
    Credentials credentials({.server = fmt::format("http://127.0.0.1:{}", port)},
                            ProcessSurroundings());
    HttpChannel leasing(credentials, {.name = "lease"});
    std::promise<void> started;
    std::promise<void> lost;
    OutageLog outages({.server = "x",
                       .after = [](milliseconds, const std::function<void()>&) {},
                       .log = [](const std::string&) {}});
    LeaderLease leader(leasing, outages,
                       {.identity = "us",
                        .lease_duration = milliseconds(15'000),
                        .renew_deadline = milliseconds(1000),
                        .retry_period = milliseconds(50),
                        .log = {},
                        .on_started = [&] { started.set_value(); },
                        .on_lost = [&] { lost.set_value(); }});
    HttpChannel writing(credentials,
                        {.name = "writes", .send_until = [&] { return leader.write_until(); }});
    started.get_future().wait();
    renews = false;
    while (refused == 0) std::this_thread::yield();  // from here on the end is certain
    std::promise<HttpResponse> done;
    HttpRequest request{.method = "POST", .target = "/write", .timeout = milliseconds(60'000)};
    request.on_done = [&](HttpResponse response) { done.set_value(std::move(response)); };
    writing.Send(std::move(request));
    const HttpResponse response = done.get_future().get();
    EXPECT_EQ(response.status, 0);
    EXPECT_TRUE(response.kept_back) << response.error;
    EXPECT_FALSE(leader.MayWrite());
    lost.get_future().wait();
    EXPECT_TRUE(writing.Ask({.method = "POST", .target = "/write"}).kept_back);
    EXPECT_LE(held, 1);
  }
  release.set_value();
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace krafla
