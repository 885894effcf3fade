// 1. The job is read, with the defaults of Volcano's webhook (volcano_job_spec.h).
// 2. The PodGroup gets the job's labels and annotations, all of them, and the least that must run.
// 3. Of each task the pods' spec, labels and annotations are made once; the pods differ in name,
//    index and partition.
#include "manifest/volcano_job.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/did_you_mean.h"
#include "manifest/json_path.h"
#include "manifest/json_string.h"
#include "manifest/object_reader.h"
#include "manifest/volcano_job_spec.h"
#include "model/well_known.h"

namespace krafla {

namespace {

constexpr std::string_view kTaskIndex = "volcano.sh/task-index";
constexpr std::string_view kJobName = "volcano.sh/job-name";
constexpr std::string_view kJobNamespace = "volcano.sh/job-namespace";
constexpr std::string_view kJobQueue = "volcano.sh/queue-name";
constexpr std::string_view kJobVersion = "volcano.sh/job-version";
constexpr std::string_view kJobRetryCount = "volcano.sh/job-retry-count";
constexpr std::string_view kTemplateUid = "volcano.sh/template-uid";
constexpr std::string_view kPartitionId = "volcano.sh/partition-id";
constexpr std::string_view kNumaPolicy = "volcano.sh/numa-topology-policy";

// Of all pods of one job: a large template times many replicas must not fill the memory.
constexpr size_t kMaxPodBytes = size_t{1} << 30;

// Writes one JSON object field by field.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& json) : json_(json) { json_ += '{'; }
  void Close() { json_ += '}'; }

  void Key(std::string_view key) {
    if (std::exchange(any_, true)) json_ += ',';
    AppendJsonString(json_, key);
    json_ += ':';
  }
  void Text(std::string_view key, std::string_view text) {
    Key(key);
    AppendJsonString(json_, text);
  }
  void Raw(std::string_view key, std::string_view value) {
    Key(key);
    json_ += value;
  }
  void Number(std::string_view key, int64_t number) { Raw(key, std::to_string(number)); }
  void Texts(std::string_view key, const TextPairs& texts) {
    if (texts.empty()) return;
    Key(key);
    ObjectWriter object(json_);
    for (const auto& [name, text] : texts) object.Text(name, text);
    object.Close();
  }

 private:
  std::string& json_;
  bool any_ = false;
};

std::string PodGroupName(const VolcanoJob& job) {
  return job.uid.empty() ? job.name : job.name + "-" + job.uid;
}

void WriteMetadata(ObjectWriter& object, std::string& json, const VolcanoJob& job,
                   const std::string& name, const TextPairs& labels, const TextPairs& annotations) {
  object.Key("metadata");
  ObjectWriter metadata(json);
  metadata.Text("name", name);
  metadata.Text("namespace", job.ns);
  metadata.Text("uid", job.ns + "-" + name);
  if (!job.created.empty()) metadata.Raw("creationTimestamp", job.created);
  metadata.Texts("labels", labels);
  metadata.Texts("annotations", annotations);
  metadata.Close();
}

// What must be there for the job to start: the tasks' own minimum first, or, when that is more than
// the job's, simply the first pods; higher priorities first in both cases.
PodUsage MinResources(const VolcanoJob& job, const PriorityOfClass& priority_of) {
  struct Ranked {
    const VolcanoTask* task;
    int32_t priority;
  };
  std::vector<Ranked> ranked;
  int64_t tasks_minimum = 0;
  for (const VolcanoTask& task : job.tasks) {
    const bool has_class = priority_of && !task.priority_class.empty();
    ranked.push_back({&task, has_class ? priority_of(task.priority_class) : 0});
    tasks_minimum += task.min_available;
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.priority > b.priority; });
  PodUsage usage;
  int32_t left = job.min_available;
  const auto take = [&](const VolcanoTask& task, int32_t pods) {
    pods = std::min(pods, left);
    if (pods > 0) AddTimes(usage, task.usage, pods);
    left -= pods;
  };
  if (job.min_available < tasks_minimum) {
    for (const Ranked& entry : ranked) take(*entry.task, entry.task->replicas);
    return usage;
  }
  for (const Ranked& entry : ranked) take(*entry.task, entry.task->min_available);
  for (const Ranked& entry : ranked) {
    take(*entry.task, entry.task->replicas - entry.task->min_available);
  }
  return usage;
}

void WriteSubGroups(ObjectWriter& spec, std::string& json, const VolcanoJob& job) {
  const bool any = std::any_of(job.tasks.begin(), job.tasks.end(),
                               [](const VolcanoTask& task) { return task.partitions.has_value(); });
  if (!any) return;
  spec.Key("subGroupPolicy");
  char separator = '[';
  for (const VolcanoTask& task : job.tasks) {
    if (!task.partitions) continue;
    json += std::exchange(separator, ',');
    ObjectWriter policy(json);
    policy.Text("name", task.name);
    policy.Number("subGroupSize", task.partitions->size);
    policy.Number("minSubGroups", task.partitions->min_partitions);
    policy.Key("labelSelector");
    ObjectWriter selector(json);
    selector.Texts("matchLabels", {{std::string(keys::kTaskSpec), task.name}});
    selector.Close();
    policy.Raw("matchLabelKeys", fmt::format("[\"{}\"]", kPartitionId));
    if (!task.partitions->network_topology.empty()) {
      policy.Raw("networkTopology", task.partitions->network_topology);
    }
    policy.Close();
  }
  json += ']';
}

std::string WritePodGroup(const VolcanoJob& job, const PriorityOfClass& priority_of) {
  std::string json;
  ObjectWriter object(json);
  object.Text("apiVersion", "scheduling.volcano.sh/v1beta1");
  object.Text("kind", "PodGroup");
  WriteMetadata(object, json, job, PodGroupName(job), job.labels, job.annotations);

  object.Key("spec");
  ObjectWriter spec(json);
  spec.Number("minMember", job.min_available);
  spec.Key("minTaskMember");
  ObjectWriter members(json);
  for (const VolcanoTask& task : job.tasks) members.Number(task.name, task.min_available);
  members.Close();
  spec.Text("queue", job.queue);
  if (!job.priority_class.empty()) spec.Text("priorityClassName", job.priority_class);
  spec.Key("minResources");
  ObjectWriter resources(json);
  for (const auto& [name, milli] : MinResources(job, priority_of)) {
    resources.Text(name, ToQuantityText(milli));
  }
  resources.Close();
  if (!job.network_topology.empty()) spec.Raw("networkTopology", job.network_topology);
  WriteSubGroups(spec, json, job);
  spec.Close();

  // Of a job that runs the group has run before; all others wait to be let in.
  object.Raw("status",
             job.phase == "Running" ? R"({"phase":"Running"})" : R"({"phase":"Pending"})");
  object.Close();
  return json;
}

// The volumes of the template, JSON of a list or empty, and the claims of the job. The controller
// names the latter at random, which nobody relies on.
void WriteVolumes(std::string& json, std::string_view own, const VolcanoJob& job) {
  const size_t first = own.find_first_not_of("[ \t\r\n");
  const bool any = own.starts_with('[') && first != std::string_view::npos && own[first] != ']';
  json += any ? own.substr(0, own.size() - 1) : "[";
  for (size_t i = 0; i < job.claims.size(); ++i) {
    if (any || i > 0) json += ',';
    ObjectWriter volume(json);
    volume.Text("name", fmt::format("{}-volume-{}", job.name, i));
    volume.Key("persistentVolumeClaim");
    ObjectWriter claim(json);
    claim.Text("claimName", job.claims[i]);
    claim.Close();
    volume.Close();
  }
  json += ']';
}

// The template's spec with what the controller adds to it. Mounts of the job's volumes are left
// out: they do not matter for where a pod runs.
std::string WritePodSpec(const VolcanoJob& job, const VolcanoTask& task) {
  std::string json;
  ObjectWriter spec(json);
  std::string_view volumes;
  for (const auto& [key, value] : task.pod_fields) {
    if (key == "volumes" && !job.claims.empty()) {
      volumes = value;
    } else {
      spec.Raw(key, value);
    }
  }
  spec.Text("schedulerName",
            task.scheduler_name.empty() ? job.scheduler_name : task.scheduler_name);
  const std::string& priority_class =
      task.priority_class.empty() ? job.priority_class : task.priority_class;
  if (!priority_class.empty()) spec.Text("priorityClassName", priority_class);
  if (!job.claims.empty()) {
    spec.Key("volumes");
    WriteVolumes(json, volumes, job);
  }
  spec.Close();
  return json;
}

void CopyIfPresent(const TextPairs& from, std::string_view key, TextPairs& to) {
  const auto found = from.find(key);
  if (found != from.end()) to.insert_or_assign(std::string(key), found->second);
}

void Set(TextPairs& texts, std::string_view key, std::string text) {
  texts.insert_or_assign(std::string(key), std::move(text));
}

// What all pods of a task carry; the controller's own win over the template's.
TextPairs PodAnnotations(const VolcanoJob& job, const VolcanoTask& task) {
  TextPairs annotations = task.annotations;
  Set(annotations, keys::kTaskSpec, task.name);
  Set(annotations, keys::kGroupName, PodGroupName(job));
  Set(annotations, kJobName, job.name);
  Set(annotations, kJobQueue, job.queue);
  Set(annotations, kJobVersion, std::to_string(job.version));
  Set(annotations, kTemplateUid, job.name + "-" + task.name);
  Set(annotations, kJobRetryCount, std::to_string(job.retry_count));
  if (!task.topology_policy.empty()) Set(annotations, kNumaPolicy, task.topology_policy);
  CopyIfPresent(job.annotations, keys::kPreemptable, annotations);
  CopyIfPresent(job.annotations, keys::kCooldownTime, annotations);
  CopyIfPresent(job.annotations, keys::kRevocableZone, annotations);
  const bool has_minimum = job.annotations.contains(keys::kBudgetMinAvailable);
  CopyIfPresent(job.annotations,
                has_minimum ? keys::kBudgetMinAvailable : keys::kBudgetMaxUnavailable, annotations);
  return annotations;
}

TextPairs PodLabels(const VolcanoJob& job, const VolcanoTask& task) {
  TextPairs labels = task.labels;
  Set(labels, kJobName, job.name);
  Set(labels, keys::kTaskSpec, task.name);
  Set(labels, kJobNamespace, job.ns);
  Set(labels, kJobQueue, job.queue);
  CopyIfPresent(job.labels, keys::kPreemptable, labels);
  CopyIfPresent(job.labels, keys::kCooldownTime, labels);
  return labels;
}

// The controller makes the pods of a task that depends on others when enough of those have started.
bool MayStart(const VolcanoJob& job, const VolcanoTask& task) {
  const auto is_ready = [&](size_t other) {
    return job.tasks[other].started >= job.tasks[other].min_available;
  };
  const std::vector<size_t>& needed = task.depends_on;
  return task.any_dependency_will_do && needed.size() > 1
             ? std::any_of(needed.begin(), needed.end(), is_ready)
             : std::all_of(needed.begin(), needed.end(), is_ready);
}

std::string WritePod(const VolcanoJob& job, const std::string& name, const TextPairs& labels,
                     const TextPairs& annotations, std::string_view spec) {
  std::string json;
  ObjectWriter object(json);
  object.Text("apiVersion", "v1");
  object.Text("kind", "Pod");
  WriteMetadata(object, json, job, name, labels, annotations);
  object.Raw("spec", spec);
  object.Raw("status", R"({"phase":"Pending"})");
  object.Close();
  return json;
}

// False when the texts become too large.
bool WritePods(const VolcanoJob& job, const VolcanoTask& task, size_t& bytes_left,
               std::vector<std::string>& texts) {
  const std::string spec = WritePodSpec(job, task);
  TextPairs annotations = PodAnnotations(job, task);
  TextPairs labels = PodLabels(job, task);
  for (int32_t index = 0; index < task.replicas; ++index) {
    Set(annotations, kTaskIndex, std::to_string(index));
    Set(labels, kTaskIndex, std::to_string(index));
    if (task.partitions) {
      const int32_t size = task.partitions->size;
      Set(labels, kPartitionId, std::to_string(size > 0 ? index / size : 0));
    }
    const std::string name = fmt::format("{}-{}-{}", job.name, task.name, index);
    std::string text = WritePod(job, name, labels, annotations, spec);
    // All pods of a task are of about one size: seen with the first.
    const auto remaining = static_cast<size_t>(task.replicas - index);
    if (text.size() > bytes_left / remaining) return false;
    bytes_left -= text.size();
    texts.push_back(std::move(text));
  }
  return true;
}

void Report(const ObjectReader& reader, const VolcanoJob& job, const ObjectText& text,
            Diagnostics& diagnostics) {
  for (const ObjectProblem& problem : reader.problems()) {
    diagnostics.Add({problem.severity, std::string(text.file),
                     text.locate ? text.locate(problem.offset) : Location{},
                     fmt::format("Job {}/{}", Printable(job.ns), Printable(job.name)),
                     problem.field.empty() ? JsonPathAt(text.json, problem.offset) : problem.field,
                     problem.message});
  }
}

}  // namespace

std::vector<std::string> ExpandVolcanoJob(const ObjectText& text, Diagnostics& diagnostics,
                                          const PriorityOfClass& priority_of) {
  ObjectReader reader;
  reader.Start(text.json);
  const VolcanoJob job = DecodeVolcanoJob(reader);
  // A job of the past may have been written for another version of Volcano: what is wrong with it
  // is no matter.
  if (job.IsOver()) return {};
  std::vector<std::string> texts;
  if (!reader.HasErrors()) {
    texts.push_back(WritePodGroup(job, priority_of));
    size_t bytes_left = kMaxPodBytes;
    for (const VolcanoTask& task : job.tasks) {
      if (!MayStart(job, task) || WritePods(job, task, bytes_left, texts)) continue;
      reader.Wrong(task.at, fmt::format("the pods of the job take more than {} MiB of text",
                                        kMaxPodBytes >> 20));
      break;
    }
  }
  Report(reader, job, text, diagnostics);
  if (reader.HasErrors()) return {};
  for (std::string& json : texts) json.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  return texts;
}

}  // namespace krafla
