#include "kube/cluster_mirror.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace krafla {

namespace {

// Versions are numbers that grow; one that is no number is newer than anything.
uint64_t VersionNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return UINT64_MAX;
  return number;
}

}  // namespace

std::string KeyOf(const ObjectHead& head) {
  return head.ns.empty() ? head.name : head.ns + "/" + head.name;
}

// Between the decoder and the live cluster.
class ClusterMirror::Sink final : public FactSink {
 public:
  Sink(ClusterMirror& mirror, LiveCluster& live) : FactSink(live), mirror_(mirror), live_(live) {
    for (const auto& [key, value] : mirror.options_.node_labels)
      node_labels_.emplace_back(live.strings().Intern(key), live.strings().Intern(value));
  }

  // Of the pod that is decoded next.
  std::string queue;

  Added AddPod(PodFacts pod, Origin origin) override {
    const std::string key = Key(pod.task.ns, pod.task.name);
    const auto expected = mirror_.expected_.find(key);
    if (expected != mirror_.expected_.end()) Overlay(expected->second, pod.task);
    GroupOfOne(pod);
    return live_.AddPod(std::move(pod), origin);
  }
  Added AddPodGroup(PodGroupFacts group, Origin origin) override {
    const std::string key = Key(group.job.ns, group.job.name);
    const auto expected = mirror_.expected_phases_.find(key);
    if (expected != mirror_.expected_phases_.end()) {
      if (expected->second == group.job.phase) {
        mirror_.expected_phases_.erase(expected);
      } else {
        group.job.phase = expected->second;
      }
    }
    return live_.AddPodGroup(std::move(group), origin);
  }
  bool AddNode(NodeFacts node) override {
    const auto has = [&](const auto& label) {
      return FindLabel(node.node.labels, label.first) == label.second;
    };
    if (!node_labels_.empty() && std::none_of(node_labels_.begin(), node_labels_.end(), has)) {
      live_.RemoveNode(node.node.name);
      return true;
    }
    return live_.AddNode(std::move(node));
  }
  bool AddQueue(QueueFacts facts) override { return live_.AddQueue(std::move(facts)); }
  bool AddPriorityClass(PriorityClassFacts facts) override { return live_.AddPriorityClass(facts); }
  bool AddNamespace(Namespace ns) override { return live_.AddNamespace(std::move(ns)); }
  bool AddBudget(PodDisruptionBudget budget) override { return live_.AddBudget(std::move(budget)); }
  bool AddClaim(PersistentVolumeClaim claim) override { return live_.AddClaim(std::move(claim)); }
  bool AddVolume(PersistentVolume volume) override { return live_.AddVolume(std::move(volume)); }
  bool AddStorageClass(StorageClass storage_class) override {
    return live_.AddStorageClass(std::move(storage_class));
  }
  bool AddCsiNode(CsiNode node) override { return live_.AddCsiNode(std::move(node)); }
  bool AddResourceQuotaName(StrId ns, StrId name) override {
    return live_.AddResourceQuotaName(ns, name);
  }

  void RemovePod(StrId ns, StrId name) {
    live_.RemovePod(ns, name);
    live_.RemovePodGroup(ns, GroupName(name));
  }

 private:
  std::string Key(StrId ns, StrId name) {
    return fmt::format("{}/{}", strings().Text(ns), strings().Text(name));
  }
  StrId GroupName(StrId pod) {
    return strings().Intern(fmt::format("{}{}", kGroupOfOne, strings().Text(pod)));
  }

  void Overlay(const Expectation& expected, Task& task) {
    const bool same = strings().Text(task.uid) == expected.uid;
    const bool leaving = task.status == TaskStatus::kReleasing || IsTerminated(task.status);
    const bool seen = expected.node.empty() ? leaving : leaving || task.node_name != kEmptyStr;
    if (!same || seen) {
      mirror_.expected_.erase(Key(task.ns, task.name));
      return;
    }
    if (expected.node.empty()) {
      task.status = TaskStatus::kReleasing;
    } else {
      task.status = TaskStatus::kBinding;
      task.node_name = strings().Intern(expected.node);
    }
  }

  void GroupOfOne(PodFacts& pod) {
    const StrId group_name = GroupName(pod.task.name);
    const bool wanted = pod.ours && pod.group == kEmptyStr && !IsTerminated(pod.task.status);
    const PodGroupFacts* there = live_.FindPodGroup(pod.task.ns, group_name);
    if (!wanted) {
      if (there != nullptr) live_.RemovePodGroup(pod.task.ns, group_name);
      return;
    }
    pod.group = group_name;
    if (there != nullptr && there->job.uid == pod.task.uid) return;  // keeps its phase
    PodGroupFacts group;
    group.queue = queue.empty() ? kEmptyStr : strings().Intern(queue);
    group.job.ns = pod.task.ns;
    group.job.name = group_name;
    group.job.uid = pod.task.uid;
    group.job.priority_class = pod.task.priority_class;
    group.job.min_available = 1;
    group.job.created = pod.task.created;
    group.job.preemptable = pod.task.says_preemptable;
    group.job.annotation_preemptable = pod.task.annotation_preemptable;
    group.job.zones = pod.task.zones;
    group.job.min_resources = spec(pod.task.spec).request;
    // One that has its place already is past the gate.
    if (pod.task.node_name != kEmptyStr) group.job.phase = JobPhase::kRunning;
    live_.AddPodGroup(std::move(group), Origin::kExpanded);
  }

  ClusterMirror& mirror_;
  LiveCluster& live_;
  LabelSet node_labels_;
};

ClusterMirror::ClusterMirror(MirrorOptions options) : options_(std::move(options)) {
  live_ = std::make_unique<LiveCluster>(options_.build);
  sink_ = std::make_unique<Sink>(*this, *live_);
  decoder_ = std::make_unique<ObjectDecoder>(
      *sink_, DecodeOptions{.lenient = true, .scheduler_names = options_.scheduler_names},
      problems_, facts_);
}

ClusterMirror::~ClusterMirror() = default;

std::vector<std::string_view> ClusterMirror::UnsyncedKinds() const {
  std::vector<std::string_view> kinds;
  for (const WatchedKind kind : options_.kinds)
    if (!listed_[static_cast<size_t>(kind)]) kinds.push_back(InfoOf(kind).resource);
  return kinds;
}

void ClusterMirror::Apply(ObjectMessage message) {
  const size_t kind = static_cast<size_t>(message.kind);
  switch (message.what) {
    case ObjectMessage::What::kSyncBegins:
      ++listing_[kind];
      return;
    case ObjectMessage::What::kSyncEnds:
      EndListing(message.kind);
      if (!std::exchange(listed_[kind], true)) ++synced_;
      return;
    case ObjectMessage::What::kGone:
      Remove(message.kind, KeyOf(message.head));
      return;
    case ObjectMessage::What::kSeen:
    case ObjectMessage::What::kReread:
      Seen(message);
      return;
  }
}

void ClusterMirror::Seen(ObjectMessage& message) {
  const std::string key = KeyOf(message.head);
  const uint64_t version = VersionNumber(message.head.resource_version);
  const bool reread = message.what == ObjectMessage::What::kReread;
  auto& known = Known(message.kind);
  const auto [it, is_new] = known.try_emplace(key);
  KnownObject& object = it->second;
  object.listing = listing_[static_cast<size_t>(message.kind)];
  if (!is_new && object.uid == message.head.uid) {
    // Older than what we know: an answer was slower than the watch. The same again is no news,
    // unless we asked because what we assumed is wrong.
    if (version < object.version || (version == object.version && !reread)) return;
  } else if (reread && !is_new) {
    return;  // another object of that name has come since
  }
  object.uid = message.head.uid;
  object.version = version;
  object.status = std::move(message.head.status);
  object.memory = std::move(message.head.memory);
  if (message.kind == WatchedKind::kPodGroup) changed_groups_.push_back(key);
  Decode(message, key);
}

void ClusterMirror::Decode(const ObjectMessage& message, const std::string& key) {
  sink_->queue = message.head.queue;
  // The "file" is the object, so that nobody's problems use up the room for others'.
  const std::string file = fmt::format("{} {}", InfoOf(message.kind).name, key);
  decoder_->Decode({message.object, file, {}}, Origin::kWritten);
  if (!problems_.items().empty()) Report(file);
}

void ClusterMirror::Report(const std::string& object) {
  constexpr size_t kMostReported = 100'000;
  if (reported_.size() > kMostReported) reported_.clear();
  ++malformed_;
  const Diagnostics problems = std::exchange(problems_, {});
  for (const Diagnostic& problem : problems.items()) {
    const std::string line =
        problem.field.empty() ? fmt::format("{}: {}", object, problem.message)
                              : fmt::format("{}: {}: {}", object, problem.field, problem.message);
    if (reported_.insert(line).second && options_.log)
      options_.log(
          fmt::format("object is not as it should be; what is wrong is left out "
                      "problem=\"{}\"",
                      line));
  }
}

void ClusterMirror::EndListing(WatchedKind kind) {
  const uint32_t listing = listing_[static_cast<size_t>(kind)];
  std::vector<std::string> gone;
  for (const auto& [key, object] : Known(kind))
    if (object.listing != listing) gone.push_back(key);
  std::sort(gone.begin(), gone.end());
  for (const std::string& key : gone) Remove(kind, key);
}

void ClusterMirror::Remove(WatchedKind kind, const std::string& key) {
  if (Known(kind).erase(key) == 0) return;
  const size_t slash = InfoOf(kind).namespaced ? key.find('/') : std::string::npos;
  const bool namespaced = slash != std::string::npos;
  StringPool& strings = live_->strings();
  const StrId ns = namespaced ? strings.Intern(std::string_view(key).substr(0, slash)) : kEmptyStr;
  const StrId name = strings.Intern(namespaced ? std::string_view(key).substr(slash + 1) : key);
  switch (kind) {
    case WatchedKind::kPod:
      expected_.erase(key);
      sink_->RemovePod(ns, name);
      return;
    case WatchedKind::kPodGroup:
      expected_phases_.erase(key);
      changed_groups_.push_back(key);
      live_->RemovePodGroup(ns, name);
      return;
    case WatchedKind::kNode:
      live_->RemoveNode(name);
      return;
    case WatchedKind::kQueue:
      live_->RemoveQueue(name);
      return;
    case WatchedKind::kPriorityClass:
      live_->RemovePriorityClass(name);
      return;
    case WatchedKind::kNamespace:
      live_->RemoveNamespace(name);
      return;
    case WatchedKind::kBudget:
      live_->RemoveBudget(ns, name);
      return;
    case WatchedKind::kClaim:
      live_->RemoveClaim(ns, name);
      return;
    case WatchedKind::kVolume:
      live_->RemoveVolume(name);
      return;
    case WatchedKind::kStorageClass:
      live_->RemoveStorageClass(name);
      return;
    case WatchedKind::kCsiNode:
      live_->RemoveCsiNode(name);
      return;
  }
}

void ClusterMirror::ExpectBinding(const std::string& key, const std::string& uid,
                                  const std::string& node) {
  expected_.insert_or_assign(key, Expectation{uid, node});
}

void ClusterMirror::ExpectEviction(const std::string& key, const std::string& uid) {
  expected_.insert_or_assign(key, Expectation{uid, {}});
}

void ClusterMirror::ExpectPhase(const std::string& key, JobPhase phase) {
  expected_phases_.insert_or_assign(key, phase);
}

void ClusterMirror::ForgetExpectation(const std::string& key) {
  expected_.erase(key);
}

void ClusterMirror::ForgetPhase(const std::string& key) {
  expected_phases_.erase(key);
}

void ClusterMirror::Gone(WatchedKind kind, const std::string& key, const std::string& uid) {
  if (UidOf(kind, key) == uid) Remove(kind, key);
}

void ClusterMirror::RecallEvictions(CycleMemory& memory) const {
  for (const auto& [key, group] : Known(WatchedKind::kPodGroup)) Recall(group.memory, key, memory);
}

uint64_t ClusterMirror::CountEviction(const std::string& group_key) {
  const auto it = Known(WatchedKind::kPodGroup).find(group_key);
  if (it == Known(WatchedKind::kPodGroup).end()) return 0;
  return ++it->second.evictions;
}

std::string_view ClusterMirror::UidOf(WatchedKind kind, const std::string& key) const {
  const auto it = Known(kind).find(key);
  return it == Known(kind).end() ? std::string_view{} : std::string_view(it->second.uid);
}

std::string ClusterMirror::VersionOf(WatchedKind kind, const std::string& key) const {
  const auto it = Known(kind).find(key);
  return it == Known(kind).end() ? std::string() : fmt::format("{}", it->second.version);
}

const std::string* ClusterMirror::StatusOf(const std::string& key) const {
  const auto it = Known(WatchedKind::kPodGroup).find(key);
  return it == Known(WatchedKind::kPodGroup).end() ? nullptr : &it->second.status;
}

}  // namespace krafla
