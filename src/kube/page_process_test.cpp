#include "kube/page_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using What = PageOutcome::What;

// What a state with one node and one waiting pod is asked about.
class PageProcessTest : public ::testing::Test {
 protected:
  static StateKeeper::Snapshot State() {
    const auto entry = [](std::string_view kind, std::string key, const char* text) {
      return KeptState::Entry{
          kind, std::move(key), {std::make_shared<const std::string>(text), {}, {}}};
    };
    StateKeeper::Snapshot state;
    state.entries = {
        entry("Queue", "default",
              R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":)"
              R"({"name":"default"},"spec":{"weight":1}})"),
        entry("Node", "n1",
              R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":)"
              R"({"allocatable":{"cpu":"2","memory":"8Gi","pods":"10"}}})"),
        entry("Pod", "a/big",
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","namespace":"a",)"
              R"("uid":"b"},"spec":{"schedulerName":"volcano","containers":[{"name":"c",)"
              R"("resources":{"requests":{"cpu":"16"}}}]}})")};
    state.memory = std::make_shared<const CycleMemory>();
    state.config = std::make_shared<const std::string>(
        "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: "
        "predicates\n");
    return state;
  }
  static PageTask Task(const std::string& name = "a/big") {
    return {.what = PageTask::What::kExplain,
            .now = Timestamp::FromUnixSeconds(1'773'144'000),
            .kind = "pod",
            .name = name};
  }
  // By a shell script instead of the program; empty: the program.
  PageOutcome Run(const std::string& script, milliseconds time = milliseconds(20'000),
                  const std::function<bool()>& given_up = {}, const PageTask& task = Task()) {
    if (!processes) {
      PageProcesses::Options with = options;
      if (!script.empty()) with.command = {"/bin/sh", "-c", script};
      with.log = [this](const std::string& line) { log.push_back(line); };
      processes.emplace(std::move(with));
    }
    RecordHead head;
    head.zone = "UTC";
    return processes->Run(task, PageInput(task, head, State()), time, given_up);
  }
  // Whether a process of this number is left, a zombie too.
  static bool Exists(pid_t pid) { return ::kill(pid, 0) == 0; }
  static std::vector<std::string> Children() {
    std::vector<std::string> children;
    std::ifstream file(fmt::format("/proc/self/task/{}/children", ::gettid()));
    for (std::string pid; file >> pid;) children.push_back(pid);
    return children;
  }

  PageProcesses::Options options;
  std::optional<PageProcesses> processes;
  std::vector<std::string> log;
};

TEST_F(PageProcessTest, TheProgramItselfMakesThePage) {
  const PageOutcome outcome = Run("");
  ASSERT_EQ(outcome.what, What::kDone) << outcome.message << (log.empty() ? "" : log[0]);
  EXPECT_EQ(outcome.result.what, PageResult::What::kJson);
  EXPECT_TRUE(outcome.result.body.starts_with(R"({"kind":"pod","name":"a/big","answer":)"))
      << outcome.result.body;
  EXPECT_TRUE(log.empty()) << log[0];
  const PageOutcome unknown = Run("", milliseconds(20'000), {}, Task("a/bgi"));
  ASSERT_EQ(unknown.what, What::kDone) << unknown.message;
  EXPECT_EQ(unknown.result.what, PageResult::What::kNotFound);
  EXPECT_NE(unknown.result.body.find("did you mean \"a/big\"?"), std::string::npos)
      << unknown.result.body;
  const PageTask view{.what = PageTask::What::kView, .now = Task().now};
  const PageOutcome viewed = Run("", milliseconds(20'000), {}, view);
  ASSERT_EQ(viewed.what, What::kDone) << viewed.message;
  const Result<ClusterView> rows = ReadView(viewed.result.body);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->jobs.size(), 1u);
  EXPECT_EQ(rows->jobs[0].ns, "a");
  EXPECT_EQ(rows->jobs[0].queue, "default");
  EXPECT_NE(rows->jobs[0].json.find("it asks for 16 cpu"), std::string::npos);
  const PageProcesses::Counts counts = processes->counts();
  EXPECT_EQ(counts.at({"explain", "done"}), 2u);
  EXPECT_EQ(counts.at({"view", "done"}), 1u);
  EXPECT_EQ(processes->running(), 0);
}

TEST_F(PageProcessTest, AFailingCheckCostsThatPageAlone) {
  const PageOutcome outcome =
      Run("echo 'src/x.cpp:7: this must hold and does not: a == b' >&2; "
          "kill -ABRT $$");
  EXPECT_EQ(outcome.what, What::kFailed);
  EXPECT_EQ(outcome.message, "an internal check failed in its process");
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0],
            "page process failed; the scheduler is not affected page=\"explain pod a/big\" "
            "result=failed error=\"an internal check failed in its process\" "
            "stderr=\"src/x.cpp:7: this must hold and does not: a == b\"");
  EXPECT_EQ(processes->counts().at({"explain", "failed"}), 1u);
  Run("");
  EXPECT_EQ(log.size(), 1u) << "a page that fails again and again does not fill the log";
}

TEST_F(PageProcessTest, AnswersThatAreNoneAreRefused) {
  const auto message = [&](const std::string& script) {
    processes.reset();
    const PageOutcome outcome = Run(script);
    EXPECT_EQ(outcome.what, What::kFailed) << script;
    return outcome.message;
  };
  EXPECT_EQ(message("exit 3"), "its process ended with code 3");
  EXPECT_EQ(message("kill -SEGV $$"), "its process was ended by signal 11 (Segmentation fault)");
  EXPECT_EQ(message("kill -KILL $$"),
            "its process was killed, as the kernel does when memory is short");
  EXPECT_EQ(message("echo 'krafla-page json 10'; printf 123"), "its process ended with code 0");
  EXPECT_EQ(message("echo 'krafla-page json 2'; printf 123"),
            "its answer is longer than its head says");
  EXPECT_EQ(message("echo 'krafla-page html 2'"), "its answer has no head");
  EXPECT_EQ(message("yes no-newline | tr -d '\\n'"), "its answer has no head");
  options.most_explanation_bytes = 1000;
  EXPECT_EQ(message("echo 'krafla-page json 1001'; sleep 60"),
            "its answer has 1001 bytes, which is more than 1000");
  options.most_view_bytes = 500;
  processes.reset();
  EXPECT_EQ(Run("echo 'krafla-page json 501'; sleep 60", milliseconds(20'000), {},
                {.what = PageTask::What::kView, .now = Task().now})
                .message,
            "its answer has 501 bytes, which is more than 500");
}

TEST_F(PageProcessTest, AProcessThatTakesTooLongIsEndedWithAllItHasStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const PageOutcome outcome =
      Run("sleep 61 & echo $! >&2; trap '' TERM; while :; do :; done", milliseconds(1'000));
  EXPECT_EQ(outcome.what, What::kTimedOut);
  EXPECT_EQ(outcome.message, "it took longer than 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3'000));
  EXPECT_TRUE(Children().empty()) << Children()[0];
  ASSERT_EQ(log.size(), 1u);
  const size_t at = log[0].find("stderr=\"");
  ASSERT_NE(at, std::string::npos) << log[0];
  const pid_t grandchild = std::stoi(log[0].substr(at + 8));
  // It is reaped by another process, which may take a moment.
  for (int i = 0; i < 200 && Exists(grandchild); ++i) std::this_thread::sleep_for(milliseconds(10));
  std::ifstream stat(fmt::format("/proc/{}/stat", grandchild));
  std::string pid, name, state;
  EXPECT_TRUE(!(stat >> pid >> name >> state) || state == "Z") << "it runs on: " << state;
}

TEST_F(PageProcessTest, AProcessEndsWithItsCaller) {
  std::atomic<bool> gone = false;
  std::thread leaves([&] {
    std::this_thread::sleep_for(milliseconds(200));
    gone = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  const PageOutcome outcome = Run("sleep 60", milliseconds(20'000), [&] { return gone.load(); });
  leaves.join();
  EXPECT_EQ(outcome.what, What::kGivenUp);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2'000));
  EXPECT_TRUE(Children().empty());
  EXPECT_TRUE(log.empty()) << "a caller that goes is no failure: " << log[0];
}

TEST_F(PageProcessTest, AProcessThatDoesNotReadIsNoProblem) {
  const PageOutcome outcome = Run("exec <&-; echo 'krafla-page json 2'; printf 42");
  EXPECT_EQ(outcome.what, What::kDone) << outcome.message;
  EXPECT_EQ(outcome.result.body, "42");
}

TEST_F(PageProcessTest, AProgramThatIsNotThereIsSaidSo) {
  options.command = {"/nowhere/krafla"};
  const PageOutcome outcome = Run("");
  EXPECT_EQ(outcome.what, What::kNotStarted);
  EXPECT_EQ(outcome.message, "no process could be started for it: No such file or directory");
}

TEST_F(PageProcessTest, AProcessGetsNoDescriptorsSignalsOrCredentials) {
  // Without O_CLOEXEC, as a library may open one; the shell's own are below.
  const int leaked = ::fcntl(STDERR_FILENO, F_DUPFD, 100);
  ASSERT_GE(leaked, 100);
  ::setenv("AWS_SECRET_ACCESS_KEY", "s3cret", 1);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  // Lists what it has as its answer.
  const PageOutcome outcome =
      Run("cat >/dev/null; text=\"$(ls /proc/$$/fd | tr '\\n' ' ') secret=$AWS_SECRET_ACCESS_KEY "
          "$(grep SigBlk /proc/$$/status | cut -f2) group=$(($$ == $(cut -d' ' -f5 "
          "/proc/$$/stat)))\"; "
          "printf 'krafla-page text %d\\n%s' ${#text} \"$text\"");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::close(leaked);
  ASSERT_EQ(outcome.what, What::kDone) << outcome.message;
  EXPECT_TRUE(outcome.result.body.starts_with("0 1 2 ")) << outcome.result.body;
  EXPECT_EQ(outcome.result.body.find(fmt::format(" {} ", leaked)), std::string::npos)
      << outcome.result.body;
  EXPECT_NE(outcome.result.body.find("secret= 0000000000000000 group=1"), std::string::npos)
      << outcome.result.body;
}

// In a child, because limits stay.
class PageProcessDeathTest : public PageProcessTest {};

// A container or a systemd unit may have set one.
TEST_F(PageProcessDeathTest, AHardLimitThatIsLowerAlreadyStays) {
  const auto run = [] {
    const rlimit lower{5, 5};
    if (setrlimit(RLIMIT_CPU, &lower) != 0) _exit(2);
    ApplyLimits({.memory_bytes = size_t{1} << 30, .seconds = 20, .parent = ::getppid()});
    rlimit now{};
    getrlimit(RLIMIT_CPU, &now);
    _exit(now.rlim_cur == 5 && now.rlim_max == 5 ? 0 : 3);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

#ifndef KRAFLA_SANITIZED  // sanitizers reserve more than any limit
TEST_F(PageProcessDeathTest, MoreMemoryThanAllowedEndsTheProcessWithItsCode) {
  const pid_t parent = ::getpid();
  EXPECT_EXIT(
      {
        // The test's child stands for the page process; its parent is this one.
        ApplyLimits({.memory_bytes = size_t{256} << 20, .seconds = 60, .parent = parent});
        std::vector<std::string> eaten;
        while (true) eaten.emplace_back(size_t{16} << 20, 'x');
      },
      ::testing::ExitedWithCode(77), "out of memory");
}
#endif

TEST_F(PageProcessDeathTest, ProcessorTimeIsBounded) {
  const pid_t parent = ::getpid();
  EXPECT_EXIT(
      {
        ApplyLimits({.memory_bytes = size_t{1} << 30, .seconds = 1, .parent = parent});
        std::atomic<uint64_t> i = 0;
        while (true) ++i;
      },
      ::testing::KilledBySignal(SIGXCPU), "");
}

TEST_F(PageProcessDeathTest, WithoutItsParentItDoesNotBegin) {
  EXPECT_EXIT(
      {
        ApplyLimits({.memory_bytes = size_t{1} << 30, .seconds = 1, .parent = 1});
        _exit(0);
      },
      ::testing::ExitedWithCode(1), "");
}

TEST(PageTaskTest, TasksAndViewsSurviveThePipe) {
  const PageTask task{.what = PageTask::What::kExplain,
                      .now = {1'773'144'000'000'000'123},
                      .kind = "pod",
                      .name = "a/b \"c\"\n",
                      .as = "text",
                      .search_time = milliseconds(1'500),
                      .evicted = "evicted by preempt",
                      .losses = {{"a/j", {17}, true}, {"b/k", {-3}, false}}};
  const std::string line = TaskLine(task);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result<PageTask> read = ParseTaskLine(line);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(TaskLine(*read), line);
  EXPECT_EQ(read->losses.size(), 2u);
  for (const char* wrong : {"", "{}", "null", "{\"task\":\"dance\"}"})
    EXPECT_FALSE(ParseTaskLine(wrong)) << wrong;

  ClusterView view;
  view.queues = {{"", "q", "{\"name\":\"q\"}"}};
  view.jobs = {{"ns", "", "{}"}, {"ns 2\n", "q 7\n", "{\"x\":[1,2]}"}};
  const Result<ClusterView> back = ReadView(WriteView(view));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(WriteView(*back), WriteView(view));
  EXPECT_EQ(back->jobs[1].queue, "q 7\n");
  for (const char* wrong : {"job 1 1 1", "job 1 1 1\nab", "pod 0 0 2\n{}", "job 0 0\n",
                            "job 0 0 18446744073709551615\n", "job 2 18446744073709551615 2\n{}{}"})
    EXPECT_FALSE(ReadView(wrong)) << wrong;
}

}  // namespace
}  // namespace krafla
