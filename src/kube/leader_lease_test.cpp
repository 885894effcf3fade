#include "kube/leader_lease.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <future>

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

TEST(LeaderLease, SomebodyElsesLeaseRunsOutByOurOwnClock) {
  using std::chrono::seconds;
  LeaseWatch watch;
  const LeaseWatch::Clock::time_point start{};
  LeaseRecord record{.holder = "a", .renew_time = "1", .duration_s = 15};
  EXPECT_FALSE(watch.IsFree(record, start)) << "never at the first look, however old it says it is";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(14)));
  record.renew_time = "2";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(16))) << "it was renewed";
  EXPECT_FALSE(watch.IsFree(record, start + seconds(30)));
  EXPECT_TRUE(watch.IsFree(record, start + seconds(31)));
  EXPECT_TRUE(watch.IsFree({.holder = ""}, start)) << "given up";
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
