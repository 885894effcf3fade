#include "manifest/decode_pod.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "cluster_state/same_facts.h"
#include "manifest/annotations.h"
#include "manifest/known_words.h"
#include "model/well_known.h"

namespace krafla {

namespace {

using Part = ObjectLikeness::Part;
using PolicyWord = std::pair<std::string_view, PreemptionPolicy>;
constexpr std::array kPolicies = {
    PolicyWord{"PreemptLowerPriority", PreemptionPolicy::kLowerPriority},
    PolicyWord{"Never", PreemptionPolicy::kNever}};

// Templates are few. Pods with claims of their own have each its own digest, and keeping those
// would only cost.
constexpr size_t kMaxCachedBytes = 8u << 20;

TaskStatus StatusOf(std::string_view phase, bool deleting, bool has_node) {
  // A manifest that no API server has seen has no phase.
  if (phase.empty() || phase == "Pending") {
    if (deleting) return TaskStatus::kReleasing;
    return has_node ? TaskStatus::kBound : TaskStatus::kPending;
  }
  if (phase == "Running") return deleting ? TaskStatus::kReleasing : TaskStatus::kRunning;
  if (phase == "Succeeded") return TaskStatus::kSucceeded;
  if (phase == "Failed") return TaskStatus::kFailed;
  return TaskStatus::kUnknown;
}

// "job-role-3" has 3: the number behind the last dash of a name of at least three parts.
int32_t IndexInName(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || std::count(name.begin(), name.end(), '-') < 2) return -1;
  int32_t index = -1;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + dash + 1, end, index);
  return error == std::errc{} && rest == end ? index : -1;
}

// A text that is no duration above zero says nothing.
int64_t DecodeRunTime(ObjectReader& reader, const Metadata& meta) {
  const TextMap::Entry* entry = meta.annotations.Find(keys::kExpectedRunTime);
  if (entry == nullptr) return -1;
  const Result<int64_t> duration = ParseGoDuration(entry->value);
  if (duration && *duration > 0) return *duration;
  reader.Warn(entry->at,
              fmt::format("expected a duration above zero such as \"90m\", got {}; ignored",
                          Quoted(entry->value)));
  return -1;
}

std::string_view ValueOf(const TextMap& map, std::string_view key) {
  const TextMap::Entry* entry = map.Find(key);
  return entry != nullptr ? entry->value : std::string_view{};
}

std::string_view RoleOf(const Metadata& meta) {
  const std::string_view role = ValueOf(meta.annotations, keys::kTaskSpec);
  return !role.empty() ? role : ValueOf(meta.labels, keys::kTaskSpec);
}

std::string_view GroupOf(const Metadata& meta) {
  const std::string_view group = ValueOf(meta.annotations, keys::kGroupName);
  return !group.empty() ? group : ValueOf(meta.annotations, keys::kGroupNameVolcano);
}

std::string_view QueueOf(const Metadata& meta) {
  const std::string_view queue = ValueOf(meta.annotations, keys::kQueueName);
  return !queue.empty() ? queue : ValueOf(meta.labels, keys::kQueueName);
}

std::optional<int32_t> TaskPriority(const Metadata& meta) {
  std::string_view text = ValueOf(meta.annotations, keys::kTaskPriority);
  if (text.starts_with('+')) text.remove_prefix(1);
  int32_t priority = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, priority);
  if (text.empty() || error != std::errc{} || rest != end) return {};
  return priority;
}

}  // namespace

size_t DigestCache::Hash::operator()(const KeyView& key) const {
  return std::hash<std::string_view>()(key.digest) ^ (size_t{key.ns.value} * 0x9e3779b97f4a7c15ULL);
}

PodSpecId DigestCache::Find(StrId ns, std::string_view digest) const {
  const auto found = specs_.find(KeyView{ns, digest});
  return found != specs_.end() ? found->second : PodSpecId{};
}

void DigestCache::Add(StrId ns, std::string_view digest, PodSpecId spec) {
  bytes_ += digest.size();
  if (bytes_ > kMaxCachedBytes) {
    specs_.clear();
    bytes_ = digest.size();
  }
  specs_.emplace(Key{ns, std::string(digest)}, spec);
}

struct PodDecoder::Spec {
  std::string_view node_name;
  std::string_view scheduler_name;
  std::string_view priority_class;
  std::optional<int32_t> priority;
  std::optional<PreemptionPolicy> policy;
};

struct PodDecoder::Status {
  std::string_view phase;
  std::string_view nominated_node;
  Timestamp started;
  Timestamp scheduled_at;
  std::string_view started_written;
  std::string_view scheduled_written;
  Timestamp schedule_changed;  // of the newest PodScheduled condition, whatever it says
  bool ready = true;           // unless its condition says otherwise
  bool preempted = false;
  bool resize_infeasible = false;
};

void PodDecoder::DecodeSpec(ObjectReader& reader, JsonValue& value, Spec& spec) {
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (digest_.AddSpecField(reader, key, field)) return;
    if (key == "nodeName") {
      spec.node_name = reader.Text(field);
      builder_.strings().Prefetch(spec.node_name);
    } else if (key == "schedulerName") {
      spec.scheduler_name = reader.Text(field);
    } else if (key == "priorityClassName") {
      spec.priority_class = reader.Text(field);
    } else if (key == "priority") {
      spec.priority = reader.Int32(field);
    } else if (key == "preemptionPolicy") {
      // What is not said here may be by a priority class.
      if (!ObjectReader::IsNull(field))
        spec.policy =
            reader.Word<PreemptionPolicy>(field, kPolicies, PreemptionPolicy::kLowerPriority);
    } else {
      reader.PassOver(field);
    }
  });
}

void PodDecoder::DecodeCondition(ObjectReader& reader, JsonValue& value, Status& status) {
  std::string_view type;
  std::string_view state;
  std::string_view reason;
  Timestamp since;
  std::string_view since_written;
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (key == "type") {
      type = reader.Text(field);
    } else if (key == "status") {
      state = reader.Text(field);
    } else if (key == "reason") {
      reason = reader.Text(field);
    } else if (key == "lastTransitionTime") {
      since = reader.Time(field, &since_written);
    } else {
      reader.PassOver(field);
    }
  });
  if (type == "Ready") status.ready = state == "True";
  if (type == "PodScheduled") {
    NoteSchedule(status, state == "True", since, since_written);
  } else {
    reader.NoteText(Part::kTime, since_written);
  }
  if (type == "DisruptionTarget" && state == "True")
    status.preempted = reason == "PreemptionByScheduler";
  if (type == "PodResizePending") status.resize_infeasible = reason == "Infeasible";
}

// Writers that do not merge by type leave several conditions of this type: the newest counts, of
// equally new ones the last. Which one that is depends on all their times, so such a pod is no
// pattern for the next one.
void PodDecoder::NoteSchedule(Status& status, bool scheduled, Timestamp since,
                              std::string_view since_written) {
  repeats_schedule_condition_ = repeats_schedule_condition_ || has_schedule_condition_;
  if (has_schedule_condition_ && since < status.schedule_changed) return;
  has_schedule_condition_ = true;
  status.schedule_changed = since;
  status.scheduled_at = scheduled ? since : Timestamp{};
  status.scheduled_written = scheduled ? since_written : std::string_view{};
}

void PodDecoder::DecodeStatus(ObjectReader& reader, JsonValue& value, Status& status) {
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (key == "phase") {
      const char* at = ObjectReader::At(field);
      status.phase = reader.Text(field);
      if (!status.phase.empty() && !IsAmong(status.phase, kPodPhases))
        reader.OddWord(at, "phase", status.phase, kPodPhases);
    } else if (key == "conditions") {
      reader.ForEachItem(field, [&](JsonValue& item) { DecodeCondition(reader, item, status); });
    } else if (key == "startTime") {
      status.started = reader.Time(field, &status.started_written);
    } else if (key == "nominatedNodeName") {
      status.nominated_node = reader.Text(field);
    } else if (!digest_.AddStatusField(reader, key, field)) {
      reader.PassOver(field);
    }
  });
}

bool PodDecoder::IsOurs(std::string_view scheduler_name) const {
  const auto listed = [&](std::string_view name) {
    return std::find(scheduler_names_.begin(), scheduler_names_.end(), name) !=
           scheduler_names_.end();
  };
  return listed(scheduler_name) || (scheduler_name.empty() && listed("default-scheduler"));
}

PodSpecId PodDecoder::FindSpec(DecodeContext& context, StrId ns, const Status& status,
                               bool admitted) {
  spec_is_of_this_pod_only_ = false;
  if (!admitted) digest_.AddFlag(kNotAdmittedFlag);
  if (status.resize_infeasible) digest_.AddFlag(kResizeInfeasibleFlag);
  const std::string_view digest = digest_.Finish();
  if (const PodSpecId known = digests_.Find(ns, digest); known.valid()) return known;
  context.reader.ReadCopy(digest, digest_.sources());
  DecodedPodSpec decoded = spec_decoder_.Decode(digest, context.meta);
  context.reader.EndCopy();
  if (context.reader.HasErrors()) return {};
  const PodSpecId spec = builder_.InternSpec(std::move(decoded.spec));
  spec_is_of_this_pod_only_ = decoded.of_this_pod_only;
  if (!decoded.of_this_pod_only) digests_.Add(ns, digest, spec);
  return spec;
}

void PodDecoder::Decode(DecodeContext& context, JsonObject root) {
  const bool notes = context.origin == Origin::kWritten && last_.IsWanted();
  if (notes) {
    last_.likeness.Begin(context.text.json);
    context.reader.NoteInto(&last_.likeness);
  }
  PodFacts pod;
  if (!ReadFacts(context, root, pod)) return;
  // Of two that are alike each has the same problems, and they are told of both. The uid of one
  // that no API server has seen is made of its name.
  if (notes && pod.admitted && !spec_is_of_this_pod_only_ && !repeats_schedule_condition_ &&
      context.reader.problems().empty())
    KeepLast(context, pod);
  if (builder_.AddPod(std::move(pod), context.origin) == FactSink::Added::kDuplicate)
    context.Duplicate();
}

// Only what the facts were taken from may be another in the next one: of keys that are there twice
// that is the last. A pod that is not like itself is none to compare others with.
void PodDecoder::KeepLast(const DecodeContext& context, const PodFacts& pod) {
  ObjectLikeness& likeness = last_.likeness;
  likeness.NoteText(Part::kName, context.meta.name);
  likeness.NoteText(Part::kUid, context.meta.uid);
  likeness.NoteText(Part::kCreated, context.meta.created_written);
  likeness.NoteText(Part::kGroup, GroupOf(context.meta));
  likeness.Keep();
  last_.pod = pod;
  PodFacts itself;
  if (!FindAlike(context.text.json, context.origin, itself) || !SameFacts(pod, itself))
    likeness.Forget();
  last_.was_like = false;
}

// One that nobody was like is not worth much: after several of them few are noted.
bool PodDecoder::LastPod::IsWanted() {
  constexpr uint32_t kMostPassed = 64;
  if (likeness.kept()) {
    pass = was_like ? 0 : std::min(2 * pass + 1, kMostPassed);
    passed = 0;
    was_like = false;
    likeness.Forget();
  }
  return passed++ >= pass;
}

bool PodDecoder::FindAlike(std::string_view json, Origin origin, PodFacts& pod) {
  if (origin != Origin::kWritten || !last_.likeness.Matches(json, differences_)) return false;
  StringPool& strings = builder_.strings();
  for (const auto& [part, text] : differences_)
    if (part == Part::kName || part == Part::kUid) strings.Prefetch(text);
  pod = last_.pod;
  Task& task = pod.task;
  for (const auto& [part, text] : differences_) {
    switch (part) {
      case Part::kPassedOver:
        break;
      case Part::kName:
        task.name_index = IndexInName(text);
        task.name = strings.Intern(text);
        break;
      case Part::kUid:
        task.uid = strings.Intern(text);
        break;
      case Part::kNode:
        task.node_name = last_node_.Intern(text, strings);
        break;
      case Part::kGroup:
        pod.group = last_group_.Intern(text, strings);
        break;
      case Part::kTime:
      case Part::kCreated:
      case Part::kStarted:
      case Part::kScheduled: {
        const std::optional<Timestamp> time = ObjectReader::FindTime(text);
        if (!time) return false;
        if (part == Part::kCreated) task.created = *time;
        if (part == Part::kStarted) task.started = *time;
        if (part == Part::kScheduled) task.scheduled_at = *time;
        break;
      }
    }
  }
  last_.was_like = true;
  return true;
}

bool PodDecoder::AddAlike(PodFacts pod, Origin origin) {
  return builder_.AddPod(std::move(pod), origin) != FactSink::Added::kDuplicate;
}

bool PodDecoder::ReadFacts(DecodeContext& context, JsonObject root, PodFacts& pod) {
  ObjectReader& reader = context.reader;
  Metadata& meta = context.meta;
  Spec spec;
  Status status;
  digest_.Clear();
  has_schedule_condition_ = repeats_schedule_condition_ = false;
  reader.ForEachField(root, [&](JsonKey key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, meta);
      context.strings().Prefetch(meta.name);
      context.strings().Prefetch(meta.uid);
    } else if (key == "spec") {
      DecodeSpec(reader, value, spec);
    } else if (key == "status") {
      DecodeStatus(reader, value, status);
    }
  });
  reader.NoteText(Part::kNode, spec.node_name);
  reader.NoteText(Part::kStarted, status.started_written);
  reader.NoteText(Part::kScheduled, status.scheduled_written);
  pod.admitted = context.origin == Origin::kWritten && !meta.uid.empty();
  pod.task.ns = last_namespace_.Intern(meta.NamespaceOrDefault(), context.strings());
  pod.task.spec = FindSpec(context, pod.task.ns, status, pod.admitted);
  if (!context.Sound()) return false;
  SetFacts(context, spec, status, pod);
  return true;
}

void PodDecoder::SetFacts(DecodeContext& context, const Spec& spec, const Status& status,
                          PodFacts& pod) {
  ObjectReader& reader = context.reader;
  const Metadata& meta = context.meta;
  StringPool& strings = context.strings();
  Task& task = pod.task;
  task.name = context.Intern(meta.name);
  task.uid = meta.uid.empty()
                 ? context.Intern(fmt::format("{}-{}", meta.NamespaceOrDefault(), meta.name))
                 : context.Intern(meta.uid);
  task.role = last_role_.Intern(RoleOf(meta), strings);
  task.node_name = last_node_.Intern(spec.node_name, strings);
  task.nominated_node = context.Intern(status.nominated_node);
  task.priority_class = last_priority_class_.Intern(spec.priority_class, strings);
  task.labels = builder_.InternLabels(InternLabelSet(meta.labels, strings));
  task.pod_priority = spec.priority.value_or(0);
  const std::optional<int32_t> task_priority = TaskPriority(meta);
  task.priority = task_priority.value_or(spec.priority.value_or(1));
  task.name_index = IndexInName(meta.name);
  task.status = StatusOf(status.phase, meta.deleting, !spec.node_name.empty());
  task.preemption_policy = spec.policy.value_or(PreemptionPolicy::kLowerPriority);
  const PreemptableMark preemptable = DecodePreemptable(reader, meta);
  task.preemptable = !preemptable.said || preemptable.value;
  task.says_preemptable = preemptable.said && preemptable.value;
  task.annotation_preemptable = preemptable.by_annotation;
  const std::vector<StrId>& gates = builder_.spec(task.spec).scheduling_gates;
  task.needs_claims = task.node_name == kEmptyStr && builder_.spec(task.spec).needs_resource_claims;
  task.gated = !gates.empty() || task.needs_claims;
  task.only_queue_gate = !task.needs_claims && gates.size() == 1 &&
                         strings.Text(gates[0]) == keys::kQueueAllocationGate;
  task.pod_running = status.phase == "Running";
  // Of a pod that does not run yet, or ends, it says nothing new.
  task.unready = task.status == TaskStatus::kRunning && !status.ready;
  task.terminating_by_preemption = meta.deleting && status.preempted;
  task.zones = DecodeZones(meta, strings);
  task.created = meta.created;
  task.started = status.started;
  task.scheduled_at = status.scheduled_at;
  task.cooldown_ns = DecodeCooldown(reader, meta, "the pod has no cooldown of its own");
  task.run_time_ns = DecodeRunTime(reader, meta);

  pod.group = last_group_.Intern(GroupOf(meta), strings);
  // A PodGroup has a queue of its own.
  if (pod.group == kEmptyStr) pod.queue = last_queue_.Intern(QueueOf(meta), strings);
  pod.ours = IsOurs(spec.scheduler_name);
  pod.has_priority = spec.priority.has_value();
  pod.has_policy = spec.policy.has_value();
  pod.has_task_priority = task_priority.has_value();
}

}  // namespace krafla
