#include "kube/background_worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

namespace krafla {

BackgroundWorker::BackgroundWorker(size_t most_waiting)
    : most_waiting_(most_waiting), thread_([this] { Loop(); }) {}

BackgroundWorker::~BackgroundWorker() {
  Stop();
  thread_.join();
}

void BackgroundWorker::Stop() {
  const std::scoped_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  done_.notify_all();
}

Result<bool> BackgroundWorker::Run(const std::string& what, std::chrono::milliseconds patience,
                                   std::function<void()> work) {
  std::unique_lock lock(mutex_);
  if (stop_) return Fail("is about to stop");
  if (waiting_.size() + (current_ != nullptr ? 1 : 0) > most_waiting_) {
    const std::string& with = current_ != nullptr ? current_->what : waiting_.front()->what;
    const double seconds =
        current_ != nullptr ? std::chrono::duration<double>(Clock::now() - begun_).count() : 0;
    return Fail(fmt::format("busy with {} for {:.1f} s", with, seconds));
  }
  auto piece = std::make_shared<Piece>(Piece{.what = what, .work = std::move(work)});
  waiting_.push_back(piece);
  wake_.notify_one();
  done_.wait_for(lock, patience, [&] { return piece->done || stop_; });
  if (piece->done) return true;
  piece->given_up = true;
  return Fail(stop_ ? "is about to stop"
                    : fmt::format("{} took longer than {} s", what, patience.count() / 1000));
}

void BackgroundWorker::Loop() {
  // On Linux a thread has a priority of its own; where it cannot be lowered it stays as it is.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    current_ = waiting_.front();
    waiting_.pop_front();
    begun_ = Clock::now();
    if (!current_->given_up) {
      lock.unlock();
      current_->work();
      lock.lock();
      current_->done = true;
    }
    current_.reset();
    done_.notify_all();
  }
}

}  // namespace krafla
