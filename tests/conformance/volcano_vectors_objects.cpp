// What is derived from objects: a pod's request, a job's counts, who may be evicted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "conformance/volcano_vectors.h"
#include "conformance/volcano_world.h"
#include "fair_share/job_reservation.h"
#include "session/session.h"

namespace krafla::volcano_tables {

namespace {

constexpr std::string_view kQueue =
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default"},)"
    R"("spec":{"weight":1}})";
constexpr std::string_view kVolcanoApi = "scheduling.volcano.sh/v1beta1";

// Rows leave out what their function does not look at; an object needs it all the same.
struct PodIdentity {
  std::string_view name = "p";
  std::string_view ns = "default";
  std::string_view group = "";
};

std::string PodText(const Json& pod, const PodIdentity& identity) {
  const Json meta = pod["metadata"];
  std::map<std::string, std::string> annotations;
  for (const auto& [key, value] : meta["annotations"].Entries()) annotations[key] = value.Dump();
  if (!identity.group.empty())
    annotations["scheduling.k8s.io/group-name"] = fmt::format("\"{}\"", identity.group);
  std::vector<std::string> pairs;
  for (const auto& [key, value] : annotations)
    pairs.push_back(fmt::format("\"{}\":{}", key, value));
  const auto given = [](const Json& value, std::string_view otherwise) {
    return value.present() ? value.Text() : otherwise;
  };
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"{}",)"
      R"("labels":{},"annotations":{{{}}}}},"spec":{},"status":{}}})",
      given(meta["name"], identity.name), given(meta["namespace"], identity.ns),
      meta["labels"].Dump(), fmt::join(pairs, ","), pod["spec"].Dump(), pod["status"].Dump());
}

std::string NodeText(std::string_view name) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},)"
                     R"("status":{{"allocatable":{{"cpu":"9","memory":"9G","pods":"9"}}}}}})",
                     name);
}

std::unique_ptr<World> WorldOf(const std::vector<std::string>& objects) {
  auto world = std::make_unique<World>();
  world->read.lenient = true;
  world->read.scheduler_names.push_back("default-scheduler");
  world->config.compatibility = Compatibility::Volcano();
  world->ReadObjects(objects);
  return world;
}

Verdict Problem(const World& world) {
  return Verdict::Of(false, fmt::format("{}", fmt::join(world.problems, "; ")));
}

void AddPlugin(World& world, std::string name) {
  PluginOption option;
  option.name = std::move(name);
  world.config.tiers.push_back({{std::move(option)}});
}

// As api.TaskStatus counts them: one bit each.
TaskStatus StatusOf(int64_t bit) {
  switch (bit) {
    case 1:
      return TaskStatus::kPending;
    case 2:
      return TaskStatus::kAllocated;
    case 4:
      return TaskStatus::kPipelined;
    case 8:
      return TaskStatus::kBinding;
    case 16:
      return TaskStatus::kBound;
    case 32:
      return TaskStatus::kRunning;
    case 64:
      return TaskStatus::kReleasing;
    case 128:
      return TaskStatus::kSucceeded;
    case 256:
      return TaskStatus::kFailed;
    default:
      return TaskStatus::kUnknown;
  }
}

TaskStatus StatusOf(const Json& task) {
  return StatusOf(task["TransactionContext"]["Status"].Integer());
}

Verdict CompareRequest(const Json& in, const Json& want, bool with_pod) {
  const auto world = WorldOf({PodText(in["pod"], {})});
  if (!world->problems.empty() || world->cluster.tasks.empty()) return Problem(*world);
  Cluster& cluster = world->cluster;
  const Resource& request = cluster.Request(TaskId(0));
  Resource expected = ResourceOf(want, cluster.kinds);
  if (!with_pod) expected.Set(ResourceKinds::kPods, 1);
  return Verdict::Of(expected.SameAs(request), ToString(request, cluster.kinds));
}

Verdict CompareCooldown(const std::string& pod, bool enabled, double ns) {
  const auto world = WorldOf({pod});
  if (!world->problems.empty() || world->cluster.tasks.empty()) return Problem(*world);
  const int64_t ours = world->cluster.tasks[TaskId(0)].cooldown_ns;
  // A cooldown that is over before it begins is none.
  const int64_t expected = enabled ? static_cast<int64_t>(std::max(ns, 0.0) + 0.5) : 0;
  return Verdict::Of(std::max<int64_t>(ours, 0) == expected, fmt::format("{} ns", ours));
}

}  // namespace

Verdict CheckNewResource(const Json& in, const Json& want) {
  const auto world =
      WorldOf({fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n"}},)"
                           R"("status":{{"allocatable":{}}}}})",
                           in["resourceList"].Dump())});
  if (!world->problems.empty() || world->cluster.nodes.empty()) return Problem(*world);
  Cluster& cluster = world->cluster;
  const Resource& ours = cluster.allocatable[NodeId(0)];
  return Verdict::Of(SameResource(want["expected"], ours, cluster.kinds),
                     ToString(ours, cluster.kinds));
}

Verdict CheckPodRequest(const Json& in, const Json& want) {
  return CompareRequest(in, want["expectedResource"], true);
}

Verdict CheckResizedPodRequest(const Json& in, const Json& want) {
  return CompareRequest(in, want["expected"], false);
}

Verdict CheckElasticResources(const Json& in, const Json& want) {
  std::vector<std::string> objects{std::string(kQueue),
                                   WithKind(kVolcanoApi, "PodGroup", in["podgroup"])};
  const std::string_view group = in["podgroup"]["metadata"]["name"].Text();
  for (const Json& pod : in["pods"].Items())
    objects.push_back(PodText(pod, {.name = "p", .ns = "default", .group = group}));
  const auto world = WorldOf(objects);
  if (!world->problems.empty() || world->cluster.jobs.empty()) return Problem(*world);
  Cluster& cluster = world->cluster;
  const Resource ours = ElasticResources(cluster.jobs[JobId(0)]);
  return Verdict::Of(SameResource(want["want"], ours, cluster.kinds),
                     ToString(ours, cluster.kinds));
}

Verdict CheckJobCounts(const Json& in, const Json& want) {
  Job job;
  job.min_available = static_cast<int32_t>(in["jobMinAvailable"].Integer());
  for (const Json& task : in["tasks"].Items()) {
    const TaskStatus status = StatusOf(task);
    ++job.count[static_cast<size_t>(status)];
    if (status == TaskStatus::kPending && task["BestEffort"].Bool()) ++job.pending_best_effort;
  }
  return Verdict::Of(
      job.IsPipelined() == want["expectedIsPipelined"].Bool() &&
          job.IsReady() == want["expectedIsReady"].Bool() &&
          job.IsStarving() == want["expectedIsStarving"].Bool() &&
          job.pending_best_effort == want["expectedPendingBestEffortTaskNum"].Integer(),
      fmt::format("pipelined {}, ready {}, starving {}", job.IsPipelined(), job.IsReady(),
                  job.IsStarving()));
}

Verdict CheckMinTaskMember(const Json& in, const Json& want) {
  // What the PodGroup said before has left no trace by the time it is read.
  const auto world =
      WorldOf({std::string(kQueue),
               fmt::format(R"({{"apiVersion":"{}","kind":"PodGroup","metadata":{{"name":"pg"}},)"
                           R"("spec":{{"minTaskMember":{}}}}})",
                           kVolcanoApi, in["minTaskMemberChanged"].Dump())});
  if (!world->problems.empty() || world->cluster.jobs.empty()) return Problem(*world);
  const Job& job = world->cluster.jobs[JobId(0)];
  std::map<std::string, int64_t> recorded;
  for (const auto& [role, count] : want["expectedTaskMinAvailable"].Entries())
    recorded[role] = count.Integer();
  std::map<std::string, int64_t> ours;
  for (const JobRole& role : job.roles)
    if (role.in_min_task_member)
      ours[std::string(world->cluster.Text(role.name))] = role.min_member;
  return Verdict::Of(
      ours == recorded && job.min_role_total == want["expectedTaskMinAvailableTotal"].Integer(),
      fmt::format("{}, together {}", ours, job.min_role_total));
}

Verdict CheckCooldown(const Json& in, const Json& want) {
  const std::string pod = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","labels":{},"annotations":{}}},)"
      R"("spec":{{"containers":[{{"name":"c"}}]}}}})",
      in["labels"].Dump(), in["annotations"].Dump());
  return CompareCooldown(pod, want["enabled"].Bool(), want["seconds"].Number() * 1e9);
}

Verdict CheckPodCooldown(const Json& in, const Json& want) {
  return CompareCooldown(PodText(in["args"]["pod"], {}), want["wantEnabled"].Bool(),
                         want["wantValue"].Number());
}

// Whether the job is spared the condition that says it cannot be scheduled.
Verdict CheckGangReleasing(const Json& in, const Json& want) {
  std::vector<std::string> objects{
      std::string(kQueue),
      fmt::format(R"({{"apiVersion":"{}","kind":"PodGroup","metadata":{{"name":"pg"}},)"
                  R"("spec":{{"minMember":{}}}}})",
                  kVolcanoApi, in["min"].Integer())};
  for (std::string_view node : {"node-1", "node-2", "node-3"}) objects.push_back(NodeText(node));
  const std::vector<Json> tasks = in["tasks"].Items();
  for (const Json& task : tasks) {
    const TaskStatus status = StatusOf(task);
    const bool placed = status == TaskStatus::kRunning || status == TaskStatus::kReleasing;
    const std::string_view node = task["TransactionContext"]["NodeName"].Text();
    objects.push_back(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}",{}"annotations":)"
        R"({{"scheduling.k8s.io/group-name":"pg"}}}},"spec":{{"nodeName":"{}",)"
        R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},)"
        R"("status":{{"phase":"{}"}}}})",
        task["UID"].Text(),
        status == TaskStatus::kReleasing ? R"("deletionTimestamp":"2026-01-01T00:00:00Z",)" : "",
        placed ? node : "", placed && !node.empty() ? "Running" : "Pending"));
  }
  const auto world = WorldOf(objects);
  if (!world->problems.empty() || world->cluster.jobs.empty()) return Problem(*world);
  AddPlugin(*world, "gang");
  Session session(world->cluster, world->config, world->options, world->log);
  for (const Json& task : tasks)
    if (StatusOf(task) == TaskStatus::kPipelined)
      session.Place(world->FindTask(fmt::format("default/{}", task["UID"].Text())),
                    world->FindNode(task["TransactionContext"]["NodeName"].Text()),
                    TaskStatus::kPipelined);
  session.Close();
  const auto& conditions = world->cluster.jobs[JobId(0)].conditions;
  const bool spared =
      std::none_of(conditions.begin(), conditions.end(),
                   [](const JobCondition& condition) { return condition.type == "Unschedulable"; });
  return Verdict::Of(spared == want["expected"].Bool(), spared ? "spared" : "reported");
}

Verdict CheckPodBudgets(const Json& in, const Json& want) {
  std::vector<std::string> objects;
  for (const Json& budget : in["pdbs"].Items())
    objects.push_back(WithKind("policy/v1", "PodDisruptionBudget", budget));
  for (const Json& task : in["preemptees"].Items()) objects.push_back(PodText(task["Pod"], {}));
  const auto world = WorldOf(objects);
  if (!world->problems.empty()) return Problem(*world);
  AddPlugin(*world, "pdb");
  Session session(world->cluster, world->config, world->options, world->log);
  const auto key = [](const Json& task) {
    return fmt::format("{}/{}", task["Namespace"].Text(), task["Name"].Text());
  };
  std::vector<TaskId> candidates;
  for (const Json& task : in["preemptees"].Items())
    candidates.push_back(world->FindTask(key(task)));
  std::vector<std::string> recorded;
  for (const Json& task : want["expectVictims"].Items()) recorded.push_back(key(task));
  const auto names = [&](const Victims& victims) {
    std::vector<std::string> list;
    for (TaskId task : victims.tasks) list.push_back(world->cluster.TaskKey(task));
    return list;
  };
  const std::vector<std::string> preempted = names(session.Preemptable(TaskId(), candidates));
  const std::vector<std::string> reclaimed = names(session.Reclaimable(TaskId(), candidates));
  return Verdict::Of(preempted == recorded && reclaimed == recorded,
                     fmt::format("preempt {}, reclaim {}", preempted, reclaimed));
}

}  // namespace krafla::volcano_tables
