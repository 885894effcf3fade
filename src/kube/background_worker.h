// A thread of low priority for work that somebody waits for: explanations, pages of many rows. One
// piece at a time; whoever comes while too many wait is turned away.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace krafla {

class BackgroundWorker {
 public:
  using Clock = std::chrono::steady_clock;

  // `most_waiting`: pieces beyond the one that is worked on.
  explicit BackgroundWorker(size_t most_waiting);
  ~BackgroundWorker();

  // Everybody who waits is told so; nothing more is begun. From any thread, also more than once.
  void Stop();

  // Runs `work` and waits for its end, `patience` at most; then what it does is for nothing. An
  // error says why it was not done: "busy with …", "took too long".
  Result<bool> Run(const std::string& what, std::chrono::milliseconds patience,
                   std::function<void()> work);

 private:
  struct Piece {
    std::string what;
    std::function<void()> work;
    bool done = false;
    bool given_up = false;
  };
  void Loop();

  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Piece>> waiting_;  // shared with who waits for it, who may give up
  std::shared_ptr<Piece> current_;
  Clock::time_point begun_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace krafla
