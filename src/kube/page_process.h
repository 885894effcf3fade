// Runs page processes for krafla serve: this program once more, as `krafla page-worker`, with the
// state on its standard input and the page on its standard output. Each is bounded in time and
// memory and is killed when its caller goes. Whatever happens in it, a failing check too, costs
// that page alone. Used by kube/seeing_in.cpp; kube/status_server.cpp bounds how many run at once.
//
// PageProcesses is thread-safe: each Run is on the thread of its caller.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/page_task.h"

namespace krafla {

// What became of a page.
struct PageOutcome {
  enum class What : uint8_t {
    kDone,
    kFailed,       // the process ended without an answer, or with one that is none
    kOutOfMemory,  // it needs more than it may have
    kTimedOut,
    kNotStarted,  // no process could be started
    kGivenUp,     // nothing waits for the page
  };
  What what = What::kFailed;
  PageResult result = {};    // of kDone
  std::string message = {};  // a sentence for the caller; of kDone empty
};
// As it stands in metrics: "done", "failed", "out_of_memory", …
std::string_view NameOf(PageOutcome::What what);

// How a page is made: by PageProcesses::Run, or in tests without a process.
using RunPage =
    std::function<PageOutcome(const PageTask& task, PageInput input, std::chrono::milliseconds time,
                              const std::function<bool()>& given_up)>;

class PageProcesses {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kLeastMemory = size_t{64} << 20;

  struct Options {
    size_t memory_bytes = size_t{256} << 20;  // of each process
    // Program and arguments; empty: this program as `page-worker`.
    std::vector<std::string> command = {};
    // Of an answer, which the scheduler's own process takes.
    size_t most_view_bytes = size_t{64} << 20;
    size_t most_explanation_bytes = size_t{16} << 20;
    std::function<void(const std::string& line)> log = [](const std::string&) {};
  };
  explicit PageProcesses(Options options);

  // Returns within `time` and a moment, or when `given_up` returns true, which is looked at every
  // 50 ms. The process is gone then.
  PageOutcome Run(const PageTask& task, PageInput input, std::chrono::milliseconds time,
                  const std::function<bool()>& given_up);

  // By page ("explain", "view") and result, since the start.
  using Counts = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;
  Counts counts() const;
  int running() const { return running_; }

 private:
  struct Child;
  std::optional<Child> Start(std::chrono::milliseconds time, std::string& problem) const;
  PageOutcome Exchange(Child& child, PageInput& input, size_t most_bytes,
                       Clock::time_point deadline, const std::function<bool()>& given_up) const;
  PageOutcome WhyItEnded(Child& child, const std::string& problem) const;
  void Note(const PageTask& task, const PageOutcome& outcome, const std::string& said);

  const Options options_;
  std::atomic<int> running_ = 0;
  mutable std::mutex mutex_;
  Counts counts_;
  std::optional<Clock::time_point> last_log_;
  uint64_t unlogged_ = 0;
};

// The other side: what a page process does first. From here on it ends when it uses more, or when
// `parent` has ended. `seconds`: of processor time.
struct PageProcessLimits {
  size_t memory_bytes = 0;
  int64_t seconds = 0;
  pid_t parent = 0;
};
void ApplyLimits(const PageProcessLimits& limits);

}  // namespace krafla
