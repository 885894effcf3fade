#include "kube/api_objects.h"

#include <map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.h"
#include "model/well_known.h"

namespace krafla {

namespace {

constexpr size_t kMostMessage = 1024;  // of an event or a condition

std::string_view Short(std::string_view text) {
  if (text.size() <= kMostMessage) return text;
  size_t end = kMostMessage;
  // Not in the middle of a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

void WriteNameAndUid(JsonWriter& json, const ObjectRef& object) {
  json.Key("metadata").BeginObject().Key("name").String(object.name);
  if (!object.ns.empty()) json.Key("namespace").String(object.ns);
  json.Key("uid").String(object.uid).EndObject();
}

void WriteUid(JsonWriter& json, const ObjectRef& object) {
  if (object.uid.empty()) return;
  json.Key("metadata").BeginObject().Key("uid").String(object.uid).EndObject();
}

void WriteUidPrecondition(JsonWriter& json, const ObjectRef& object) {
  json.Key("preconditions").BeginObject().Key("uid").String(object.uid).EndObject();
}

}  // namespace

ObjectRef PodRef(std::string_view ns, std::string_view name, std::string_view uid) {
  return {"Pod", "v1", std::string(ns), std::string(name), std::string(uid)};
}

ObjectRef PodGroupRef(std::string_view ns, std::string_view name, std::string_view uid) {
  return {"PodGroup", std::string(kSchedulingApi), std::string(ns), std::string(name),
          std::string(uid)};
}

std::string PodPath(const ObjectRef& pod) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", pod.ns, pod.name);
}

std::string PodGroupPath(const ObjectRef& group) {
  return fmt::format("/apis/{}/namespaces/{}/podgroups/{}", kSchedulingApi, group.ns, group.name);
}

std::string BindingBody(const ObjectRef& pod, std::string_view node) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("v1").Key("kind").String("Binding");
  WriteNameAndUid(json, pod);
  json.Key("target").BeginObject().Key("apiVersion").String("v1").Key("kind").String("Node");
  json.Key("name").String(node).EndObject().EndObject();
  return json.text();
}

std::string SelectedNodePatch(std::string_view node, std::string_view version) {
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject().Key("resourceVersion").String(version);
  json.Key("annotations").BeginObject().Key("volume.kubernetes.io/selected-node").String(node);
  json.EndObject().EndObject().EndObject();
  return json.text();
}

std::string ClaimRefPatch(std::string_view ns, std::string_view name, std::string_view uid,
                          std::string_view version) {
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject().Key("resourceVersion").String(version);
  json.Key("annotations").BeginObject().Key("pv.kubernetes.io/bound-by-controller").String("yes");
  json.EndObject().EndObject().Key("spec").BeginObject().Key("claimRef").BeginObject();
  json.Key("apiVersion").String("v1").Key("kind").String("PersistentVolumeClaim");
  json.Key("namespace").String(ns).Key("name").String(name).Key("uid").String(uid);
  json.EndObject().EndObject().EndObject();
  return json.text();
}

std::string DisruptionPatch(const ObjectRef& pod, std::string_view message, Timestamp now) {
  JsonWriter json;
  json.BeginObject();
  WriteNameAndUid(json, pod);
  json.Key("status").BeginObject().Key("conditions").BeginArray().BeginObject();
  json.Key("type").String("DisruptionTarget").Key("status").String("True");
  json.Key("reason").String("PreemptionByScheduler").Key("message").String(Short(message));
  json.Key("lastTransitionTime").String(FormatRfc3339(now));
  json.EndObject().EndArray().EndObject().EndObject();
  return json.text();
}

std::string DeleteBody(const ObjectRef& pod) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("v1").Key("kind").String("DeleteOptions");
  WriteUidPrecondition(json, pod);
  json.EndObject();
  return json.text();
}

std::string EvictionBody(const ObjectRef& pod) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("policy/v1").Key("kind").String("Eviction");
  json.Key("metadata").BeginObject().Key("name").String(pod.name);
  json.Key("namespace").String(pod.ns).EndObject();
  json.Key("deleteOptions").BeginObject();
  WriteUidPrecondition(json, pod);
  json.EndObject().EndObject();
  return json.text();
}

std::string WaitingPatch(const ObjectRef& pod, std::string_view message,
                         std::string_view nominated_node, Timestamp since) {
  JsonWriter json;
  json.BeginObject();
  WriteNameAndUid(json, pod);
  json.Key("status").BeginObject().Key("conditions").BeginArray().BeginObject();
  json.Key("type").String("PodScheduled").Key("status").String("False");
  json.Key("reason").String("Unschedulable").Key("message").String(Short(message));
  if (since.Present()) json.Key("lastTransitionTime").String(FormatRfc3339(since));
  json.EndObject().EndArray().Key("nominatedNodeName");
  if (nominated_node.empty()) {
    json.Null();
  } else {
    json.String(nominated_node);
  }
  json.EndObject().EndObject();
  return json.text();
}

namespace {

struct OldCondition {
  GroupCondition said;
  std::string last_transition;
  std::string transition_id;
};

struct OldStatus {
  std::string phase;
  std::vector<OldCondition> conditions;
  int64_t running = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
};

std::string TextOf(simdjson::ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text)) return {};
  return std::string(text);
}

template <class Fn>
void ForEachField(simdjson::ondemand::object object, Fn&& fn) {
  for (auto result : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) || field.unescaped_key().get(key)) return;
    fn(key, field.value());
  }
}

OldCondition ReadCondition(simdjson::ondemand::object object) {
  OldCondition condition;
  ForEachField(object, [&](std::string_view key, simdjson::ondemand::value value) {
    if (key == "type") condition.said.type = TextOf(value);
    if (key == "status") condition.said.status = TextOf(value);
    if (key == "reason") condition.said.reason = TextOf(value);
    if (key == "message") condition.said.message = TextOf(value);
    if (key == "lastTransitionTime") condition.last_transition = TextOf(value);
    if (key == "transitionID") condition.transition_id = TextOf(value);
  });
  return condition;
}

// What cannot be read counts as not being there.
OldStatus ReadStatus(std::string_view text) {
  OldStatus status;
  if (text.empty()) return status;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object root;
  if (parser.iterate(padded).get(document) || document.get_object().get(root)) return status;
  ForEachField(root, [&](std::string_view key, simdjson::ondemand::value value) {
    if (key == "phase") status.phase = TextOf(value);
    int64_t* count = key == "running"     ? &status.running
                     : key == "succeeded" ? &status.succeeded
                     : key == "failed"    ? &status.failed
                                          : nullptr;
    if (count != nullptr && value.get_int64().get(*count)) *count = 0;
    simdjson::ondemand::array list;
    if (key != "conditions" || value.get_array().get(list)) return;
    for (auto item : list) {
      simdjson::ondemand::object condition;
      if (!item.get_object().get(condition)) status.conditions.push_back(ReadCondition(condition));
    }
  });
  return status;
}

void WriteCondition(JsonWriter& json, const OldCondition& condition) {
  json.BeginObject().Key("type").String(condition.said.type);
  json.Key("status").String(condition.said.status);
  if (!condition.said.reason.empty()) json.Key("reason").String(condition.said.reason);
  if (!condition.said.message.empty()) json.Key("message").String(Short(condition.said.message));
  if (!condition.last_transition.empty())
    json.Key("lastTransitionTime").String(condition.last_transition);
  if (!condition.transition_id.empty()) json.Key("transitionID").String(condition.transition_id);
  json.EndObject();
}

// True: something changed.
bool SetCondition(OldStatus& status, GroupCondition wanted, std::string_view transition_id,
                  Timestamp now) {
  wanted.message = Short(wanted.message);
  OldCondition* old = nullptr;
  for (OldCondition& condition : status.conditions)
    if (condition.said.type == wanted.type) old = &condition;
  if (old == nullptr) old = &status.conditions.emplace_back();
  GroupCondition& said = old->said;
  const bool same = said.status == wanted.status && said.reason == wanted.reason;
  if (same && said.message == wanted.message) return false;
  if (!same) {
    old->last_transition = FormatRfc3339(now);
    old->transition_id = transition_id;
  }
  said = std::move(wanted);
  return true;
}

}  // namespace

std::optional<std::string> GroupStatusPatch(const ObjectRef& group, std::string_view current,
                                            const GroupStatus& wanted,
                                            std::string_view transition_id, Timestamp now) {
  OldStatus status = ReadStatus(current);
  bool changed = status.phase != wanted.phase || status.running != wanted.running ||
                 status.succeeded != wanted.succeeded || status.failed != wanted.failed;
  bool conditions_changed = false;
  for (const GroupCondition& condition : wanted.conditions)
    conditions_changed |= SetCondition(status, condition, transition_id, now);
  if (!changed && !conditions_changed) return std::nullopt;
  JsonWriter json;
  json.BeginObject();
  WriteUid(json, group);
  json.Key("status").BeginObject();
  json.Key("phase").String(wanted.phase);
  json.Key("running").Integer(wanted.running);
  json.Key("succeeded").Integer(wanted.succeeded);
  json.Key("failed").Integer(wanted.failed);
  if (conditions_changed) {
    json.Key("conditions").BeginArray();
    for (const OldCondition& condition : status.conditions) WriteCondition(json, condition);
    json.EndArray();
  }
  json.EndObject().EndObject();
  return json.text();
}

std::string GroupMemoryPatch(const ObjectRef& group, const GroupMemory& memory, bool whole) {
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject();
  if (!group.uid.empty()) json.Key("uid").String(group.uid);
  json.Key("annotations").BeginObject();
  const auto write = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) {
      json.Key(key).String(text);
    } else if (whole) {
      json.Key(key).Null();
    }
  };
  write(keys::kZoneEvictions, memory.zone_evictions);
  write(keys::kEvictions, memory.evictions);
  write(keys::kLastLoss, memory.loss);
  json.EndObject().EndObject().EndObject();
  return json.text();
}

namespace {

using Amounts = std::map<std::string, std::string, std::less<>>;

// What is no text or number is kept as an empty amount, so that it is written over or removed.
Amounts ReadAllocated(std::string_view queue_status) {
  Amounts amounts;
  if (queue_status.empty()) return amounts;
  const simdjson::padded_string padded(queue_status);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object allocated;
  if (parser.iterate(padded).get(document) ||
      document.find_field_unordered("allocated").get_object().get(allocated))
    return amounts;
  ForEachField(allocated, [&](std::string_view name, simdjson::ondemand::value value) {
    amounts.emplace(name, TextOf(value));
  });
  return amounts;
}

std::string QuantityText(int kind, double amount_as_stored) {
  const auto amount = static_cast<int64_t>(amount_as_stored);
  // Bytes and pods are whole; everything else is counted in thousandths.
  const bool whole = kind == ResourceKinds::kMemory || kind == ResourceKinds::kPods;
  if (whole) return fmt::format("{}", amount);
  return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
}

}  // namespace

bool HasAllocated(std::string_view queue_status) {
  return !ReadAllocated(queue_status).empty();
}

std::optional<std::string> QueueStatusPatch(std::string_view current, const Resource& allocated,
                                            const ResourceKinds& kinds) {
  Amounts gone = ReadAllocated(current);
  bool changed = false;
  JsonWriter json;
  json.BeginObject().Key("status").BeginObject().Key("allocated").BeginObject();
  for (int kind = 0; kind < kinds.size(); ++kind) {
    if (kind > ResourceKinds::kMemory && !allocated.Has(kind)) continue;
    const std::string text = QuantityText(kind, allocated.Get(kind));
    const auto known = gone.find(kinds.Name(kind));
    changed = changed || known == gone.end() || known->second != text;
    if (known != gone.end()) gone.erase(known);
    json.Key(kinds.Name(kind)).String(text);
  }
  for (const auto& [name, amount] : gone) json.Key(name).Null();
  if (!changed && gone.empty()) return std::nullopt;
  json.EndObject().EndObject().EndObject();
  return json.text();
}

std::string QueueBody(std::string_view name, bool reclaimable) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String(kSchedulingApi).Key("kind").String("Queue");
  json.Key("metadata").BeginObject().Key("name").String(name).EndObject();
  json.Key("spec").BeginObject().Key("weight").Integer(1);
  json.Key("reclaimable").Bool(reclaimable).EndObject().EndObject();
  return json.text();
}

std::string EventsPath(const ObjectRef& about) {
  return fmt::format("/api/v1/namespaces/{}/events", about.ns.empty() ? "default" : about.ns);
}

std::string EventBody(const EventText& event, std::string_view name, std::string_view component,
                      std::string_view instance, Timestamp now) {
  const std::string time = FormatRfc3339(now);
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("v1").Key("kind").String("Event");
  json.Key("metadata").BeginObject().Key("name").String(name);
  json.Key("namespace").String(event.about.ns.empty() ? "default" : event.about.ns).EndObject();
  json.Key("involvedObject").BeginObject().Key("kind").String(event.about.kind);
  json.Key("apiVersion").String(event.about.api_version).Key("name").String(event.about.name);
  if (!event.about.ns.empty()) json.Key("namespace").String(event.about.ns);
  if (!event.about.uid.empty()) json.Key("uid").String(event.about.uid);
  json.EndObject();
  json.Key("type").String(event.warning ? "Warning" : "Normal");
  json.Key("reason").String(event.reason).Key("message").String(Short(event.message));
  json.Key("source").BeginObject().Key("component").String(component).EndObject();
  json.Key("reportingComponent").String(component).Key("reportingInstance").String(instance);
  json.Key("firstTimestamp").String(time).Key("lastTimestamp").String(time);
  json.Key("count").Integer(1).EndObject();
  return json.text();
}

std::string EventCountPatch(int count, Timestamp now) {
  JsonWriter json;
  json.BeginObject().Key("count").Integer(count);
  json.Key("lastTimestamp").String(FormatRfc3339(now)).EndObject();
  return json.text();
}

}  // namespace krafla
