// The threads that make pages for the HTTP server: a few, with a bounded number of requests waiting
// for them, so that a page may take its time without holding up a connection's thread.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kube/api_request.h"

namespace krafla {

// A request that waits for its answer or has it.
struct PageWork {
  ApiRequest request;
  uint64_t connection = 0;
  std::string peer;                     // by which requests are counted
  std::atomic<bool> abandoned = false;  // the connection has ended: nothing waits for the answer
};

class RequestWorkers {
 public:
  struct Options {
    size_t threads = 4;
    size_t most_waiting = 32;   // beyond those that are worked on
    size_t most_of_a_peer = 8;  // waiting and worked on; loopback is not bounded by it
    std::function<ApiAnswer(const ApiRequest& request)> answer;          // on a worker
    std::function<void(uint64_t connection, ApiAnswer answer)> deliver;  // on a worker
    std::function<void(const std::string& line)> log;
  };
  explicit RequestWorkers(Options options);
  // Waits for the answers that are being made; what waits is dropped.
  ~RequestWorkers();

  // False: too many wait.
  bool Offer(std::shared_ptr<PageWork> work);

 private:
  void Loop();
  ApiAnswer Answer(const ApiRequest& request) const;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<PageWork>> waiting_;  // shared with the connections
  std::vector<std::shared_ptr<PageWork>> worked_on_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace krafla
