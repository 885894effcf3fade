#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "manifest/annotations.h"
#include "manifest/decode_resources.h"
#include "manifest/decode_scheduling.h"
#include "manifest/known_words.h"
#include "model/disruption_budget.h"
#include "model/memory_format.h"
#include "model/well_known.h"

namespace krafla {

namespace {

using PhaseWord = std::pair<std::string_view, JobPhase>;
constexpr std::array kPhases = {
    PhaseWord{"Pending", JobPhase::kPending}, PhaseWord{"Inqueue", JobPhase::kInqueue},
    PhaseWord{"Running", JobPhase::kRunning}, PhaseWord{"Unknown", JobPhase::kUnknown},
    PhaseWord{"Completed", JobPhase::kCompleted}};
constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

JobCondition DecodeCondition(ObjectReader& reader, JsonValue& value) {
  JobCondition condition;
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (key == "type") {
      condition.type = reader.Text(field);
    } else if (key == "status") {
      condition.status = reader.Text(field);
    } else if (key == "reason") {
      condition.reason = reader.Text(field);
    } else if (key == "message") {
      condition.message = reader.Text(field);
    }
  });
  return condition;
}

void DecodeStatus(ObjectReader& reader, JsonValue& value, Job& job) {
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (key == "phase") job.phase = reader.Word<JobPhase>(field, kPhases, JobPhase::kPending);
    if (key == "conditions")
      reader.ForEachItem(
          field, [&](JsonValue& item) { job.conditions.push_back(DecodeCondition(reader, item)); });
  });
}

// The API's default is hard.
bool IsHardTopology(ObjectReader& reader, JsonValue& value) {
  bool hard = true;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "mode" && !ObjectReader::IsNull(field)) hard = reader.Text(field) != "soft";
  });
  return hard;
}

void DecodeSpec(DecodeContext& context, JsonValue& value, PodGroupFacts& group) {
  ObjectReader& reader = context.reader;
  Job& job = group.job;
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (ObjectReader::IsNull(field)) return;
    if (key == "minMember") {
      job.min_available = reader.Int32(field, 0, kMaxInt32).value_or(0);
    } else if (key == "queue") {
      group.queue = context.Intern(reader.Text(field));
    } else if (key == "priorityClassName") {
      job.priority_class = context.Intern(reader.Text(field));
    } else if (key == "minResources") {
      job.min_resources = ToResource(DecodeResourceList(reader, field), context.kinds(), reader);
    } else if (key == "minTaskMember") {
      reader.ForEachField(field, [&](std::string_view role, JsonValue& count) {
        group.min_task_member.emplace_back(context.Intern(role),
                                           reader.Int32(count, 0, kMaxInt32).value_or(0));
      });
    } else if (key == "networkTopology") {
      job.has_network_topology = true;
      job.needs_network_topology |= IsHardTopology(reader, field);
    } else if (key == "subGroupPolicy") {
      reader.ForEachItem(field, [&](JsonValue& policy) {
        job.has_sub_group_policy = true;
        reader.ForEachField(policy, [&](std::string_view part, JsonValue& topology) {
          if (part == "networkTopology" && !ObjectReader::IsNull(topology))
            job.needs_network_topology |= IsHardTopology(reader, topology);
        });
      });
    } else if (!IsAmong(key, kPodGroupSpecKeys)) {
      reader.OddWord(ObjectReader::At(field), "key", key, kPodGroupSpecKeys);
    }
  });
}

// The first of `keys_in_order` that is there; null when none is.
const TextMap::Entry* FindAnnotation(const Metadata& meta,
                                     std::initializer_list<std::string_view> keys_in_order) {
  for (const std::string_view key : keys_in_order)
    if (const TextMap::Entry* entry = meta.annotations.Find(key)) return entry;
  return nullptr;
}

// An invalid annotation protects the job (D37): the warning says so where profile volcano may
// differ.
DisruptionBudget DecodeBudget(ObjectReader& reader, const Metadata& meta) {
  const auto* least =
      FindAnnotation(meta, {keys::kBudgetMinAvailableLong, keys::kBudgetMinAvailable});
  const auto* most =
      FindAnnotation(meta, {keys::kBudgetMaxUnavailableLong, keys::kBudgetMaxUnavailable});
  const auto read = [&](const TextMap::Entry* entry, std::string DisruptionBudget::* part,
                        std::string_view consequence) {
    if (entry == nullptr) return std::string();
    DisruptionBudget only;
    only.*part = entry->value.empty() ? kEmptyBudgetText : entry->value;
    std::string complaint;
    (void)AllowedEvictions(only, {}, {}, complaint);
    if (!complaint.empty())
      reader.Warn(entry->at, fmt::format("invalid disruption budget {}={}: {}; {}", entry->key,
                                         Quoted(entry->value), complaint, consequence));
    return only.*part;
  };
  return {.min_available = read(least, &DisruptionBudget::min_available,
                                "no pod of the job may be evicted by tdm (with budget-unreadable: "
                                "false all of them may)"),
          .max_unavailable = read(most, &DisruptionBudget::max_unavailable,
                                  "no pod of the job may be evicted by tdm")};
}

// A text that is no duration, or none above zero, is passed over for the next key.
int64_t DecodeWaitingTime(ObjectReader& reader, const Metadata& meta) {
  for (const std::string_view key : {keys::kSlaWaitingTime, keys::kSlaWaitingTimeShort}) {
    const TextMap::Entry* entry = meta.annotations.Find(key);
    if (entry == nullptr) continue;
    const Result<int64_t> duration = ParseGoDuration(entry->value);
    if (duration && *duration > 0) return *duration;
    reader.Warn(entry->at,
                fmt::format("expected a duration above zero such as \"1h\", got {}; ignored",
                            Quoted(entry->value)));
  }
  return -1;
}

// Krafla's own; what cannot be read counts for nothing.
GroupMemory DecodeMemory(ObjectReader& reader, const Metadata& meta) {
  GroupMemory memory;
  const auto read = [&](std::string_view key, std::string& text, std::string_view example,
                        auto&& is_readable) {
    const TextMap::Entry* entry = meta.annotations.Find(key);
    if (entry == nullptr) return;
    text = entry->value;
    if (!IsKnownMemoryVersion(text)) {
      reader.Warn(entry->at, fmt::format("expected the format version {}, got {}; ignored",
                                         Quoted(kMemoryVersion), Quoted(text)));
    } else if (!is_readable(text)) {
      reader.Warn(entry->at, fmt::format("expected {}, got {}; what cannot be read is ignored",
                                         example, Quoted(text)));
    }
  };
  read(keys::kZoneEvictions, memory.zone_evictions,
       "zones and instants such as \"rz1=2026-03-10T22:30:00Z\"",
       [](std::string_view text) { return ReadZoneEvictions(text).readable; });
  read(keys::kEvictions, memory.evictions, "instants such as \"2026-03-10T22:30:00Z\"",
       [](std::string_view text) { return ReadEvictionTimes(text).readable; });
  read(keys::kLastLoss, memory.loss, "an instant and a size such as \"2026-03-10T22:30:00Z/4\"",
       [](std::string_view text) { return ReadGroupLoss(text).has_value(); });
  return memory;
}

}  // namespace

void DecodePodGroup(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  const Metadata& meta = context.meta;
  PodGroupFacts group;
  Job& job = group.job;
  reader.ForEachField(root, [&](JsonKey key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      DecodeSpec(context, value, group);
    } else if (key == "status") {
      DecodeStatus(reader, value, job);
    }
  });
  if (!context.Sound()) return;

  job.ns = context.InternNamespace();
  job.name = context.Intern(meta.name);
  job.uid = context.Intern(meta.uid);
  job.created = meta.created;
  const PreemptableMark preemptable = DecodePreemptable(reader, meta);
  job.preemptable = preemptable.value;
  job.annotation_preemptable = preemptable.by_annotation;
  job.zones = DecodeZones(meta, context.strings());
  job.budget = DecodeBudget(reader, meta);
  job.waiting_time_ns = DecodeWaitingTime(reader, meta);
  job.cooldown_ns = DecodeCooldown(reader, meta, "ignored");
  group.memory = DecodeMemory(reader, meta);
  if (context.builder.AddPodGroup(std::move(group), context.origin) == FactSink::Added::kDuplicate)
    context.Duplicate();
}

}  // namespace krafla
