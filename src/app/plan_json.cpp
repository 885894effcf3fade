#include "app/plan_json.h"

#include <algorithm>
#include <map>

#include "base/json_writer.h"
#include "model/queue_amounts.h"
#include "session/eviction_reason.h"

namespace krafla {

namespace {

// Sorted by key bytes, whatever order things were decided in.
using TextMap = std::map<std::string, std::string_view>;

void WriteMap(JsonWriter& json, std::string_view name, const TextMap& map) {
  json.Key(name).BeginObject();
  for (const auto& [key, value] : map) json.Key(key).String(value);
  json.EndObject();
}

void WriteResource(JsonWriter& json, std::string_view name, const Resource& resource,
                   const ResourceKinds& kinds) {
  std::map<std::string_view, double> amounts;
  for (int kind = 0; kind < kinds.size(); ++kind)
    if (resource.Has(kind)) amounts[kinds.Name(kind)] = resource.Get(kind);
  json.Key(name).BeginObject();
  for (const auto& [kind, amount] : amounts) json.Key(kind).Number(amount);
  json.EndObject();
}

void WriteEvictions(JsonWriter& json, const Session& s) {
  json.Key("evictions").BeginArray();
  for (const Eviction& e : s.plan.evictions) {
    json.BeginObject();
    json.Key("pod").String(s.cluster.TaskKey(e.task));
    json.Key("node").String(e.node.valid() ? s.cluster.NodeName(e.node) : "");
    json.Key("action").String(e.action);
    json.Key("for");
    if (e.for_task.valid()) {
      json.String(s.cluster.TaskKey(e.for_task));
    } else {
      json.Null();
    }
    json.Key("reason").String(ToString(ReasonOf(s, e)));
    json.EndObject();
  }
  json.EndArray();
}

void WritePodGroups(JsonWriter& json, const Session& s) {
  json.Key("podGroups").BeginObject();
  for (JobId id : s.cluster.jobs_by_name) {
    const Job& job = s.cluster.jobs[id];
    json.Key(s.cluster.JobKey(id)).BeginObject();
    json.Key("phase").String(ToString(job.phase));
    json.Key("conditions").BeginArray();
    for (const JobCondition& c : job.conditions) {
      json.BeginObject();
      json.Key("type").String(c.type);
      json.Key("status").String(c.status);
      json.Key("reason").String(c.reason);
      json.Key("message").String(c.message);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndObject();
}

void WriteQueues(JsonWriter& json, const Session& s) {
  json.Key("queues").BeginObject();
  const AmountByQueue allocated = AllocatedByQueue(s.cluster);
  for (QueueId id : s.cluster.queues_by_name) {
    const QueueReport& report = s.queue_reports[id];
    json.Key(s.cluster.QueueName(id)).BeginObject();
    WriteResource(json, "deserved", report.deserved, s.cluster.kinds);
    WriteResource(json, "allocated", allocated[id], s.cluster.kinds);
    json.Key("share").Number(report.share);
    json.Key("state").String(ToString(s.cluster.queues[id].state));
    json.EndObject();
  }
  json.EndObject();
}

void WriteTimes(JsonWriter& json, std::string_view name, const Session& s,
                double StepTime::* member) {
  std::map<std::string, double> times;
  double total = 0;
  for (const StepTime& step : s.step_times) {
    times[step.name] += step.*member;
    total += step.*member;
  }
  times["total"] = total;
  json.Key(name).BeginObject();
  for (const auto& [step, ms] : times) json.Key(step).Number(ms);
  json.EndObject();
}

}  // namespace

std::string PlanAsJson(const Session& s, const std::optional<RunStats>& stats) {
  TextMap binds;
  for (const Bind& bind : s.plan.binds)
    binds[s.cluster.TaskKey(bind.task)] = s.cluster.NodeName(bind.node);
  TextMap pipelined;
  for (uint32_t t = 0; t < s.cluster.tasks.size(); ++t) {
    const Task& task = s.cluster.tasks[TaskId(t)];
    if (task.status == TaskStatus::kPipelined)
      pipelined[s.cluster.TaskKey(TaskId(t))] = s.cluster.NodeName(task.node);
  }

  JsonWriter json;
  json.BeginObject();
  WriteMap(json, "binds", binds);
  WriteEvictions(json, s);
  WriteMap(json, "pipelined", pipelined);
  WritePodGroups(json, s);
  WriteQueues(json, s);
  if (stats) {
    json.Key("stats").BeginObject();
    WriteTimes(json, "cpu_ms", s, &StepTime::cpu_ms);
    WriteTimes(json, "wall_ms", s, &StepTime::wall_ms);
    json.Key("load_ms").Number(stats->load_ms);
    json.Key("peak_rss_mb").Number(stats->peak_rss_mb);
    json.EndObject();
  }
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace krafla
