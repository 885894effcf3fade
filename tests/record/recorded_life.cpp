#include "record/recorded_life.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "scheduler/vocabulary.h"

namespace krafla::testing {

namespace {

MirrorOptions Options(std::function<int64_t()> steady_ns, const CheckDrill& drill) {
  MirrorOptions options;
  options.steady_ns = std::move(steady_ns);
  options.before_taking = [&drill](WatchedKind kind, const std::string& key, bool stand_in) {
    if (!stand_in) drill.OnDecoding(kind, key);
  };
  options.build.lenient = true;
  for (const WatchedKindInfo& info : kWatchedKinds) options.kinds.push_back(info.kind);
  return options;
}

std::optional<WatchedKind> KindIn(const std::string& json) {
  for (const WatchedKindInfo& info : kWatchedKinds)
    if (json.find(fmt::format("\"kind\":\"{}\"", info.name)) != std::string::npos) return info.kind;
  return std::nullopt;
}

void InsertInto(std::string& json, std::string_view part, const std::string& field) {
  const std::string opening = fmt::format("\"{}\":{{", part);
  if (const size_t at = json.find(opening); at != std::string::npos)
    json.insert(at + opening.size(), field);
}

}  // namespace

RecordedLife::RecordedLife(const RandomCluster& random, uint64_t seed, ChangeListener listener)
    : dice_(seed),
      listener_(std::move(listener)),
      config_text_(random.config),
      profile_(random.profile),
      mirror_(Options([this] { return now_.ns; }, drill_)) {
  mirror_.SetObserver([this](RecordedChange change) { tap_.OnChange(std::move(change)); });
  const Result<ZonedTimestamp> now = ParseRfc3339(random.now);
  now_ = now->time;
  zone_ = FixedOffset(now->offset_seconds);
  log_.CaptureTo(&muted_);
  Diagnostics problems;
  SchedulerConfig config = ReadSchedulerConfig(
      config_text_, BuiltInVocabulary(),
      {.file_name = "test", .profile = profile_.empty() ? std::nullopt : std::optional(profile_)},
      problems);
  EXPECT_FALSE(problems.HasErrors());
  mirror_.SetConfig(config);
  loop_.emplace(mirror_.live(), std::move(config), zone_, log_);
  loop_->CompareWithFreshSessions();
  loop_->SetSchedulePeriod(90 * Timestamp::kNsPerSecond);
  loop_->SetFollowsChanges(seed % 2 == 0);
  loop_->SetBeforeSession([this](CycleMemory& memory) {
    // Somebody else remembers something too.
    if (dice_.Chance(10)) memory.JobLossOf("default/ghost").at = now_;
    tap_.BeforeCycle(memory);
  });
  std::vector<std::string> objects = random.objects;
  // Pods that are groups of their own.
  for (int i = 0; i < 3; ++i)
    objects.push_back(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"bare-{0}","namespace":"default",)"
        R"("uid":"bare-{0}","annotations":{{"scheduling.volcano.sh/queue-name":"default"}}}},)"
        R"("spec":{{"schedulerName":"volcano","containers":[{{"name":"c","env":[{{"name":"TOKEN",)"
        R"("value":"s3cret"}}],"resources":{{"requests":{{"cpu":"100m"}}}}}}]}}}})",
        i));
  // Pods of a ReplicaSet, which wait a while for a PodGroup; in some lives Volcano's controllers
  // are seen sooner or later, and then all of them wait for good.
  for (int i = 0; i < 3; ++i)
    objects.push_back(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"owned-{0}","namespace":"default",)"
        R"("uid":"owned-{0}","annotations":{{"scheduling.volcano.sh/queue-name":"default"}},)"
        R"("ownerReferences":[{{"kind":"ReplicaSet","uid":"rs","controller":true}}]}},"spec":)"
        R"({{"schedulerName":"volcano","containers":[{{"name":"c","resources":{{"requests":)"
        R"({{"cpu":"100m"}}}}}}]}}}})",
        i));
  if (dice_.Chance(30))
    objects.push_back(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":)"
        R"("podgroup-rs","namespace":"default","uid":"g-rs","ownerReferences":[{"kind":)"
        R"("ReplicaSet","uid":"rs","controller":true}]},"spec":{"minMember":2,"queue":"default"}})");
  for (const std::string& json : objects) {
    const std::optional<WatchedKind> kind = KindIn(json);
    const Result<ObjectHead> head = parser_.ParseHead(Padded(json));
    if (!kind || !head) continue;
    const std::string name = fmt::format("{} {}", InfoOf(*kind).name, KeyOf(*head));
    (dice_.Chance(80) ? there_ : waiting_)[name] = {*kind, json};
  }
}

void RecordedLife::Break(CheckDrill drill) {
  drill_ = std::move(drill);
  loop_->SetWrapHooks(
      [this](std::string_view, PluginHooks& hooks) { drill_.Wrap(mirror_.live(), hooks); });
  loop_->RecoverFromFailedChecks(
      {.quarantine =
           [this](const SchedulingLoop::BrokenObject& object) {
             using Kind = LiveCluster::ObjectName::Kind;
             const std::string key = object.ns + "/" + object.name;
             switch (object.kind) {
               case Kind::kPodGroup:
                 return mirror_.LeaveOut(WatchedKind::kPodGroup, key, object.check);
               case Kind::kPod:
                 return mirror_.LeaveOut(WatchedKind::kPod, key, object.check);
               case Kind::kNode:
                 return mirror_.LeaveOut(WatchedKind::kNode, object.name, object.check);
               case Kind::kQueue:
                 return mirror_.LeaveOut(WatchedKind::kQueue, object.name, object.check);
             }
             return false;
           },
       .on_skip =
           [this](const std::vector<std::string>& actions) { tap_.OnSkippedActions(actions); },
       .on_trial = {}});
}

RecordHead RecordedLife::Head() const {
  RecordHead head{.version = "test", .zone = zone_.name()};
  head.offset_seconds = zone_.OffsetAt(now_.UnixSeconds()).seconds;
  head.world.build.lenient = true;
  if (!profile_.empty()) head.profile = profile_;
  return head;
}

void RecordedLife::Put(const std::string& name, const Thing& thing, bool reread) {
  ObjectMessage message{.what = reread ? ObjectMessage::What::kReread : ObjectMessage::What::kSeen,
                        .kind = thing.kind,
                        .object = Padded(thing.json),
                        .head = {}};
  Result<ObjectHead> head = parser_.ParseHead(message.object);
  ASSERT_TRUE(head) << thing.json;
  message.head = std::move(*head);
  message.head.resource_version = std::to_string(++version_);
  // As a watch does it; what is read again is decoded by the mirror.
  if (!reread) {
    std::unique_ptr<ParcelDecoder>& decoder = decoders_[thing.kind];
    if (decoder == nullptr)
      decoder =
          std::make_unique<ParcelDecoder>(DecodeOptions{.lenient = true, .finds_odd_words = false});
    message.parcel = decoder->Decode(message.object, name);
    // A message that found no room is made once more.
    if (dice_.Chance(10)) message.parcel = decoder->Decode(message.object, name);
    decoder->NoteSent();
  }
  there_[name] = thing;
  mirror_.Apply(std::move(message));
}

void RecordedLife::Gone(const std::string& name) {
  const auto it = there_.find(name);
  if (it == there_.end()) return;
  ObjectMessage message{.what = ObjectMessage::What::kGone, .kind = it->second.kind, .head = {}};
  const Result<ObjectHead> head = parser_.ParseHead(Padded(it->second.json));
  message.head = *head;
  there_.erase(it);
  mirror_.Apply(std::move(message));
}

void RecordedLife::OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) {
  last_ = RecordCycle(session, phases, loop_->cycles() + 1);
  for (const std::string& line : DecisionLines(last_)) decisions_.push_back(line);
  for (const RecordedBind& bind : last_.binds) {
    const TaskId task = session.plan.binds[static_cast<size_t>(&bind - last_.binds.data())].task;
    mirror_.ExpectBinding(
        bind.pod, std::string(session.cluster.Text(session.cluster.tasks[task].uid)), bind.node);
  }
  for (const RecordedEviction& eviction : last_.evictions) {
    const TaskId task =
        session.plan.evictions[static_cast<size_t>(&eviction - last_.evictions.data())].task;
    mirror_.ExpectEviction(eviction.pod,
                           std::string(session.cluster.Text(session.cluster.tasks[task].uid)));
  }
  for (const RecordedPhase& phase : last_.phases)
    if (dice_.Chance(50) && !PodOfGroupOfOne(phase.group))
      mirror_.ExpectPhase(phase.group, phase.after);
  tap_.OnCycle(session, phases, loop_->cycles() + 1, 1);
}

void RecordedLife::Drain() {
  for (RecordedChange& change : feed_.Take(ChangeFeed::Clock::now()).changes)
    listener_(std::move(change));
}

void RecordedLife::Bound(const RecordedBind& bind) {
  const std::string name = "Pod " + bind.pod;
  const auto it = there_.find(name);
  if (it == there_.end() || dice_.Chance(20)) return;  // no news yet
  Thing thing = it->second;
  if (dice_.Chance(20)) return Put(name, thing);  // older news: still being bound
  if (dice_.Chance(10)) {                         // it failed
    mirror_.ForgetExpectation(bind.pod, std::string(mirror_.UidOf(WatchedKind::kPod, bind.pod)));
    return Put(name, thing, /*reread=*/true);
  }
  InsertInto(thing.json, "spec", fmt::format("\"nodeName\":\"{}\",", bind.node));
  Put(name, thing);
}

void RecordedLife::Evicted(const RecordedEviction& eviction) {
  const std::string name = "Pod " + eviction.pod;
  const auto it = there_.find(name);
  if (it == there_.end() || dice_.Chance(30)) return;
  Thing thing = it->second;
  if (dice_.Chance(30)) return Put(name, thing);
  if (dice_.Chance(10)) {
    mirror_.ForgetExpectation(eviction.pod,
                              std::string(mirror_.UidOf(WatchedKind::kPod, eviction.pod)));
    return Put(name, thing, /*reread=*/true);
  }
  if (dice_.Chance(50)) {
    InsertInto(thing.json, "metadata", "\"deletionTimestamp\":\"2026-03-10T12:00:00Z\",");
    return Put(name, thing);
  }
  Gone(name);
}

void RecordedLife::Churn() {
  for (const RecordedBind& bind : last_.binds) Bound(bind);
  for (const RecordedEviction& eviction : last_.evictions) Evicted(eviction);
  if (!waiting_.empty() && dice_.Chance(60)) {
    const auto it = std::next(waiting_.begin(), dice_.Below(static_cast<int>(waiting_.size())));
    Put(it->first, Thing(it->second));
    waiting_.erase(it);
  }
  if (!there_.empty() && dice_.Chance(30)) {
    const auto it = std::next(there_.begin(), dice_.Below(static_cast<int>(there_.size())));
    const std::string name = it->first;
    if (dice_.Chance(50)) waiting_[name] = it->second;
    Gone(name);
  }
  if (!there_.empty() && dice_.Chance(30)) {
    const auto it = std::next(there_.begin(), dice_.Below(static_cast<int>(there_.size())));
    const std::string name = it->first;
    Put(name, Thing(it->second));
  }
}

void RecordedLife::Run(int cycles) {
  tap_.OnConfig(config_text_);
  const std::map<std::string, Thing> first = there_;
  for (const auto& [name, thing] : first) Put(name, thing);
  Drain();
  for (int i = 0; i < cycles; ++i) {
    // Whenever names of what is gone are given up, nothing else is decided.
    if (dice_.Chance(20)) mirror_.Compact();
    if (mirror_.ReleaseLonePods()) ++releases_;
    if (dice_.Chance(10))
      loop_->SetClockSkew(dice_.Chance(50) ? std::optional<int64_t>(45) : std::nullopt);
    loop_->RunCycle(now_, *this);
    Churn();
    Drain();
    now_.ns += (1 + dice_.Below(90)) * Timestamp::kNsPerSecond + dice_.Below(1000);
  }
}

}  // namespace krafla::testing
