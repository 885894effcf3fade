#include "kube/outage_log.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace krafla {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Lines = std::vector<std::string>;

// A clock that the test moves, and the timers that ring by it.
class OutageLogTest : public ::testing::Test {
 protected:
  void Pass(milliseconds time) {
    const OutageLog::Clock::time_point until = now + time;
    while (!timers.empty() && timers.begin()->first <= until) {
      now = timers.begin()->first;
      const auto task = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      task();
    }
    now = until;
  }
  Lines Said() { return std::exchange(lines, {}); }

  OutageLog::Clock::time_point now{};
  std::multimap<OutageLog::Clock::time_point, std::function<void()>> timers;
  Lines lines;
  OutageLog outages{{.server = "https://x",
                     .trust = "Trusted: ca.crt.",
                     .after =
                         [this](milliseconds delay, std::function<void()> task) {
                           timers.emplace(now + delay, std::move(task));
                         },
                     .now = [this] { return now; },
                     .log = [this](const std::string& line) { lines.push_back(line); }}};
};

const HttpResponse kRefused{.error = "Connection refused"};

TEST_F(OutageLogTest, OneLineForAllThenOneAMinuteThenItsEnd) {
  const auto all_fail = [&] {
    for (const char* resource : {"nodes", "pods", "queues"})
      outages.Failed("watch", resource, kRefused);
  };
  all_fail();
  EXPECT_EQ(Said(), Lines{}) << "others may follow";
  Pass(milliseconds(600));
  EXPECT_EQ(Said(), (Lines{"API server does not answer; retrying server=https://x resources=3 "
                           "error=\"Connection refused\""}));
  for (int s = 1; s < 60; ++s) {
    Pass(seconds(1));
    all_fail();
  }
  EXPECT_EQ(Said(), Lines{});
  Pass(seconds(2));
  EXPECT_EQ(Said(), (Lines{"API server still does not answer for_s=60 server=https://x resources=3 "
                           "error=\"Connection refused\""}));
  outages.Worked("nodes");
  outages.Worked("pods");
  Pass(seconds(1));
  EXPECT_EQ(Said(), Lines{}) << "one is still out";
  outages.Worked("queues");
  Pass(seconds(1));
  EXPECT_EQ(Said(), (Lines{"API server answers again server=https://x after_s=62 resources=3"}));
  Pass(seconds(300));
  EXPECT_EQ(Said(), Lines{});
  EXPECT_TRUE(timers.empty());
}

TEST_F(OutageLogTest, WhatIsForbiddenIsNamedWithARemedyAndQuotesAreEscaped) {
  const HttpResponse forbidden{.status = 403,
                               .body = R"({"message":"User \"u\" cannot list resource \"pods\""})"};
  outages.Failed("list", "pods", forbidden);
  outages.Failed("watch", "nodes", forbidden);
  Pass(seconds(1));
  EXPECT_EQ(
      Said(),
      (Lines{R"(API server denies a required permission; retrying server=https://x resources=2 )"
             R"(asked="watch nodes, list pods" )"
             R"(error="403 User \"u\" cannot list resource \"pods\"" )"
             R"(hint="are the roles of deploy/rbac.yaml applied, and bound to the user that )"
             R"(the error names?")"}));
}

TEST_F(OutageLogTest, AnotherCauseEndsTheFirst) {
  outages.Failed("watch", "pods", kRefused);
  Pass(seconds(10));
  outages.Failed("watch", "pods", {.status = 503, .body = R"({"message":"starting"})"});
  Pass(seconds(10));
  const Lines said = Said();
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[1], "API server answers again server=https://x after_s=10 resources=1");
  EXPECT_EQ(said[2],
            "API server answers with errors; retrying server=https://x verb=watch resource=pods "
            "error=\"503 starting\"");
}

TEST_F(OutageLogTest, AnInterruptionIsOneLine) {
  outages.Failed("watch", "pods", kRefused);
  Pass(milliseconds(200));
  outages.Worked("pods");
  Pass(seconds(2));
  EXPECT_EQ(Said(), (Lines{"API server answers again, after a short while server=https://x "
                           "resources=1 error=\"Connection refused\""}));
}

// A stream that opens and ends at once, again and again.
TEST_F(OutageLogTest, WhatComesAndGoesIsNoFlood) {
  for (int i = 0; i < 600; ++i) {
    outages.Failed("watch", "pods", {.status = 200, .error = "broken"});
    Pass(milliseconds(700));
    outages.Worked("pods");
    Pass(milliseconds(i % 2 == 0 ? 100 : 2000));
  }
  // 17.5 minutes: at most a beginning and an end in each.
  EXPECT_LE(Said().size(), 40u);
  outages.Failed("watch", "pods", kRefused);
  Pass(seconds(61));
  EXPECT_FALSE(Said().empty()) << "a new outage is told of, a minute late at most";
}

// A server that answers 401 closes the connection that all share: whoever was asking beside is cut
// short, before or after the answer comes.
TEST_F(OutageLogTest, WhoIsCutShortByAServerThatDoesNotKnowUsIsNoMatterOfItsOwn) {
  const HttpResponse cut{.error = "Error in the HTTP2 framing layer", .why = NoAnswer::kCutShort};
  const HttpResponse unknown{.status = 401, .body = R"({"message":"Unauthorized"})"};
  outages.Failed("watch", "nodes", cut);
  outages.Failed("watch", "pods", unknown);
  outages.Failed("watch", "queues", cut);
  Pass(seconds(1));
  EXPECT_EQ(Said(),
            (Lines{"API server rejects the credentials; retrying server=https://x resources=3 "
                   "error=\"401 Unauthorized\" hint=\"is the kubeconfig's token or "
                   "certificate still good?\""}));
  // The others' turn, again and again.
  for (int i = 0; i < 10; ++i) {
    outages.Failed("watch", "pods", cut);
    outages.Failed("watch", "queues", unknown);
    Pass(seconds(1));
  }
  EXPECT_EQ(Said(), Lines{});
  // Gone for good is another matter.
  for (const char* resource : {"nodes", "pods", "queues"})
    outages.Failed("watch", resource, kRefused);
  Pass(seconds(1));
  EXPECT_EQ(Said(), (Lines{"API server does not answer; retrying server=https://x resources=3 "
                           "error=\"Connection refused\""}))
      << "and not that it knows us now";
}

TEST_F(OutageLogTest, WhoIsCutShortOtherwiseGetsNoAnswer) {
  outages.Failed("watch", "pods", {.error = "reset", .why = NoAnswer::kCutShort});
  Pass(seconds(1));
  EXPECT_EQ(Said(),
            (Lines{"API server does not answer; retrying server=https://x verb=watch resource=pods "
                   "error=\"reset\""}));
}

TEST_F(OutageLogTest, ACertificateThatIsNotTrustedIsNamedWithTheFieldToLookAt) {
  outages.Failed("watch", "pods",
                 {.error = "unable to get local issuer certificate", .why = NoAnswer::kUntrusted});
  Pass(seconds(1));
  const Lines said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with(
      "API server's certificate is not trusted; retrying server=https://x verb=watch resource=pods "
      "error=\"unable to get local issuer certificate\" hint=\"is it signed by "
      "certificate-authority (or certificate-authority-data)"))
      << said[0];
  EXPECT_TRUE(said[0].ends_with("Trusted: ca.crt.\"")) << said[0];
}

// No answer has come: only a certificate.
TEST_F(OutageLogTest, ACertificateThatIsRefusedIsNoAnswer) {
  for (const NoAnswer why :
       {NoAnswer::kUntrusted, NoAnswer::kOtherName, NoAnswer::kOwnCertificate}) {
    outages.Failed("watch", "pods", kRefused);
    Pass(seconds(70));
    Said();
    outages.Failed("watch", "pods", {.error = "certificate", .why = why});
    Pass(seconds(70));
    for (const std::string& line : Said()) {
      EXPECT_EQ(line.find("answers again"), line.npos) << line;
      EXPECT_NE(line.find("certificate"), line.npos) << line;
    }
    outages.Worked("pods");
    Pass(seconds(70));
    EXPECT_EQ(Said().size(), 1u);
  }
}

TEST_F(OutageLogTest, AServerThatSpeaksTlsIsNamedWithTheFieldToLookAt) {
  outages.Failed("watch", "pods",
                 {.status = 400, .body = "Client sent an HTTP request to an HTTPS server.\n"});
  Pass(seconds(1));
  EXPECT_EQ(Said(), (Lines{"API server expects TLS, but its address begins with http://; retrying "
                           "server=https://x verb=watch resource=pods error=\"400 Client sent an "
                           "HTTP request to an HTTPS server.\" "
                           "hint=\"the kubeconfig's server should begin with https://\""}));
}

TEST_F(OutageLogTest, AnAnswerInPlainTextIsNotNumberedTwice) {
  outages.Failed("watch", "queues", {.status = 404, .body = "404 page not found\n"});
  Pass(seconds(1));
  const Lines said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find(" error=\"404 page not found\" "), std::string::npos) << said[0];
}

TEST_F(OutageLogTest, MissingCredentialsAreNamedAndAreNoOutageOfTheServer) {
  outages.Failed("watch", "pods", kRefused);
  Pass(seconds(1));
  Said();
  const HttpResponse none{.error = "exec plugin aws ended with code 1",
                          .why = NoAnswer::kNoCredentials};
  outages.Failed("watch", "pods", none);
  outages.Failed("watch", "nodes", none);
  Pass(seconds(2));
  EXPECT_EQ(Said(),
            (Lines{"no credentials for the API server; retrying server=https://x resources=2 "
                   "error=\"exec plugin aws ended with code 1\" hint=\"does the exec plugin of the "
                   "kubeconfig's user work when it is run by hand?\""}));
}

HttpResponse Denied(const std::string& verb, const std::string& resource) {
  return {.status = 403,
          .body = R"({"message":"g is forbidden: User \"u\" cannot )" + verb + R"( resource \")" +
                  resource + R"(\" in API group"})"};
}

// Writes are sent when something changes: silence does not mean that the permission is there.
TEST_F(OutageLogTest, ADeniedWriteIsRepeatedOnceAMinuteUntilOneIsAllowed) {
  for (int i = 0; i < 100; ++i)
    outages.WriteAnswered("patch", "podgroups", Denied("patch", "podgroups"));
  Pass(seconds(1));
  EXPECT_EQ(
      Said(),
      (Lines{R"(API server denies a required permission; retrying server=https://x verb=patch )"
             R"(resource=podgroups error="403 g is forbidden: User \"u\" cannot patch resource )"
             R"(\"podgroups\" in API group" hint="are the roles of deploy/rbac.yaml applied, and )"
             R"(bound to the user that the error names?")"}));
  outages.Failed("watch", "podgroups", kRefused);
  outages.Worked("podgroups");  // a read says nothing about writes
  Pass(seconds(180));
  Lines said = Said();
  std::erase_if(said, [](const std::string& line) { return line.find("answer") != line.npos; });
  ASSERT_EQ(said.size(), 3u);
  for (const std::string& line : said)
    EXPECT_TRUE(line.starts_with("API server still denies a required permission for_s=")) << line;
  outages.WriteAnswered("patch", "queues/status", {.status = 200});
  outages.WriteAnswered("patch", "podgroups", {.status = 409});
  outages.WriteAnswered("patch", "podgroups", {.error = "no answer"});
  Pass(seconds(10));
  EXPECT_EQ(Said(), Lines{});
  outages.WriteAnswered("patch", "podgroups", {.status = 200});
  Pass(seconds(1));
  EXPECT_EQ(Said(), (Lines{"API server grants the required permissions now server=https://x "
                           "after_s=191 resources=1"}));
  Pass(seconds(300));
  EXPECT_EQ(Said(), Lines{});
}

TEST_F(OutageLogTest, SeveralDeniedPermissionsAreOneLineWithAllOfThem) {
  outages.WriteAnswered("patch", "queues/status", Denied("patch", "queues"));
  outages.WriteAnswered("update", "podgroups", Denied("update", "podgroups"));
  outages.Failed("watch", "csinodes", Denied("watch", "csinodes"));
  Pass(seconds(1));
  const Lines said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find(R"( resources=3 asked="watch csinodes, update podgroups, patch )"
                         R"(queues/status" )"),
            std::string::npos)
      << said[0];
}

TEST_F(OutageLogTest, AnUpdateThatIsAllowedWhereAPatchWasDeniedLeavesNothingToSay) {
  outages.WriteAnswered("patch", "podgroups", Denied("patch", "podgroups"));
  Pass(milliseconds(20));
  outages.WriteAnswered("update", "podgroups", {.status = 200});
  Pass(seconds(200));
  EXPECT_EQ(Said(), Lines{});
}

// One object's matter, which its writer reports.
TEST_F(OutageLogTest, AQuotaOrAnAdmissionWebhookDeniesNoPermission) {
  for (const char* message :
       {R"({"message":"pods \"p\" is forbidden: exceeded quota: small"})",
        R"({"message":"admission webhook \"w\" denied the request: User \"u\" cannot do that"})"})
    outages.WriteAnswered("create", "pods/binding", {.status = 403, .body = message});
  Pass(seconds(200));
  EXPECT_EQ(Said(), Lines{});
}

TEST_F(OutageLogTest, WhatNeverFailedNeedsNoWord) {
  outages.Worked("pods");
  Pass(seconds(100));
  EXPECT_EQ(Said(), Lines{});
}

}  // namespace
}  // namespace krafla
