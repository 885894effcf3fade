// The threads that make pages for the HTTP server: a few, with a bounded number of requests waiting
// for them, so that a page may take its time without holding up a connection's thread. Callers take
// turns: however many requests one caller has waiting, the next thread goes to the caller that
// occupies the fewest and was served the longest ago.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  std::string peer;    // the address by which connections are counted
  std::string caller;  // by which the lane counts that has it now, and lets callers take turns
  std::atomic<bool> abandoned = false;  // the connection has ended: nothing waits for the answer
  std::atomic<bool> finished = false;   // the client has closed its end; it may still read
};

class RequestWorkers {
 public:
  struct Options {
    size_t threads = 4;
    size_t most_waiting = 32;  // beyond those that are worked on
    // Of one caller: the user, or where there is none the peer. Waiting and worked on; requests
    // from loopback without a user are not bounded by it.
    size_t most_of_a_caller = 8;
    size_t most_worked_on_of_a_caller = SIZE_MAX;
    bool low_priority = false;                                           // of the threads
    std::function<ApiAnswer(const ApiRequest& request)> answer;          // on a worker
    std::function<void(uint64_t connection, ApiAnswer answer)> deliver;  // on any thread
    std::function<ApiAnswer(const ApiRequest& request)> busy;  // for a request that is displaced
    std::function<void(const std::string& line)> log;
  };
  explicit RequestWorkers(Options options);
  // Waits for the answers that are being made; what waits is dropped.
  ~RequestWorkers();

  // False: too many wait. When all places are taken, the newest request of the caller that has most
  // of them gives its place to a caller that has fewer, and is answered as busy.
  bool Offer(std::shared_ptr<PageWork> work);

 private:
  using Works = std::deque<std::shared_ptr<PageWork>>;
  void Loop();
  ApiAnswer Answer(const ApiRequest& request) const;
  // All with the mutex held.
  size_t Waiting(const std::string& caller) const;
  size_t WorkedOn(const std::string& caller) const;
  Works::iterator Next();
  std::shared_ptr<PageWork> TakePlaceFor(const std::string& caller);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Works waiting_;  // in the order of arrival; shared with the connections
  std::vector<std::shared_ptr<PageWork>> worked_on_;
  std::map<std::string, uint64_t> last_turn_;  // of callers that wait or are worked on
  uint64_t turns_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace krafla
