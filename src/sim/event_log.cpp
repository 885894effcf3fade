#include "sim/event_log.h"

#include "base/json_writer.h"

namespace krafla {

namespace {

// Blocks of about this size go to the stream.
constexpr size_t kBlockBytes = 64 * 1024;

void Text(JsonWriter& json, std::string_view key, const std::string& value) {
  if (!value.empty()) json.Key(key).String(value);
}

void Amounts(JsonWriter& json, std::string_view key, const AmountMap& amounts) {
  json.Key(key).BeginObject();
  for (const auto& [kind, amount] : amounts) json.Key(kind).Number(amount);
  json.EndObject();
}

// `count` means something else for each kind; the log calls it by what it means.
void Count(JsonWriter& json, const SimEvent& event) {
  switch (event.kind) {
    case SimEventKind::kRunBegins:
      json.Key("seed").Integer(event.count);
      return;
    case SimEventKind::kNodeCordoned:
      json.Key("cordoned").Bool(event.count != 0);
      return;
    case SimEventKind::kDrainHeld:
    case SimEventKind::kJobSubmitted:
      json.Key("pods").Integer(event.count);
      return;
    case SimEventKind::kZoneDrained:
      json.Key("seconds").Integer(event.count);
      return;
    case SimEventKind::kPodCreated:
      if (event.count != 0) json.Key("replaces").Bool(true);
      return;
    case SimEventKind::kPodEvicted:
      json.Key("lost_seconds").Integer(event.count);
      return;
    default:
      if (event.count != 0) json.Key("count").Integer(event.count);
      return;
  }
}

bool HasPriority(SimEventKind kind) {
  return kind == SimEventKind::kJobSubmitted || kind == SimEventKind::kPodCreated ||
         kind == SimEventKind::kPodEvicted;
}

std::string_view TextKey(SimEventKind kind) {
  switch (kind) {
    case SimEventKind::kRunBegins:
      return "scenario";
    case SimEventKind::kJobPhase:
      return "phase";
    case SimEventKind::kDrainHeld:
    case SimEventKind::kJobWaiting:
    case SimEventKind::kPodFailed:
    case SimEventKind::kBindFailed:
    case SimEventKind::kEvictFailed:
      return "why";
    case SimEventKind::kPodEvicted:
      return "explanation";
    default:
      return "text";
  }
}

}  // namespace

std::string EventLine(const SimEvent& event, Timestamp start, LocalClock& clock) {
  JsonWriter json;
  json.BeginObject();
  json.Key("t").Number(SecondsBetween(start, event.at));
  json.Key("at").String(clock.Rfc3339(event.at));
  json.Key("event").String(ToString(event.kind));
  Text(json, "pod", event.pod);
  Text(json, "job", event.job);
  Text(json, "queue", event.queue);
  Text(json, "node", event.node);
  Text(json, "zone", event.zone);
  Text(json, "action", event.action);
  Text(json, "reason", event.reason);
  Text(json, "for", event.for_pod);
  Text(json, "for_job", event.for_job);
  if (!event.permitted_by.empty()) {
    json.Key("permitted_by").BeginArray();
    for (const std::string& plugin : event.permitted_by) json.String(plugin);
    json.EndArray();
  }
  if (HasPriority(event.kind)) json.Key("priority").Integer(event.priority);
  Count(json, event);
  if (event.kind == SimEventKind::kJobSubmitted) {
    json.Key("min_available").Integer(event.minimum);
    if (event.budget_floor >= 0) json.Key("budget_floor").Integer(event.budget_floor);
  }
  if (event.kind == SimEventKind::kNodeAdded) Amounts(json, "allocatable", event.amounts);
  if (event.kind == SimEventKind::kPodCreated) Amounts(json, "requests", event.amounts);
  if (event.kind == SimEventKind::kQueueShare) {
    json.Key("share").Number(event.share);
    Amounts(json, "allocated", event.amounts);
    Amounts(json, "deserved", event.deserved);
  }
  Text(json, TextKey(event.kind), event.text);
  json.EndObject();
  return json.text();
}

void EventLog::On(const SimEvent& event) {
  if (!start_.Present()) start_ = event.at;
  block_ += EventLine(event, start_, clock_);
  block_ += '\n';
  ++lines_;
  if (block_.size() >= kBlockBytes) Flush();
}

void EventLog::Flush() {
  out_.write(block_.data(), static_cast<std::streamsize>(block_.size()));
  out_.flush();
  block_.clear();
}

}  // namespace krafla
