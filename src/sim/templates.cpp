#include "sim/templates.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.h"
#include "cluster_state/name_index.h"
#include "manifest/volcano_job.h"

namespace krafla {

namespace {

using Texts = std::map<std::string, std::string>;

void WriteTexts(JsonWriter& json, std::string_view key, const Texts& texts) {
  if (texts.empty()) return;
  json.Key(key).BeginObject();
  for (const auto& [name, text] : texts) json.Key(name).String(text);
  json.EndObject();
}

// The task's own words go before the job's.
Texts Merged(const Texts& own, const Texts& general) {
  Texts merged = own;
  merged.insert(general.begin(), general.end());
  return merged;
}

void WriteTask(JsonWriter& json, const JobShape& job, const TaskShape& task) {
  json.BeginObject().Key("name").String(task.name).Key("replicas").Integer(task.replicas);
  if (task.min_available) json.Key("minAvailable").Integer(*task.min_available);
  json.Key("template").BeginObject().Key("metadata").BeginObject();
  WriteTexts(json, "labels", Merged(task.labels, job.labels));
  WriteTexts(json, "annotations", Merged(task.annotations, job.annotations));
  json.EndObject().Key("spec").BeginObject();
  WriteTexts(json, "nodeSelector", task.node_selector);
  if (!task.priority_class.empty()) json.Key("priorityClassName").String(task.priority_class);
  json.Key("containers").BeginArray().BeginObject().Key("name").String("main");
  json.Key("resources").BeginObject();
  WriteTexts(json, "requests", task.resources);
  json.EndObject().EndObject().EndArray().EndObject().EndObject().EndObject();
}

// Text as the decoder wants it: with room behind it.
std::string Padded(std::string_view text) {
  std::string padded;
  padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  padded = text;
  return padded;
}

}  // namespace

std::string JobAsJson(const JobShape& shape, std::string_view name) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("batch.volcano.sh/v1alpha1");
  json.Key("kind").String("Job").Key("metadata").BeginObject();
  json.Key("name").String(name).Key("namespace").String(shape.ns);
  WriteTexts(json, "labels", shape.labels);
  WriteTexts(json, "annotations", shape.annotations);
  json.EndObject().Key("spec").BeginObject().Key("queue").String(shape.queue);
  if (!shape.priority_class.empty()) json.Key("priorityClassName").String(shape.priority_class);
  if (shape.min_available) json.Key("minAvailable").Integer(*shape.min_available);
  json.Key("tasks").BeginArray();
  for (const TaskShape& task : shape.tasks) WriteTask(json, shape, task);
  json.EndArray().EndObject().EndObject();
  return json.text();
}

std::string NodeAsJson(const NodeShape& shape, int32_t number) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("v1").Key("kind").String("Node");
  json.Key("metadata").BeginObject().Key("name").String(NodeName(shape, number));
  WriteTexts(json, "labels", shape.labels);
  json.EndObject().Key("spec").BeginObject();
  if (!shape.taints.empty()) {
    json.Key("taints").BeginArray();
    for (const std::string& taint : shape.taints) {
      // "key=value:Effect" or "key:Effect"
      const size_t colon = taint.rfind(':');
      const std::string_view head = std::string_view(taint).substr(0, colon);
      const size_t equals = head.find('=');
      json.BeginObject().Key("key").String(head.substr(0, equals));
      if (equals != std::string_view::npos) json.Key("value").String(head.substr(equals + 1));
      json.Key("effect").String(colon == std::string::npos ? "" : taint.substr(colon + 1));
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject().Key("status").BeginObject();
  WriteTexts(json, "allocatable", shape.resources);
  json.EndObject().EndObject();
  return json.text();
}

JobTemplate* Templates::Add(JobTemplate made) {
  all_.push_back(std::make_unique<JobTemplate>(std::move(made)));
  return all_.back().get();
}

const JobTemplate* Templates::OfShape(const JobShape& shape, Diagnostics& diagnostics) {
  std::string key = JobAsJson(shape, "");
  if (const auto known = by_shape_.find(key); known != by_shape_.end()) return known->second;

  const std::string json = Padded(JobAsJson(shape, shape.name));
  const auto locate = [&](size_t) { return shape.place.location; };
  Diagnostics problems;
  const std::vector<std::string> objects =
      ExpandVolcanoJob({json, shape.place.file, locate}, problems);
  FactCollector collector(live_);
  if (!problems.HasErrors()) {
    ClusterFacts counted;
    ObjectDecoder decoder(collector, {options_.lenient, options_.scheduler_names}, problems,
                          counted);
    const auto decode = [&](size_t index) {
      decoder.Decode({objects[index], shape.place.file, locate}, Origin::kExpanded);
    };
    decode(0);
    // The first pod of each task stands for all of them.
    for (size_t task = 0, at = 1; task < shape.tasks.size(); ++task) {
      if (shape.tasks[task].replicas > 0) decode(at);
      at += static_cast<size_t>(shape.tasks[task].replicas);
    }
    decoder.Finish();
  }
  for (const Diagnostic& problem : problems.items()) diagnostics.Add(problem);
  if (problems.HasErrors()) return nullptr;

  JobTemplate made{.group = std::move(collector.groups.at(0))};
  size_t pod = 0;
  for (const TaskShape& task : shape.tasks)
    if (task.replicas > 0)
      made.roles.push_back(
          {.facts = std::move(collector.pods.at(pod++)), .replicas = task.replicas});
  const JobTemplate* added = Add(std::move(made));
  by_shape_.emplace(std::move(key), added);
  return added;
}

void Templates::AddNodes(const NodeShape& shape, FactCollector& collector,
                         Diagnostics& diagnostics) {
  ClusterFacts counted;
  ObjectDecoder decoder(collector, {options_.lenient, options_.scheduler_names}, diagnostics,
                        counted);
  for (int32_t number = 1; number <= shape.count; ++number) {
    const std::string json = Padded(NodeAsJson(shape, number));
    decoder.Decode({json, shape.place.file, [&](size_t) { return shape.place.location; }},
                   Origin::kWritten);
  }
  decoder.Finish();
}

// Volcano's PodGroup controller makes a group of one for a pod that names none.
JobTemplate Templates::BarePod(const PodFacts& pod) {
  JobTemplate made{.is_owned = false};
  made.roles.push_back({.facts = pod, .has_own_name = true});
  Job& job = made.group.job;
  job.ns = pod.task.ns;
  job.priority_class = pod.task.priority_class;
  job.created = pod.task.created;
  if (!pod.ours) {
    made.has_group = false;
    job.name = pod.task.name;
    return made;
  }
  job.name = live_.strings().Intern(fmt::format("podgroup-{}", live_.strings().Text(pod.task.uid)));
  job.uid = live_.strings().Intern(
      fmt::format("{}-{}", live_.strings().Text(job.ns), live_.strings().Text(job.name)));
  job.min_available = 1;
  job.preemptable = pod.task.says_preemptable;
  job.annotation_preemptable = pod.task.annotation_preemptable;
  job.phase = pod.task.node_name != kEmptyStr ? JobPhase::kRunning : JobPhase::kPending;
  job.min_resources = live_.spec(pod.task.spec).request;
  made.roles.back().facts.group = job.name;
  return made;
}

std::vector<const JobTemplate*> Templates::OfManifest(const FactCollector& manifest) {
  std::vector<const JobTemplate*> made;
  std::unordered_map<uint64_t, JobTemplate*> by_name;
  for (const PodGroupFacts& group : manifest.groups) {
    JobTemplate* const added = Add({.group = group});
    by_name.emplace(NameKey(group.job.ns, group.job.name), added);
    made.push_back(added);
  }
  for (const PodFacts& pod : manifest.pods) {
    const auto group = by_name.find(NameKey(pod.task.ns, pod.group));
    if (pod.group != kEmptyStr && group != by_name.end()) {
      group->second->roles.push_back({.facts = pod, .has_own_name = true});
    } else {
      made.push_back(Add(BarePod(pod)));
    }
  }
  return made;
}

void Templates::FollowKinds(const Renumbering& to) {
  for (const auto& made : all_) Renumber(made->group, to);
}

}  // namespace krafla
