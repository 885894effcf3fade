// An ApiClient for tests: requests are kept, answers are given by the test, time stands still until
// it is moved.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kube/api_client.h"

namespace krafla::testing {

class ScriptedClient final : public ApiClient {
 public:
  void Send(HttpRequest request, Done done) override {
    requests.push_back(fmt::format("{} {}", request.method, request.target));
    bodies.push_back(request.body);
    waiting_.push_back(std::move(done));
  }
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    timers_.emplace(now_ms_ + delay.count(), std::move(task));
  }
  Timestamp Now() const override {
    return {1'773'000'000'000'000'000 + (now_ms_ + wall_set_ms) * 1'000'000};
  }
  SteadyTime SteadyNow() const override { return SteadyTime(std::chrono::milliseconds(now_ms_)); }

  // The oldest open request is answered.
  void Answer(int status, std::string body = "{}",
              std::optional<std::chrono::milliseconds> retry_after = {}) {
    ASSERT_FALSE(waiting_.empty()) << "nobody asked";
    Done done = std::move(waiting_.front());
    waiting_.pop_front();
    done({.status = status,
          .body = std::move(body),
          .error = status == 0 ? "no answer" : "",
          .retry_after = retry_after});
  }
  // The oldest open request is cut off: we may no longer write.
  void KeepBack() {
    ASSERT_FALSE(waiting_.empty()) << "nobody asked";
    Done done = std::move(waiting_.front());
    waiting_.pop_front();
    done({.error = "kept back", .kept_back = true});
  }
  void Pass(std::chrono::milliseconds time) {
    const int64_t until = now_ms_ + time.count();
    while (!timers_.empty() && timers_.begin()->first <= until) {
      now_ms_ = timers_.begin()->first;
      auto task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      task();
    }
    now_ms_ = until;
  }
  size_t open() const { return waiting_.size(); }
  std::vector<std::string> TakeRequests() {
    bodies.clear();
    return std::exchange(requests, {});
  }

  std::vector<std::string> requests;
  std::vector<std::string> bodies;
  int64_t wall_set_ms = 0;  // by so much the wall clock was set

 private:
  std::deque<Done> waiting_;
  std::multimap<int64_t, std::function<void()>> timers_;
  int64_t now_ms_ = 0;
};

}  // namespace krafla::testing
