// What was decided is done: pods are bound and evicted. Each effect ends in one of two ways:
//   - the server has taken it; the watch will show it;
//   - it cannot be (somebody else was faster, the pod or its node is gone, a budget or a quota
//     forbids it): then the pod is read again and is what the server says. After repeated failures
//     that takes a while, so that nobody is asked the same thing in a loop.
// Answers that may be others next time (429, 5xx, no answer) are asked again first. A binding that
// was done although its answer was lost is refused the second time; whether it is done is known
// when the pod was read again, and only then it is told as done or as failed.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/api_client.h"
#include "kube/api_objects.h"
#include "kube/cluster_mirror.h"
#include "kube/event_recorder.h"
#include "kube/volume_binder.h"

namespace krafla {

struct BindOrder {
  ObjectRef pod;
  std::string node;
  std::vector<ClaimOrder> claims;  // to be bound before the pod
};

struct EvictOrder {
  ObjectRef pod;
  std::string message;  // "evicted by preempt for team-a/urgent-0 (…)"
  ObjectRef group;      // its PodGroup; empty name: none on the server
  ObjectRef for_pod;    // who gets the place; empty name: nobody
  std::string node;
  GroupMemory memory;  // to be kept on the group before the pod goes
};

struct EffectCounts {
  uint64_t bound = 0;
  uint64_t bind_failures = 0;
  uint64_t evicted = 0;
  uint64_t eviction_failures = 0;
  uint64_t repeated = 0;    // requests that were sent again
  uint64_t re_evicted = 0;  // evictions from a group that has lost pods before
};

class Effects {
 public:
  struct Options {
    bool eviction_api = false;
    VolumeBinder::Options volumes;
    uint64_t seed = 0;  // of the waits before requests are repeated
    std::function<void(const std::string& line)> log;
    std::function<void(const BindOrder& order)> on_bound;
    std::function<void(const EvictOrder& order)> on_evicted;
  };

  Effects(ApiClient& client, ClusterMirror& mirror, EventRecorder& events, Options options);

  void Bind(BindOrder order);
  // Those of one group follow each other; what is to be kept of it is written once, and before
  // them.
  void Evict(std::vector<EvictOrder> orders);
  // Evictions were refused: what was kept of the group before them is replaced as a whole.
  void CorrectMemory(const ObjectRef& group, const GroupMemory& memory);
  // Reads a pod and applies what the server says; then calls `then`.
  void ReadAgain(const ObjectRef& pod, std::function<void()> then) {
    Reread(pod, 0, std::move(then));
  }
  void SetEvictionApi(bool on) { options_.eviction_api = on; }
  void SetVolumePatience(std::chrono::milliseconds patience) { volumes_.SetPatience(patience); }

  size_t in_flight() const { return in_flight_; }
  const EffectCounts& counts() const { return counts_; }

 private:
  void SendBind(BindOrder order, int attempt);
  void BindDone(const BindOrder& order);
  // Refused because of what the pod is by now: perhaps bound where we wanted it.
  void BindInDoubt(const BindOrder& order, const std::string& problem);
  void BindFailed(const BindOrder& order, const std::string& problem);
  // What is to be written on a PodGroup, and what waits for it.
  struct MemoryWish {
    GroupMemory memory;
    bool whole = false;              // what it does not name is taken away
    std::vector<EvictOrder> orders;  // follow when it is written
    size_t corrections = 0;          // that end with it
    // A later one: what it says goes before what this one said.
    void Take(MemoryWish later);
  };
  // One request per group at a time, so that an older one never writes over a newer one; what is
  // wished meanwhile is sent afterwards, or with its repetition.
  struct MemoryWrites {
    ObjectRef group;
    std::optional<MemoryWish> under_way;
    std::optional<MemoryWish> next;
  };
  void WantMemory(const ObjectRef& group, MemoryWish wish);
  void SendMemory(const std::string& group_key, int attempt);
  void MemoryAnswered(const std::string& group_key, const HttpResponse& response);
  void SendCondition(EvictOrder order, int attempt);
  void SendRemoval(EvictOrder order, int attempt);
  void EvictionRefused(const EvictOrder& order, const HttpResponse& response);
  // Sends `again` a little later, when the answer and the number of attempts allow it.
  bool Repeat(const HttpResponse& response, int attempt, std::function<void()> again);
  // Between half of `own` and all of it, and not before the server wants it: many requests fail
  // at the same time, and must not come back at the same time.
  std::chrono::milliseconds WaitBeforeRepeat(const HttpResponse& response,
                                             std::chrono::milliseconds own);
  // `then`: when it is what the server says, or gone.
  void Failed(const ObjectRef& pod, bool at_once, std::function<void()> then = {});
  void Reread(const ObjectRef& pod, int attempt, std::function<void()> then);
  bool IsBoundTo(const BindOrder& order) const;
  void Log(const std::string& line);

  ApiClient& client_;
  ClusterMirror& mirror_;
  EventRecorder& events_;
  Options options_;
  VolumeBinder volumes_;
  ApiTextParser parser_;
  EffectCounts counts_;
  std::mt19937_64 random_;
  size_t in_flight_ = 0;
  std::unordered_map<std::string, int> failures_;                // by UID
  std::unordered_map<std::string, MemoryWrites> memory_writes_;  // by "namespace/name"
};

}  // namespace krafla
