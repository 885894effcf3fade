#include "kube/page_access.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "kube/scripted_client_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ScriptedClient;

constexpr const char* kTokens = "POST /apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccesses = "POST /apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr const char* kGood =
    R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"system:serviceaccount:monitoring:prometheus","uid":"u1","groups":["system:serviceaccounts","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]}}}})";
constexpr const char* kBad =
    R"({"kind":"TokenReview","status":{"user":{},"error":"invalid bearer token"}})";
constexpr const char* kAllowed =
    R"({"kind":"SubjectAccessReview","status":{"allowed":true,"reason":"RBAC"}})";
constexpr const char* kDenied = R"({"kind":"SubjectAccessReview","status":{"allowed":false}})";

class PageAccessTest : public ::testing::Test {
 protected:
  PageAccess& Access() {
    if (access_ == nullptr) {
      options.send = [this](HttpRequest request) {
        sent.push_back(request);
        ApiClient::Done done = request.on_done;
        client.Send(std::move(request), std::move(done));
      };
      Make();
    }
    return *access_;
  }
  void Make() {
    options.after = [this](milliseconds delay, std::function<void()> task) {
      client.After(delay, std::move(task));
    };
    options.now = [this] {
      return PageAccess::Clock::time_point(std::chrono::nanoseconds(client.Now().ns));
    };
    options.on_request = [this](std::string_view page, std::string_view result) {
      ++counted[fmt::format("{} {}", page, result)];
    };
    options.on_review = [this](std::string_view review, std::string_view result) {
      ++counted[fmt::format("{} {}", review, result)];
    };
    options.log = [this](const std::string& line) { log.push_back(line); };
    access_ = std::make_unique<PageAccess>(options);
  }
  static ApiRequest From(const std::string& authorization, const std::string& path = "/metrics") {
    return {.path = path,
            .parameters = {},
            .authorization = authorization,
            .peer = "10.0.0.7",
            .tls = true};
  }
  static std::string Words(const AccessVerdict& verdict) {
    if (!verdict.refusal)
      return verdict.user.empty() ? "allowed" : fmt::format("allowed {}", verdict.user);
    std::string words = fmt::format("{} {}", verdict.refusal->status, verdict.refusal->body);
    words.pop_back();
    if (verdict.refusal->retry_after_s)
      words += fmt::format(" retry-after={}", *verdict.refusal->retry_after_s);
    for (const auto& [name, value] : verdict.refusal->headers)
      words += fmt::format(" {}: {}", name, value);
    return words;
  }
  // The verdict in words; "asks" when it is not known yet: then it is put into `verdicts`.
  std::string Ask(const ApiRequest& request) {
    const auto verdict = Access().Authorize(
        request, [this](AccessVerdict late) { verdicts.push_back(Words(late)); });
    return verdict ? Words(*verdict) : "asks";
  }
  std::string Ask(const std::string& token, const std::string& path = "/metrics") {
    return Ask(From("Bearer " + token, path));
  }
  std::vector<std::string> TakeVerdicts() { return std::exchange(verdicts, {}); }

  ScriptedClient client;
  PageAccess::Options options;
  std::vector<HttpRequest> sent;
  std::vector<std::string> verdicts;
  std::vector<std::string> log;
  std::map<std::string, int> counted;

 private:
  std::unique_ptr<PageAccess> access_;
};

using Texts = std::vector<std::string>;

constexpr const char* kAllowedUser = "allowed system:serviceaccount:monitoring:prometheus";
constexpr const char* kUnknownToken =
    "401 the API server does not accept this token: is it expired, or of another cluster? "
    "WWW-Authenticate: Bearer realm=\"krafla\", error=\"invalid_token\"";
constexpr const char* kUnavailable =
    "503 the API server could not be asked whether you may read this retry-after=2";

TEST_F(PageAccessTest, ATokenIsReviewedAndThenItsAccess) {
  EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(client.requests, (Texts{kTokens}));
  EXPECT_EQ(client.bodies[0], R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
                              R"("spec":{"token":"abc"}})");
  client.Answer(201, kGood);
  EXPECT_EQ(client.requests, (Texts{kTokens, kAccesses}));
  EXPECT_EQ(client.bodies[1],
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{)"
            R"("user":"system:serviceaccount:monitoring:prometheus","uid":"u1",)"
            R"("groups":["system:serviceaccounts","system:authenticated"],)"
            R"("extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]},)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}}})");
  EXPECT_EQ(TakeVerdicts(), Texts{});
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts{kAllowedUser});
  EXPECT_EQ(counted, (std::map<std::string, int>{
                         {"metrics allowed", 1}, {"token answered", 1}, {"access answered", 1}}));
  EXPECT_EQ(log, Texts{});
}

// Every user may get /api/* by the role system:discovery: that must not open our API.
TEST_F(PageAccessTest, PagesOfTheApiAreAskedForBelowAPathOfTheirOwn) {
  EXPECT_EQ(Ask("abc", "/api/v1/jobs"), "asks");
  client.Answer(201, kGood);
  EXPECT_NE(client.bodies[1].find(R"("path":"/krafla/api/v1/jobs","verb":"get")"),
            std::string::npos)
      << client.bodies[1];
  client.Answer(201, kDenied);
  EXPECT_EQ(TakeVerdicts(),
            Texts{R"(403 {"error":"\"system:serviceaccount:monitoring:prometheus\" may not read )"
                  R"(/api/v1/jobs: a role must allow get on the nonResourceURL )"
                  R"(/krafla/api/v1/jobs, as the ClusterRole krafla-api-reader of )"
                  R"(deploy/rbac.yaml does"})"});
  EXPECT_EQ(counted["api forbidden"], 1);
}

TEST_F(PageAccessTest, AnswersAreCachedForTenSeconds) {
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  client.TakeRequests();
  client.Pass(milliseconds(9'999));
  EXPECT_EQ(Ask("abc"), kAllowedUser);
  EXPECT_EQ(client.requests, Texts{});
  client.Pass(milliseconds(1));
  EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(client.TakeRequests(), Texts{kTokens});
  // Revoked meanwhile.
  TakeVerdicts();
  client.Answer(201, kBad);
  EXPECT_EQ(TakeVerdicts(), Texts{kUnknownToken});
}

TEST_F(PageAccessTest, RefusalsAreCachedForTenSeconds) {
  Ask("abc");
  client.Answer(201, kBad);
  EXPECT_EQ(TakeVerdicts(), Texts{kUnknownToken});
  EXPECT_EQ(Ask("abc"), kUnknownToken);
  Ask("other");
  client.Answer(201, kGood);
  client.Answer(201, kDenied);
  const std::string forbidden = TakeVerdicts()[0];
  EXPECT_TRUE(forbidden.starts_with("403 ")) << forbidden;
  EXPECT_NE(forbidden.find("krafla-metrics-reader"), std::string::npos) << forbidden;
  EXPECT_EQ(Ask("other"), forbidden);
  client.TakeRequests();
  client.Pass(seconds(10));
  EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(Ask("other"), "asks");
  EXPECT_EQ(client.requests, (Texts{kTokens, kTokens}));
}

TEST_F(PageAccessTest, AnotherPathAsksForItsAccessOnly) {
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  client.TakeRequests();
  EXPECT_EQ(Ask("abc", "/api/v1/jobs"), "asks");
  EXPECT_EQ(client.requests, Texts{kAccesses});
}

TEST_F(PageAccessTest, EqualRequestsShareTheirReviews) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(client.requests, Texts{kTokens});
  client.Answer(201, kGood);
  EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(client.requests, (Texts{kTokens, kAccesses}));
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts(6, kAllowedUser));
  EXPECT_EQ(client.open(), 0u);
}

TEST_F(PageAccessTest, LoopbackNeedsNoToken) {
  ApiRequest request = From("", "/api/v1/jobs");
  request.loopback = true;
  EXPECT_EQ(Ask(request), "allowed");
  request.authorization = "Bearer whatever";
  EXPECT_EQ(Ask(request), "allowed");
  EXPECT_EQ(client.requests, Texts{});
}

TEST_F(PageAccessTest, AnonymousMetricsAreMetricsAlone) {
  options.anonymous_metrics = true;
  EXPECT_EQ(Ask(From("")), "allowed");
  EXPECT_TRUE(Ask(From("", "/api/v1/jobs")).starts_with("401 {\"error\":\"a bearer token"));
  EXPECT_TRUE(Ask(From("", "/metrics/")).starts_with("401 "));
}

TEST_F(PageAccessTest, WithoutATokenItIsNotAsked) {
  EXPECT_EQ(Ask(From("")),
            "401 a bearer token is needed: send the header Authorization: Bearer TOKEN "
            "WWW-Authenticate: Bearer realm=\"krafla\"");
  EXPECT_EQ(counted["metrics unauthenticated"], 1);
  EXPECT_EQ(client.requests, Texts{});
}

TEST_F(PageAccessTest, HostileHeadersAreRefusedWithoutAReview) {
  for (const std::string& header :
       {std::string("Basic YWRtaW46YWRtaW4="), std::string("Bearer"), std::string("Bearer "),
        std::string("Bearer    "), std::string("Bearerabc"), std::string("Bearer a b"),
        std::string("Bearer\tabc"), std::string("Bearer a\tb"), std::string("Bearer a\x80"),
        std::string("abc"), std::string("Negotiate Bearer abc"), std::string(" Bearer abc"),
        "Bearer " + std::string((12 << 10) + 1, 'x')}) {
    const std::string answer = Ask(From(header));
    EXPECT_EQ(answer,
              "401 expected the header Authorization: Bearer TOKEN, with one token of at most 12 "
              "KiB WWW-Authenticate: Bearer realm=\"krafla\"")
        << header;
  }
  EXPECT_EQ(client.requests, Texts{});
  for (const std::string& path : {std::string("/api/v1/\xff"), std::string("/api/v1/a b"),
                                  "/api/v1/" + std::string(600, 'x'), std::string("/api/\n")})
    EXPECT_EQ(Ask(From("Bearer abc", path)), R"(404 {"error":"there is no such page"})");
  EXPECT_EQ(client.requests, Texts{});
}

TEST_F(PageAccessTest, TheSchemeIsReadInAnyCaseAndTheTokenAsItIs) {
  for (const char* scheme : {"Bearer", "bearer", "BEARER"})
    EXPECT_EQ(Ask(From(fmt::format("{}  aBc= ", scheme))), "asks");
  ASSERT_EQ(client.bodies.size(), 1u) << "one token, one review";
  EXPECT_NE(client.bodies[0].find(R"("token":"aBc=")"), std::string::npos);
  Ask("abc=");
  EXPECT_EQ(client.bodies.size(), 2u);
  Ask(std::string(12 << 10, 'x'));
  EXPECT_EQ(client.bodies.size(), 3u) << "as long as a token may be";
}

TEST_F(PageAccessTest, AnOutageIsNeverAnOk) {
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts{kAllowedUser});
  client.Pass(seconds(10));
  for (const int status : {0, 500, 503}) {
    Ask("abc");
    for (int attempt = 0; attempt < 3; ++attempt) {
      EXPECT_EQ(verdicts, Texts{}) << status;
      client.Answer(status, "");
      client.Pass(seconds(1));
    }
    EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable}) << status;
    EXPECT_EQ(client.open(), 0u) << status;
  }
  EXPECT_EQ(counted["metrics unavailable"], 3);
  EXPECT_EQ(counted["token failed"], 9);
  ASSERT_EQ(log.size(), 1u) << "one line a minute";
  EXPECT_EQ(log[0],
            "callers of the pages cannot be checked, they get 503 review=token asked=\"create "
            "tokenreviews\" error=\"no answer\"");
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts{kAllowedUser});
  ASSERT_EQ(log.size(), 2u);
  EXPECT_TRUE(log[1].starts_with("callers of the pages can be checked again review=token after_s="))
      << log[1];
}

TEST_F(PageAccessTest, AFailureThatPassesIsNotSeen) {
  Ask("abc");
  client.Answer(0);
  client.Pass(milliseconds(249));
  EXPECT_EQ(client.open(), 0u);
  client.Pass(milliseconds(1));
  client.Answer(201, kGood);
  client.Answer(500);
  client.Pass(milliseconds(250));
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts{kAllowedUser});
  EXPECT_EQ(log, Texts{});
}

TEST_F(PageAccessTest, AVerdictTakesAtMostFiveSeconds) {
  Ask("abc");
  client.Pass(milliseconds(4'999));
  EXPECT_EQ(TakeVerdicts(), Texts{});
  Ask("abc");
  client.Pass(milliseconds(1));
  EXPECT_EQ(TakeVerdicts(), (Texts{kUnavailable, kUnavailable}));
  EXPECT_EQ(log.at(0),
            "callers of the pages cannot be checked, they get 503 review=token asked=\"create "
            "tokenreviews\" error=\"no answer within 5000 ms\"");
  // The late answers are good for the next request; each request gets one verdict.
  client.Answer(201, kGood);
  EXPECT_EQ(TakeVerdicts(), Texts{});
  EXPECT_EQ(Ask("abc"), "asks");
  EXPECT_EQ(client.requests, (Texts{kTokens, kAccesses}));
  // Together they have no more time than one.
  client.Pass(seconds(5));
  EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable});
}

TEST_F(PageAccessTest, AWaitTheServerAsksForIsKeptAndHandedOn) {
  Ask("abc");
  client.Answer(429, "{}", milliseconds(2'000));
  client.Pass(milliseconds(1'999));
  EXPECT_EQ(client.open(), 0u);
  client.Pass(milliseconds(1));
  EXPECT_EQ(client.open(), 1u);
  client.Answer(429, "{}", milliseconds(30'000));  // later than the deadline
  EXPECT_EQ(
      TakeVerdicts(),
      Texts{"503 the API server could not be asked whether you may read this retry-after=30"});
}

TEST_F(PageAccessTest, AMissingRoleIsNamedInTheLog) {
  Ask("abc");
  client.Answer(403, R"({"kind":"Status","message":"tokenreviews is forbidden: abc"})");
  EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable});
  EXPECT_EQ(log,
            Texts{"callers of the pages cannot be checked, they get 503 review=token "
                  "asked=\"create tokenreviews\" error=\"403 tokenreviews is forbidden: <token>\" "
                  "hint=\"deploy/rbac.yaml allows the scheduler to create tokenreviews and "
                  "subjectaccessreviews\""});
  client.Pass(seconds(1));
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(403, R"({"kind":"Status","message":"no"})");
  EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable});
  EXPECT_NE(log.back().find("review=access asked=\"create subjectaccessreviews\" error=\"403 no\""),
            std::string::npos)
      << log.back();
}

TEST_F(PageAccessTest, AnswersThatAreNoReviewsAreOutages) {
  for (const std::string body :
       {"", "{}", "<html>", "[]", R"({"kind":"Status"})", R"({"kind":"TokenReview"})",
        R"({"kind":"TokenReview","status":7})",
        R"({"kind":"TokenReview","status":{"authenticated":true}})",
        R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":""}}})"}) {
    Ask("abc");
    client.Answer(201, body);
    EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable}) << body;
  }
  for (const std::string body : {"", "{}", kGood, R"({"kind":"SubjectAccessReview"})"}) {
    Ask("abc");
    if (client.requests.back() == kTokens) client.Answer(201, kGood);
    client.Answer(201, body);
    EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable}) << body;
  }
  // "authenticated" is true or it is not.
  Ask("abc2");
  client.Answer(201, R"({"kind":"TokenReview","status":{"authenticated":"true",)"
                     R"("user":{"username":"x"}}})");
  EXPECT_EQ(TakeVerdicts(), Texts{kUnknownToken});
  // A rule that denies wins.
  Ask("abc3");
  client.Answer(201, kGood);
  client.Answer(201, R"({"kind":"SubjectAccessReview","status":{"allowed":true,"denied":true}})");
  EXPECT_TRUE(TakeVerdicts()[0].starts_with("403 "));
}

TEST_F(PageAccessTest, TheCacheIsBounded) {
  options.most_cached = 10;
  for (int i = 0; i < 100; ++i) {
    Ask(fmt::format("bad-{}", i));
    client.Answer(201, kBad);
    client.Pass(milliseconds(1));
  }
  EXPECT_EQ(Access().cached(), (std::pair<size_t, size_t>(10, 0)));
  Ask("good");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Ask("good", fmt::format("/api/v1/{}", i)), "asks");
    client.Answer(201, kAllowed);
  }
  EXPECT_EQ(Access().cached(), (std::pair<size_t, size_t>(10, 10)));
  client.TakeRequests();
  EXPECT_EQ(Ask("good", "/api/v1/49"), kAllowedUser) << "the newest stay";
  client.Pass(seconds(10));
  Ask("bad-200");
  client.Answer(201, kBad);
  EXPECT_EQ(Access().cached().first, 1u) << "what has expired goes first";
}

TEST_F(PageAccessTest, RequestsDoNotPileUpBehindAServerThatHangs) {
  options.most_open = 4;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Ask(fmt::format("t{}", i)), "asks");
  EXPECT_EQ(Ask("t4"), kUnavailable) << "at once";
  EXPECT_EQ(Ask("t0"), "asks") << "it shares the review that is under way";
  client.Pass(seconds(60));
  EXPECT_EQ(TakeVerdicts(), Texts(5, kUnavailable));
  EXPECT_EQ(Ask("t5"), kUnavailable) << "the four are still not answered";
  for (int i = 0; i < 4; ++i) client.Answer(0);
  EXPECT_EQ(Ask("t5"), "asks");
  EXPECT_EQ(client.open(), 1u) << "late failures are not tried again";
}

TEST_F(PageAccessTest, ACallerThatWasGoodBeforeIsNotBehindMadeUpTokens) {
  Ask("known");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  client.Pass(seconds(30));
  Ask("made-up");
  Ask("known");
  EXPECT_EQ(sent.at(1).urgency, Urgency::kBind) << "a SubjectAccessReview";
  EXPECT_EQ(sent.at(2).urgency, Urgency::kEvict);
  EXPECT_EQ(sent.at(3).urgency, Urgency::kBind);
}

TEST_F(PageAccessTest, WithoutLaterOnlyWhatIsKnownIsSaid) {
  EXPECT_FALSE(Access().Authorize(From("Bearer abc"), nullptr));
  EXPECT_EQ(client.requests, Texts{});
  Ask("abc");
  client.Answer(201, kGood);
  client.Answer(201, kAllowed);
  const auto known = Access().Authorize(From("Bearer abc"), nullptr);
  ASSERT_TRUE(known);
  EXPECT_EQ(Words(*known), kAllowedUser);
  EXPECT_TRUE(Access().Authorize(From(""), nullptr));
}

TEST_F(PageAccessTest, WhereNoTokenMayBeSentNoneIsChecked) {
  Make();  // without `send`
  const auto verdict = PageAccess(options).Authorize(From("Bearer abc"), [](AccessVerdict) {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(Words(*verdict),
            "503 tokens cannot be checked here: the API server is reached over http://, to which "
            "no token is sent");
}

// As in krafla serve: the server's threads ask, the channel's thread answers.
TEST_F(PageAccessTest, EachConcurrentRequestGetsOneVerdict) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 500;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<HttpRequest> queue;
  bool stop = false;
  std::atomic<int> allowed = 0;
  std::atomic<int> refused = 0;
  PageAccess access({.send =
                         [&](HttpRequest request) {
                           const std::scoped_lock lock(mutex);
                           queue.push_back(std::move(request));
                           wake.notify_one();
                         },
                     .after = [](milliseconds, const std::function<void()>&) {},
                     .cached_for = milliseconds(2),
                     .most_cached = 3,
                     .most_open = 1'000'000});
  std::thread channel([&] {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stop || !queue.empty(); });
      if (queue.empty()) return;
      const HttpRequest request = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      const bool token = request.target.ends_with("tokenreviews");
      const bool bad = request.body.find("bad") != std::string::npos;
      request.on_done({.status = 201, .body = !token ? kAllowed : bad ? kBad : kGood});
      lock.lock();
    }
  });
  const auto count = [&](const AccessVerdict& verdict) { ++(verdict.refusal ? refused : allowed); };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRequests; ++i) {
        const std::string token = fmt::format("{}-{}", i % 2 == 0 ? "good" : "bad", (i + t) % 7);
        if (const auto verdict = access.Authorize(From("Bearer " + token), count)) count(*verdict);
      }
    });
  for (std::thread& thread : threads) thread.join();
  {
    const std::scoped_lock lock(mutex);
    stop = true;
  }
  wake.notify_one();
  channel.join();
  EXPECT_EQ(allowed, kThreads * kRequests / 2);
  EXPECT_EQ(refused, kThreads * kRequests / 2);
}

TEST_F(PageAccessTest, TheEndOfTheChannelIsNoNews) {
  Ask("abc");
  HttpRequest& request = sent.at(0);
  request.on_done({.error = "the channel is closed", .closing = true});
  EXPECT_EQ(TakeVerdicts(), Texts{kUnavailable});
  EXPECT_EQ(log, Texts{});
}

TEST_F(PageAccessTest, TokensAreNeitherLoggedNorRepeatedToCallers) {
  const std::string secret = "s3cr3t-t0k3n";
  std::string all;
  const auto gather = [&] {
    for (const std::string& text : TakeVerdicts()) all += text + "\n";
  };
  all += Ask(From("Basic " + secret)) + Ask(From(secret)) + Ask(From("Bearer x " + secret));
  Ask(secret);
  client.Answer(201, kBad);
  gather();
  client.Pass(seconds(11));
  Ask(secret);
  client.Answer(422,
                fmt::format(R"({{"kind":"Status","message":"spec.token: {0}, {0}"}})", secret));
  gather();
  Ask(secret);
  client.Answer(201, fmt::format(R"({{"token":"{}"}})", secret));
  gather();
  Ask(secret, "/api/v1/jobs");
  client.Answer(201, kGood);
  client.Answer(201, kDenied);
  gather();
  for (const std::string& line : log) all += line + "\n";
  EXPECT_EQ(all.find(secret), std::string::npos) << all;
  EXPECT_NE(all.find("spec.token: <token>, <token>"), std::string::npos) << all;
  for (const auto& [name, count] : counted) EXPECT_EQ(name.find(secret), std::string::npos);
}

// Messages are shortened for the log: a token that is cut there is not found as a whole.
TEST_F(PageAccessTest, NoPartOfALongTokenIsLogged) {
  const std::string secret = "s3cr3t" + std::string(1'500, 't');
  Ask(secret);
  client.Answer(422, fmt::format(R"({{"kind":"Status","message":"spec.token: {}"}})", secret));
  Ask(secret);
  client.Pass(seconds(70));
  Ask(secret);
  client.Answer(201, fmt::format("no JSON: {}", secret));
  ASSERT_FALSE(log.empty());
  EXPECT_NE(log[0].find("spec.token: <token>"), std::string::npos) << log[0];
  for (const std::string& line : log) EXPECT_EQ(line.find("s3cr3t"), std::string::npos) << line;
}

TEST_F(PageAccessTest, ATokenThatWasAllowedIsCheckedBesideAnyNumberOfMadeUpOnes) {
  options.most_open = 4;
  options.most_open_reserved = 1;
  options.most_cached = 2;
  const ApiRequest good = From("Bearer good");
  EXPECT_FALSE(Access().WasAllowed(good));
  Ask("good");
  client.Answer(201, kGood);
  EXPECT_FALSE(Access().WasAllowed(good)) << "it is valid, and may not read pages";
  client.Answer(201, kAllowed);
  EXPECT_EQ(TakeVerdicts(), Texts{kAllowedUser});
  EXPECT_TRUE(Access().WasAllowed(good));
  EXPECT_FALSE(Access().WasAllowed(From("Bearer made-up")));
  // So many that nothing is left of it in the cache.
  for (int i = 0; i < 300; ++i) {
    Ask(fmt::format("made-up-{}", i));
    client.Answer(201, kBad);
  }
  client.Pass(seconds(60));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Ask(fmt::format("more-{}", i)), "asks");
  EXPECT_EQ(Ask("one-more"), kUnavailable);
  EXPECT_EQ(Ask("good"), "asks");
  EXPECT_EQ(sent.back().urgency, Urgency::kBind) << "before those that wait";
  EXPECT_EQ(sent[sent.size() - 2].urgency, Urgency::kEvict);
  EXPECT_TRUE(Ask("good", "/api/v1/jobs").starts_with("503 ")) << "the reserve is bounded";
}

TEST_F(PageAccessTest, ATokenThatIsNotValidAnyLongerIsForgotten) {
  const ApiRequest good = From("Bearer good");
  const auto allow = [&] {
    Ask("good");
    client.Answer(201, kGood);
    client.Answer(201, kAllowed);
  };
  allow();
  client.Pass(seconds(599));
  EXPECT_TRUE(Access().WasAllowed(good));
  client.Pass(seconds(2));
  EXPECT_FALSE(Access().WasAllowed(good));
  allow();
  EXPECT_TRUE(Access().WasAllowed(good));
  client.Pass(seconds(11));
  Ask("good");
  client.Answer(201, kBad);
  EXPECT_FALSE(Access().WasAllowed(good));
}

}  // namespace
}  // namespace krafla
