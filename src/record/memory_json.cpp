#include "record/memory_json.h"

#include <algorithm>
#include <utility>

#include <simdjson.h>

#include "base/json_writer.h"

namespace krafla {

// Every member is named in each of the functions: a new one does not compile until it is kept.

std::string MemoryAsJson(const CycleMemory& memory) {
  const auto& [last_evictions, job_losses, job_evictions, allowance, clock_skew_s] = memory;
  JsonWriter json;
  json.BeginObject();
  json.Key("zones").BeginArray();
  for (const auto& [zone, at] : last_evictions)
    json.BeginObject().Key("zone").String(zone).Key("at").Integer(at.ns).EndObject();
  json.EndArray();
  json.Key("losses").BeginArray();
  for (const auto& [job, at, size, ending, ended] : job_losses) {
    json.BeginObject().Key("job").String(job).Key("at").Integer(at.ns).Key("size").Integer(size);
    json.Key("ending").Bool(ending).Key("ended").Integer(ended.ns).EndObject();
  }
  json.EndArray();
  json.Key("evictions").BeginArray();
  for (const auto& [job, times] : job_evictions) {
    json.BeginObject().Key("job").String(job).Key("times").BeginArray();
    for (const Timestamp time : times) json.Integer(time.ns);
    json.EndArray().EndObject();
  }
  json.EndArray();
  if (allowance) {
    const auto& [limits, minute_left, cycle_left, held, more_at] = *allowance;
    const auto& [per_minute, per_cycle, exempt_drains] = limits;
    json.Key("evictionLimits").BeginObject();
    json.Key("perMinute").Integer(per_minute).Key("perCycle").Integer(per_cycle);
    json.Key("exemptDrains").Bool(exempt_drains);
    json.Key("minuteLeft").Integer(minute_left).Key("cycleLeft").Integer(cycle_left);
    json.Key("held").Bool(held).Key("moreAt").Integer(more_at.ns);
    json.EndObject();
  }
  if (clock_skew_s) json.Key("clockSkewSeconds").Integer(*clock_skew_s);
  json.EndObject();
  return json.text();
}

namespace {

namespace dom = simdjson::dom;

std::string TextIn(dom::element object, const char* key) {
  std::string_view text;
  return object[key].get_string().get(text) ? std::string() : std::string(text);
}

Timestamp TimeIn(dom::element object, const char* key) {
  int64_t ns = Timestamp::kAbsentNs;
  if (object[key].get_int64().get(ns)) return {};
  return {ns};
}

dom::array ListIn(dom::element object, const char* key) {
  dom::array list;
  if (object[key].get_array().get(list)) return {};
  return list;
}

}  // namespace

Result<CycleMemory> MemoryFromJson(std::string_view json) {
  dom::parser parser;
  dom::element root;
  const std::string text(json);
  dom::object object;
  if (parser.parse(text).get(root) || root.get_object().get(object))
    return Fail("the memory is no JSON object");
  dom::array list;
  for (const char* key : {"zones", "losses", "evictions"})
    if (root[key].get_array().get(list))
      return Fail(std::string("the memory has no list of ") + key);
  CycleMemory memory;
  for (const dom::element entry : ListIn(root, "zones"))
    memory.last_evictions.push_back({.zone = TextIn(entry, "zone"), .at = TimeIn(entry, "at")});
  for (const dom::element entry : ListIn(root, "losses")) {
    CycleMemory::JobLoss loss{.job = TextIn(entry, "job"), .at = TimeIn(entry, "at")};
    if (entry["size"].get_int64().get(loss.size) || entry["ending"].get_bool().get(loss.ending))
      return Fail("a loss in the memory is incomplete");
    loss.ended = TimeIn(entry, "ended");
    memory.job_losses.push_back(std::move(loss));
  }
  for (const dom::element entry : ListIn(root, "evictions")) {
    CycleMemory::JobEvictions evictions{.job = TextIn(entry, "job"), .times = {}};
    for (const dom::element time : ListIn(entry, "times")) {
      Timestamp at;
      if (time.get_int64().get(at.ns)) return Fail("an eviction in the memory has no instant");
      evictions.times.push_back(at);
    }
    memory.job_evictions.push_back(std::move(evictions));
  }
  dom::element limits;
  if (!root["evictionLimits"].get(limits)) {
    CycleMemory::EvictionAllowance allowance;
    const auto number = [&](const char* key, int32_t& value) {
      int64_t wide = 0;
      if (limits[key].get_int64().get(wide) || !std::in_range<int32_t>(wide)) return false;
      value = static_cast<int32_t>(wide);
      return true;
    };
    if (!number("perMinute", allowance.limits.per_minute) ||
        !number("perCycle", allowance.limits.per_cycle) ||
        !number("minuteLeft", allowance.minute_left) ||
        !number("cycleLeft", allowance.cycle_left) ||
        limits["exemptDrains"].get_bool().get(allowance.limits.exempt_drains) ||
        limits["held"].get_bool().get(allowance.held))
      return Fail("the eviction limits in the memory are incomplete");
    allowance.more_at = TimeIn(limits, "moreAt");
    memory.allowance = allowance;
  }
  dom::element skew;
  if (!root["clockSkewSeconds"].get(skew)) {
    int64_t seconds = 0;
    if (skew.get_int64().get(seconds)) return Fail("the clock skew in the memory is no number");
    memory.clock_skew_s = seconds;
  }
  return memory;
}

bool SameMemory(const CycleMemory& a, const CycleMemory& b) {
  const auto& [a_zones, a_losses, a_evictions, a_allowance, a_skew] = a;
  const auto& [b_zones, b_losses, b_evictions, b_allowance, b_skew] = b;
  const auto same = [](const auto& l, const auto& r, auto equal) {
    return std::equal(l.begin(), l.end(), r.begin(), r.end(), equal);
  };
  return a_allowance == b_allowance && a_skew == b_skew &&
         same(a_zones, b_zones,
              [](const auto& l, const auto& r) { return l.zone == r.zone && l.at == r.at; }) &&
         same(a_losses, b_losses,
              [](const auto& l, const auto& r) {
                return l.job == r.job && l.at == r.at && l.size == r.size && l.ending == r.ending &&
                       l.ended == r.ended;
              }) &&
         same(a_evictions, b_evictions,
              [](const auto& l, const auto& r) { return l.job == r.job && l.times == r.times; });
}

}  // namespace krafla
