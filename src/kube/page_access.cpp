#include "kube/page_access.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/did_you_mean.h"
#include "base/log_text.h"
#include "kube/api_client.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 3;  // of one review
constexpr milliseconds kBeforeNextAttempt{250};
constexpr int kRetryAfterSeconds = 2;
constexpr int kMostRetryAfterSeconds = 60;
constexpr std::chrono::seconds kBetweenLogLines{60};
constexpr size_t kMostPathBytes = 512;

std::string_view PageOf(const ApiRequest& request) {
  return IsApiPath(request.path) ? "api" : "metrics";
}

// No page is called otherwise, and the API server is not asked about it.
bool CanBePage(const std::string& path) {
  return path.size() <= kMostPathBytes &&
         std::all_of(path.begin(), path.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool MayBeOtherwiseNextTime(const HttpResponse& response) {
  // 401: our own credentials are read again after it.
  return !response.closing && (IsTransient(response) || response.status == 401);
}

void Redact(std::string& text, const std::string& token) {
  if (token.empty()) return;
  constexpr std::string_view kInstead = "<token>";
  for (size_t at = 0; (at = text.find(token, at)) != std::string::npos; at += kInstead.size())
    text.replace(at, token.size(), kInstead);
}

// Why a TokenReview has no result. An answer that repeats what it was sent must not bring a token
// into the log: it is looked for before messages are shortened, which would leave a part of it, and
// once more in what was escaped in the answer.
std::string ProblemWithout(const std::string& token, const HttpResponse& response) {
  HttpResponse redacted = response;
  Redact(redacted.body, token);
  Redact(redacted.error, token);
  std::string problem = Describe(redacted);
  if (response.ok())
    if (const auto caller = ReadTokenReview(redacted.body); !caller)
      problem = caller.error().message;
  Redact(problem, token);
  return problem;
}

template <class Map, class Key, class Entry>
void Remember(Map& map, const Key& key, Entry entry, size_t most,
              PageAccess::Clock::time_point now) {
  if (map.size() >= most && !map.contains(key)) {
    std::erase_if(map, [&](const auto& cached) { return cached.second.until <= now; });
    if (map.size() >= most)
      map.erase(std::min_element(map.begin(), map.end(), [](const auto& a, const auto& b) {
        return a.second.until < b.second.until;
      }));
  }
  map.insert_or_assign(key, std::move(entry));
}

}  // namespace

PageAccess::PageAccess(Options options) : options_(std::move(options)) {
  KRAFLA_CHECK(RAND_bytes(hash_key_.data(), static_cast<int>(hash_key_.size())) == 1,
               "no random numbers for the keyed hash of tokens");
}

std::string_view PageAccess::NameOf(Review review) {
  return review == Review::kToken ? "token" : "access";
}

void PageAccess::Run(const Tasks& tasks) {
  for (const auto& task : tasks) task();
}

PageAccess::TokenHash PageAccess::HashOf(std::string_view token) const {
  TokenHash hash{};
  unsigned size = 0;
  KRAFLA_CHECK(HMAC(EVP_sha256(), hash_key_.data(), static_cast<int>(hash_key_.size()),
                    reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data(),
                    &size) != nullptr &&
                   size == hash.size(),
               "out of memory");
  return hash;
}

std::optional<AccessVerdict> PageAccess::Authorize(const ApiRequest& request, Done later) {
  if (request.loopback || (options_.anonymous_metrics && request.path == "/metrics"))
    return Decide(request, Outcome::kAllowed, {});
  if (request.authorization.empty())
    return Unauthenticated(request,
                           "a bearer token is needed: send the header Authorization: Bearer TOKEN");
  const std::optional<std::string_view> token = BearerToken(request.authorization);
  // What was sent is not repeated: it may be a token that lacks its scheme.
  if (!token)
    return Unauthenticated(request,
                           "expected the header Authorization: Bearer TOKEN, with one token of at "
                           "most 12 KiB");
  if (!CanBePage(request.path))
    return AccessVerdict{ProblemAnswer(request, 404, "there is no such page")};

  const CheckKey key{HashOf(*token), request.path};
  Tasks tasks;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = Known(key)) return Decide(request, known->first, known->second);
    if (!later) return std::nullopt;
    if (!options_.send) return Decide(request, Outcome::kUnavailable, {});
    const size_t most_open =
        options_.most_open + (WasAllowed(key.first) ? options_.most_open_reserved : 0);
    if (open_ >= most_open && !checks_.contains(key))
      return Decide(request, Outcome::kUnavailable, {});
    const auto [it, is_new] = checks_.try_emplace(key);
    Check& check = it->second;
    check.waiting.emplace_back(request, std::move(later));
    check.waiting.back().first.authorization.clear();
    if (is_new) {
      check.number = ++last_number_;
      check.token = *token;
      check.deadline = options_.now() + options_.deadline;
      tasks.push_back([this, key, number = check.number] {
        options_.after(options_.deadline, [this, key, number] { Expire(key, number); });
      });
      const auto caller = callers_.find(key.first);
      if (caller != callers_.end() && caller->second.until > options_.now()) {
        AskAboutAccess(key, check, *caller->second.value, tasks);
      } else {
        AskAboutToken(key, check, tasks);
      }
    }
  }
  Run(tasks);
  return std::nullopt;
}

bool PageAccess::WasAllowed(const ApiRequest& request) const {
  const std::optional<std::string_view> token = BearerToken(request.authorization);
  if (!token) return false;
  const TokenHash hash = HashOf(*token);
  const std::scoped_lock lock(mutex_);
  return WasAllowed(hash);
}

bool PageAccess::WasAllowed(const TokenHash& token) const {
  const auto before = allowed_before_.find(token);
  return before != allowed_before_.end() && before->second.until > options_.now();
}

std::optional<std::pair<PageAccess::Outcome, std::string>> PageAccess::Known(
    const CheckKey& key) const {
  const Clock::time_point now = options_.now();
  const auto caller = callers_.find(key.first);
  if (caller == callers_.end() || caller->second.until <= now) return std::nullopt;
  if (!caller->second.value) return std::pair(Outcome::kUnauthenticated, std::string());
  const auto access = accesses_.find(key);
  if (access == accesses_.end() || access->second.until <= now) return std::nullopt;
  return std::pair(access->second.value ? Outcome::kAllowed : Outcome::kForbidden,
                   caller->second.value->name);
}

AccessVerdict PageAccess::Decide(const ApiRequest& request, Outcome outcome,
                                 const std::string& user, std::optional<int> retry_after_s) const {
  switch (outcome) {
    case Outcome::kAllowed:
      options_.on_request(PageOf(request), "allowed");
      return {.user = user};
    case Outcome::kUnauthenticated:
      return Unauthenticated(request,
                             "the API server does not accept this token: is it expired, or of "
                             "another cluster?",
                             "invalid_token");
    case Outcome::kForbidden:
      options_.on_request(PageOf(request), "forbidden");
      return {ProblemAnswer(
          request, 403,
          fmt::format("{} may not read {}: a role must allow get on the nonResourceURL {}, as the "
                      "ClusterRole {} of deploy/rbac.yaml does",
                      Quoted(user), request.path, PathForAccess(request.path),
                      IsApiPath(request.path) ? "krafla-api-reader" : "krafla-metrics-reader"))};
    case Outcome::kUnavailable:
      break;
  }
  options_.on_request(PageOf(request), "unavailable");
  if (!options_.send)
    return {ProblemAnswer(request, 503,
                          "tokens cannot be checked here: the API server is reached over http://, "
                          "to which no token is sent")};
  ApiAnswer answer =
      ProblemAnswer(request, 503, "the API server could not be asked whether you may read this");
  answer.retry_after_s = retry_after_s.value_or(kRetryAfterSeconds);
  return {std::move(answer)};
}

AccessVerdict PageAccess::Unauthenticated(const ApiRequest& request, const std::string& message,
                                          std::string_view error) const {
  options_.on_request(PageOf(request), "unauthenticated");
  ApiAnswer answer = ProblemAnswer(request, 401, message);
  answer.headers.emplace_back("WWW-Authenticate",
                              error.empty()
                                  ? std::string("Bearer realm=\"krafla\"")
                                  : fmt::format("Bearer realm=\"krafla\", error=\"{}\"", error));
  return {std::move(answer)};
}

// ---- one check

PageAccess::Check* PageAccess::Find(const CheckKey& key, uint64_t number) {
  const auto it = checks_.find(key);
  return it == checks_.end() || it->second.number != number ? nullptr : &it->second;
}

void PageAccess::AskAboutToken(const CheckKey& key, Check& check, Tasks& tasks) {
  check.review = Review::kToken;
  ++check.attempts;
  HttpRequest request = TokenReviewRequest(check.token);
  // Behind callers that were allowed before: a flood of made-up tokens does not delay them.
  request.urgency = WasAllowed(key.first) ? Urgency::kBind : Urgency::kEvict;
  request.timeout = options_.deadline;
  request.on_done = [this, key, number = check.number](const HttpResponse& response) {
    OnTokenReview(key, number, response);
  };
  Send(std::move(request), tasks);
}

void PageAccess::AskAboutAccess(const CheckKey& key, Check& check, const PageCaller& caller,
                                Tasks& tasks) {
  if (check.review != Review::kAccess) check.attempts = 0;
  check.review = Review::kAccess;
  check.token.clear();
  ++check.attempts;
  HttpRequest request = AccessReviewRequest(caller, key.second);
  request.timeout = options_.deadline;
  request.on_done = [this, key, number = check.number,
                     user = caller.name](const HttpResponse& response) {
    OnAccessReview(key, number, user, response);
  };
  Send(std::move(request), tasks);
}

void PageAccess::Send(HttpRequest request, Tasks& tasks) {
  ++open_;
  tasks.push_back([this, request = std::move(request)] { options_.send(request); });
}

void PageAccess::OnTokenReview(const CheckKey& key, uint64_t number, const HttpResponse& response) {
  Tasks tasks;
  {
    const std::scoped_lock lock(mutex_);
    --open_;
    Check* const check = Find(key, number);
    auto caller = response.ok() ? ReadTokenReview(response.body) : Fail(std::string());
    if (!caller) {
      if (check != nullptr)
        Failed(key, *check, response, ProblemWithout(check->token, response), tasks);
    } else {
      // Also when nothing waits for it any longer: it is asked for again, probably.
      Answered(Review::kToken, tasks);
      const Clock::time_point now = options_.now();
      Remember(callers_, key.first,
               Cached<std::optional<PageCaller>>{*caller, now + options_.cached_for},
               options_.most_cached, now);
      if (!*caller) allowed_before_.erase(key.first);
      if (check != nullptr && !*caller) {
        Settle(key, Outcome::kUnauthenticated, {}, tasks);
      } else if (check != nullptr) {
        const auto known = Known(key);
        if (known) {
          Settle(key, known->first, known->second, tasks);
        } else {
          AskAboutAccess(key, *check, **caller, tasks);
        }
      }
    }
  }
  Run(tasks);
}

void PageAccess::OnAccessReview(const CheckKey& key, uint64_t number, const std::string& user,
                                const HttpResponse& response) {
  Tasks tasks;
  {
    const std::scoped_lock lock(mutex_);
    --open_;
    Check* const check = Find(key, number);
    const auto allowed = response.ok() ? ReadAccessReview(response.body) : Fail(Describe(response));
    if (!allowed) {
      if (check != nullptr) Failed(key, *check, response, allowed.error().message, tasks);
    } else {
      Answered(Review::kAccess, tasks);
      const Clock::time_point now = options_.now();
      Remember(accesses_, key, Cached<bool>{*allowed, now + options_.cached_for},
               options_.most_cached, now);
      if (*allowed)
        Remember(allowed_before_, key.first, Cached<bool>{true, now + options_.remembered_for},
                 options_.most_remembered, now);
      if (check != nullptr)
        Settle(key, *allowed ? Outcome::kAllowed : Outcome::kForbidden, user, tasks);
    }
  }
  Run(tasks);
}

void PageAccess::Answered(Review review, Tasks& tasks) {
  tasks.push_back([this, review] { options_.on_review(NameOf(review), "answered"); });
  Trouble& trouble = troubles_[static_cast<size_t>(review)];
  if (trouble.since && trouble.announced)
    tasks.push_back([this, review,
                     line = fmt::format("callers of the pages can be checked again review={} "
                                        "after_s={}",
                                        NameOf(review),
                                        std::chrono::duration_cast<std::chrono::seconds>(
                                            options_.now() - *trouble.since)
                                            .count())] { options_.log(line); });
  trouble.since.reset();
  trouble.announced = false;
}

void PageAccess::Failed(const CheckKey& key, Check& check, const HttpResponse& response,
                        const std::string& problem, Tasks& tasks) {
  const Review review = check.review;
  tasks.push_back([this, review] { options_.on_review(NameOf(review), "failed"); });
  const milliseconds wait = response.retry_after.value_or(kBeforeNextAttempt * check.attempts);
  if (MayBeOtherwiseNextTime(response) && check.attempts < kAttempts &&
      options_.now() + wait < check.deadline) {
    tasks.push_back([this, wait, key, number = check.number] {
      options_.after(wait, [this, key, number] { TryAgain(key, number); });
    });
    return;
  }
  if (!response.closing) LogFailure(review, response, problem, tasks);
  std::optional<int> retry_after_s;
  if (response.retry_after)
    retry_after_s = static_cast<int>(
        std::clamp<int64_t>(std::chrono::ceil<std::chrono::seconds>(*response.retry_after).count(),
                            1, kMostRetryAfterSeconds));
  Settle(key, Outcome::kUnavailable, {}, tasks, retry_after_s);
}

void PageAccess::TryAgain(const CheckKey& key, uint64_t number) {
  Tasks tasks;
  {
    const std::scoped_lock lock(mutex_);
    Check* const check = Find(key, number);
    if (check == nullptr) return;
    const auto caller = callers_.find(key.first);
    const bool known = caller != callers_.end() && caller->second.value;
    if (check->review == Review::kAccess && known) {
      AskAboutAccess(key, *check, *caller->second.value, tasks);
    } else if (check->review == Review::kToken) {
      AskAboutToken(key, *check, tasks);
    } else {  // the token's entry had to make place for another one, and the token is gone with it
      Settle(key, Outcome::kUnavailable, {}, tasks);
    }
  }
  Run(tasks);
}

void PageAccess::Expire(const CheckKey& key, uint64_t number) {
  Tasks tasks;
  {
    const std::scoped_lock lock(mutex_);
    const Check* const check = Find(key, number);
    if (check == nullptr) return;
    const Review review = check->review;
    tasks.push_back([this, review] { options_.on_review(NameOf(review), "failed"); });
    LogFailure(review, {}, fmt::format("no answer within {} ms", options_.deadline.count()), tasks);
    Settle(key, Outcome::kUnavailable, {}, tasks);
  }
  Run(tasks);
}

void PageAccess::Settle(const CheckKey& key, Outcome outcome, const std::string& user, Tasks& tasks,
                        std::optional<int> retry_after_s) {
  auto node = checks_.extract(key);
  for (auto& [request, done] : node.mapped().waiting)
    tasks.push_back([this, request = std::move(request), done = std::move(done), outcome, user,
                     retry_after_s] { done(Decide(request, outcome, user, retry_after_s)); });
}

void PageAccess::LogFailure(Review review, const HttpResponse& response, const std::string& problem,
                            Tasks& tasks) {
  Trouble& trouble = troubles_[static_cast<size_t>(review)];
  const Clock::time_point now = options_.now();
  if (!trouble.since) trouble.since = now;
  if (trouble.logged && now - *trouble.logged < kBetweenLogLines) return;
  trouble.logged = now;
  trouble.announced = true;
  const std::string_view hint =
      response.status == 403
          ? " hint=\"deploy/rbac.yaml allows the scheduler to create tokenreviews and "
            "subjectaccessreviews\""
          : "";
  tasks.push_back(
      [this, line = fmt::format("callers of the pages cannot be checked, they get 503 review={} "
                                "asked=\"create {}\" error={}{}",
                                NameOf(review),
                                review == Review::kToken ? "tokenreviews" : "subjectaccessreviews",
                                LogQuoted(problem), hint)] { options_.log(line); });
}

std::pair<size_t, size_t> PageAccess::cached() const {
  const std::scoped_lock lock(mutex_);
  return {callers_.size(), accesses_.size()};
}

}  // namespace krafla
