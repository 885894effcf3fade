#include "kube/cluster_mirror.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"
#include "base/recovery.h"
#include "manifest/parcel_decoder.h"
#include "model/memory_format.h"
#include "record/replay_world.h"
#include "session/eviction_memory.h"

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

// What was asked for and not yet seen goes before what objects say.
class ClusterMirror::Sink final : public OverlaySink {
 public:
  Sink(ClusterMirror& mirror, LiveCluster& live)
      : OverlaySink(live, mirror.options_.node_labels), mirror_(mirror) {}

 private:
  AssumedMark MarkOf(const Task& task) override {
    const auto it = mirror_.expected_.find(Key(task.ns, task.name));
    if (it == mirror_.expected_.end()) return {};
    const Expectation& expected = it->second;
    const bool same = strings().Text(task.uid) == expected.uid;
    const bool leaving = task.status == TaskStatus::kReleasing || IsTerminated(task.status);
    const bool seen = expected.node.empty() ? leaving : leaving || task.node_name != kEmptyStr;
    if (!same || seen) {
      mirror_.expected_.erase(it);
      return {};
    }
    if (expected.node.empty()) return {AssumedMark::What::kReleasing, {}};
    return {AssumedMark::What::kBinding, expected.node};
  }
  AssumedMark MarkOf(const PersistentVolume& volume) override {
    return mirror_.volumes_->Seen(volume);
  }
  AssumedMark MarkOf(const PersistentVolumeClaim& claim) override {
    return mirror_.volumes_->Seen(claim);
  }

  std::optional<JobPhase> PhaseOf(const Job& job) override {
    const auto expected = mirror_.expected_phases_.find(Key(job.ns, job.name));
    if (expected == mirror_.expected_phases_.end()) return std::nullopt;
    if (expected->second != job.phase) return expected->second;
    mirror_.expected_phases_.erase(expected);
    return std::nullopt;
  }

  // Whoever leads decides phases in its cycles, and writes down those of PodGroups; of a group of
  // one there is only its pod to see.
  std::optional<JobPhase> PhaseOfOne(const Task& task) override {
    if (!mirror_.follows_ || task.node_name == kEmptyStr) return std::nullopt;
    return JobPhase::kRunning;
  }

  GroupWait WaitForGroup(const Task& task) override {
    return mirror_.lone_.Note(Key(task.ns, task.name), strings().Text(task.uid), mirror_.owned_,
                              mirror_.SteadyNs());
  }
  // One that is being bound would wait again if its binding fails.
  void NeedsNoGroup(const Task& task) override {
    if (!mirror_.lone_.empty() && task.status != TaskStatus::kBinding)
      mirror_.lone_.Forget(Key(task.ns, task.name));
  }

  ClusterMirror& mirror_;
};

ClusterMirror::ClusterMirror(MirrorOptions options)
    : options_(std::move(options)), lone_(options_.group_of_one) {
  live_ = std::make_unique<LiveCluster>(options_.build);
  volumes_ = std::make_unique<VolumeExpectations>(
      *live_, [this](std::string_view kind, const std::string& key, const AssumedMark& mark) {
        if (observer_)
          observer_({.what = RecordedChange::What::kMark, .kind = kind, .key = key, .mark = mark});
      });
  MakeDecoder();
}

void ClusterMirror::MakeDecoder() {
  sink_ = std::make_unique<Sink>(*this, *live_);
  decoder_ = std::make_unique<ObjectDecoder>(
      *sink_,
      DecodeOptions{
          .lenient = true, .scheduler_names = options_.scheduler_names, .finds_odd_words = false},
      problems_, facts_);
}

ClusterMirror::~ClusterMirror() = default;

void ClusterMirror::SetConfig(const SchedulerConfig& config) {
  live_->SetBuildOptions(BuildOptionsFor(options_.build, config));
}

std::vector<std::string_view> ClusterMirror::UnsyncedKinds() const {
  std::vector<std::string_view> kinds;
  for (const WatchedKind kind : options_.kinds)
    if (!listed_[static_cast<size_t>(kind)]) kinds.push_back(InfoOf(kind).resource);
  return kinds;
}

void ClusterMirror::Compact() {
  live_->Compact();
  // All have kept numbers of strings.
  MakeDecoder();
  for (FactReceiver& receiver : receivers_) receiver.ForgetNumbers();
}

bool ClusterMirror::LastWasTaken() const {
  return sink_->outcome().added;
}

void ClusterMirror::StartAfresh() {
  live_->DistrustTables();
  problems_ = {};
  MakeDecoder();
  for (FactReceiver& receiver : receivers_) receiver.ForgetNumbers();
}

void ClusterMirror::Apply(ObjectMessage message) {
  if (live_->IsCrowded()) Compact();
  const size_t kind = static_cast<size_t>(message.kind);
  // Also of what turns out to be old: later parcels build on it.
  if (message.parcel != nullptr) receivers_[kind].Learn(*message.parcel);
  switch (message.what) {
    case ObjectMessage::What::kSyncBegins:
      ++listing_[kind];
      rollback_[kind].Begin();
      return;
    case ObjectMessage::What::kSyncEnds:
      EndListing(message.kind, message.head.resource_version);
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

bool ClusterMirror::IsOlder(WatchedKind kind, const std::string& key,
                            const ObjectHead& head) const {
  const auto it = Known(kind).find(key);
  return it != Known(kind).end() && it->second.uid == head.uid &&
         VersionNumber(head.resource_version) < it->second.version;
}

void ClusterMirror::Seen(ObjectMessage& message) {
  const std::string key = KeyOf(message.head);
  const uint64_t version = VersionNumber(message.head.resource_version);
  const bool reread = message.what == ObjectMessage::What::kReread;
  RollbackWatch& rollback = rollback_[static_cast<size_t>(message.kind)];
  const uint32_t listing = listing_[static_cast<size_t>(message.kind)];
  auto& known = Known(message.kind);
  const auto [it, is_new] = known.try_emplace(key);
  if (is_new && reread) {  // gone while the answer was on its way; the watch has said so
    known.erase(it);
    return;
  }
  KnownObject& object = it->second;
  // An answer to a question of ours is no word of the list: its object may be gone by then.
  if (reread) {
    object.reread_in = listing;
  } else {
    object.listing = listing;
  }
  const bool same = !is_new && object.uid == message.head.uid;
  const bool older = same && version < object.version;
  if (rollback.listing() && !reread) {
    const bool proof = older && object.reread_in != listing;
    if (proof || IsExpected(message.kind, key)) {
      rollback.Keep(key, message, proof);
    } else {
      rollback.Forget(key);
    }
  }
  if (same) {
    // Older than what we know: an answer was slower than the watch. The same again is no news,
    // unless we asked because what we assumed is wrong.
    if (older || (version == object.version && !reread)) return;
  } else if (reread) {
    return;  // another object of that name has come since
  }
  rollback.Saw(version);
  Accept(message, key, object);
}

void ClusterMirror::Accept(ObjectMessage& message, const std::string& key, KnownObject& object) {
  object.uid = message.head.uid;
  object.version = VersionNumber(message.head.resource_version);
  object.status = std::move(message.head.status);
  object.memory = std::move(message.head.memory);
  if (message.kind == WatchedKind::kPodGroup) {
    changed_groups_.push_back(key);
    ReportMemory(key, message.head);
  }
  if (lone_.looks_for_controllers()) LookForControllers(message.kind, key, message.head);
  Decode(message, key);
}

int64_t ClusterMirror::SteadyNs() const {
  if (options_.steady_ns) return options_.steady_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Volcano's PodGroup controller names a PodGroup after the owner of its pods, or after the pod.
void ClusterMirror::LookForControllers(WatchedKind kind, const std::string& key,
                                       const ObjectHead& head) {
  if (kind != WatchedKind::kQueue && kind != WatchedKind::kPodGroup) return;
  constexpr std::string_view kPrefix = "podgroup-";
  const std::string_view name = head.name;
  const bool named_so = kind == WatchedKind::kPodGroup && !head.controller_uid.empty() &&
                        name.starts_with(kPrefix) &&
                        name.substr(kPrefix.size()) == head.controller_uid;
  if (!head.written_by_controllers && !named_so) return;
  if (options_.log)
    options_.log(fmt::format(
        "Volcano's controllers are seen; pods without PodGroup wait for theirs {}={} sign={}",
        kind == WatchedKind::kQueue ? "queue" : "podgroup", key,
        named_so ? "name" : "managedFields"));
  for (const std::string& pod : lone_.SeeControllers()) SetGroupWait(pod, GroupWait::kControllers);
}

bool ClusterMirror::ReleaseLonePods() {
  const std::vector<std::string> due = lone_.TakeDue(SteadyNs());
  for (const std::string& pod : due) SetGroupWait(pod, GroupWait::kNone);
  return !due.empty();
}

void ClusterMirror::SetGroupWait(const std::string& pod, GroupWait wait) {
  bool is_set = false;
  if (!ChangeFacts([&] { is_set = sink_->SetAwaitsGroup(pod, wait != GroupWait::kNone); }))
    is_set = true;  // it came as far as the facts, which may have been changed already
  if (!is_set || !observer_) return;
  RecordedChange change{.what = RecordedChange::What::kMark, .kind = "Pod", .key = pod};
  if (wait == GroupWait::kNone) {
    change.phase = JobPhase::kPending;
  } else {
    change.mark = {AssumedMark::What::kAwaitsGroup, std::string(WordOf(wait))};
  }
  observer_(std::move(change));
}

// Annotations of ours that are not recalled: one line for each PodGroup that has some.
void ClusterMirror::ReportMemory(const std::string& key, const ObjectHead& head) {
  const GroupMemory& memory = Known(WatchedKind::kPodGroup)[key].memory;
  for (const std::string& text : {memory.zone_evictions, memory.evictions, memory.loss})
    if (!IsKnownMemoryVersion(text) && reported_.insert(key + " version").second && options_.log)
      options_.log(
          fmt::format("annotation of a later krafla is ignored podgroup={} value={} "
                      "expected={}",
                      key, LogQuoted(text.substr(0, 80)), LogQuoted(kMemoryVersion)));
  if (!head.foreign_memory.empty() && reported_.insert(key + " foreign").second && options_.log)
    options_.log(
        fmt::format("annotations that krafla has not written are ignored podgroup={} "
                    "annotations={} hint=\"deploy/admission-policy.yaml keeps others from "
                    "writing them\"",
                    key, head.foreign_memory));
}

void ClusterMirror::Decode(ObjectMessage& message, const std::string& key) {
  Quarantine::Entry* entry = quarantine_.Find(message.kind, key);
  if (entry != nullptr && entry->held && !MayTry(*entry, message)) {
    // What it uses may have changed.
    Substitute(*entry, &message);
    message.parcel.reset();  // its numbers may mean something else when it is tried
    entry->newer = std::make_unique<ObjectMessage>(std::move(message));
    return;
  }
  std::optional<std::string> check;
  if (message.failed_check.empty()) {
    check = TryTaking(message, key);
  } else {
    check = std::move(message.failed_check);
  }
  if (check) {
    ++failed_checks_;
    Tell(Hold(message.kind, key, *check, &message));
  } else if (entry != nullptr && entry->held && LastWasTaken()) {
    entry->held = false;
    entry->instead = "its newer version counts";
    if (message.kind == WatchedKind::kPod) FreeNodesOf(key);
    Tell(*entry);
  }
}

// The check that failed; nothing: the object is taken, or could not be read.
std::optional<std::string> ClusterMirror::TryTaking(ObjectMessage& message,
                                                    const std::string& key) {
  const auto take = [&] {
    if (options_.before_taking) options_.before_taking(message.kind, key, false);
    Take(message, key);
  };
  std::optional<std::string> check = RunRecovering(take);
  if (!check) return std::nullopt;
  StartAfresh();
  // The fault may be one of the tables, or of the numbers of this kind's sender: once more without
  // both.
  message.parcel.reset();
  if (std::optional<std::string> again = RunRecovering(take)) {
    StartAfresh();
    return again;
  }
  NoteCured(*check);
  return std::nullopt;
}

void ClusterMirror::NoteCured(const std::string& check) {
  ++failed_checks_;
  if (options_.log)
    options_.log(
        fmt::format("internal check failed; the tables are rebuilt check={}", LogQuoted(check)));
}

// False: a check failed on the way, and the change was made in the facts alone.
bool ClusterMirror::ChangeFacts(const std::function<void()>& change) {
  const std::optional<std::string> check = RunRecovering(change);
  if (!check) return true;
  StartAfresh();
  change();  // there are no tables to follow
  NoteCured(*check);
  return false;
}

void ClusterMirror::Take(ObjectMessage& message, const std::string& key) {
  sink_->Begin();
  owned_ = !message.head.controller_uid.empty();
  const std::string title = ObjectTitle(message.kind, message.head);
  if (message.parcel != nullptr) {
    std::vector<std::string> problems = std::move(message.parcel->problems);
    if (!receivers_[static_cast<size_t>(message.kind)].Deliver(*message.parcel, *sink_))
      problems.push_back(
          fmt::format("has one kind of resource too many: there may be {}", ResourceKinds::kMax));
    if (!problems.empty()) Report(title, problems);
  } else {
    // The "file" is the object, so that nobody's problems use up the room for others'.
    decoder_->Decode({message.object, title, {}}, Origin::kWritten);
    if (!problems_.items().empty()) Report(title, ProblemLines(std::exchange(problems_, {})));
  }
  if (observer_ && sink_->outcome().added)
    observer_({.what = RecordedChange::What::kPut,
               .kind = InfoOf(message.kind).name,
               .key = key,
               .object = std::move(message.object),
               .reduced = message.reduced,
               .mark = sink_->outcome().mark,
               .phase = sink_->outcome().phase});
}

void ClusterMirror::Report(const std::string& object, const std::vector<std::string>& problems) {
  constexpr size_t kMostReported = 100'000;
  if (reported_.size() > kMostReported) reported_.clear();
  ++malformed_;
  for (const std::string& problem : problems) {
    const std::string line = fmt::format("{}: {}", object, problem);
    if (reported_.insert(line).second && options_.log)
      options_.log(
          fmt::format("object is not as it should be; what is wrong is left out "
                      "problem={}",
                      LogQuoted(line)));
  }
}

bool ClusterMirror::IsExpected(WatchedKind kind, const std::string& key) const {
  switch (kind) {
    case WatchedKind::kPod:
      return expected_.contains(key);
    case WatchedKind::kPodGroup:
      return expected_phases_.contains(key);
    case WatchedKind::kVolume:
      return volumes_->ExpectsOfVolume(key);
    case WatchedKind::kClaim:
      return volumes_->ExpectsOfClaim(key);
    default:
      return false;
  }
}

void ClusterMirror::DropExpectations(WatchedKind kind, const std::string& key) {
  if (kind == WatchedKind::kPod) expected_.erase(key);
  if (kind == WatchedKind::kPodGroup) expected_phases_.erase(key);
  if (kind == WatchedKind::kVolume) volumes_->VolumeGone(key);
  if (kind == WatchedKind::kClaim) volumes_->ClaimGone(key);
}

void ClusterMirror::EndListing(WatchedKind kind, const std::string& version) {
  RollbackWatch& rollback = rollback_[static_cast<size_t>(kind)];
  const uint64_t number = VersionNumber(version);
  const uint64_t list_version = number == UINT64_MAX ? 0 : number;
  const bool found = rollback.IsRollback(list_version);
  const bool first = found && !rollback.expected;
  if (first) {
    ++rollbacks_;
    if (options_.log)
      options_.log(fmt::format(
          "etcd has gone back to an earlier state, as after a restore from a backup; lists are "
          "taken "
          "as they are and what was expected is dropped kind={} list={} seen={} expectations={}",
          InfoOf(kind).name, LogWord(version), rollback.newest_before(),
          expectations() + expected_phases_.size()));
    // All kinds are kept in the same etcd, as a rule: what is expected of their objects is as much
    // in doubt, also where none of them is older than it was.
    for (const WatchedKind other : options_.kinds)
      rollback_[static_cast<size_t>(other)].expected = true;
  }
  const bool truth = found || rollback.expected;
  rollback.expected = false;
  auto doubtful = rollback.End();
  if (truth) {
    for (auto& [key, one] : doubtful) {
      DropExpectations(kind, key);
      Accept(one.message, key, Known(kind)[key]);
    }
    uint64_t newest = list_version;
    for (const auto& [key, object] : Known(kind))
      if (object.listing == listing_[static_cast<size_t>(kind)] && object.version != UINT64_MAX)
        newest = std::max(newest, object.version);
    rollback.StartOver(newest);
  }
  rollback.Saw(list_version);
  const uint32_t listing = listing_[static_cast<size_t>(kind)];
  std::vector<std::string> gone;
  for (const auto& [key, object] : Known(kind))
    if (object.listing != listing) gone.push_back(key);
  std::sort(gone.begin(), gone.end());
  for (const std::string& key : gone) Remove(kind, key);
  if (first && options_.on_rollback) options_.on_rollback();
}

void ClusterMirror::Remove(WatchedKind kind, const std::string& key) {
  rollback_[static_cast<size_t>(kind)].Forget(key);
  if (Known(kind).erase(key) == 0) return;
  DropExpectations(kind, key);
  if (kind == WatchedKind::kPod) lone_.Forget(key);
  if (kind == WatchedKind::kPodGroup) changed_groups_.push_back(key);
  if (Quarantine::Entry* entry = quarantine_.Find(kind, key); entry != nullptr) {
    const bool was_held = std::exchange(entry->held, false);
    entry->instead = "it is gone";
    if (was_held) Tell(*entry);
    quarantine_.Erase(kind, key);
  }
  if (kind == WatchedKind::kPod) FreeNodesOf(key);
  TakeOut(kind, key);
}

void ClusterMirror::TakeOut(WatchedKind kind, const std::string& key) {
  ChangeFacts([&] { sink_->Remove(InfoOf(kind).name, key); });
  if (observer_)
    observer_({.what = RecordedChange::What::kGone, .kind = InfoOf(kind).name, .key = key});
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

void ClusterMirror::ForgetExpectation(const std::string& key, const std::string& uid) {
  const auto it = expected_.find(key);
  if (it != expected_.end() && it->second.uid == uid) expected_.erase(it);
}

void ClusterMirror::ForgetPhase(const std::string& key) {
  expected_phases_.erase(key);
}

void ClusterMirror::Gone(WatchedKind kind, const std::string& key, const std::string& uid) {
  if (UidOf(kind, key) == uid) Remove(kind, key);
}

void ClusterMirror::RecallEvictions(Timestamp now, CycleMemory& memory) const {
  for (const auto& [key, group] : Known(WatchedKind::kPodGroup))
    Recall(group.memory, key, now, memory);
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

bool ClusterMirror::HasNode(const std::string& pod_key) const {
  const size_t slash = pod_key.find('/');
  if (slash == std::string::npos) return false;
  const std::string_view key = pod_key;
  StringPool& strings = live_->strings();
  const PodFacts* pod =
      live_->FindPod(strings.Find(key.substr(0, slash)), strings.Find(key.substr(slash + 1)));
  return pod != nullptr && pod->task.node_name != kEmptyStr;
}

const std::string* ClusterMirror::StatusOf(WatchedKind kind, const std::string& key) const {
  const auto it = Known(kind).find(key);
  return it == Known(kind).end() ? nullptr : &it->second.status;
}

}  // namespace krafla
