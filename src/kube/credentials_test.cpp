#include "kube/credentials.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace krafla {
namespace {

struct Files {
  std::map<std::string, std::string> files;
  Surroundings surroundings() {
    return {.variable = [](const std::string&) { return std::nullopt; },
            .exists = [this](const std::string& path) { return files.contains(path); },
            .read = [this](const std::string& path) -> Result<std::string> {
              const auto it = files.find(path);
              if (it == files.end()) return Fail("cannot be read");
              return it->second;
            }};
  }
};

TEST(Credentials, ATokenFileIsReadAgainWhenTheServerSaysNo) {
  Files f;
  f.files["/token"] = "one\n";
  Credentials credentials({.server = "https://x", .token = "unused", .token_file = "/token"},
                          f.surroundings());
  const auto first = credentials.Current().value();
  EXPECT_EQ(first->authorization, "Bearer one");
  f.files["/token"] = "two\n";
  EXPECT_EQ(credentials.Current().value(), first) << "not read for every request";
  credentials.Refused(first);
  const auto second = credentials.Current().value();
  EXPECT_EQ(second->authorization, "Bearer two");
  credentials.Refused(first);
  EXPECT_EQ(credentials.Current().value(), second) << "somebody was late with the old one";
}

TEST(Credentials, NothingIsSentInTheClear) {
  Files f;
  Credentials credentials({.server = "http://x", .token = "secret"}, f.surroundings());
  EXPECT_EQ(credentials.Current().value()->authorization, "");
}

TEST(Credentials, ProblemsNameTheFile) {
  Files f;
  Credentials missing({.server = "https://x", .token_file = "/token"}, f.surroundings());
  EXPECT_EQ(missing.Current().error().message, "/token: cannot be read");
  f.files["/token"] = "\n";
  EXPECT_EQ(missing.Current().error().message, "/token: is empty");
  f.files["/ca"] = "not a certificate";
  Credentials no_pem({.server = "https://x", .ca = {.file = "/ca"}}, f.surroundings());
  EXPECT_EQ(no_pem.ReadCa().error().message, "/ca: is not PEM: it has no -----BEGIN line");
}

TEST(Credentials, AFileThatVanishesIsWarnedOfOnceAndTheOldOneStays) {
  Files f;
  f.files["/token"] = "one\n";
  f.files["/ca"] = "-----BEGIN CERTIFICATE-----";
  std::vector<std::string> log;
  Credentials credentials({.server = "https://x", .ca = {.file = "/ca"}, .token_file = "/token"},
                          f.surroundings(), [&](const std::string& line) { log.push_back(line); });
  EXPECT_TRUE(credentials.ReadCa());
  for (int i = 0; i < 3; ++i) {
    const auto identity = credentials.Current().value();
    EXPECT_EQ(identity->authorization, "Bearer one");
    EXPECT_EQ(credentials.ReadCa().value(), "-----BEGIN CERTIFICATE-----");
    credentials.Refused(identity);
    f.files.clear();
  }
  EXPECT_EQ(log, (std::vector<std::string>{
                     "warning: credentials can no longer be read; what was read before stays "
                     "error=\"/token: cannot be read\"",
                     "warning: credentials can no longer be read; what was read before stays "
                     "error=\"/ca: cannot be read\""}));
  log.clear();
  f.files["/token"] = "two\n";
  EXPECT_EQ(credentials.Current().value()->authorization, "Bearer two");
  EXPECT_EQ(log, (std::vector<std::string>{"credentials can be read again"}));
}

// What Current says when no plugin is waited for any more.
Result<std::shared_ptr<const Identity>> Settled(Credentials& credentials) {
  for (int i = 0; i < 2000; ++i) {
    Result<std::shared_ptr<const Identity>> identity = credentials.Current();
    if (!identity || *identity != nullptr) return identity;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Fail("the plugin does not end");
}

KubeConnection WithPlugin(const std::string& server, const std::string& script) {
  KubeConnection connection{.server = server};
  connection.exec = ExecPlugin{
      .api_version = "client.authentication.k8s.io/v1", .command = "sh", .args = {"-c", script}};
  return connection;
}

TEST(Credentials, AnExecPluginIsAskedAgainOnlyWhenItsAnswerIsNoLongerGood) {
  Files f;
  const std::string counter = ::testing::TempDir() + "/krafla_exec_plugin_calls";
  std::remove(counter.c_str());
  Credentials credentials(
      WithPlugin(
          "https://x",
          "echo x >> " + counter +
              R"(; printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t%s"}}' $(wc -l < )" +
              counter + ")"),
      f.surroundings());
  std::atomic<int> heard = 0;
  const uint64_t listener = credentials.AddListener([&] { ++heard; });
  EXPECT_EQ(credentials.Current().value(), nullptr) << "it is only begun";
  const auto first = Settled(credentials).value();
  EXPECT_EQ(first->authorization, "Bearer t1");
  EXPECT_EQ(credentials.Current().value(), first);
  credentials.Refused(first);
  EXPECT_EQ(Settled(credentials).value()->authorization, "Bearer t2");
  for (int i = 0; i < 200 && heard < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(heard, 2);
  credentials.RemoveListener(listener);
  std::remove(counter.c_str());
}

TEST(Credentials, APluginThatHangsHoldsUpNoOtherCall) {
  Files f;
  Credentials credentials(WithPlugin("https://x", "sleep 600"), f.surroundings());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        EXPECT_EQ(credentials.Current().value(), nullptr);
        credentials.Refused(nullptr);
        EXPECT_TRUE(credentials.ReadCa());
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  credentials.Stop(std::chrono::milliseconds(0));
  EXPECT_FALSE(Settled(credentials));
}

TEST(Credentials, AwaitWaitsForThePluginAndForNothingElse) {
  Files f;
  Credentials credentials(
      WithPlugin(
          "https://x",
          R"(sleep 0.2; printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}')"),
      f.surroundings());
  EXPECT_EQ(credentials.Await().value()->authorization, "Bearer t");
  Credentials failing(WithPlugin("https://x", "exit 3"), f.surroundings());
  EXPECT_EQ(failing.Await().error().message, "exec plugin sh ended with code 3");
  Credentials token({.server = "https://x", .token = "t"}, f.surroundings());
  EXPECT_EQ(token.Await().value()->authorization, "Bearer t");
}

TEST(Credentials, NoPluginIsRunForAServerThatGetsNoCredentials) {
  Files f;
  Credentials credentials(WithPlugin("http://127.0.0.1", "exit 1"), f.surroundings());
  EXPECT_EQ(credentials.Current().value()->authorization, "");
}

}  // namespace
}  // namespace krafla
