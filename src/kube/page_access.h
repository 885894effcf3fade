// Access to the pages of krafla serve. PageAccess checks the bearer token of a request with the
// API server, as kube-scheduler does: a TokenReview says whose token it is, a SubjectAccessReview
// whether this user may read the page. Both answers are cached for 10 s, by a keyed hash of the
// token; a token itself is kept only while its review is under way, and never logged.
//
// Callers on loopback need no token. A caller that cannot be checked is refused with 503.
//
// kube/serve.cpp gives it to kube/status_server.h. Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api_request.h"
#include "kube/http_channel.h"
#include "kube/page_reviews.h"

namespace krafla {

class PageAccess {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = AccessVerdictCallback;

  struct Options {
    bool anonymous_metrics = false;  // /metrics without a token
    // Sends to the API server; the request's on_done runs later, on any thread. Empty: tokens
    // cannot be checked, because they must not be sent there.
    std::function<void(HttpRequest request)> send;
    std::function<void(std::chrono::milliseconds delay, std::function<void()> task)> after;
    std::function<Clock::time_point()> now = &Clock::now;
    // For metrics. `page`: metrics, api; `result`: allowed, unauthenticated, forbidden,
    // unavailable.
    std::function<void(std::string_view page, std::string_view result)> on_request =
        [](std::string_view, std::string_view) {};
    // `review`: token, access; `result`: answered, failed.
    std::function<void(std::string_view review, std::string_view result)> on_review =
        [](std::string_view, std::string_view) {};
    std::function<void(const std::string& line)> log = [](const std::string&) {};

    // kube-scheduler's defaults for both kinds of answer, good and bad.
    std::chrono::milliseconds cached_for{10'000};
    // From the request to its verdict, with all attempts.
    std::chrono::milliseconds deadline{5'000};
    size_t most_cached = 1024;  // of each kind of answer
    // Requests that were sent and are not answered. Beyond them a caller is refused at once: behind
    // an API server that hangs, requests must not pile up.
    size_t most_open = 64;
    // Beyond them, for tokens that were allowed a page before. Made-up tokens cannot use these up.
    size_t most_open_reserved = 8;
    std::chrono::milliseconds remembered_for{600'000};  // that a token was allowed a page
    size_t most_remembered = 256;
  };

  // Outlives what `send` and `after` hand requests and tasks to.
  explicit PageAccess(Options options);

  // See AuthorizeRequest.
  std::optional<AccessVerdict> Authorize(const ApiRequest& request, Done later);

  // The request's token was allowed a page in the last 10 min.
  bool WasAllowed(const ApiRequest& request) const;

  // What is cached now, for tests: tokens and accesses.
  std::pair<size_t, size_t> cached() const;

 private:
  using TokenHash = std::array<unsigned char, 32>;
  using CheckKey = std::pair<TokenHash, std::string>;  // and the path
  enum class Outcome : uint8_t { kAllowed, kUnauthenticated, kForbidden, kUnavailable };
  enum class Review : uint8_t { kToken, kAccess };

  template <class Value>
  struct Cached {
    Value value;
    Clock::time_point until;
  };
  // The requests that wait for the same reviews.
  struct Check {
    uint64_t number = 0;
    std::string token;  // until the TokenReview is answered
    std::vector<std::pair<ApiRequest, Done>> waiting;
    Clock::time_point deadline;
    Review review = Review::kToken;  // the one that is under way
    int attempts = 0;                // of it
  };
  // A review that fails; for the log.
  struct Trouble {
    std::optional<Clock::time_point> since;  // of the first failure after a success
    std::optional<Clock::time_point> logged;
    bool announced = false;  // since `since`
  };
  // What is left to do when the lock is released.
  using Tasks = std::vector<std::function<void()>>;

  static std::string_view NameOf(Review review);
  static void Run(const Tasks& tasks);

  TokenHash HashOf(std::string_view token) const;
  AccessVerdict Decide(const ApiRequest& request, Outcome outcome, const std::string& user,
                       std::optional<int> retry_after_s = std::nullopt) const;
  AccessVerdict Unauthenticated(const ApiRequest& request, const std::string& message,
                                std::string_view error = {}) const;

  // With the lock held.
  std::optional<std::pair<Outcome, std::string>> Known(const CheckKey& key) const;
  bool WasAllowed(const TokenHash& token) const;
  Check* Find(const CheckKey& key, uint64_t number);
  void AskAboutToken(const CheckKey& key, Check& check, Tasks& tasks);
  void AskAboutAccess(const CheckKey& key, Check& check, const PageCaller& caller, Tasks& tasks);
  void Send(HttpRequest request, Tasks& tasks);
  void Answered(Review review, Tasks& tasks);
  void Failed(const CheckKey& key, Check& check, const HttpResponse& response,
              const std::string& problem, Tasks& tasks);
  void Settle(const CheckKey& key, Outcome outcome, const std::string& user, Tasks& tasks,
              std::optional<int> retry_after_s = std::nullopt);
  void LogFailure(Review review, const HttpResponse& response, const std::string& problem,
                  Tasks& tasks);

  // Without it.
  void OnTokenReview(const CheckKey& key, uint64_t number, const HttpResponse& response);
  void OnAccessReview(const CheckKey& key, uint64_t number, const std::string& user,
                      const HttpResponse& response);
  void TryAgain(const CheckKey& key, uint64_t number);
  void Expire(const CheckKey& key, uint64_t number);

  const Options options_;
  std::array<unsigned char, 32> hash_key_{};

  mutable std::mutex mutex_;
  std::map<TokenHash, Cached<std::optional<PageCaller>>> callers_;  // none: the token is not valid
  std::map<CheckKey, Cached<bool>> accesses_;
  // Tokens that were allowed a page. Apart from the others, so that no flood of them displaces
  // these.
  std::map<TokenHash, Cached<bool>> allowed_before_;
  std::map<CheckKey, Check> checks_;
  uint64_t last_number_ = 0;
  size_t open_ = 0;
  std::array<Trouble, 2> troubles_;  // by review
};

}  // namespace krafla
