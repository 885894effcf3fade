#include "kube/effects.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"
#include "scheduler/refusal_hold.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 5;
constexpr size_t kMostRemembered = 10'000;

}  // namespace

Effects::Effects(ApiClient& client, ClusterMirror& mirror, EventRecorder& events, Options options)
    : client_(client),
      mirror_(mirror),
      events_(events),
      options_(std::move(options)),
      volumes_(client, mirror, options_.volumes),
      random_(options_.seed) {}

void Effects::Log(const std::string& line) {
  if (options_.log) options_.log(line);
}

milliseconds Effects::WaitBeforeRepeat(const HttpResponse& response, milliseconds own) {
  const auto between = [&](int64_t low, int64_t high) {
    return milliseconds(std::uniform_int_distribution<int64_t>(low, high)(random_));
  };
  const milliseconds wait = between(own.count() / 2, own.count());
  if (!response.retry_after) return wait;
  const int64_t wanted = response.retry_after->count();
  return std::max(wait, between(wanted, wanted + wanted / 4));
}

bool Effects::Repeat(const HttpResponse& response, int attempt, std::function<void()> again) {
  // Whoever does not lead asks nobody again; when it leads once more the pod is read anew.
  if (response.kept_back || !IsTransient(response) || attempt + 1 >= kAttempts) return false;
  ++counts_.repeated;
  client_.After(WaitBeforeRepeat(response, milliseconds(100) * (1 << attempt)), std::move(again));
  return true;
}

void Effects::Bind(BindOrder order) {
  mirror_.ExpectBinding(order.pod.Key(), order.pod.uid, order.node);
  if (order.claims.empty()) {
    ++in_flight_;
    return SendBind(std::move(order), 0);
  }
  // That takes as long as the volumes' controllers take; whoever is told to stop does not wait for
  // them, and finds everything again.
  std::vector<ClaimOrder> claims = std::exchange(order.claims, {});
  volumes_.Bind(order.pod, order.node, std::move(claims),
                [this, order](const std::optional<std::string>& problem) {
                  if (problem) return BindFailed(order, *problem);
                  // The server would bind to a node that is gone, and the pod be lost with it.
                  if (mirror_.UidOf(WatchedKind::kNode, order.node).empty())
                    return BindFailed(order, "the node is gone");
                  ++in_flight_;
                  SendBind(order, 0);
                });
}

void Effects::BindFailed(const BindOrder& order, const std::string& problem) {
  ++counts_.bind_failures;
  Log(fmt::format("binding of volumes failed pod={} node={} error={}", order.pod.Key(), order.node,
                  LogQuoted(problem)));
  events_.Record({order.pod, true, "FailedScheduling",
                  fmt::format("binding volumes on {} failed: {}", order.node, problem)});
  Failed(order.pod, false);
}

void Effects::SendBind(BindOrder order, int attempt) {
  HttpRequest request{.method = "POST",
                      .target = PodPath(order.pod) + "/binding",
                      .content_type = std::string(kJsonType),
                      .body = BindingBody(order.pod, order.node),
                      .urgency = Urgency::kBind};
  client_.Send(
      std::move(request), [this, order = std::move(order), attempt](const HttpResponse& response) {
        if (Repeat(response, attempt, [this, order, attempt] { SendBind(order, attempt + 1); }))
          return;
        --in_flight_;
        if (response.ok()) return BindDone(order);
        if (response.status == 409) return BindInDoubt(order, Describe(response));
        ++counts_.bind_failures;
        Log(fmt::format("binding failed pod={} node={} error={}", order.pod.Key(), order.node,
                        LogQuoted(Describe(response))));
        const bool gone = response.status == 404;
        if (!gone)
          events_.Record({order.pod, true, "FailedScheduling",
                          fmt::format("binding to {} failed: {}", order.node, Describe(response))});
        Failed(order.pod, gone);
      });
}

void Effects::BindDone(const BindOrder& order) {
  ++counts_.bound;
  failures_.erase(order.pod.uid);
  events_.Record({order.pod, false, "Scheduled",
                  fmt::format("Successfully assigned {} to {}", order.pod.Key(), order.node)});
  if (options_.on_bound) options_.on_bound(order);
}

void Effects::BindInDoubt(const BindOrder& order, const std::string& problem) {
  Failed(order.pod, true, [this, order, problem] {
    if (IsBoundTo(order)) return BindDone(order);
    ++counts_.bind_failures;
    Log(fmt::format("binding failed pod={} node={} error={}", order.pod.Key(), order.node,
                    LogQuoted(problem)));
  });
}

// As the server says.
bool Effects::IsBoundTo(const BindOrder& order) const {
  if (mirror_.UidOf(WatchedKind::kPod, order.pod.Key()) != order.pod.uid) return false;
  StringPool& strings = mirror_.live().strings();
  const PodFacts* pod =
      mirror_.live().FindPod(strings.Find(order.pod.ns), strings.Find(order.pod.name));
  return pod != nullptr && strings.Text(pod->task.node_name) == order.node;
}

void Effects::Evict(std::vector<EvictOrder> orders) {
  in_flight_ += orders.size();
  for (const EvictOrder& order : orders) mirror_.ExpectEviction(order.pod.Key(), order.pod.uid);
  for (size_t begin = 0; begin < orders.size();) {
    size_t end = begin + 1;
    while (end < orders.size() && orders[end].group == orders[begin].group) ++end;
    std::vector<EvictOrder> of_one_group(std::make_move_iterator(orders.begin() + begin),
                                         std::make_move_iterator(orders.begin() + end));
    if (of_one_group[0].memory.empty() || of_one_group[0].group.name.empty()) {
      for (EvictOrder& order : of_one_group) SendCondition(std::move(order), 0);
    } else {
      const ObjectRef group = of_one_group[0].group;
      const GroupMemory memory = of_one_group[0].memory;
      WantMemory(group, {.memory = memory, .orders = std::move(of_one_group)});
    }
    begin = end;
  }
}

void Effects::MemoryWish::Take(MemoryWish later) {
  const auto take = [&](std::string& text, std::string& newer) {
    if (later.whole || !newer.empty()) text = std::move(newer);
  };
  take(memory.zone_evictions, later.memory.zone_evictions);
  take(memory.evictions, later.memory.evictions);
  take(memory.loss, later.memory.loss);
  whole = whole || later.whole;
  std::move(later.orders.begin(), later.orders.end(), std::back_inserter(orders));
  corrections += later.corrections;
}

void Effects::CorrectMemory(const ObjectRef& group, const GroupMemory& memory) {
  ++in_flight_;
  WantMemory(group, {.memory = memory, .whole = true, .corrections = 1});
}

void Effects::WantMemory(const ObjectRef& group, MemoryWish wish) {
  const std::string key = group.Key();
  MemoryWrites& writes = memory_writes_[key];
  writes.group = group;
  if (writes.next) {
    writes.next->Take(std::move(wish));
  } else {
    writes.next = std::move(wish);
  }
  if (!writes.under_way) SendMemory(key, 0);
}

// First of all: whoever is killed right after the eviction must not evict again at once.
void Effects::SendMemory(const std::string& key, int attempt) {
  MemoryWrites& writes = memory_writes_.at(key);
  if (std::optional<MemoryWish> next = std::exchange(writes.next, std::nullopt)) {
    if (!writes.under_way) writes.under_way = MemoryWish{};
    writes.under_way->Take(std::move(*next));
  }
  HttpRequest request{
      .method = "PATCH",
      .target = PodGroupPath(writes.group),
      .content_type = std::string(kMergePatch),
      .body = GroupMemoryPatch(writes.group, writes.under_way->memory, writes.under_way->whole),
      .urgency = Urgency::kEvict};
  client_.Send(std::move(request), [this, key, attempt](const HttpResponse& response) {
    const auto again = [this, key, attempt] { SendMemory(key, attempt + 1); };
    if (Repeat(response, attempt, again)) return;
    MemoryAnswered(key, response);
  });
}

void Effects::MemoryAnswered(const std::string& key, const HttpResponse& response) {
  MemoryWrites& writes = memory_writes_.at(key);
  MemoryWish done = std::move(*std::exchange(writes.under_way, std::nullopt));
  // A group that is gone, or is another one of that name by now, has nothing to remember.
  const bool written = response.ok() || response.status == 404 || IsOtherObject(response);
  in_flight_ -= done.corrections;
  // The next eviction of the group writes it anew; until then a restart counts one too many.
  if (done.corrections != 0 && !written)
    Log(fmt::format("refused evictions stay written down podgroup={} error={}", key,
                    LogQuoted(Describe(response))));
  if (writes.next) {
    SendMemory(key, 0);
  } else {
    memory_writes_.erase(key);
  }
  for (EvictOrder& order : done.orders) {
    if (written) {
      SendCondition(std::move(order), 0);
    } else {
      EvictionRefused(order, response);
    }
  }
}

void Effects::SendCondition(EvictOrder order, int attempt) {
  HttpRequest request{.method = "PATCH",
                      .target = PodPath(order.pod) + "/status",
                      .content_type = std::string(kStrategicPatch),
                      .body = DisruptionPatch(order.pod, order.message, client_.Now()),
                      .urgency = Urgency::kEvict};
  client_.Send(std::move(request), [this, order = std::move(order),
                                    attempt](const HttpResponse& response) {
    if (response.ok()) return SendRemoval(order, 0);
    if (Repeat(response, attempt, [this, order, attempt] { SendCondition(order, attempt + 1); }))
      return;
    EvictionRefused(order, response);
  });
}

void Effects::SendRemoval(EvictOrder order, int attempt) {
  HttpRequest request{.method = "DELETE",
                      .target = PodPath(order.pod),
                      .content_type = std::string(kJsonType),
                      .body = DeleteBody(order.pod),
                      .urgency = Urgency::kEvict};
  if (options_.eviction_api) {
    request.method = "POST";
    request.target += "/eviction";
    request.body = EvictionBody(order.pod);
  }
  client_.Send(std::move(request), [this, order = std::move(order), attempt,
                                    by_api = options_.eviction_api](const HttpResponse& response) {
    // The eviction API says "too many requests" when a budget forbids it.
    const bool forbidden = by_api && response.status == 429;
    if (!forbidden &&
        Repeat(response, attempt, [this, order, attempt] { SendRemoval(order, attempt + 1); }))
      return;
    // Gone when it was sent again: the answer to the first one was lost.
    const bool done = response.ok() || (attempt > 0 && response.status == 404);
    if (!done) return EvictionRefused(order, response);
    --in_flight_;
    ++counts_.evicted;
    failures_.erase(order.pod.uid);
    events_.Record({order.pod, true, "Evict", order.message});
    if (!order.group.name.empty()) {
      const uint64_t count = mirror_.CountEviction(order.group.Key());
      if (count > 1) ++counts_.re_evicted;
      events_.Record({order.group, true, "Evict",
                      fmt::format("pod {} was {}", order.pod.name, order.message)});
    }
    if (!order.for_pod.name.empty())
      events_.Record({order.for_pod, false, "Preempting",
                      fmt::format("waits for the place of {} on {}", order.pod.Key(), order.node)});
    if (options_.on_evicted) options_.on_evicted(order);
  });
}

void Effects::EvictionRefused(const EvictOrder& order, const HttpResponse& response) {
  --in_flight_;
  const bool gone = response.status == 404 || response.status == 409;
  if (!gone) {
    ++counts_.eviction_failures;
    Log(fmt::format("eviction failed pod={} error={}", order.pod.Key(),
                    LogQuoted(Describe(response))));
    events_.Record({order.pod, true, "FailedEviction",
                    fmt::format("was to be {}; refused: {}", order.message, Describe(response))});
  }
  Failed(order.pod, gone);
}

void Effects::Failed(const ObjectRef& pod, bool at_once, std::function<void()> then) {
  if (failures_.size() > kMostRemembered) failures_.clear();
  const int failures = failures_[pod.uid]++;
  // Until then it counts as bound, or as leaving: whoever is refused is not asked again at once.
  const milliseconds hold = at_once && failures == 0 ? milliseconds(0) : HoldAfterRefusal(failures);
  client_.After(hold, [this, pod, then = std::move(then)] { Reread(pod, 0, then); });
}

void Effects::Reread(const ObjectRef& pod, int attempt, std::function<void()> then) {
  if (mirror_.UidOf(WatchedKind::kPod, pod.Key()) != pod.uid) {  // gone meanwhile
    if (then) then();
    return;
  }
  client_.Send(
      {.target = PodPath(pod), .urgency = Urgency::kEvict},
      [this, pod, attempt, then = std::move(then)](const HttpResponse& response) {
        ObjectMessage message{
            ObjectMessage::What::kReread, WatchedKind::kPod, Padded(response.body), {}};
        if (response.ok())
          if (Result<ObjectHead> head = parser_.ParseHead(message.object))
            message.head = std::move(*head);
        // Only the server's word that it is gone counts. Any other answer says nothing
        // about the pod, whose room would be given away if it were forgotten. Nor does one
        // that is older than the last news, which was taken as we expected it then.
        const bool says_nothing =
            message.head.uid.empty() || mirror_.IsOlder(WatchedKind::kPod, pod.Key(), message.head);
        if (response.status != 404 && says_nothing) {
          const milliseconds wait =
              WaitBeforeRepeat(response, milliseconds(200) * (1 << std::min(attempt, 7)));
          client_.After(wait, [this, pod, attempt, then] { Reread(pod, attempt + 1, then); });
          return;
        }
        mirror_.ForgetExpectation(pod.Key(), pod.uid);
        if (message.head.uid != pod.uid) {
          mirror_.Gone(WatchedKind::kPod, pod.Key(), pod.uid);
        } else {
          mirror_.Apply(std::move(message));
        }
        if (then) then();
      });
}

}  // namespace krafla
