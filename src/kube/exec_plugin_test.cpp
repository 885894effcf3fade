#include "kube/exec_plugin.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

namespace krafla {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string Printed(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}";
}

TEST(ExecPlugin, TokensCertificatesAndTheirEnd) {
  const ExecCredential token =
      ParseExecCredential(Printed(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})"),
                          kV1)
          .value();
  EXPECT_EQ(token.token, "t");
  EXPECT_EQ(FormatRfc3339(token.expires), "2026-01-01T00:00:00Z");
  const ExecCredential certificate =
      ParseExecCredential(Printed(R"({"clientCertificateData":"c","clientKeyData":"k"})"), kV1)
          .value();
  EXPECT_EQ(certificate.client_certificate, "c");
  EXPECT_EQ(certificate.client_key, "k");
  EXPECT_FALSE(certificate.expires.Present());
}

TEST(ExecPlugin, ABadCredentialIsNamedWithTheExpectedFormAndNotShown) {
  const auto problem = [](const std::string& text) {
    return ParseExecCredential(text, kV1).error().message;
  };
  const std::string expected =
      "expected an ExecCredential of client.authentication.k8s.io/v1 on its standard output, got ";
  EXPECT_EQ(problem(""), expected + "nothing");
  EXPECT_EQ(problem("secret"), expected + "text that is not a JSON object");
  EXPECT_EQ(problem(R"({"kind":"ExecCredential","st)"),
            expected + "text that is not a JSON object");
  EXPECT_EQ(problem(R"({"kind":"Secret"})"), expected + "an object of another kind");
  EXPECT_EQ(problem(R"({"kind":"ExecCredential","apiVersion":"v9","status":{}})"),
            expected + "one of another apiVersion");
  EXPECT_EQ(problem(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})"),
            expected + "one without status");
  EXPECT_EQ(problem(Printed("{}")), "status has neither a token nor clientCertificateData");
  EXPECT_EQ(problem(Printed(R"({"token":7})")), "status.token: expected text");
  EXPECT_EQ(problem(Printed(R"({"clientKeyData":"k"})")),
            "status has one of clientCertificateData and clientKeyData without the other");
  EXPECT_EQ(problem(Printed(R"({"token":"t","expirationTimestamp":"soon"})")),
            "status.expirationTimestamp: expected a time such as 2026-01-31T12:00:00Z");
}

ExecPlugin Shell(const std::string& script) {
  return {.api_version = std::string(kV1),
          .command = "sh",
          .args = {"-c", script},
          .env = {{"GREETING", "hello"}},
          .install_hint = "install a shell",
          .provide_cluster_info = true};
}

TEST(ExecPlugin, TheProgramIsToldWhatItIsAskedFor) {
  const KubeConnection connection{.server = "https://x"};
  const Result<ExecCredential> credential = RunExecPlugin(
      Shell(R"(case "$KUBERNETES_EXEC_INFO" in *'"server":"https://x"'*) ;; *) exit 9 ;; esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$GREETING")"),
      connection);
  ASSERT_TRUE(credential.has_value()) << credential.error().message;
  EXPECT_EQ(credential->token, "hello");
}

TEST(ExecPlugin, AProgramThatFailsIsNamedWithItsHint) {
  EXPECT_EQ(RunExecPlugin(Shell("exit 3"), {}).error().message,
            "exec plugin sh ended with code 3; hint: install a shell");
  ExecPlugin missing = Shell("");
  missing.command = "there-is-no-such-program";
  EXPECT_EQ(RunExecPlugin(missing, {}).error().message,
            "exec plugin there-is-no-such-program cannot be run: No such file or directory; hint: "
            "install a shell");
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

const std::string kPrintToken =
    R"(printf '%s' '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
    R"("status":{"token":"t"}}')";

ExecLimits For(milliseconds time) {
  ExecLimits limits;
  limits.until = [end = Clock::now() + time] { return end; };
  return limits;
}

// A file for the number of a process that a plugin leaves behind.
class LeftBehind {
 public:
  LeftBehind() : path_(::testing::TempDir() + "/krafla_left_behind_" + std::to_string(getpid())) {
    std::filesystem::remove(path_);
  }
  ~LeftBehind() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  // Whether the process is there, other than as a zombie that its parent has not reaped.
  bool Runs() const {
    pid_t pid = 0;
    std::ifstream(path_) >> pid;
    EXPECT_GT(pid, 0) << "the plugin has not written it";
    for (int i = 0; i < 500; ++i) {
      if (kill(pid, 0) != 0 && errno == ESRCH) return false;
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
      if (text.find(") Z ") != std::string::npos) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }

 private:
  std::string path_;
};

TEST(ExecPlugin, AGrandchildThatHoldsStandardOutputIsNotWaitedForAndIsKilled) {
  const LeftBehind grandchild;
  const Clock::time_point begin = Clock::now();
  const Result<ExecCredential> credential =
      RunExecPlugin(Shell("sleep 600 & echo $! > " + grandchild.path() + "; " + kPrintToken), {});
  ASSERT_TRUE(credential.has_value()) << credential.error().message;
  EXPECT_EQ(credential->token, "t");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_FALSE(grandchild.Runs());
}

TEST(ExecPlugin, AProgramThatClosesItsOutputAndLingersIsKilledWithItsChildren) {
  const LeftBehind grandchild;
  const Clock::time_point begin = Clock::now();
  const Result<ExecCredential> credential =
      RunExecPlugin(Shell("trap '' TERM; sleep 600 & echo $! > " + grandchild.path() + "; " +
                          kPrintToken + "; exec >&-; sleep 600"),
                    {}, For(milliseconds(1000)));
  EXPECT_EQ(credential.error().message,
            "exec plugin sh did not end within 1 s, and was killed; hint: install a shell");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(grandchild.Runs());
}

TEST(ExecPlugin, EndlessOutputIsCutOff) {
  ExecLimits limits = For(std::chrono::seconds(30));
  limits.most_bytes = 10'000;
  EXPECT_EQ(RunExecPlugin(Shell("exec yes"), {}, limits).error().message,
            "exec plugin sh printed more than 10000 bytes, and was killed; hint: install a shell");
}

TEST(ExecPlugin, AProgramThatIsKilledBySignalIsSaidToBe) {
  EXPECT_EQ(RunExecPlugin(Shell("kill -9 $$"), {}).error().message,
            "exec plugin sh ended by signal 9; hint: install a shell");
}

// The scheduler blocks SIGTERM, ignores SIGPIPE and has sockets open. Signals 32 and 33 are glibc's
// own.
TEST(ExecPlugin, SignalsAndFilesOfTheSchedulerAreNotInherited) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old_pipe = signal(SIGPIPE, SIG_IGN);
  const auto old_hup = signal(SIGHUP, SIG_IGN);
  const int open_file = dup(STDERR_FILENO);  // not close-on-exec
  const Result<ExecCredential> credential =
      RunExecPlugin(Shell(R"(while read -r name value; do case "$name" in
SigBlk:|SigIgn:) case "$value" in 0000000000000000|0000000180000000) ;; *) echo "$name $value" >&2; exit 4 ;; esac ;;
esac; done < /proc/self/status
[ -e /proc/self/fd/)" + std::to_string(open_file) +
                          R"( ] && exit 5
set -- $(cat /proc/$$/stat); [ "$5" = "$$" ] || exit 6
)" + kPrintToken),
                    {});
  close(open_file);
  signal(SIGPIPE, old_pipe);
  signal(SIGHUP, old_hup);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(credential.has_value()) << credential.error().message;
}

}  // namespace
}  // namespace krafla
