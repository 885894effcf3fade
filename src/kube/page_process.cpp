#include "kube/page_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/check.h"
#include "base/escape.h"
#include "base/log_text.h"
#include "base/sanitized.h"

extern char** environ;

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{50};  // at given_up
constexpr milliseconds kLastWords{200};    // for what is on standard error when the answer ends
constexpr milliseconds kBetweenLogLines{5'000};
constexpr size_t kMostWords = 4096;  // of standard error; the first ones name the check
constexpr size_t kBytesOfARead = 64 << 10;
constexpr int kOutOfMemoryCode = 77;
constexpr int kPriority = 19;  // nice: the scheduler goes first
// Text and libraries of the program, which count as address space but are shared with krafla serve.
constexpr size_t kAddressSpaceBesideData = size_t{512} << 20;
constexpr int kFirstDescriptorToClose = 3;

// Variables that a page process needs: the time zone, the search for libraries, sanitizers'
// options. All others, credentials among them, are not handed over.
constexpr std::string_view kPassedOn[] = {
    "TZ", "TZDIR", "LD_LIBRARY_PATH", "LANG", "LC_", "ASAN_OPTIONS", "UBSAN", "TSAN", "LSAN"};

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Out of the way of 0, 1 and 2, which the child's ends are copied to: a process that was started
// without standard streams gets these numbers for anything.
Descriptor AboveStandardStreams(int fd) {
  if (fd < 0 || fd >= kFirstDescriptorToClose) return Descriptor(fd);
  const int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptorToClose);
  ::close(fd);
  return Descriptor(higher);
}

struct Ends {
  Descriptor ours;
  Descriptor theirs;
  bool open() const { return ours.open() && theirs.open(); }
};

Ends MakeEnds(int ours, int theirs) {
  Ends ends{AboveStandardStreams(ours), AboveStandardStreams(theirs)};
  if (ends.ours.open()) ::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

// A socket, not a pipe: writing to one whose reader is gone can be told not to raise SIGPIPE.
Ends InputEnds() {
  int both[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) return {};
  return MakeEnds(both[0], both[1]);
}

Ends OutputEnds() {
  int both[2] = {-1, -1};
  if (::pipe2(both, O_CLOEXEC) != 0) return {};
  return MakeEnds(both[0], both[1]);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    for (const std::string_view name : kPassedOn)
      if (std::string_view(*variable).starts_with(name)) {
        variables.emplace_back(*variable);
        break;
      }
  return variables;
}

// posix_spawn's attributes: a process group of its own, no blocked or ignored signals.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

class SpawnActions {
 public:
  SpawnActions(int in, int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    // Libraries may have opened something without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstDescriptorToClose);
  }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Appends what can be read now, `most` bytes in all. False: no more comes.
bool ReadSome(int fd, std::string& text, size_t most) {
  std::array<char, kBytesOfARead> bytes;
  while (true) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    text.append(bytes.data(), std::min(static_cast<size_t>(got), most - text.size()));
    if (text.size() == most) return true;  // the rest stays: the caller has enough
  }
}

}  // namespace

std::string_view NameOf(PageOutcome::What what) {
  switch (what) {
    case PageOutcome::What::kDone:
      return "done";
    case PageOutcome::What::kFailed:
      return "failed";
    case PageOutcome::What::kOutOfMemory:
      return "out_of_memory";
    case PageOutcome::What::kTimedOut:
      return "timed_out";
    case PageOutcome::What::kNotStarted:
      return "not_started";
    case PageOutcome::What::kGivenUp:
      return "given_up";
  }
  return "";
}

// A process that runs, and our ends of its streams. It is gone when this is.
struct PageProcesses::Child {
  pid_t pid = 0;
  Descriptor in;
  Descriptor out;
  Descriptor err;
  std::string answer = {};
  std::string words = {};  // on standard error

  Child(pid_t its_pid, Descriptor its_in, Descriptor its_out, Descriptor its_err)
      : pid(its_pid), in(std::move(its_in)), out(std::move(its_out)), err(std::move(its_err)) {}
  Child(Child&& other) noexcept
      : pid(std::exchange(other.pid, 0)),
        in(std::move(other.in)),
        out(std::move(other.out)),
        err(std::move(other.err)) {}
  Child& operator=(Child&&) = delete;
  ~Child() { End(); }

  // Its status as of waitpid; nothing: it is not known.
  std::optional<int> End() {
    if (pid == 0) return std::nullopt;
    // One that has ended keeps the status that it ended with. It is not waited for yet, so that its
    // number is still its own.
    ::kill(-pid, SIGKILL);
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    pid = 0;
    if (ended < 0) return std::nullopt;
    return status;
  }
};

PageProcesses::PageProcesses(Options options) : options_(std::move(options)) {}

std::optional<PageProcesses::Child> PageProcesses::Start(milliseconds time,
                                                         std::string& problem) const {
  Ends in = InputEnds();
  Ends out = OutputEnds();
  Ends err = OutputEnds();
  if (!in.open() || !out.open() || !err.open()) {
    problem = std::strerror(errno);
    return std::nullopt;
  }
  std::vector<std::string> arguments = options_.command;
  if (arguments.empty()) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count() + 1;
    // /proc/self/exe is the program that runs, also when its file was replaced since.
    arguments = {"/proc/self/exe", "page-worker", fmt::format("--memory={}", options_.memory_bytes),
                 fmt::format("--seconds={}", seconds), fmt::format("--parent={}", ::getpid())};
  }
  std::vector<std::string> environment = Environment();
  const SpawnActions actions(in.theirs.get(), out.theirs.get(), err.theirs.get());
  const SpawnAttributes attributes;
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, arguments.front().c_str(), actions.get(), attributes.get(),
                                  Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) {
    problem = std::strerror(error);
    return std::nullopt;
  }
  return Child(pid, std::move(in.ours), std::move(out.ours), std::move(err.ours));
}

PageOutcome PageProcesses::Run(const PageTask& task, PageInput input, milliseconds time,
                               const std::function<bool()>& given_up) {
  const Clock::time_point deadline = Clock::now() + time;
  std::string problem;
  std::optional<Child> child = Start(time, problem);
  if (!child) {
    PageOutcome outcome{.what = PageOutcome::What::kNotStarted,
                        .message = fmt::format("no process could be started for it: {}", problem)};
    Note(task, outcome, {});
    return outcome;
  }
  ++running_;
  PageOutcome outcome =
      Exchange(*child, input,
               task.what == PageTask::What::kExplain ? options_.most_explanation_bytes
                                                     : options_.most_view_bytes,
               deadline, given_up);
  child->End();
  --running_;
  if (outcome.what == PageOutcome::What::kTimedOut)
    outcome.message = fmt::format("it took longer than {} s", time.count() / 1000);
  Note(task, outcome, child->words);
  return outcome;
}

// Writes the input, reads the answer, both as far as the process takes and gives.
PageOutcome PageProcesses::Exchange(Child& child, PageInput& input, size_t most_bytes,
                                    Clock::time_point deadline,
                                    const std::function<bool()>& given_up) const {
  std::string_view piece = input.Next();
  while (true) {
    if (given_up && given_up())
      return {.what = PageOutcome::What::kGivenUp, .message = "its caller is gone"};
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return {.what = PageOutcome::What::kTimedOut};
    if (piece.empty()) child.in.Close();
    std::array<pollfd, 3> polled = {
        pollfd{child.in.get(), POLLOUT, 0},  // negative when closed, which poll passes over
        pollfd{child.out.get(), POLLIN, 0},
        pollfd{child.words.size() < kMostWords ? child.err.get() : -1, POLLIN, 0}};
    const auto wait = std::min<Clock::duration>(deadline - now, kBetweenLooks);
    const int ready = ::poll(polled.data(), polled.size(),
                             static_cast<int>(std::chrono::ceil<milliseconds>(wait).count()));
    if (ready < 0 && errno != EINTR)
      return {.what = PageOutcome::What::kFailed,
              .message = fmt::format("its process cannot be watched: {}", std::strerror(errno))};
    if (ready <= 0) continue;
    if (polled[0].revents != 0) {
      const ssize_t sent = ::send(child.in.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        piece.remove_prefix(static_cast<size_t>(sent));
        if (piece.empty()) piece = input.Next();
      } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        child.in.Close();  // it reads no more; its answer says why, or its end does
      }
    }
    if (polled[2].revents != 0 && !ReadSome(child.err.get(), child.words, kMostWords))
      child.err.Close();
    if (polled[1].revents == 0) continue;
    const bool open = ReadSome(child.out.get(), child.answer, most_bytes + 128);
    Result<std::optional<PageResult>> result = ReadResult(child.answer, most_bytes);
    if (!result) return WhyItEnded(child, result.error().message);
    if (*result) return {.what = PageOutcome::What::kDone, .result = std::move(**result)};
    if (!open) return WhyItEnded(child, "");
  }
}

// The answer is none, or no more of it comes. `problem`: with the answer; empty: it is missing.
PageOutcome PageProcesses::WhyItEnded(Child& child, const std::string& problem) const {
  const Clock::time_point until = Clock::now() + kLastWords;
  while (child.err.open() && child.words.size() < kMostWords && Clock::now() < until) {
    pollfd polled{child.err.get(), POLLIN, 0};
    if (::poll(&polled, 1, static_cast<int>(kLastWords.count())) > 0 &&
        !ReadSome(child.err.get(), child.words, kMostWords))
      child.err.Close();
  }
  const std::optional<int> status = child.End();
  PageOutcome outcome{.what = PageOutcome::What::kFailed};
  const auto says = [&](std::string message) { outcome.message = std::move(message); };
  if (!problem.empty()) {
    says(problem);
  } else if (!status) {
    says("its process ended");
  } else if (WIFEXITED(*status) && WEXITSTATUS(*status) == kOutOfMemoryCode) {
    outcome.what = PageOutcome::What::kOutOfMemory;
    says(fmt::format("it needs more than {} MiB of memory (--page-memory-limit)",
                     options_.memory_bytes >> 20));
  } else if (WIFEXITED(*status)) {
    says(fmt::format("its process ended with code {}", WEXITSTATUS(*status)));
  } else if (WTERMSIG(*status) == SIGXCPU) {
    outcome.what = PageOutcome::What::kTimedOut;
  } else if (WTERMSIG(*status) == SIGKILL) {
    says("its process was killed, as the kernel does when memory is short");
  } else if (WTERMSIG(*status) == SIGABRT) {
    says("an internal check failed in its process");
  } else {
    says(fmt::format("its process was ended by signal {} ({})", WTERMSIG(*status),
                     sigdescr_np(WTERMSIG(*status))));
  }
  return outcome;
}

void PageProcesses::Note(const PageTask& task, const PageOutcome& outcome,
                         const std::string& said) {
  const bool failed =
      outcome.what != PageOutcome::What::kDone && outcome.what != PageOutcome::What::kGivenUp;
  uint64_t before = 0;
  {
    const std::scoped_lock lock(mutex_);
    ++counts_[{task.what == PageTask::What::kExplain ? "explain" : "view", NameOf(outcome.what)}];
    if (!failed) return;
    const Clock::time_point now = Clock::now();
    if (last_log_ && now < *last_log_ + kBetweenLogLines) {
      ++unlogged_;
      return;
    }
    last_log_ = now;
    before = std::exchange(unlogged_, 0);
  }
  std::string line =
      fmt::format("page process failed; the scheduler is not affected page={} result={} error={}",
                  LogQuoted(TitleOf(task)), NameOf(outcome.what), LogQuoted(outcome.message));
  if (!said.empty())
    line += fmt::format(
        " stderr={}", LogQuoted(std::string_view(said).substr(0, said.find_last_not_of('\n') + 1)));
  if (before > 0) line += fmt::format(" notLogged={}", before);
  options_.log(line);
}

PageProcesses::Counts PageProcesses::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

void ApplyLimits(const PageProcessLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before the line above.
  if (::getppid() != limits.parent) _exit(1);
  const auto limit = [](auto resource, rlim_t soft, rlim_t hard) {
    // A hard limit that is lower already cannot be raised, and need not be.
    rlimit old{};
    KRAFLA_CHECK(getrlimit(resource, &old) == 0, std::strerror(errno));
    const rlimit both{std::min(soft, old.rlim_max), std::min(hard, old.rlim_max)};
    KRAFLA_CHECK(setrlimit(resource, &both) == 0, std::strerror(errno));
  };
  limit(RLIMIT_CORE, 0, 0);
  // The first ends it with SIGXCPU, which says why.
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds), static_cast<rlim_t>(limits.seconds) + 5);
#ifndef KRAFLA_SANITIZED
  // Sanitizers reserve terabytes.
  limit(RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes);
  const rlim_t space = limits.memory_bytes + kAddressSpaceBesideData;
  limit(RLIMIT_AS, space, space);
#endif
  std::set_new_handler([] {
    constexpr std::string_view kMessage = "out of memory\n";
    (void)!::write(STDERR_FILENO, kMessage.data(), kMessage.size());
    _exit(kOutOfMemoryCode);
  });
  // Both only help: where they are refused, all else holds.
  setpriority(PRIO_PROCESS, 0, kPriority);
  // When memory is short, the kernel ends a page before the scheduler.
  if (const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); file.open())
    (void)!::write(file.get(), "1000", 4);
}

}  // namespace krafla
