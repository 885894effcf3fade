// The part of ClusterMirror that leaves objects out whose handling failed an internal check, and
// says what counts in their place.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/recovery.h"
#include "kube/cluster_mirror.h"
#include "kube/stand_in.h"

namespace krafla {

namespace {

// Of "namespace/name", or "name".
std::pair<std::string_view, std::string_view> SplitKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {{}, key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

bool ClusterMirror::MayTry(const Quarantine::Entry& entry, const ObjectMessage& message) const {
  if (message.head.uid != entry.uid) return true;
  return entry.because_of.empty() && options_.clock() >= entry.retry_at;
}

bool ClusterMirror::LeaveOut(WatchedKind kind, std::string key, const std::string& check) {
  const auto [ns, name] = SplitKey(key);
  if (kind == WatchedKind::kPodGroup && IsGroupOfOne(name)) {
    kind = WatchedKind::kPod;
    key = fmt::format("{}/{}", ns, name.substr(kGroupOfOnePrefix.size()));
  }
  if (UidOf(kind, key).empty() || quarantine_.FindHeld(kind, key) != nullptr) return false;
  Tell(Hold(kind, key, check, nullptr));
  return true;
}

void ClusterMirror::RetryQuarantined() {
  for (std::unique_ptr<ObjectMessage>& message : quarantine_.TakeDue(options_.clock()))
    Decode(*message, KeyOf(message->head));
}

std::string_view ClusterMirror::WhyQuarantined(WatchedKind kind, const std::string& key) const {
  const Quarantine::Entry* entry = quarantine_.FindHeld(kind, key);
  return entry != nullptr ? std::string_view(entry->check) : std::string_view();
}

Quarantine::Entry& ClusterMirror::Hold(WatchedKind kind, const std::string& key,
                                       const std::string& check, const ObjectMessage* message) {
  const std::string_view uid = UidOf(kind, key);
  Quarantine::Entry& entry = quarantine_.Hold(kind, key, uid, check, options_.clock());
  Substitute(entry, message);
  return entry;
}

// `message`: its newest version; null: what is known of it.
void ClusterMirror::Substitute(Quarantine::Entry& entry, const ObjectMessage* message) {
  const auto [ns, name] = SplitKey(entry.key);
  if (entry.kind == WatchedKind::kBudget) {
    if (TakeStandIn(entry.kind, entry.key, StandInForBudget(ns, name))) {
      entry.instead = "every pod of the namespace is protected";
      return;
    }
  }
  if (entry.kind == WatchedKind::kPod) {
    const auto expected = expected_.find(entry.key);
    const std::string node = expected != expected_.end() && expected->second.uid == entry.uid
                                 ? expected->second.node
                                 : std::string();
    std::optional<StandIn> stand_in;
    StringPool& strings = live_->strings();
    if (message != nullptr) {
      stand_in = StandInForPod(message->object, node);
    } else if (const PodFacts* facts = live_->FindPod(strings.Find(ns), strings.Find(name))) {
      stand_in = StandInForPod(*facts, *live_);
    }
    if (stand_in) {
      if (TakeStandIn(entry.kind, entry.key, stand_in->json)) {
        entry.instead = fmt::format("its requests count on node {}", stand_in->node);
        return;
      }
      LeaveOutNodeOf(entry, stand_in->node);
    }
  }
  TakeOut(entry.kind, entry.key);
  entry.instead = "it is left out";
}

// False: it fails a check as well, or cannot be read.
bool ClusterMirror::TakeStandIn(WatchedKind kind, const std::string& key, const std::string& json) {
  ObjectMessage message{ObjectMessage::What::kSeen, kind, Padded(json), {}};
  const auto [ns, name] = SplitKey(key);
  message.head.ns = ns;
  message.head.name = name;
  const std::optional<std::string> check = RunRecovering([&] {
    if (options_.before_taking) options_.before_taking(kind, key, true);
    Take(message, key);
  });
  if (!check) return LastWasTaken();
  ++failed_checks_;
  StartAfresh();
  return false;
}

void ClusterMirror::FreeNodesOf(const std::string& pod) {
  for (std::string& node : quarantine_.FreeNodesOf(pod)) nodes_to_read_.push_back(std::move(node));
}

// What the pod uses is unknown: no pod is placed beside it.
void ClusterMirror::LeaveOutNodeOf(const Quarantine::Entry& pod, const std::string& node) {
  if (UidOf(WatchedKind::kNode, node).empty()) return;
  if (!WhyQuarantined(WatchedKind::kNode, node).empty()) return;
  Quarantine::Entry& entry = Hold(WatchedKind::kNode, node, pod.check, nullptr);
  entry.because_of = pod.key;
  entry.instead = fmt::format("no pod is placed on it, because pod {} cannot be counted", pod.key);
  Tell(entry);
}

}  // namespace krafla
