#include "kube/cluster_view.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/json_writer.h"
#include "explain/why_waiting.h"
#include "explain/zone_windows.h"
#include "model/disruption_budget.h"
#include "model/revocable_access.h"
#include "session/session.h"

namespace krafla {

namespace {

void WriteAmounts(JsonWriter& json, std::string_view name, const Resource& resource,
                  const ResourceKinds& kinds) {
  std::map<std::string_view, double> amounts;
  for (int kind = 0; kind < kinds.size(); ++kind)
    if (resource.Has(kind)) amounts[kinds.Name(kind)] = resource.Get(kind);
  json.Key(name).BeginObject();
  for (const auto& [kind, amount] : amounts) json.Key(kind).Number(amount);
  json.EndObject();
}

void WriteAmounts(JsonWriter& json, std::string_view name, const std::optional<Resource>& resource,
                  const ResourceKinds& kinds) {
  if (resource) return WriteAmounts(json, name, *resource, kinds);
  json.Key(name).Null();
}

void WriteTime(JsonWriter& json, std::string_view name, std::optional<Timestamp> time) {
  json.Key(name);
  if (time && time->Present()) {
    json.String(FormatRfc3339(*time));
  } else {
    json.Null();
  }
}

class ViewMaker {
 public:
  ViewMaker(const Session& session, const CycleMemory& memory,
            const std::vector<JobPhase>& phases_before)
      : s_(session),
        c_(session.cluster),
        memory_(memory),
        phases_before_(phases_before),
        why_(session) {
    access_ = {.named_zones = s_.compat.named_zones,
               .needs_annotation = s_.compat.implied_zone,
               .silence_is_no = s_.compat.preemptable_default};
  }

  std::vector<ViewRow> Queues() const {
    struct Account {
      std::array<int64_t, 5> jobs{};
      int64_t running = 0;
      int64_t waiting = 0;
      Resource allocated;
      Resource request;
    };
    std::map<QueueId, Account> accounts;
    for (JobId id{0}; id.value < c_.jobs.size(); ++id.value) {
      const Job& job = c_.jobs[id];
      Account& account = accounts[job.queue];
      ++account.jobs[static_cast<size_t>(phases_before_[id.value])];
      account.running += job.AllocatedCount() - job.Count(TaskStatus::kAllocated);
      account.waiting += Waiting(job);
      account.request.Add(job.total_request);
      for (const TaskId task : job.tasks)
        if (HasPlace(c_.tasks[task])) account.allocated.Add(c_.Request(task));
    }
    std::vector<ViewRow> rows;
    for (const QueueId id : c_.queues_by_name) {
      const Queue& queue = c_.queues[id];
      const QueueReport& report = s_.queue_reports[id];
      const Account& account = accounts[id];
      JsonWriter json;
      json.BeginObject();
      json.Key("name").String(c_.QueueName(id));
      json.Key("state").String(ToString(queue.state));
      json.Key("parent").String(c_.Text(queue.parent));
      json.Key("weight").Integer(queue.weight);
      json.Key("reclaimable").Bool(queue.reclaimable);
      WriteAmounts(json, "capability", queue.capability, c_.kinds);
      WriteAmounts(json, "guarantee", queue.guarantee, c_.kinds);
      WriteAmounts(json, "deserved", report.known ? std::optional(report.deserved) : queue.deserved,
                   c_.kinds);
      WriteAmounts(json, "allocated", account.allocated, c_.kinds);
      WriteAmounts(json, "request", account.request, c_.kinds);
      json.Key("share");
      if (report.known) {
        json.Number(report.share);
      } else {
        json.Null();
      }
      json.Key("jobs").BeginObject();
      for (size_t i = 0; i < account.jobs.size(); ++i)
        json.Key(ToString(static_cast<JobPhase>(i))).Integer(account.jobs[i]);
      json.EndObject();
      json.Key("pods").BeginObject();
      json.Key("placed").Integer(account.running).Key("waiting").Integer(account.waiting);
      json.EndObject().EndObject();
      rows.push_back({"", std::string(c_.QueueName(id)), json.text()});
    }
    return rows;
  }

  std::vector<ViewRow> Jobs() const {
    std::vector<ViewRow> rows;
    for (const JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      const std::string_view name = c_.Text(job.name);
      const bool of_one = name.starts_with(kGroupOfOnePrefix);
      JsonWriter json;
      json.BeginObject();
      json.Key("namespace").String(c_.Text(job.ns));
      json.Key("name").String(of_one ? name.substr(kGroupOfOnePrefix.size()) : name);
      json.Key("kind").String(of_one ? "Pod" : "PodGroup");
      json.Key("queue").String(c_.QueueName(job.queue));
      json.Key("phase").String(ToString(phases_before_[id.value]));
      json.Key("priority").Integer(job.priority);
      json.Key("minMember").Integer(job.min_available);
      WriteTime(json, "created", job.created);
      WritePods(json, job);
      const std::string why = WhyItWaits(id);
      json.Key("waitsFor");
      if (why.empty()) {
        json.Null();
      } else {
        json.String(why);
      }
      WriteLosses(json, c_.JobKey(id));
      json.EndObject();
      rows.push_back(
          {std::string(c_.Text(job.ns)), std::string(c_.QueueName(job.queue)), json.text()});
    }
    return rows;
  }

  std::vector<ViewRow> Zones(const TimeZone& fallback) const {
    const std::vector<ConfiguredZone> configured = ConfiguredZones(s_.config, fallback);
    std::set<std::string> names;
    for (const ConfiguredZone& zone : configured) names.insert(zone.name);
    for (const Node& node : c_.nodes)
      if (node.zone != kEmptyStr) names.insert(std::string(c_.Text(node.zone)));
    std::vector<ViewRow> rows;
    for (const std::string& name : names) {
      const auto it = std::find_if(configured.begin(), configured.end(),
                                   [&](const ConfiguredZone& zone) { return zone.name == name; });
      rows.push_back({"", "", ZoneJson(name, it == configured.end() ? nullptr : &*it)});
    }
    return rows;
  }

 private:
  static bool HasPlace(const Task& task) {
    return task.status == TaskStatus::kBound || task.status == TaskStatus::kBinding ||
           task.status == TaskStatus::kRunning;
  }
  // Marks of the cycle that nobody hears of count as waiting.
  static int64_t Waiting(const Job& job) {
    return job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kPipelined) +
           job.Count(TaskStatus::kAllocated);
  }

  void WritePods(JsonWriter& json, const Job& job) const {
    json.Key("pods").BeginObject();
    json.Key("total").Integer(static_cast<int64_t>(job.tasks.size()));
    json.Key("waiting").Integer(Waiting(job));
    json.Key("binding").Integer(job.Count(TaskStatus::kBinding));
    json.Key("bound").Integer(job.Count(TaskStatus::kBound));
    json.Key("running").Integer(job.Count(TaskStatus::kRunning));
    json.Key("releasing").Integer(job.Count(TaskStatus::kReleasing));
    json.Key("succeeded").Integer(job.Count(TaskStatus::kSucceeded));
    json.Key("failed").Integer(job.Count(TaskStatus::kFailed));
    json.EndObject();
  }

  // The sentence a user can act on; empty when nothing of the job waits.
  std::string WhyItWaits(JobId id) const {
    const Job& job = c_.jobs[id];
    if (Waiting(job) == 0 && !(job.tasks.empty() && job.phase == JobPhase::kPending)) return {};
    if (const std::string* refused = s_.EnqueueRefusal(id)) return *refused;
    if (job.Count(TaskStatus::kPipelined) > 0 && job.IsPipelined())
      return "room is being made for it";
    for (const JobCondition& condition : job.conditions)
      if (condition.from_this_session && condition.type == "Unschedulable" &&
          condition.status == "True")
        return condition.message;
    std::string reason = s_.WaitingReason(id);
    for (const WhyWaiting::Answer& answer : why_.Of(id))
      reason += (reason.empty() ? "" : "; ") + std::string(answer.action) + ": " + answer.reason;
    return reason.empty() ? "the next cycle" : reason;
  }

  void WriteLosses(JsonWriter& json, const std::string& key) const {
    const CycleMemory::JobEvictions* evictions = memory_.FindJobEvictions(key);
    const CycleMemory::JobLoss* loss = memory_.FindJobLoss(key);
    json.Key("evictions").BeginObject();
    json.Key("forOthers").BeginArray();
    if (evictions != nullptr)
      for (const Timestamp at : evictions->times) json.String(FormatRfc3339(at));
    json.EndArray();
    WriteTime(json, "last", loss != nullptr ? std::optional(loss->at) : std::nullopt);
    json.EndObject();
  }

  std::string ZoneJson(const std::string& name, const ConfiguredZone* zone) const {
    JsonWriter json;
    json.BeginObject();
    json.Key("name").String(name);
    json.Key("configured").Bool(zone != nullptr);
    json.Key("window").String(zone != nullptr ? zone->text : "");
    json.Key("timeZone").String(zone != nullptr ? zone->zone.name() : "");
    json.Key("open").Bool(zone != nullptr && zone->IsOpen(s_.now));
    json.Key("beingEmptied").Bool(zone != nullptr && zone->IsEmptied(s_.now));
    WriteTime(json, "nextChange", zone != nullptr ? zone->NextChange(s_.now) : std::nullopt);
    const Timestamp* last = memory_.LastEviction(name);
    if (last == nullptr) last = memory_.LastEviction("");
    WriteTime(json, "lastEviction", last != nullptr ? std::optional(*last) : std::nullopt);

    struct OnZone {
      JobId job;
      int64_t pods = 0;
      int64_t go = 0;
    };
    int64_t nodes = 0;
    int64_t pods = 0;
    int64_t go = 0;
    std::map<std::string, OnZone> jobs;
    for (const NodeId node : c_.nodes_by_name) {
      if (c_.Text(c_.nodes[node].zone) != name) continue;
      ++nodes;
      for (const TaskId id : c_.nodes[node].tasks) {
        const Task& task = c_.tasks[id];
        if (!HasPlace(task) && task.status != TaskStatus::kReleasing) continue;
        OnZone& on = jobs[task.job.valid() ? c_.JobKey(task.job) : c_.TaskKey(id)];
        on.job = task.job;
        ++on.pods;
        ++pods;
        if (task.job.valid() && OffersItself(task, &c_.jobs[task.job], access_)) {
          ++on.go;
          ++go;
        }
      }
    }
    json.Key("nodes").Integer(nodes);
    json.Key("pods").BeginObject().Key("total").Integer(pods).Key("mayBeTakenOff").Integer(go);
    json.EndObject();
    json.Key("jobs").BeginArray();
    for (const auto& [key, on] : jobs) {
      json.BeginObject().Key("job").String(key).Key("pods").Integer(on.pods);
      json.Key("mayBeTakenOff").Integer(on.go);
      json.Key("budget").String(
          on.job.valid() ? DescribeBudget(c_.jobs[on.job].budget, s_.compat.budget_precedence)
                         : std::string());
      json.EndObject();
    }
    json.EndArray().EndObject();
    return json.text();
  }

  const Session& s_;
  const Cluster& c_;
  const CycleMemory& memory_;
  const std::vector<JobPhase>& phases_before_;
  WhyWaiting why_;
  AccessRules access_;
};

}  // namespace

ClusterView MakeClusterView(const StateKeeper::Snapshot& state, const WorldOptions& options,
                            const SchedulerConfig& config, const TimeZone& zone, Timestamp now) {
  ReplayWorld world(options);
  world.Fill(state.entries);
  Cluster& cluster = world.live().cluster();
  std::vector<JobPhase> phases;
  for (const Job& job : cluster.jobs) phases.push_back(job.phase);
  for (Job& job : cluster.jobs)
    for (JobCondition& condition : job.conditions) condition.from_this_session = false;
  CycleMemory memory = *state.memory;
  std::string muted;
  Log log;
  log.CaptureTo(&muted);
  Session session(cluster, config, {.now = now, .zone = zone, .memory = &memory}, log);
  session.RunActions();
  const ViewMaker maker(session, *state.memory, phases);
  return {.queues = maker.Queues(),
          .jobs = maker.Jobs(),
          .zones = maker.Zones(zone),
          .version = state.version,
          .at = now};
}

}  // namespace krafla
