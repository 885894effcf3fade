#include "manifest/decode_scheduling.h"

#include <algorithm>
#include <array>
#include <limits>

#include "manifest/annotations.h"
#include "manifest/decode_resources.h"
#include "manifest/decode_selectors.h"
#include "manifest/known_words.h"
#include "model/well_known.h"

namespace krafla {

namespace {

using StateWord = std::pair<std::string_view, QueueState>;
constexpr std::array kStates = {
    StateWord{"Open", QueueState::kOpen}, StateWord{"Closed", QueueState::kClosed},
    StateWord{"Closing", QueueState::kClosing}, StateWord{"Unknown", QueueState::kUnknown}};
using PolicyWord = std::pair<std::string_view, PreemptionPolicy>;
constexpr std::array kPolicies = {
    PolicyWord{"PreemptLowerPriority", PreemptionPolicy::kLowerPriority},
    PolicyWord{"Never", PreemptionPolicy::kNever}};
constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

Resource DecodeResource(DecodeContext& context, JsonValue& value) {
  return ToResource(DecodeResourceList(context.reader, value), context.kinds(), context.reader);
}

void DecodeQueueSpec(DecodeContext& context, JsonValue& value, Queue& queue) {
  ObjectReader& reader = context.reader;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (ObjectReader::IsNull(field)) return;
    if (key == "weight") {
      queue.weight = reader.Int32(field, 0, kMaxInt32).value_or(1);
    } else if (key == "priority") {
      queue.priority = reader.Int32(field).value_or(0);
    } else if (key == "reclaimable") {
      queue.reclaimable = reader.Bool(field, true);
    } else if (key == "capability") {
      queue.capability = DecodeResource(context, field);
    } else if (key == "deserved") {
      queue.deserved = DecodeResource(context, field);
    } else if (key == "guarantee") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& list) {
        if (part != "resource") {
          reader.OddWord(ObjectReader::At(list), "key", part, kQueueGuaranteeKeys);
        } else if (!ObjectReader::IsNull(list)) {
          queue.guarantee = DecodeResource(context, list);
        }
      });
    } else if (key == "parent") {
      queue.parent = context.Intern(reader.Text(field));
    } else if (!IsAmong(key, kQueueSpecKeys)) {
      reader.OddWord(ObjectReader::At(field), "key", key, kQueueSpecKeys);
    }
  });
}

std::string AnnotationText(const Metadata& meta, std::string_view key) {
  const TextMap::Entry* entry = meta.annotations.Find(key);
  return entry != nullptr ? std::string(entry->value) : std::string();
}

}  // namespace

void DecodeQueue(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  QueueFacts facts;
  Queue& queue = facts.queue;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      DecodeQueueSpec(context, value, queue);
    } else if (key == "status") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "state")
          queue.state = reader.Word<QueueState>(field, kStates, QueueState::kOpen);
      });
    }
  });
  if (!context.Sound()) return;
  queue.name = context.Intern(context.meta.name);
  queue.created = context.meta.created;
  queue.hierarchy = AnnotationText(context.meta, keys::kHierarchy);
  queue.hierarchy_weights = AnnotationText(context.meta, keys::kHierarchyWeights);
  queue.cooldown_ns = DecodeCooldown(reader, context.meta, "ignored");
  // Only a queue with a parent can be part of a circle; finding lines takes a look at the whole
  // file.
  if (queue.parent != kEmptyStr) {
    facts.file = context.text.file;
    if (context.text.locate) facts.location = context.text.locate(0);
  }
  context.AddedOrDuplicate(context.builder.AddQueue(std::move(facts)));
}

void DecodePriorityClass(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  PriorityClassFacts facts;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "value") {
      facts.value = reader.Int32(value).value_or(0);
    } else if (key == "globalDefault") {
      facts.global_default = reader.Bool(value);
    } else if (key == "preemptionPolicy") {
      facts.preemption_policy =
          reader.Word<PreemptionPolicy>(value, kPolicies, PreemptionPolicy::kLowerPriority);
    }
  });
  if (!context.Sound()) return;
  facts.name = context.Intern(context.meta.name);
  context.AddedOrDuplicate(context.builder.AddPriorityClass(facts));
}

void DecodePodDisruptionBudget(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  PodDisruptionBudget budget;
  std::vector<std::string_view> disrupted;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "selector")
          budget.selector = DecodeLabelSelector(reader, field, context.strings());
      });
    } else if (key == "status") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "disruptionsAllowed")
          budget.disruptions_allowed = reader.Int32(field, 0, kMaxInt32).value_or(0);
        if (name == "currentHealthy")
          budget.current_healthy = reader.Int32(field, 0, kMaxInt32).value_or(-1);
        if (name == "disruptedPods")
          reader.ForEachField(field,
                              [&](std::string_view pod, JsonValue&) { disrupted.push_back(pod); });
      });
    }
  });
  if (!context.Sound()) return;
  budget.ns = context.InternNamespace();
  budget.name = context.Intern(context.meta.name);
  std::sort(disrupted.begin(), disrupted.end());
  for (const std::string_view pod : disrupted) budget.disrupted_pods.push_back(context.Intern(pod));
  context.AddedOrDuplicate(context.builder.AddBudget(std::move(budget)));
}

void DecodeResourceQuota(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  const auto check = [&](JsonValue& value) {
    reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
      if (name == "hard" || name == "used") DecodeResourceList(reader, field);
    });
  };
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") DecodeMetadata(reader, value, context.meta);
    if (key == "spec" || key == "status") check(value);
  });
  if (!context.Sound()) return;
  context.AddedOrDuplicate(context.builder.AddResourceQuotaName(context.InternNamespace(),
                                                                context.Intern(context.meta.name)));
}

}  // namespace krafla
