#include "kube/http_channel.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "kube/curl_options.h"

namespace krafla {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A server of the old kind on loopback: enough for what a channel does by itself. That it speaks
// HTTP/2 to a real API server is tested end to end.
class HttpChannelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { InitializeHttp(); }
  void SetUp() override {
    server.new_task_queue = [] { return new httplib::ThreadPool(16); };
    server.Get("/hello", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content("hello " + request.get_param_value("name"), "text/plain");
    });
    server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.get_header_value("Content-Type") + " " + request.body,
                           "text/plain");
    });
    server.Get("/busy", [](const httplib::Request&, httplib::Response& response) {
      response.status = 429;
      response.set_header("Retry-After", "7");
      response.set_content("later", "text/plain");
    });
    server.Get("/slow", [](const httplib::Request&, httplib::Response& response) {
      std::this_thread::sleep_for(milliseconds(600));
      response.set_content("late", "text/plain");
    });
    server.Get("/held", [this](const httplib::Request&, httplib::Response& response) {
      ++held;
      released.wait();
      response.set_content("let go", "text/plain");
    });
    server.Get("/stream", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
        sink.write("one\n", 4);
        sink.write("two\n", 4);
        sink.done();
        return true;
      });
    });
    server.Get("/endless", [this](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider(
          "text/plain", [this, greeted = false](size_t, httplib::DataSink& sink) mutable {
            if (!std::exchange(greeted, true)) sink.write("hello\n", 6);
            if (released.wait_for(milliseconds(20)) == std::future_status::ready) sink.done();
            return true;
          });
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();  // else stop() says nothing to it
    credentials.emplace(KubeConnection{.server = fmt::format("http://127.0.0.1:{}", port)},
                        ProcessSurroundings());
  }
  void TearDown() override {
    LetGo();
    server.stop();
    thread.join();
  }
  static HttpRequest Get(const std::string& target, int timeout_ms = 5000) {
    return {.target = target, .timeout = milliseconds(timeout_ms)};
  }

  void LetGo() {
    if (!std::exchange(let_go, true)) release.set_value();
  }

  httplib::Server server;
  std::atomic<int> held = 0;  // requests that wait at the server until they are let go
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  bool let_go = false;
  int port = 0;
  std::thread thread;
  std::optional<Credentials> credentials;
};

TEST_F(HttpChannelTest, AsksAndSends) {
  HttpChannel channel(*credentials, {.name = "test"});
  EXPECT_EQ(channel.Ask(Get("/hello?name=you")).body, "hello you");
  const HttpResponse echo = channel.Ask(
      {.method = "POST", .target = "/echo", .content_type = "application/json", .body = "{}"});
  EXPECT_EQ(echo.status, 200);
  EXPECT_EQ(echo.body, "application/json {}");
  EXPECT_EQ(channel.Ask(Get("/nowhere")).status, 404);
  EXPECT_EQ(channel.open_requests(), 0u);
}

TEST_F(HttpChannelTest, WhatTheServerAsksForInRetryAfterIsTold) {
  HttpChannel channel(*credentials, {.name = "test"});
  const HttpResponse busy = channel.Ask(Get("/busy"));
  EXPECT_EQ(busy.status, 429);
  EXPECT_EQ(busy.retry_after, milliseconds(7000));
}

TEST_F(HttpChannelTest, ARequestHasADeadline) {
  HttpChannel channel(*credentials, {.name = "test"});
  const HttpResponse late = channel.Ask(Get("/slow", 100));
  EXPECT_EQ(late.status, 0);
  EXPECT_NE(late.error, "");
  EXPECT_EQ(channel.Ask(Get("/hello")).status, 200) << "others are not harmed";
}

TEST_F(HttpChannelTest, AStreamThatIsToldNotNowComesAgain) {
  HttpChannel channel(*credentials, {.name = "test"});
  std::string taken;
  std::atomic<int> refused = 0;
  std::promise<int> done;
  HttpRequest request = Get("/stream");
  request.on_data = [&](std::string_view piece) {
    if (refused++ == 0) return false;
    taken += piece;
    return true;
  };
  request.on_done = [&](HttpResponse response) { done.set_value(response.status); };
  channel.Send(std::move(request));
  while (refused == 0) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(refused, 1) << "nothing comes before it is asked for";
  channel.Resume();
  EXPECT_EQ(done.get_future().get(), 200);
  EXPECT_EQ(taken, "one\ntwo\n");
}

TEST_F(HttpChannelTest, AStreamIsOpenBeforeAnythingComes) {
  HttpChannel channel(*credentials, {.name = "test"});
  std::vector<std::string> order;
  const auto follow = [&](const std::string& target) {
    std::promise<void> done;
    HttpRequest request = Get(target);
    request.on_open = [&] { order.push_back("open"); };
    request.on_data = [&](std::string_view) {
      if (order.empty() || order.back() != "data") order.push_back("data");
      return true;
    };
    request.on_done = [&](HttpResponse response) {
      order.push_back(std::to_string(response.status));
      done.set_value();
    };
    channel.Send(std::move(request));
    done.get_future().wait();
    return std::exchange(order, {});
  };
  EXPECT_EQ(follow("/stream"), (std::vector<std::string>{"open", "data", "200"}));
  EXPECT_EQ(follow("/busy"), (std::vector<std::string>{"429"}));
}

TEST_F(HttpChannelTest, WhatIsOpenWhenWeStopHasNotFailed) {
  std::vector<HttpResponse> responses;
  {
    HttpChannel channel(*credentials, {.name = "test", .max_in_flight = 1});
    for (int i = 0; i < 2; ++i) {  // one under way, one waiting
      HttpRequest request = Get("/held");
      request.on_done = [&](HttpResponse response) { responses.push_back(std::move(response)); };
      channel.Send(std::move(request));
    }
    while (held == 0) std::this_thread::yield();
  }
  ASSERT_EQ(responses.size(), 2u);
  for (const HttpResponse& response : responses) {
    EXPECT_TRUE(response.closing);
    EXPECT_FALSE(response.kept_back);
    EXPECT_EQ(response.status, 0);
  }
  HttpChannel channel(*credentials, {.name = "test"});
  EXPECT_FALSE(channel.Ask(Get("/slow", 100)).closing) << "this one has";
}

TEST_F(HttpChannelTest, UrgentRequestsGoFirst) {
  HttpChannel channel(*credentials, {.name = "test", .max_in_flight = 1});
  std::mutex mutex;
  std::vector<int> order;
  std::promise<void> all;
  const auto send = [&](Urgency urgency, int number) {
    HttpRequest request = Get(number == 0 ? "/held" : "/hello");
    request.urgency = urgency;
    request.on_done = [&, number](HttpResponse) {
      const std::scoped_lock lock(mutex);
      order.push_back(number);
      if (order.size() == 4) all.set_value();
    };
    channel.Send(std::move(request));
  };
  send(Urgency::kEvent, 0);
  while (held == 0) std::this_thread::yield();  // the first is taken up at once
  send(Urgency::kEvent, 3);
  send(Urgency::kStatus, 2);
  send(Urgency::kBind, 1);
  LetGo();
  all.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(HttpChannelTest, WhoMayNotSendSendsNothing) {
  HttpChannel channel(*credentials,
                      {.name = "test", .send_until = [] { return Clock::time_point::min(); }});
  const HttpResponse kept = channel.Ask(Get("/hello"));
  EXPECT_EQ(kept.status, 0);
  EXPECT_TRUE(kept.kept_back);
  EXPECT_EQ(kept.error, "kept back: somebody else may be the leader by now");
}

// The answers of three requests of which one is held at the server and two wait their turn.
class KeptBackTest : public HttpChannelTest {
 protected:
  void SendThree(HttpChannel& channel) {
    for (int i = 0; i < 3; ++i) {
      HttpRequest request = Get("/held");
      request.on_done = [this, i](HttpResponse response) {
        done[i].set_value(std::move(response));
      };
      channel.Send(std::move(request));
    }
  }
  void ExpectAllKeptBack() {
    for (auto& promise : done) {
      auto answer = promise.get_future();
      ASSERT_EQ(answer.wait_for(std::chrono::seconds(60)), std::future_status::ready);
      const HttpResponse response = answer.get();
      EXPECT_EQ(response.status, 0);
      EXPECT_TRUE(response.kept_back) << response.error;
    }
    EXPECT_LE(held, 1) << "who waits his turn is not sent";
  }
  std::promise<HttpResponse> done[3];
};

// The server never answers, so only the end of the time can end them; the requests' own is longer.
TEST_F(KeptBackTest, WhenTheTimeIsOverNothingIsUnderWay) {
  const Clock::time_point until = Clock::now() + milliseconds(200);
  HttpChannel channel(*credentials,
                      {.name = "test", .max_in_flight = 1, .send_until = [=] { return until; }});
  SendThree(channel);
  ExpectAllKeptBack();
  EXPECT_EQ(channel.open_requests(), 0u);
}

TEST_F(KeptBackTest, ATimeThatEndsEarlierThanItSaidCutsOffToo) {
  std::atomic<bool> taken = false;
  HttpChannel channel(*credentials, {.name = "test", .max_in_flight = 1, .send_until = [&] {
                                       return taken ? Clock::time_point::min()
                                                    : Clock::now() + std::chrono::hours(1);
                                     }});
  SendThree(channel);
  while (held == 0) std::this_thread::yield();
  taken = true;
  channel.Resume();
  ExpectAllKeptBack();
}

TEST_F(KeptBackTest, AtTheEndAllIsCutOffAndNothingIsSentAnyMore) {
  HttpChannel channel(*credentials, {.name = "test", .max_in_flight = 1});
  SendThree(channel);
  while (held == 0) std::this_thread::yield();
  channel.CutOff();
  EXPECT_EQ(channel.open_requests(), 0u);
  ExpectAllKeptBack();
  EXPECT_TRUE(channel.Ask(Get("/hello")).kept_back);
}

// It was still to be sent when it was taken up, and no more when there was a connection for it.
TEST_F(HttpChannelTest, ARequestThatWaitedForItsConnectionIsNotSentTooLate) {
  std::atomic<int> left = 1'000;  // so many times the answer is "yes"
  HttpChannel channel(*credentials, {.name = "t", .send_until = [&] {
                                       return left-- > 0 ? Clock::now() + milliseconds(10'000)
                                                         : Clock::time_point::min();
                                     }});
  std::this_thread::sleep_for(milliseconds(50));  // it waits
  left = 2;                                       // it wakes, and takes the request up
  EXPECT_TRUE(channel.Ask(Get("/held")).kept_back);
  EXPECT_EQ(held, 0);
}

TEST_F(HttpChannelTest, TheDateOfAnAnswerIsReported) {
  server.Get("/dated", [](const httplib::Request&, httplib::Response& response) {
    response.set_header("Date", "Sun, 08 Mar 2026 20:00:00 GMT");
  });
  server.Get("/undated", [](const httplib::Request&, httplib::Response& response) {
    response.set_header("Date", "soon");
  });
  std::atomic<int64_t> date = 0;
  std::atomic<int> dates = 0;
  const BootClock::time_point begin = BootClock::now();
  HttpChannel channel(*credentials,
                      {.name = "t", .on_date = [&](int64_t unix_s, BootClock::time_point sent) {
                         EXPECT_GE(sent, begin);
                         EXPECT_LE(sent, BootClock::now());
                         date = unix_s;
                         ++dates;
                       }});
  EXPECT_TRUE(channel.Ask(Get("/undated")).ok());
  EXPECT_EQ(dates, 0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(channel.Ask(Get("/dated")).ok());
  EXPECT_EQ(date, 1'773'000'000);
  EXPECT_EQ(dates, 1) << "one a second is enough";
}

TEST_F(HttpChannelTest, ATimeThatGoesOnKeepsNothingBack) {
  HttpChannel channel(*credentials, {.name = "test", .send_until = [] {
                                       return Clock::now() + std::chrono::seconds(30);
                                     }});
  const HttpResponse late = channel.Ask(Get("/slow"));
  EXPECT_EQ(late.body, "late");
  EXPECT_FALSE(channel.Ask(Get("/slow", 50)).kept_back) << "its own time was over";
}

TEST_F(HttpChannelTest, AtTheEndEveryRequestHasItsAnswer) {
  std::atomic<int> answers = 0;
  {
    HttpChannel channel(*credentials, {.name = "test", .max_in_flight = 2});
    for (int i = 0; i < 5; ++i) {
      HttpRequest request = Get("/slow");
      request.on_done = [&](HttpResponse) { ++answers; };
      channel.Send(std::move(request));
    }
  }
  EXPECT_EQ(answers, 5);
}

TEST_F(HttpChannelTest, TheRateIsKept) {
  HttpChannel channel(*credentials, {.name = "test", .per_second = 50, .burst = 5});
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> left = 15;
  std::promise<void> all;
  for (int i = 0; i < 15; ++i) {
    HttpRequest request = Get("/hello");
    request.on_done = [&](HttpResponse) {
      if (--left == 0) all.set_value();
    };
    channel.Send(std::move(request));
  }
  all.get_future().wait();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(190))
      << "five at once, ten more at fifty a second";
}

// Otherwise it looks for a token every millisecond.
TEST_F(HttpChannelTest, WhileItIsLimitedByItsRateItSleeps) {
  HttpChannel channel(*credentials, {.name = "test", .per_second = 1, .burst = 1});
  EXPECT_EQ(channel.Ask(Get("/hello")).status, 200);
  channel.Send(Get("/hello"));
  std::this_thread::sleep_for(milliseconds(50));
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(milliseconds(500));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 250);
  EXPECT_EQ(channel.open_requests(), 1u);
}

TEST_F(HttpChannelTest, NoProxyOfTheEnvironmentIsBetweenUsAndLoopback) {
  const char* const old = std::getenv("http_proxy");
  const std::optional<std::string> before = old ? std::optional<std::string>(old) : std::nullopt;
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  HttpChannel channel(*credentials, {.name = "test"});
  const HttpResponse response = channel.Ask(Get("/hello"));
  EXPECT_EQ(response.status, 200) << response.error;
  before ? ::setenv("http_proxy", before->c_str(), 1) : ::unsetenv("http_proxy");
}

TEST_F(HttpChannelTest, ServersOnLoopback) {
  for (const char* url : {"http://127.0.0.1:8001", "https://127.1.2.3", "http://localhost:1/a",
                          "http://[::1]:8001", "https://[::1]"})
    EXPECT_TRUE(IsLoopbackServer(url)) << url;
  for (const char* url : {"http://10.0.0.1:127", "https://localhost.example:6443",
                          "http://[fd00::1]", "https://127.0.0.1.example", "nonsense", ""})
    EXPECT_FALSE(IsLoopbackServer(url)) << url;
}

// As `kubectl proxy` does: plain HTTP/1.1, on which a watch has its connection to itself.
TEST_F(HttpChannelTest, RequestsBesideEndlessStreamsHaveConnectionsOfTheirOwn) {
  HttpChannel channel(*credentials, {.name = "test"});
  std::atomic<int> open = 0;
  constexpr int kStreams = 11;
  for (int i = 0; i < kStreams; ++i) {
    HttpRequest request = Get("/endless", 60'000);
    request.on_open = [&] { ++open; };
    request.on_data = [](std::string_view) { return true; };
    request.on_done = [](HttpResponse) {};
    channel.Send(std::move(request));
  }
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (open < kStreams && Clock::now() < until) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(open, kStreams);
  EXPECT_EQ(channel.Ask(Get("/hello?name=you", 2000)).body, "hello you");
  LetGo();
}

// Requests of a server that wants a credential which a plugin gives when a file is there.
class ExecChannelTest : public HttpChannelTest {
 protected:
  void SetUp() override {
    HttpChannelTest::SetUp();
    go = ::testing::TempDir() + fmt::format("/krafla_exec_channel_{}", getpid());
    std::remove(go.c_str());
    // The address is not reached: no TLS is spoken there. That it was asked is what counts.
    KubeConnection connection{.server = fmt::format("https://127.0.0.1:{}", port)};
    connection.exec = ExecPlugin{
        .api_version = "client.authentication.k8s.io/v1",
        .command = "sh",
        .args = {
            "-c",
            "while [ ! -e " + go +
                R"( ]; do sleep 0.02; done; printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}')"}};
    plugin_credentials.emplace(connection, ProcessSurroundings());
  }
  void TearDown() override {
    plugin_credentials.reset();
    std::remove(go.c_str());
    HttpChannelTest::TearDown();
  }
  std::string go;
  std::optional<Credentials> plugin_credentials;
};

TEST_F(ExecChannelTest, RequestsWaitForTheirCredentialsAndTheChannelForNothing) {
  HttpChannel channel(*plugin_credentials, {.name = "test"});
  const HttpResponse late = channel.Ask(Get("/hello", 200));
  EXPECT_EQ(late.why, NoAnswer::kNoCredentials);
  EXPECT_EQ(late.error, "not sent: the exec plugin that gives the credentials still runs");
  std::promise<HttpResponse> answered;
  auto answer = answered.get_future();
  HttpRequest request = Get("/hello", 20'000);
  request.on_done = [&](HttpResponse response) { answered.set_value(std::move(response)); };
  channel.Send(std::move(request));
  std::promise<void> ran;
  channel.After(milliseconds(0), [&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  EXPECT_EQ(answer.wait_for(milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(channel.open_requests(), 1u);
  std::ofstream(go) << "x";
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(15)), std::future_status::ready);
  EXPECT_NE(answer.get().why, NoAnswer::kNoCredentials) << "it was sent";
}

TEST_F(ExecChannelTest, WhatWaitsForCredentialsEndsWithTheChannelAndIsKeptBackWithTheLease) {
  std::atomic<bool> may_write = true;
  std::promise<HttpResponse> answered[2];
  {
    HttpChannel channel(*plugin_credentials, {.name = "test", .send_until = [&] {
                                                return may_write
                                                           ? Clock::now() + std::chrono::hours(1)
                                                           : Clock::time_point::min();
                                              }});
    const auto send = [&](int i) {
      HttpRequest request = Get("/hello", 60'000);
      request.on_done = [&, i](HttpResponse response) {
        answered[i].set_value(std::move(response));
      };
      channel.Send(std::move(request));
      std::this_thread::sleep_for(milliseconds(50));
    };
    send(0);
    may_write = false;
    channel.Resume();
    EXPECT_TRUE(answered[0].get_future().get().kept_back);
    may_write = true;
    std::promise<void> next_round;  // what is sent before may still be kept back
    channel.After(milliseconds(0), [&] { next_round.set_value(); });
    next_round.get_future().wait();
    send(1);
  }
  EXPECT_TRUE(answered[1].get_future().get().closing);
}

TEST_F(ExecChannelTest, APluginThatFailsIsTheReasonOfEachRequest) {
  KubeConnection connection = plugin_credentials->connection();
  connection.exec->args = {"-c", "exit 3"};
  Credentials failing(connection, ProcessSurroundings());
  HttpChannel channel(failing, {.name = "test"});
  for (int i = 0; i < 3; ++i) {
    const HttpResponse response = channel.Ask(Get("/hello", 10'000));
    EXPECT_EQ(response.why, NoAnswer::kNoCredentials);
    EXPECT_EQ(response.error, "exec plugin sh ended with code 3");
  }
}

TEST_F(HttpChannelTest, EachRequestThatWasSentIsReportedOnceWithItsResult) {
  std::mutex mutex;
  std::vector<std::string> outcomes;
  HttpChannel channel(*credentials, {.name = "test", .on_outcome = [&](const RequestOutcome& o) {
                                       const std::scoped_lock lock(mutex);
                                       EXPECT_GT(o.duration.count(), 0);
                                       outcomes.push_back(fmt::format("{} {} {}", o.method,
                                                                      o.target, o.response.status));
                                     }});
  channel.Ask(Get("/hello"));
  channel.Ask(Get("/slow", 100));
  std::promise<void> done;
  HttpRequest stream = Get("/stream");
  stream.on_data = [](std::string_view) { return true; };
  stream.on_done = [&](HttpResponse) { done.set_value(); };
  channel.Send(std::move(stream));
  done.get_future().wait();
  channel.CutOff();
  channel.Ask(Get("/hello"));  // kept back
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(outcomes,
            (std::vector<std::string>{"GET /hello 200", "GET /slow 0", "GET /stream 200"}));
}

// Accepts connections and never says a word.
TEST(HttpChannelSilence, AConnectionThatDoesNotAnswerIsGivenUp) {
  InitializeHttp();
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  Credentials credentials({.server = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port))},
                          ProcessSurroundings());
  std::atomic<int> lines = 0;
  std::promise<HttpResponse> done;
  {
    HttpChannel channel(credentials, {.name = "test",
                                      .watchdog = true,
                                      .silence = milliseconds(100),
                                      .patience = milliseconds(200),
                                      .log = [&](const std::string&) { ++lines; }});
    HttpRequest request{.target = "/stream", .timeout = milliseconds(0)};
    request.on_data = [](std::string_view) { return true; };
    request.on_done = [&](HttpResponse response) { done.set_value(std::move(response)); };
    channel.Send(std::move(request));
    auto answer = done.get_future();
    ASSERT_EQ(answer.wait_for(std::chrono::seconds(5)), std::future_status::ready);
    EXPECT_EQ(answer.get().error, "the connection does not answer");
    EXPECT_EQ(lines, 1);
  }
  close(listener);
}

}  // namespace
}  // namespace krafla
