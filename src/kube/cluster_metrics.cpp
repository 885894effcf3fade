#include "kube/cluster_metrics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/metric_families.h"
#include "model/queue_amounts.h"
#include "session/cooldown_settings.h"
#include "session/tdm_settings.h"

namespace krafla {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;
using Clock = std::chrono::steady_clock;

constexpr int kMostOfTheTime = 20;  // one part in so many

std::string Volcano(const std::string& name) {
  return kVolcanoPrefix + name;
}

// One amount of every queue: cpu, memory, and the other kinds by name.
class QueueAmounts {
 public:
  QueueAmounts(Registry& registry, const std::string& what, const std::string& help)
      : cpu_(GaugeFamily(registry, Volcano("queue_" + what + "_milli_cpu"), help + ": CPU"),
             "queue_name"),
        memory_(
            GaugeFamily(registry, Volcano("queue_" + what + "_memory_bytes"), help + ": memory"),
            "queue_name"),
        scalars_(GaugeFamily(registry, Volcano("queue_" + what + "_scalar_resources"),
                             help + ": other resources, in thousandths")) {}

  void Set(std::string_view queue, const Resource& amount, const ResourceKinds& kinds) {
    cpu_.Get(queue).Set(amount.cpu());
    memory_.Get(queue).Set(amount.memory());
    for (uint64_t rest = amount.scalar_mask(); rest != 0; rest &= rest - 1) {
      const int kind = __builtin_ctzll(rest);
      Scalar(queue, kinds.Name(kind)).Set(amount.Get(kind));
    }
  }
  template <class Keep>
  void Prune(Keep&& keep) {
    cpu_.Prune(keep);
    memory_.Prune(keep);
    std::erase_if(handles_, [&](const auto& entry) {
      if (keep(entry.first.first)) return false;
      scalars_.Remove(entry.second);
      return true;
    });
  }

 private:
  Gauge& Scalar(std::string_view queue, std::string_view resource) {
    Gauge*& handle = handles_[{std::string(queue), std::string(resource)}];
    if (handle == nullptr)
      handle =
          &scalars_.Add({{"queue_name", std::string(queue)}, {"resource", std::string(resource)}});
    return *handle;
  }

  ByLabel<Gauge> cpu_;
  ByLabel<Gauge> memory_;
  Family<Gauge>& scalars_;
  std::map<std::pair<std::string, std::string>, Gauge*> handles_;
};

// A figure of every job.
template <class Figure>
class JobFigures {
 public:
  explicit JobFigures(Family<Figure>& family) : family_(family) {}
  Figure& Get(const std::string& key, const prometheus::Labels& labels) {
    Figure*& handle = handles_[key];
    if (handle == nullptr) handle = &family_.Add(labels);
    return *handle;
  }
  void Set(const std::string& key, const prometheus::Labels& labels, double value) {
    Get(key, labels).Set(value);
  }
  void Prune(const std::set<std::string>& keep) {
    std::erase_if(handles_, [&](const auto& entry) {
      if (keep.contains(entry.first)) return false;
      family_.Remove(entry.second);
      return true;
    });
  }

 private:
  Family<Figure>& family_;
  std::map<std::string, Figure*> handles_;
};

// The largest part of the cluster that an amount is of, over all kinds.
double DominantShare(const Resource& amount, const Resource& total) {
  double share = 0;
  amount.ForEachNamed([&](int kind) {
    if (total.Get(kind) > 0) share = std::max(share, amount.Get(kind) / total.Get(kind));
  });
  return share;
}

bool InCooldown(const Session& session, const CooldownSettings& cdp, const Task& task) {
  const int64_t named_ns = cdp.LengthNs(session.cluster, task);
  if (named_ns < 0) return false;
  const int64_t elapsed_ns = ElapsedNs(task.scheduled_at, session.now);
  if (elapsed_ns < named_ns) return true;
  // Only past losses make it longer than it is named.
  if (!cdp.CountsEvictions() || !task.job.valid()) return false;
  const auto* lost = session.memory.FindJobEvictions(session.cluster.JobKey(task.job));
  return lost != nullptr &&
         elapsed_ns < cdp.RaisedNs(named_ns, cdp.CountNow(&lost->times, session.now));
}

// As this cycle's gang plugin has said.
bool CouldNotBeScheduled(const Job& job) {
  return std::any_of(job.conditions.begin(), job.conditions.end(), [](const JobCondition& c) {
    return c.from_this_session && c.type == "Unschedulable" && c.status == "True";
  });
}

double Seconds(Timestamp at) {
  return static_cast<double>(at.ns) / 1e9;
}

}  // namespace

struct ClusterMetrics::Families {
  explicit Families(Registry& registry)
      : allocated(registry, "allocated",
                  "What the allocated pods of a queue, and of the queues below it, request"),
        deserved(registry, "deserved", "What a queue deserves"),
        request(registry, "request", "What the pods of a queue ask for, placed or not"),
        inqueue(registry, "inqueue", "What jobs that were let in and do not run yet need at least"),
        capacity(registry, "capacity", "The most a queue may hold, where it says so"),
        real_capacity(registry, "real_capacity",
                      "The most a queue can hold beside what is guaranteed to others"),
        namespace_share(GaugeFamily(registry, Volcano("namespace_share"),
                                    "The largest part of any resource that a namespace holds"),
                        "namespace_name"),
        namespace_weight(GaugeFamily(registry, Volcano("namespace_weight"),
                                     "Weight of a namespace: all have the same"),
                         "namespace_name"),
        namespace_weighted(GaugeFamily(registry, Volcano("namespace_weighted_share"),
                                       "Share of a namespace by its weight"),
                           "namespace_name"),
        job_share(GaugeFamily(registry, Volcano("job_share"),
                              "The largest part of any resource that a job holds")),
        job_start(GaugeFamily(registry, Volcano("e2e_job_scheduling_start_time"),
                              "When a job was made, in Unix seconds")),
        job_last(GaugeFamily(registry, Volcano("e2e_job_scheduling_last_time"),
                             "When a pod of a job was last bound, in Unix seconds")),
        job_duration(GaugeFamily(registry, Volcano("e2e_job_scheduling_duration"),
                                 "Milliseconds from the making of a job to its last binding")),
        job_latency(HistogramFamily(registry, Volcano("e2e_job_scheduling_latency_milliseconds"),
                                    "From the making of a job to its running")
                        .Add({}, Doubling(5, 22))),
        job_retries(CounterFamily(registry, Volcano("job_retry_counts"),
                                  "Cycles in which a job could not be scheduled")),
        plugin(HistogramFamily(registry, Volcano("plugin_scheduling_latency_milliseconds"),
                               "Time of one plugin at the opening or closing of a session")),
        eviction_transactions(CounterFamily(registry, Volcano("eviction_transactions_total"),
                                            "Evictions that were committed")
                                  .Add({})),
        stage(HistogramFamily(registry, Volcano("scheduling_stage_duration_milliseconds"),
                              "Time of one step of a cycle"),
              "stage"),
        zone_open(GaugeFamily(registry, "krafla_zone_open", "1: a revocable zone is open"), "zone"),
        zone_emptied(GaugeFamily(registry, "krafla_zone_being_emptied",
                                 "1: a revocable zone is closed, or about to close"),
                     "zone"),
        zone_pods(GaugeFamily(registry, "krafla_zone_pods", "Pods on a revocable zone"), "zone"),
        cooldowns(GaugeFamily(registry, "krafla_cooldowns_active",
                              "Running pods that may not be taken away yet")
                      .Add({})) {}

  QueueAmounts allocated;
  QueueAmounts deserved;
  QueueAmounts request;
  QueueAmounts inqueue;
  QueueAmounts capacity;
  QueueAmounts real_capacity;
  ByLabel<Gauge> namespace_share;
  ByLabel<Gauge> namespace_weight;
  ByLabel<Gauge> namespace_weighted;
  JobFigures<Gauge> job_share;
  JobFigures<Gauge> job_start;
  JobFigures<Gauge> job_last;
  JobFigures<Gauge> job_duration;
  Histogram& job_latency;
  JobFigures<Counter> job_retries;
  Family<Histogram>& plugin;
  std::map<std::string, std::pair<Histogram*, Histogram*>, std::less<>> plugins;  // open, close
  Counter& eviction_transactions;
  ByLabel<Histogram> stage;
  ByLabel<Gauge> zone_open;
  ByLabel<Gauge> zone_emptied;
  ByLabel<Gauge> zone_pods;
  Gauge& cooldowns;

  Clock::time_point next;  // not before
};

ClusterMetrics::ClusterMetrics(Registry& registry)
    : families_(std::make_unique<Families>(registry)) {}
ClusterMetrics::~ClusterMetrics() = default;

void ClusterMetrics::Cycle(const Session& session, const std::vector<JobPhaseChange>& phases) {
  Families& f = *families_;
  for (const StepTime& step : session.step_times)
    f.stage.Get(step.name, Doubling(1, 14)).Observe(step.wall_ms);
  f.eviction_transactions.Increment(static_cast<double>(session.plan.evictions.size()));
  Plugins(session);
  Jobs(session, phases);
  const Clock::time_point begin = Clock::now();
  if (begin < f.next) return;
  Queues(session);
  Shares(session);
  Zones(session);
  const Clock::time_point end = Clock::now();
  f.next = end + kMostOfTheTime * (end - begin);
}

void ClusterMetrics::Plugins(const Session& session) {
  Families& f = *families_;
  for (size_t i = 0; i < session.plugin_names().size(); ++i) {
    const std::string& name = session.plugin_names()[i];
    auto& [open, close] = f.plugins[name];
    if (open == nullptr) {
      // Finer than Volcano's, whose first step is 1 ms; what it counts is counted here too.
      const auto bounds = Doubling(1.0 / 64, 16);
      open = &f.plugin.Add({{"plugin", name}, {"OnSession", "OnSessionOpen"}}, bounds);
      close = &f.plugin.Add({{"plugin", name}, {"OnSession", "OnSessionClose"}}, bounds);
    }
    open->Observe(session.plugin_times[i].open_ms);
    close->Observe(session.plugin_times[i].close_ms);
  }
}

// What happens to jobs is noted when it happens.
void ClusterMetrics::Jobs(const Session& session, const std::vector<JobPhaseChange>& phases) {
  Families& f = *families_;
  const Cluster& c = session.cluster;
  for (const JobPhaseChange& change : phases)
    if (change.after == JobPhase::kRunning && c.jobs[change.job].created.Present())
      f.job_latency.Observe(
          static_cast<double>(ElapsedNs(c.jobs[change.job].created, session.now)) / 1e6);
  for (const JobId id : c.jobs_by_name)
    if (CouldNotBeScheduled(c.jobs[id]))
      f.job_retries
          .Get(c.JobKey(id), {{"job_id", std::string(c.Text(c.jobs[id].name))},
                              {"job_ns", std::string(c.Text(c.jobs[id].ns))}})
          .Increment();
  std::set<JobId> bound;
  for (const Bind& bind : session.plan.binds)
    if (c.tasks[bind.task].job.valid()) bound.insert(c.tasks[bind.task].job);
  for (const JobId id : bound) {
    const Job& job = c.jobs[id];
    const std::string key = c.JobKey(id);
    const prometheus::Labels labels = {{"job_name", std::string(c.Text(job.name))},
                                       {"queue", std::string(c.QueueName(job.queue))},
                                       {"job_namespace", std::string(c.Text(job.ns))}};
    f.job_last.Set(key, labels, Seconds(session.now));
    if (!job.created.Present()) continue;
    f.job_start.Set(key, labels, Seconds(job.created));
    f.job_duration.Set(key, labels, static_cast<double>(ElapsedNs(job.created, session.now)) / 1e6);
  }
}

void ClusterMetrics::Queues(const Session& session) {
  Families& f = *families_;
  const Cluster& c = session.cluster;
  Table<QueueId, Resource> requests(c.queues.size());
  Table<QueueId, Resource> let_in(c.queues.size());
  const AmountByQueue allocated = AllocatedByQueue(c);
  for (const Job& job : c.jobs) {
    requests[job.queue].Add(job.total_request);
    if (job.phase == JobPhase::kInqueue && job.min_resources)
      let_in[job.queue].Add(*job.min_resources);
  }
  Resource free = c.total;
  for (const Queue& queue : c.queues)
    if (queue.guarantee) free.Sub(*queue.guarantee);
  for (const QueueId id : c.queues_by_name) {
    const Queue& queue = c.queues[id];
    const std::string_view name = c.QueueName(id);
    const QueueReport& report = session.queue_reports[id];
    f.allocated.Set(name, allocated[id], c.kinds);
    if (report.known) f.deserved.Set(name, report.deserved, c.kinds);
    f.request.Set(name, requests[id], c.kinds);
    f.inqueue.Set(name, let_in[id], c.kinds);
    if (queue.capability) f.capacity.Set(name, *queue.capability, c.kinds);
    Resource real = free;
    if (queue.guarantee) real.Add(*queue.guarantee);
    if (queue.capability) real.CapBy(*queue.capability, Missing::kInfinity);
    f.real_capacity.Set(name, real, c.kinds);
  }
  const auto there = [&](const std::string& name) { return c.FindQueue(name).valid(); };
  for (QueueAmounts* amounts :
       {&f.allocated, &f.deserved, &f.request, &f.inqueue, &f.capacity, &f.real_capacity})
    amounts->Prune(there);
}

void ClusterMetrics::Shares(const Session& session) {
  Families& f = *families_;
  const Cluster& c = session.cluster;
  std::map<StrId, Resource> namespaces;
  std::set<std::string> jobs;
  for (const JobId id : c.jobs_by_name) {
    const Job& job = c.jobs[id];
    namespaces[job.ns].Add(job.allocated);
    const std::string& key = *jobs.insert(c.JobKey(id)).first;
    f.job_share.Set(
        key, {{"job_ns", std::string(c.Text(job.ns))}, {"job_id", std::string(c.Text(job.name))}},
        DominantShare(job.allocated, c.total));
  }
  for (JobFigures<Gauge>* gauges : {&f.job_share, &f.job_start, &f.job_last, &f.job_duration})
    gauges->Prune(jobs);
  f.job_retries.Prune(jobs);
  std::set<std::string, std::less<>> names;
  for (const auto& [ns, allocated] : namespaces) {
    const std::string_view name = c.Text(ns);
    names.emplace(name);
    const double share = DominantShare(allocated, c.total);
    f.namespace_share.Get(name).Set(share);
    f.namespace_weight.Get(name).Set(1);
    f.namespace_weighted.Get(name).Set(share);
  }
  const auto there = [&](const std::string& name) { return names.contains(name); };
  for (ByLabel<Gauge>* family : {&f.namespace_share, &f.namespace_weight, &f.namespace_weighted})
    family->Prune(there);
}

void ClusterMetrics::Zones(const Session& session) {
  Families& f = *families_;
  const Cluster& c = session.cluster;
  std::set<std::string, std::less<>> names;
  const TdmSettings tdm = ReadTdmSettings(session.config, session.zone);
  for (const TdmZone& zone : tdm.zones) {
    names.insert(zone.name);
    f.zone_open.Get(zone.name).Set(tdm.IsOpen(zone, session.now) ? 1 : 0);
    f.zone_emptied.Get(zone.name).Set(tdm.IsEmptied(zone, session.now) ? 1 : 0);
    int64_t pods = 0;
    for (const Node& node : c.nodes)
      if (c.Text(node.zone) == zone.name) pods += static_cast<int64_t>(node.tasks.size());
    f.zone_pods.Get(zone.name).Set(static_cast<double>(pods));
  }
  const auto there = [&](const std::string& name) { return names.contains(name); };
  for (ByLabel<Gauge>* family : {&f.zone_open, &f.zone_emptied, &f.zone_pods}) family->Prune(there);

  int64_t active = 0;
  if (const std::optional<CooldownSettings> cdp = ReadCooldownSettings(session.config))
    for (const Task& task : c.tasks)
      if (IsCooling(task) && InCooldown(session, *cdp, task)) ++active;
  f.cooldowns.Set(static_cast<double>(active));
}

}  // namespace krafla
