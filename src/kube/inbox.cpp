#include "kube/inbox.h"

#include <utility>

namespace krafla {

std::string KeyOf(const ObjectHead& head) {
  return head.ns.empty() ? head.name : head.ns + "/" + head.name;
}

std::string ObjectTitle(WatchedKind kind, const ObjectHead& head) {
  return std::string(InfoOf(kind).name) + " " + KeyOf(head);
}

bool Inbox::TryPut(ObjectMessage& message) {
  const std::scoped_lock lock(mutex_);
  if (bytes_ >= most_bytes_) {
    turned_away_ = true;
    return false;
  }
  bytes_ += SizeOf(message);
  batch_.objects.push_back(std::move(message));
  filled_.notify_one();
  return true;
}

bool Inbox::HasRoom() {
  const std::scoped_lock lock(mutex_);
  return bytes_ < most_bytes_;
}

void Inbox::PutAlways(ObjectMessage message) {
  const std::scoped_lock lock(mutex_);
  bytes_ += SizeOf(message);
  batch_.objects.push_back(std::move(message));
  filled_.notify_one();
}

void Inbox::PutTask(std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  batch_.tasks.push_back(std::move(task));
  filled_.notify_one();
}

void Inbox::Interrupt() {
  const std::scoped_lock lock(mutex_);
  batch_.interrupted = true;
  filled_.notify_one();
}

Inbox::Batch Inbox::Take(Clock::time_point until) {
  Batch taken;
  bool room = false;
  {
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, until, [&] { return !batch_.empty(); });
    taken = std::exchange(batch_, {});
    bytes_ = 0;
    room = std::exchange(turned_away_, false);
  }
  if (room && on_room_) on_room_();
  return taken;
}

}  // namespace krafla
