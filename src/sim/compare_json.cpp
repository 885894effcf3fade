// The difference of two runs as JSON; docs/output.md describes it.
#include "sim/compare.h"
#include "sim/local_time.h"

namespace krafla {

namespace {

void OptionalNumber(JsonWriter& json, const char* key, const std::optional<double>& value) {
  json.Key(key);
  value ? json.Number(*value) : json.Null();
}

void Names(JsonWriter& json, const char* key, const std::vector<std::string>& names) {
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

void Node(JsonWriter& json, const char* key, const std::string& node) {
  json.Key(key);
  node.empty() ? json.Null() : json.String(node);
}

void Drain(JsonWriter& json, const char* key, const std::optional<ZoneDrain>& drain) {
  json.Key(key);
  if (!drain) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Key("end").String(ToString(drain->end));
  json.Key("seconds").Number(drain->seconds);
  json.Key("evictions").Integer(drain->evictions);
  json.EndObject();
}

}  // namespace

void WriteComparisonJson(JsonWriter& json, const Comparison& c) {
  LocalClock clock(c.before.zone);
  json.BeginObject();
  json.Key("before").BeginObject().Key("name").String(c.name_before).Key("summary");
  WriteSummaryJson(json, c.before);
  json.EndObject();
  json.Key("after").BeginObject().Key("name").String(c.name_after).Key("summary");
  WriteSummaryJson(json, c.after);
  json.EndObject();
  json.Key("identical").Bool(c.identical());
  json.Key("same_workload").Bool(c.same_workload);
  Names(json, "jobs_only_before", c.only_before);
  Names(json, "jobs_only_after", c.only_after);

  json.Key("placements").BeginArray();
  for (const PlacementChange& change : c.placements) {
    json.BeginObject().Key("pod").String(change.pod).Key("job").String(change.job);
    Node(json, "node_before", change.node_before);
    Node(json, "node_after", change.node_after);
    json.Key("zone_before").String(change.zone_before);
    json.Key("zone_after").String(change.zone_after);
    json.EndObject();
  }
  json.EndArray();

  json.Key("victims").BeginArray();
  for (const VictimChange& victim : c.victims) {
    json.BeginObject().Key("pod").String(victim.pod).Key("job").String(victim.job);
    json.Key("evictions_before").Integer(victim.before);
    json.Key("evictions_after").Integer(victim.after);
    json.Key("first").String(clock.Rfc3339(victim.at));
    json.Key("action").String(victim.action);
    json.Key("reason").String(victim.reason);
    json.Key("for_job").String(victim.for_job);
    json.EndObject();
  }
  json.EndArray();
  json.Key("same_victims").Integer(c.same_victims);

  json.Key("waits").BeginArray();
  for (const WaitChange& wait : c.waits) {
    json.BeginObject().Key("job").String(wait.job).Key("queue").String(wait.queue);
    OptionalNumber(json, "before", wait.before);
    OptionalNumber(json, "after", wait.after);
    json.EndObject();
  }
  json.EndArray();

  json.Key("drains").BeginArray();
  for (const DrainChange& change : c.drains) {
    json.BeginObject().Key("zone").String(change.zone);
    json.Key("closed").String(clock.Rfc3339(change.closed));
    Drain(json, "before", change.before);
    Drain(json, "after", change.after);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

std::string ComparisonJson(const Comparison& comparison) {
  JsonWriter json;
  WriteComparisonJson(json, comparison);
  return json.text();
}

}  // namespace krafla
