// One job of the workload: the short words of the file become labels, annotations and tasks.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "base/int_or_percent.h"
#include "model/well_known.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

constexpr int64_t kMaxReplicas = 100'000;
constexpr int64_t kMaxPods = 5'000'000;

void CheckReference(Fields& fields, std::string_view key, std::string_view what,
                    const std::string& name, const std::set<std::string, std::less<>>& known) {
  if (known.contains(name)) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  fields.Error(key, names.empty() ? fmt::format("there is no {} {}", what, Quoted(name))
                                  : fmt::format("there is no {} {}{}", what, Quoted(name),
                                                DidYouMeanHint(name, names)));
}

void SetAnnotation(Fields& fields, std::string_view key, std::string_view annotation,
                   std::string value, TextTable& annotations) {
  if (annotations.emplace(annotation, std::move(value)).second) return;
  fields.Error(key, fmt::format("given by the annotation {} already", annotation));
}

// What a job and a role of it can say about their pods.
void ReadPodMarks(Fields& fields, TextTable& annotations) {
  if (const auto preemptable = fields.Bool("preemptable"))
    SetAnnotation(fields, "preemptable", keys::kPreemptable, *preemptable ? "true" : "false",
                  annotations);
  if (const std::vector<std::string> zones = fields.Words("revocableZone"); !zones.empty())
    SetAnnotation(fields, "revocableZone", keys::kRevocableZone,
                  fmt::format("{}", fmt::join(zones, ",")), annotations);
  if (const auto cooldown = fields.Duration("cooldown"))
    SetAnnotation(fields, "cooldown", keys::kCooldownTime, FormatGoDuration(*cooldown),
                  annotations);
  if (const auto run_time = fields.Duration("expectedRunTime", 1))
    SetAnnotation(fields, "expectedRunTime", keys::kExpectedRunTime, FormatGoDuration(*run_time),
                  annotations);
}

void ReadBudget(Fields& fields, TextTable& annotations) {
  const YamlNode* node = fields.Find("budget");
  if (node == nullptr) return;
  Fields budget(*node, fields.PathOf("budget"), fields.problems());
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {"minAvailable", keys::kBudgetMinAvailable}, {"maxUnavailable", keys::kBudgetMaxUnavailable}};
  for (const auto& [key, annotation] : kinds) {
    const auto text = budget.Text(key);
    if (!text) continue;
    const Result<IntOrPercent> parsed = ParseIntOrPercent(*text);
    if (!parsed || parsed->value < 0) {
      budget.Error(key, fmt::format("expected a number or a percentage, such as 3 or 50%, got {}",
                                    Quoted(*text)));
      continue;
    }
    if (parsed->is_percent && parsed->value > 100) {
      budget.Error(key, fmt::format("expected at most 100%, got {}", Quoted(*text)));
      continue;
    }
    SetAnnotation(budget, key, annotation, *text, annotations);
  }
  if (node->IsMapping() && node->entries.empty())
    budget.Error("", "expected minAvailable or maxUnavailable, got nothing");
  budget.Finish();
}

TextTable ReadRequests(Fields& fields) {
  TextTable requests = fields.Amounts("resources");
  const std::pair<std::string_view, std::string_view> shorthands[] = {
      {"cpu", "cpu"}, {"memory", "memory"}, {"gpu", "nvidia.com/gpu"}};
  for (const auto& [key, resource] : shorthands) {
    const auto amount = fields.Amount(key);
    if (!amount) continue;
    if (!requests.emplace(resource, *amount).second)
      fields.Error(key, "given under resources already");
  }
  return requests;
}

TaskShape ReadTask(const YamlNode& node, const std::string& path, size_t index,
                   const TaskShape& common, ScenarioReading& reading, ScenarioProblems& problems) {
  Fields fields(node, path, problems);
  TaskShape task = common;
  task.name = fields.Name("name").value_or(fmt::format("task{}", index));
  task.replicas = static_cast<int32_t>(fields.Whole("replicas", 0, kMaxReplicas).value_or(1));
  if (const auto least = fields.Whole("minAvailable", 0, kMaxReplicas)) {
    task.min_available = static_cast<int32_t>(*least);
    if (*least > task.replicas)
      fields.Error("minAvailable",
                   fmt::format("{} is more than the task's {} replicas", *least, task.replicas));
  }
  for (auto& [kind, amount] : ReadRequests(fields)) task.resources[kind] = amount;
  for (auto& [key, value] : fields.Texts("labels")) task.labels[key] = value;
  for (auto& [key, value] : fields.Texts("annotations")) task.annotations[key] = value;
  ReadPodMarks(fields, task.annotations);
  for (auto& [key, value] : fields.Texts("nodeSelector")) task.node_selector[key] = value;
  if (const auto priority = fields.Name("priorityClass")) {
    task.priority_class = *priority;
    CheckReference(fields, "priorityClass", "priority class", *priority,
                   reading.names.priority_classes);
  }
  fields.Finish();
  return task;
}

void ReadTasks(Fields& fields, const YamlNode& list, const TaskShape& common, JobShape& job,
               ScenarioReading& reading) {
  if (fields.Find("replicas") != nullptr)
    fields.Error("replicas", "a job with tasks says its replicas there");
  const std::vector<const YamlNode*> items = ItemsOf(list);
  if (items.empty()) fields.Error("tasks", "expected at least one task, got none");
  for (size_t i = 0; i < items.size(); ++i) {
    job.tasks.push_back(ReadTask(*items[i],
                                 IndexedPath(fields.PathOf("tasks"), i, list.IsSequence()), i,
                                 common, reading, fields.problems()));
    for (size_t other = 0; other < i; ++other)
      if (job.tasks[other].name == job.tasks[i].name)
        fields.problems().Error(
            fields.PathOf("tasks"), items[i]->location,
            fmt::format("there is a task {} already", Quoted(job.tasks[i].name)));
  }
}

// "job: team-a/train" says both; else "name" and "namespace".
void ReadJobName(Fields& fields, JobShape& job) {
  const auto combined = fields.Text("job");
  const auto name = fields.Name("name");
  const auto ns = fields.Name("namespace");
  if (ns) job.ns = *ns;
  if (name) job.name = *name;
  if (!combined) {
    if (!name && fields.node().Find("name") == nullptr && fields.node().Find("job") == nullptr)
      fields.Error("name", "expected the name of the job, got nothing");
    return;
  }
  if (name) fields.Error("job", "name says it already; keep one of the two");
  const size_t slash = combined->find('/');
  std::string own = combined->substr(slash == std::string::npos ? 0 : slash + 1);
  if (slash != std::string::npos) {
    if (ns) fields.Error("job", "namespace says it already; keep one of the two");
    job.ns = combined->substr(0, slash);
  }
  for (const std::string& part : {job.ns, own})
    if (const auto wrong = WrongName(part)) fields.Error("job", *wrong);
  job.name = std::move(own);
}

}  // namespace

RunTime ReadRunTime(Fields& fields, std::string_view key) {
  RunTime run_time;
  const YamlNode* node = fields.Find(key);
  if (node == nullptr) return run_time;
  constexpr std::string_view kExpected =
      "expected a duration, forever, {uniform: [1h, 3h]} or {exponential: 1h}";
  if (node->IsScalar()) {
    if (node->text == "forever") return run_time;
    run_time.kind = RunTime::Kind::kFixed;
    const Result<int64_t> parsed = ParseLongDuration(node->text);
    if (!parsed || *parsed < 0) {
      fields.Error(key, fmt::format("{}, got {}", kExpected, Describe(*node)));
    } else {
      run_time.mean_ns = *parsed;
    }
    return run_time;
  }
  if (!node->IsMapping() || node->entries.size() != 1) {
    fields.Error(key, fmt::format("{}, got {}", kExpected, Describe(*node)));
    return run_time;
  }
  Fields inner(*node, fields.PathOf(key), fields.problems());
  if (const auto mean = inner.Duration("exponential", 1)) {
    run_time.kind = RunTime::Kind::kExponential;
    run_time.mean_ns = *mean;
  }
  if (const auto fixed = inner.Duration("fixed")) {
    run_time.kind = RunTime::Kind::kFixed;
    run_time.mean_ns = *fixed;
  }
  if (const YamlNode* range = inner.Find("uniform")) {
    run_time.kind = RunTime::Kind::kUniform;
    Result<int64_t> low = Fail(""), high = Fail("");
    if (range->IsSequence() && range->items.size() == 2) {
      low = ParseLongDuration(range->items[0].text);
      high = ParseLongDuration(range->items[1].text);
    }
    if (!low || !high || *low < 0 || *low > *high) {
      inner.Error("uniform", "expected two durations, the shorter one first: [1h, 3h]");
    } else {
      run_time.low_ns = *low;
      run_time.high_ns = *high;
    }
  }
  inner.Finish();
  return run_time;
}

JobShape ReadJob(Fields& fields, ScenarioReading& reading) {
  JobShape job;
  job.place = fields.problems().PlaceOf(fields.node().location);
  ReadJobName(fields, job);
  if (const auto queue = fields.Name("queue")) job.queue = *queue;
  CheckReference(fields, "queue", "queue", job.queue, reading.names.queues);
  if (const auto priority = fields.Name("priorityClass")) {
    job.priority_class = *priority;
    CheckReference(fields, "priorityClass", "priority class", *priority,
                   reading.names.priority_classes);
  }
  job.run_time = ReadRunTime(fields, "runTime");
  job.keeps_work = fields.Bool("keepsWork").value_or(false);
  job.create_every_ns = fields.Duration("createPodsEvery").value_or(-1);
  job.labels = fields.Texts("labels");
  job.annotations = fields.Texts("annotations");
  ReadPodMarks(fields, job.annotations);
  ReadBudget(fields, job.annotations);
  if (const auto sla = fields.Duration("sla", 1))
    SetAnnotation(fields, "sla", keys::kSlaWaitingTime, FormatGoDuration(*sla), job.annotations);

  TaskShape common;
  common.resources = ReadRequests(fields);
  common.node_selector = fields.Texts("nodeSelector");
  if (const YamlNode* tasks = fields.Find("tasks")) {
    fields.Know(std::array<std::string_view, 1>{"replicas"});
    ReadTasks(fields, *tasks, common, job, reading);
  } else {
    common.replicas = static_cast<int32_t>(fields.Whole("replicas", 1, kMaxReplicas).value_or(1));
    job.tasks.push_back(common);
  }
  int64_t replicas = 0;
  for (const TaskShape& task : job.tasks) replicas += task.replicas;
  if (replicas > kMaxReplicas)
    fields.Error("tasks", fmt::format("the job has {} pods; at most {} are possible", replicas,
                                      kMaxReplicas));
  if (const auto least = fields.Whole("minAvailable", 0, kMaxReplicas)) {
    job.min_available = static_cast<int32_t>(*least);
    if (*least > replicas)
      fields.Error("minAvailable",
                   fmt::format("{} is more than the job's {} pods", *least, replicas));
  }
  return job;
}

bool ClaimJobName(const JobShape& job, Fields& fields, ScenarioReading& reading, int64_t times) {
  const bool was_too_large = reading.pods > kMaxPods;
  int64_t replicas = 0;
  for (const TaskShape& task : job.tasks) replicas += task.replicas;
  reading.pods += replicas * times;
  if (reading.pods > kMaxPods) {
    if (!was_too_large)
      fields.Error("", fmt::format("the workload has more than {} pods{}", kMaxPods,
                                   times == 1 ? ""
                                              : fmt::format(": about {} jobs of {} arrive here",
                                                            times, replicas)));
    return false;
  }
  const std::string name = job.ns + "/" + job.name;
  const auto [first, fresh] = reading.jobs.try_emplace(name, job.place);
  if (fresh) return true;
  const ScenarioPlace& place = first->second;
  fields.Error("", fmt::format("there is a job {} already, at {}:{}", Quoted(name), place.file,
                               place.location.line));
  return false;
}

}  // namespace krafla
