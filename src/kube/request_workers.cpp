#include "kube/request_workers.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

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

bool RequestWorkers::Offer(std::shared_ptr<PageWork> work) {
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(waiting_, [](const auto& one) { return one->abandoned.load(); });
    if (waiting_.size() >= options_.most_waiting) return false;
    // An abandoned page counts while it is made: it still occupies a thread.
    const auto of_peer = [&](const auto& one) { return one->peer == work->peer; };
    const auto count = std::count_if(waiting_.begin(), waiting_.end(), of_peer) +
                       std::count_if(worked_on_.begin(), worked_on_.end(), of_peer);
    if (!work->request.loopback && static_cast<size_t>(count) >= options_.most_of_a_peer)
      return false;
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
  return true;
}

void RequestWorkers::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const std::shared_ptr<PageWork> work = std::move(waiting_.front());
    waiting_.pop_front();
    if (work->abandoned) continue;
    worked_on_.push_back(work);
    lock.unlock();
    ApiAnswer answer = Answer(work->request);
    if (!work->abandoned) options_.deliver(work->connection, std::move(answer));
    answer = {};
    lock.lock();
    std::erase(worked_on_, work);
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
