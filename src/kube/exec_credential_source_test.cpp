#include "kube/exec_credential_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace krafla {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

// A shell script as a plugin. Files in a folder of its own tell it what to do and count its runs.
class ExecCredentialSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::path(::testing::TempDir()) /
             fmt::format("krafla_exec_source_{}_{}", getpid(),
                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override {
    source.reset();
    std::filesystem::remove_all(folder);
  }
  void Start(const std::string& script, milliseconds patience = std::chrono::seconds(30),
             milliseconds retry_wait = milliseconds(50)) {
    KubeConnection connection{.server = "https://x"};
    connection.exec = ExecPlugin{
        .api_version = "client.authentication.k8s.io/v1",
        .command = "sh",
        .args = {"-c", "cd " + folder.string() + "; echo x >> runs; n=$(wc -l < runs); " + script}};
    source = std::make_unique<ExecCredentialSource>(
        connection, ExecCredentialSource::Options{.patience = patience,
                                                  .retry_wait = retry_wait,
                                                  .on_change = [this] { ++changes; },
                                                  .log =
                                                      [this](const std::string& line) {
                                                        const std::scoped_lock lock(mutex);
                                                        log.push_back(line);
                                                      }});
  }
  // Prints the token "t" and the number of the run.
  static std::string Print(const std::string& expires = "") {
    return fmt::format(
        R"(printf '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("status":{{"token":"t%s"{}}}}}' $n)",
        expires.empty() ? "" : fmt::format(R"(,"expirationTimestamp":"{}")", expires));
  }
  static std::string After(std::chrono::seconds time) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch() + time;
    return FormatRfc3339({std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()});
  }
  // What is said when no plugin is waited for any more.
  ExecCredentialSource::Answer Settled() {
    for (int i = 0; i < 2000; ++i) {
      ExecCredentialSource::Answer answer = source->Current();
      if (answer.credential != nullptr || !answer.problem.empty()) return answer;
      std::this_thread::sleep_for(milliseconds(5));
    }
    ADD_FAILURE() << "the plugin does not end";
    return {};
  }
  std::string Token() {
    const ExecCredentialSource::Answer answer = Settled();
    return answer.credential != nullptr ? answer.credential->token : answer.problem;
  }
  template <class Done>
  static bool Within10s(Done&& done) {
    for (int i = 0; i < 1000; ++i) {
      if (done()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
  Lines Log() {
    const std::scoped_lock lock(mutex);
    return log;
  }
  void Touch(const std::string& name) { std::ofstream(folder / name) << "x"; }

  std::filesystem::path folder;
  std::mutex mutex;
  Lines log;
  std::atomic<int> changes = 0;
  std::unique_ptr<ExecCredentialSource> source;
};

TEST_F(ExecCredentialSourceTest, AskingNeverWaitsForThePlugin) {
  Start("while [ ! -e go ]; do sleep 0.02; done; " + Print());
  const Clock::time_point begin = Clock::now();
  const ExecCredentialSource::Answer answer = source->Current();
  EXPECT_EQ(answer.credential, nullptr);
  EXPECT_EQ(answer.problem, "");
  EXPECT_LT(Clock::now() - begin, milliseconds(500));
  EXPECT_EQ(changes, 0);
  Touch("go");
  EXPECT_EQ(Token(), "t1");
  EXPECT_TRUE(Within10s([&] { return changes == 1; }));
}

TEST_F(ExecCredentialSourceTest, IsRefreshedBeforeItExpiresWithoutBeingAskedFor) {
  Start("[ $n = 1 ] && { " + Print(After(std::chrono::seconds(4))) + "; exit; }; " +
        Print(After(std::chrono::hours(1))));
  EXPECT_EQ(Token(), "t1");
  EXPECT_TRUE(Within10s([&] { return changes == 2; }));
  EXPECT_EQ(Token(), "t2");
  EXPECT_EQ(Log(), Lines{});
}

// Half of the time is left when the second run begins, and it hangs until after the expiry.
TEST_F(ExecCredentialSourceTest, TheOldCredentialServesUntilItExpiresWhileTheNextRunHangs) {
  Start("[ $n = 1 ] && { " + Print(After(std::chrono::seconds(3))) +
        "; exit; }; while [ ! -e go ]; do sleep 0.02; done; " + Print());
  EXPECT_EQ(Token(), "t1");
  ASSERT_TRUE(Within10s([&] {
    std::ifstream runs(folder / "runs");
    std::string text((std::istreambuf_iterator<char>(runs)), std::istreambuf_iterator<char>());
    return text == "x\nx\n";
  }));
  EXPECT_NE(source->Current().credential, nullptr)
      << "the second run hangs, the first answer is good";
  EXPECT_TRUE(Within10s([&] { return source->Current().credential == nullptr; })) << "expired";
  EXPECT_EQ(source->Current().problem, "");
  Touch("go");
  EXPECT_EQ(Token(), "t2");
}

TEST_F(ExecCredentialSourceTest, AFailedRefreshIsWarnedOfOnceAndItsEndIsLogged) {
  Start("[ $n = 1 ] && { " + Print(After(std::chrono::seconds(100))) +
            "; exit; }; [ -e go ] || exit 3; " + Print(),
        std::chrono::seconds(30));
  EXPECT_EQ(Token(), "t1");
  source->Refused(1);
  // Refused: the requests' own failures say why.
  EXPECT_TRUE(Within10s([&] { return changes >= 3; }));
  EXPECT_EQ(Log(), Lines{});
  Touch("go");
  EXPECT_TRUE(Within10s([&] { return source->Current().generation == 2; }));

  source.reset();
  std::filesystem::remove(folder / "go");
  std::filesystem::remove(folder / "runs");
  changes = 0;
  Start("[ $n = 1 ] && { " + Print(After(std::chrono::seconds(2))) +
        "; exit; }; [ -e go ] || exit 3; " + Print());
  EXPECT_EQ(Token(), "t1");
  EXPECT_TRUE(Within10s([&] { return changes >= 4; }));
  Touch("go");
  EXPECT_TRUE(Within10s([&] { return source->Current().generation == 2; }));
  const Lines lines = Log();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(
      lines[0].starts_with("warning: credentials cannot be refreshed; the old ones are used "
                           "until they expire expires_in_s="))
      << lines[0];
  EXPECT_TRUE(lines[0].ends_with(" error=\"exec plugin sh ended with code 3\"")) << lines[0];
  EXPECT_EQ(lines[1], "credentials are refreshed again");
}

TEST_F(ExecCredentialSourceTest, AServerThatRefusesEveryCredentialCausesNoStormOfRuns) {
  Start(Print(), std::chrono::seconds(30), std::chrono::seconds(60));
  for (int i = 0; i < 200; ++i) {
    const ExecCredentialSource::Answer answer = Settled();
    source->Refused(answer.generation);
  }
  EXPECT_EQ(Token(), "t2") << "one run at once, the next after a while";
  EXPECT_EQ(changes, 2);
}

TEST_F(ExecCredentialSourceTest, ACredentialThatHasExpiredByOurClockIsUsedWithAWarning) {
  Start(Print("2020-01-01T00:00:00Z"), std::chrono::seconds(30), std::chrono::seconds(60));
  EXPECT_EQ(Token(), "t1");
  EXPECT_EQ(Log(),
            (Lines{"warning: exec plugin sh gave a credential that has expired by the clock "
                   "of this machine; it is used all the same expires=2020-01-01T00:00:00Z"}));
  EXPECT_EQ(changes, 1);
}

TEST_F(ExecCredentialSourceTest, StopGivesTheRunThatIsUnderWayItsGraceAndBeginsNoOther) {
  Start("sleep 600; " + Print());
  source->Current();
  const Clock::time_point begin = Clock::now();
  source->Stop(milliseconds(600));
  const std::string problem = Settled().problem;
  EXPECT_TRUE(problem.starts_with("exec plugin sh did not end within ")) << problem;
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(source->Current().problem, problem);
  EXPECT_EQ(changes, 2) << "the run's end, and that there is no further one";
}

TEST_F(ExecCredentialSourceTest, ItsEndEndsAPluginThatHangs) {
  Start("trap '' TERM INT; sleep 600");
  source->Current();
  const Clock::time_point begin = Clock::now();
  source.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace krafla
