// The one way into the scheduling thread: what watches saw, what became of writes. Bounded in
// bytes for watches, which are told "not now" and stop reading from the network; answers to our own
// requests are always taken, there are never more of them than requests.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster_state/fact_parcel.h"
#include "kube/api_text.h"
#include "kube/watched_kinds.h"

namespace krafla {

struct ObjectMessage {
  enum class What : uint8_t {
    kSyncBegins,  // what follows until kSyncEnds is all there is of this kind
    kSeen,        // the object is there, and like this
    kGone,
    kSyncEnds,  // `head` has the list's resourceVersion, and nothing else
    kReread,    // read once more on our own wish: counts also when nothing newer was seen
  };
  What what = What::kSeen;
  WatchedKind kind = WatchedKind::kPod;
  std::string object;  // padded JSON; empty for the marks and for kGone
  ObjectHead head;
  bool reduced = false;  // the object is cut down to what decoders look at
  // The object, decoded; null: whoever takes the message decodes it.
  std::unique_ptr<FactParcel> parcel = nullptr;
  // An internal check that failed while it was decoded; there is no parcel then.
  std::string failed_check = {};
};

// "namespace/name", or the name alone.
std::string KeyOf(const ObjectHead& head);
// "Pod namespace/name".
std::string ObjectTitle(WatchedKind kind, const ObjectHead& head);

class Inbox {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Inbox(size_t most_bytes = 64u << 20) : most_bytes_(most_bytes) {}

  // Called, on the taker's thread, when there is room again after a TryPut that failed.
  void OnRoom(std::function<void()> on_room) { on_room_ = std::move(on_room); }

  // False: full, come back later.
  bool TryPut(ObjectMessage& message);
  void PutAlways(ObjectMessage message);
  // Whether TryPut would take a message now.
  bool HasRoom();
  // Something to run on the scheduling thread.
  void PutTask(std::function<void()> task);
  // Lets a waiting Take return.
  void Interrupt();

  struct Batch {
    std::vector<ObjectMessage> objects;
    std::vector<std::function<void()>> tasks;
    bool interrupted = false;
    bool empty() const { return objects.empty() && tasks.empty() && !interrupted; }
  };
  // Waits until there is something, or until `until`; takes all of it.
  Batch Take(Clock::time_point until);

 private:
  static size_t SizeOf(const ObjectMessage& message) {
    return message.object.size() + sizeof(ObjectMessage) +
           (message.parcel != nullptr ? message.parcel->Bytes() : 0);
  }

  const size_t most_bytes_;
  std::function<void()> on_room_;
  std::mutex mutex_;
  std::condition_variable filled_;
  Batch batch_;
  size_t bytes_ = 0;
  bool turned_away_ = false;
};

}  // namespace krafla
