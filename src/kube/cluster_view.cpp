#include "kube/cluster_view.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cluster_state/name_index.h"
#include "cluster_state/name_order.h"
#include "explain/missing_words.h"
#include "explain/node_sizes.h"
#include "explain/waiting_words.h"
#include "explain/why_waiting.h"
#include "model/disruption_budget.h"
#include "model/queue_amounts.h"
#include "model/revocable_access.h"
#include "session/session.h"
#include "session/tdm_settings.h"

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

// What was true before the cycle that nobody hears of: its own marks are not shown.
struct TruthBefore {
  struct OfJob {
    JobPhase phase;
    std::array<int32_t, kTaskStatusCount> count;

    int64_t Count(TaskStatus status) const { return count[static_cast<size_t>(status)]; }
    int64_t Waiting() const { return Count(TaskStatus::kPending); }
    int64_t Placed() const {
      return Count(TaskStatus::kBinding) + Count(TaskStatus::kBound) + Count(TaskStatus::kRunning);
    }
  };
  std::vector<OfJob> jobs;
  std::vector<TaskStatus> tasks;

  explicit TruthBefore(const Cluster& cluster) {
    for (const Job& job : cluster.jobs) jobs.push_back({job.phase, job.count});
    for (const Task& task : cluster.tasks) tasks.push_back(task.status);
  }
  bool HasPlace(TaskId task) const {
    const TaskStatus status = tasks[task.value];
    return status == TaskStatus::kBound || status == TaskStatus::kBinding ||
           status == TaskStatus::kRunning;
  }
};

class ViewMaker {
 public:
  ViewMaker(const Session& session, const CycleMemory& memory, std::span<const PastLoss> past,
            const GroupWaits& group_waits, const LiveCluster& live, const TruthBefore& before)
      : s_(session),
        c_(session.cluster),
        memory_(memory),
        group_waits_(group_waits),
        live_(live),
        before_(before),
        why_(session),
        sizes_(session.cluster) {
    for (const PastLoss& loss : past) {
      Losses& losses = losses_[loss.job];
      losses.last = std::max(losses.last, loss.at);
      if (loss.for_other) losses.for_others.insert(loss.at);
    }
    FindWhatIsMissing();
    access_ = {.named_zones = s_.compat.named_zones,
               .needs_annotation = s_.compat.implied_zone,
               .silence_is_no = s_.compat.preemptable_default};
  }

  std::vector<ViewRow> Queues() const {
    struct Account {
      std::array<int64_t, 5> jobs{};
      int64_t placed = 0;
      int64_t waiting = 0;
      Resource request;
    };
    std::map<QueueId, Account> accounts;
    AmountByQueue allocated(c_.queues.size());
    for (JobId id{0}; id.value < c_.jobs.size(); ++id.value) {
      const Job& job = c_.jobs[id];
      Account& account = accounts[job.queue];
      const TruthBefore::OfJob& truth = before_.jobs[id.value];
      ++account.jobs[static_cast<size_t>(truth.phase)];
      account.placed += truth.Placed();
      account.waiting += truth.Waiting();
      account.request.Add(job.total_request);
      for (const TaskId task : job.tasks)
        if (before_.HasPlace(task)) allocated[job.queue].Add(c_.Request(task));
    }
    AddToParents(c_, allocated);
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
      WriteAmounts(json, "allocated", allocated[id], c_.kinds);
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
      json.Key("placed").Integer(account.placed).Key("waiting").Integer(account.waiting);
      json.EndObject().EndObject();
      rows.push_back({"", std::string(c_.QueueName(id)), json.text()});
    }
    return rows;
  }

  std::vector<ViewRow> Jobs() const {
    std::vector<JobRow> rows;
    for (const JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      JsonWriter json;
      BeginJob(json, c_.Text(job.ns), c_.Text(job.name));
      json.Key("queue").String(c_.QueueName(job.queue));
      json.Key("phase").String(ToString(before_.jobs[id.value].phase));
      json.Key("priority").Integer(job.priority);
      json.Key("minMember").Integer(job.min_available);
      WriteTime(json, "created", job.created);
      WritePods(json, before_.jobs[id.value]);
      EndJob(json, WhyItWaits(id), c_.JobKey(id));
      rows.push_back(
          {job.ns,
           job.name,
           {std::string(c_.Text(job.ns)), std::string(c_.QueueName(job.queue)), json.text()}});
    }
    AddStranded(rows);
    std::stable_sort(rows.begin(), rows.end(), [&](const JobRow& a, const JobRow& b) {
      return NamespacedLess(c_.Text(a.ns), c_.Text(a.name), c_.Text(b.ns), c_.Text(b.name));
    });
    std::vector<ViewRow> sorted;
    for (JobRow& row : rows) sorted.push_back(std::move(row.row));
    return sorted;
  }

  std::vector<ViewRow> Zones(const TimeZone& fallback) const {
    const TdmSettings tdm = ReadTdmSettings(s_.config, fallback);
    std::set<std::string> names;
    for (const TdmZone& zone : tdm.zones) names.insert(zone.name);
    for (const Node& node : c_.nodes)
      if (node.zone != kEmptyStr) names.insert(std::string(c_.Text(node.zone)));
    std::vector<ViewRow> rows;
    for (const std::string& name : names)
      rows.push_back({"", "", ZoneJson(name, tdm, tdm.Find(name))});
    return rows;
  }

 private:
  struct JobRow {
    StrId ns;
    StrId name;
    ViewRow row;
  };
  struct Losses {
    std::set<Timestamp> for_others;
    Timestamp last;
  };

  static void BeginJob(JsonWriter& json, std::string_view ns, std::string_view name) {
    const bool of_one = name.starts_with(kGroupOfOnePrefix);
    json.BeginObject();
    json.Key("namespace").String(ns);
    json.Key("name").String(of_one ? name.substr(kGroupOfOnePrefix.size()) : name);
    json.Key("kind").String(of_one ? "Pod" : "PodGroup");
  }
  void EndJob(JsonWriter& json, const std::string& why, const std::string& key) const {
    json.Key("waitsFor");
    if (why.empty()) {
      json.Null();
    } else {
      json.String(why);
    }
    WriteLosses(json, key);
    json.EndObject();
  }

  // Those that no cycle looks at, because what they name is not there.
  void AddStranded(std::vector<JobRow>& rows) const {
    for (const LiveCluster::StrandedGroup& group : live_.FindStranded().groups) {
      const std::string_view ns = c_.Text(group.ns);
      const std::string_view name = c_.Text(group.name);
      const PodGroupFacts* const facts = group.group;
      const bool named = facts != nullptr && facts->queue != kEmptyStr;
      const std::string_view queue = facts == nullptr ? std::string_view()
                                     : named          ? c_.Text(facts->queue)
                                                      : live_.default_queue();
      std::string why;
      if (facts == nullptr) {
        why = AwaitsGroup(ns, name);
        if (why.empty()) why = PodWithoutGroup(name);
      } else if (group.waiting > 0 || facts->job.phase == JobPhase::kPending) {
        why = name.starts_with(kGroupOfOnePrefix) ? PodWithoutQueue(queue, named, c_)
                                                  : GroupWithoutQueue(queue, named, c_);
      }
      JsonWriter json;
      BeginJob(json, ns, name);
      json.Key("queue").String(queue);
      json.Key("phase");
      if (facts == nullptr) {
        json.Null().Key("priority").Null().Key("minMember").Null();
      } else {
        json.String(ToString(facts->job.phase)).Key("priority").Null();
        json.Key("minMember").Integer(facts->job.min_available);
      }
      WriteTime(json, "created",
                facts == nullptr ? std::nullopt : std::optional(facts->job.created));
      WritePods(json, group);
      EndJob(json, why, fmt::format("{}/{}", ns, name));
      rows.push_back({group.ns, group.name, {std::string(ns), std::string(queue), json.text()}});
    }
  }

  // Of a pod that names no PodGroup and waits for one, by the name of the singleton PodGroup that
  // it would be; else nothing.
  std::string AwaitsGroup(std::string_view ns, std::string_view group) const {
    if (!group.starts_with(kGroupOfOnePrefix)) return {};
    const auto pod =
        group_waits_.find(fmt::format("{}/{}", ns, group.substr(kGroupOfOnePrefix.size())));
    return pod == group_waits_.end() ? std::string() : PodAwaitsGroup(pod->second);
  }

  // Of a job in the tables, or of one that is stranded.
  template <class Counts>
  static void WritePods(JsonWriter& json, const Counts& counts) {
    int64_t total = 0;
    for (const int32_t count : counts.count) total += count;
    json.Key("pods").BeginObject();
    json.Key("total").Integer(total);
    json.Key("waiting").Integer(counts.Count(TaskStatus::kPending));
    json.Key("binding").Integer(counts.Count(TaskStatus::kBinding));
    json.Key("bound").Integer(counts.Count(TaskStatus::kBound));
    json.Key("running").Integer(counts.Count(TaskStatus::kRunning));
    json.Key("releasing").Integer(counts.Count(TaskStatus::kReleasing));
    json.Key("succeeded").Integer(counts.Count(TaskStatus::kSucceeded));
    json.Key("failed").Integer(counts.Count(TaskStatus::kFailed));
    json.EndObject();
  }

  // The sentence a user can act on; empty when nothing of the job waits.
  std::string WhyItWaits(JobId id) const {
    const Job& job = c_.jobs[id];
    const TruthBefore::OfJob& truth = before_.jobs[id.value];
    const uint64_t key = NameKey(job.ns, job.name);
    const auto left_out = left_out_.find(key);
    const bool without_pods =
        job.tasks.empty() && (truth.phase == JobPhase::kPending ||
                              (truth.phase == JobPhase::kInqueue && job.min_available > 0));
    std::string why = truth.Waiting() > 0 || without_pods ? WhatItWaitsFor(id) : std::string();
    if (left_out != left_out_.end())
      why = job.tasks.empty() || why.empty() ? left_out->second : why + "; " + left_out->second;
    if (const auto unranked = unranked_.find(key); unranked != unranked_.end() && !why.empty())
      why += "; " + unranked->second;
    return why;
  }

  std::string WhatItWaitsFor(JobId id) const {
    const Job& job = c_.jobs[id];
    std::string large = sizes_.WhyTooLarge(c_, id);
    if (!large.empty()) large += "; ";
    if (const std::string* refused = s_.EnqueueRefusal(id)) return large + *refused;
    if (job.tasks.empty()) return "its pods: there are none yet";
    if (const std::optional<PodShortage> shortage = ShortageOf(s_, id)) return shortage->message;
    if (job.Count(TaskStatus::kPipelined) > 0 && job.IsPipelined())
      return "room is being made for it";
    // Placed by the cycle that nobody hears of: the next one will do the same.
    if (job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kAllocated) == 0)
      return "the next cycle";
    std::string reason = large + s_.WaitingReason(id);
    if (const std::string queue = FurtherCause(s_, id); !queue.empty()) reason += "; " + queue;
    for (const WhyWaiting::Answer& answer : why_.Of(id))
      reason += (reason.empty() ? "" : "; ") + std::string(answer.action) + ": " + answer.reason;
    return reason;
  }

  // Of jobs that cycles look at: the first pod that is left out, and the PriorityClass.
  void FindWhatIsMissing() {
    const LiveCluster::Stranded stranded = live_.FindStranded();
    std::map<uint64_t, std::pair<std::string_view, const ClaimVolume*>> first;
    for (const LiveCluster::StrandedPod& pod : stranded.pods) {
      if (pod.claim == nullptr) continue;
      const std::string_view name = c_.Text(pod.pod->task.name);
      auto& slot = first[NameKey(pod.pod->task.ns, pod.pod->group)];
      if (slot.second == nullptr || name < slot.first) slot = {name, pod.claim};
    }
    for (const auto& [key, pod] : first)
      left_out_[key] =
          fmt::format("pod {} is {}", pod.first,
                      PodWithoutClaim(c_.Text(pod.second->claim), pod.second->ephemeral));
    if (stranded.unranked.empty()) return;
    const std::vector<std::string_view> classes = live_.PriorityClassNames();
    for (const PodGroupFacts* group : stranded.unranked) {
      const Job& job = group->job;
      const std::string_view name = c_.Text(job.priority_class);
      const int32_t priority = live_.DefaultPriority();
      unranked_[NameKey(job.ns, job.name)] =
          c_.Text(job.name).starts_with(kGroupOfOnePrefix)
              ? PodWithoutPriorityClass(name, priority)
              : GroupWithoutPriorityClass(name, priority, classes);
    }
  }

  // What was decided in our time, and what was remembered of the time before.
  void WriteLosses(JsonWriter& json, const std::string& key) const {
    Losses losses;
    if (const auto known = losses_.find(key); known != losses_.end()) losses = known->second;
    if (const CycleMemory::JobEvictions* evictions = memory_.FindJobEvictions(key))
      losses.for_others.insert(evictions->times.begin(), evictions->times.end());
    if (!losses.for_others.empty())
      losses.last = std::max(losses.last, *losses.for_others.rbegin());
    if (const CycleMemory::JobLoss* loss = memory_.FindJobLoss(key))
      losses.last = std::max(losses.last, loss->at);
    json.Key("evictions").BeginObject();
    json.Key("forOthers").BeginArray();
    for (const Timestamp at : losses.for_others) json.String(FormatRfc3339(at));
    json.EndArray();
    WriteTime(json, "last", losses.last);
    json.EndObject();
  }

  std::string ZoneJson(const std::string& name, const TdmSettings& tdm, const TdmZone* zone) const {
    JsonWriter json;
    json.BeginObject();
    json.Key("name").String(name);
    json.Key("configured").Bool(zone != nullptr);
    json.Key("window").String(zone != nullptr ? zone->text : "");
    json.Key("timeZone").String(zone != nullptr ? tdm.time_zone.name() : "");
    json.Key("open").Bool(zone != nullptr && tdm.IsOpen(*zone, s_.now));
    json.Key("beingEmptied").Bool(zone != nullptr && tdm.IsEmptied(*zone, s_.now));
    WriteTime(json, "nextChange", zone != nullptr ? tdm.NextChange(*zone, s_.now) : std::nullopt);
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
        const bool leaving = before_.tasks[id.value] == TaskStatus::kReleasing;
        if (!before_.HasPlace(id) && !leaving) continue;
        OnZone& on = jobs[task.job.valid() ? c_.JobKey(task.job) : c_.TaskKey(id)];
        on.job = task.job;
        ++on.pods;
        ++pods;
        if (!leaving && task.job.valid() && OffersItself(task, &c_.jobs[task.job], access_)) {
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
  const GroupWaits& group_waits_;
  const LiveCluster& live_;
  std::map<std::string, Losses> losses_;  // by job
  const TruthBefore& before_;
  WhyWaiting why_;
  NodeSizes sizes_;
  std::map<uint64_t, std::string> left_out_;  // of jobs: a pod of theirs that no cycle looks at
  std::map<uint64_t, std::string> unranked_;  // of jobs whose PriorityClass is not there
  AccessRules access_;
};

}  // namespace

ClusterView MakeClusterView(ReplayWorld& world, const SchedulerConfig& config, CycleMemory memory,
                            std::span<const PastLoss> losses, const GroupWaits& group_waits,
                            const TimeZone& zone, Timestamp now) {
  Cluster& cluster = world.live().cluster();
  const TruthBefore before(cluster);
  for (Job& job : cluster.jobs)
    for (JobCondition& condition : job.conditions) condition.from_this_session = false;
  const CycleMemory memory_before = memory;
  std::string muted;
  Log log;
  log.CaptureTo(&muted);
  Session session(cluster, config, {.now = now, .zone = zone, .memory = &memory}, log);
  session.RunActions();
  const ViewMaker maker(session, memory_before, losses, group_waits, world.live(), before);
  return {.queues = maker.Queues(), .jobs = maker.Jobs(), .zones = maker.Zones(zone), .at = now};
}

}  // namespace krafla
