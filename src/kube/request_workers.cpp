#include "kube/request_workers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <tuple>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

namespace {

constexpr int kLowPriority = 10;  // nice

// The prefix keeps a user whose name looks like an address apart from that address.
std::string CallerOf(const PageWork& work) {
  return work.request.user.empty() ? "peer:" + work.peer : "user:" + work.request.user;
}

bool IsUnbounded(const PageWork& work) {
  return work.request.loopback && work.request.user.empty();
}

}  // namespace

RequestWorkers::RequestWorkers(Options options) : options_(std::move(options)) {
  for (size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Loop(); });
}

RequestWorkers::~RequestWorkers() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

size_t RequestWorkers::Waiting(const std::string& caller) const {
  return static_cast<size_t>(std::count_if(waiting_.begin(), waiting_.end(),
                                           [&](const auto& one) { return one->caller == caller; }));
}

size_t RequestWorkers::WorkedOn(const std::string& caller) const {
  return static_cast<size_t>(std::count_if(worked_on_.begin(), worked_on_.end(),
                                           [&](const auto& one) { return one->caller == caller; }));
}

bool RequestWorkers::Offer(std::shared_ptr<PageWork> work) {
  std::shared_ptr<PageWork> displaced;
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(waiting_, [](const auto& one) { return one->abandoned.load(); });
    work->caller = CallerOf(*work);
    const std::string& caller = work->caller;
    // An abandoned page counts while it is made: it still occupies a thread.
    if (!IsUnbounded(*work) && Waiting(caller) + WorkedOn(caller) >= options_.most_of_a_caller)
      return false;
    if (waiting_.size() >= options_.most_waiting) {
      displaced = TakePlaceFor(caller);
      if (displaced == nullptr) return false;
    }
    waiting_.push_back(work);
  }
  wake_.notify_one();
  if (displaced != nullptr)
    options_.deliver(displaced->connection, options_.busy(displaced->request));
  return true;
}

std::shared_ptr<PageWork> RequestWorkers::TakePlaceFor(const std::string& caller) {
  std::map<std::string, size_t> counts;
  for (const auto& one : waiting_) ++counts[one->caller];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // Equal numbers are fair as they are.
  if (most == counts.end() || most->second <= counts[caller] + 1) return nullptr;
  const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                   [&](const auto& one) { return one->caller == most->first; });
  std::shared_ptr<PageWork> displaced = *newest;
  waiting_.erase(std::next(newest).base());
  return displaced;
}

RequestWorkers::Works::iterator RequestWorkers::Next() {
  auto best = waiting_.end();
  std::tuple<size_t, uint64_t> best_claim;
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    const std::string& caller = (*it)->caller;
    const size_t worked_on = WorkedOn(caller);
    if (worked_on >= options_.most_worked_on_of_a_caller) continue;
    const auto turn = last_turn_.find(caller);
    const std::tuple claim(worked_on, turn == last_turn_.end() ? 0 : turn->second);
    // Equal claims: by arrival.
    if (best != waiting_.end() && claim >= best_claim) continue;
    best = it;
    best_claim = claim;
  }
  return best;
}

void RequestWorkers::Loop() {
  // On Linux a thread has a priority of its own; where it cannot be lowered it stays as it is.
  if (options_.low_priority) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);
  std::unique_lock lock(mutex_);
  while (true) {
    auto next = waiting_.end();
    wake_.wait(lock, [&] {
      std::erase_if(waiting_, [](const auto& one) { return one->abandoned.load(); });
      next = Next();
      return stop_ || next != waiting_.end();
    });
    if (stop_) return;
    const std::shared_ptr<PageWork> work = *next;
    waiting_.erase(next);
    worked_on_.push_back(work);
    last_turn_[work->caller] = ++turns_;
    lock.unlock();
    ApiAnswer answer = Answer(work->request);
    lock.lock();
    std::erase(worked_on_, work);
    std::erase_if(last_turn_, [&](const auto& entry) {
      return Waiting(entry.first) == 0 && WorkedOn(entry.first) == 0;
    });
    lock.unlock();
    // A request that waited for this caller's turn may be due now.
    wake_.notify_all();
    if (!work->abandoned) options_.deliver(work->connection, std::move(answer));
    answer = {};
    lock.lock();
  }
}

ApiAnswer RequestWorkers::Answer(const ApiRequest& request) const {
  try {
    return options_.answer(request);
  } catch (const std::exception& problem) {
    options_.log(fmt::format("page failed path={} error={}", LogQuoted(request.path),
                             LogQuoted(problem.what())));
    return {
        .status = 500, .body = "the page failed; the log says why\n", .content_type = "text/plain"};
  }
}

}  // namespace krafla
