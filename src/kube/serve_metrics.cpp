#include "kube/serve_metrics.h"

#include <map>

#include <prometheus/text_serializer.h>

#include "kube/cluster_metrics.h"
#include "kube/metric_families.h"
#include "session/eviction_reason.h"

namespace krafla {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

const std::string kPrefix = kVolcanoPrefix;

}  // namespace

struct ServeMetrics::Families {
  Registry registry;

  Histogram& cycle = HistogramFamily(registry, kPrefix + "e2e_scheduling_latency_milliseconds",
                                     "Time of a whole scheduling cycle")
                         .Add({}, Doubling(5, 12));
  ByLabel<Histogram> action{
      HistogramFamily(registry, kPrefix + "action_scheduling_latency_milliseconds",
                      "Time of one action within a cycle"),
      "action"};
  Histogram& open = HistogramFamily(registry, kPrefix + "open_session_duration_milliseconds",
                                    "Time to open a session")
                        .Add({}, Doubling(1, 12));
  Histogram& task = HistogramFamily(registry, kPrefix + "task_scheduling_latency_milliseconds",
                                    "From a pod's creation to its binding")
                        .Add({}, Doubling(5, 18));
  ByLabel<Counter> attempts{CounterFamily(registry, kPrefix + "schedule_attempts_total",
                                          "Attempts to schedule a pod, by result"),
                            "result"};
  Gauge& victims = GaugeFamily(registry, kPrefix + "pod_preemption_victims",
                               "Pods evicted by the last cycle that evicted any")
                       .Add({});
  Counter& preemptions = CounterFamily(registry, kPrefix + "total_preemption_attempts",
                                       "Pods for which others were evicted")
                             .Add({});
  Gauge& unscheduled_jobs = GaugeFamily(registry, kPrefix + "unschedule_job_count",
                                        "Jobs that could not be scheduled in the last cycle")
                                .Add({});
  Gauge& unscheduled_tasks = GaugeFamily(registry, kPrefix + "unschedule_task_count",
                                         "Pods that could not be scheduled in the last cycle")
                                 .Add({});
  ByLabel<Gauge> share{GaugeFamily(registry, kPrefix + "queue_share",
                                   "What a queue holds of what it deserves, at most over kinds"),
                       "queue_name"};
  ByLabel<Gauge> weight{GaugeFamily(registry, kPrefix + "queue_weight", "Weight of a queue"),
                        "queue_name"};
  ByLabel<Gauge> overused{
      GaugeFamily(registry, kPrefix + "queue_overused", "1: a queue holds more than it deserves"),
      "queue_name"};

  Counter& cycles = CounterFamily(registry, "krafla_cycles_total", "Scheduling cycles").Add({});
  Family<Counter>& evictions =
      CounterFamily(registry, "krafla_evictions_total", "Evictions decided");
  ByLabel<Gauge> phase{
      GaugeFamily(registry, "krafla_cycle_step_seconds", "Time of each step of the last cycle"),
      "step"};
  Gauge& effects = GaugeFamily(registry, "krafla_effects_in_flight",
                               "Bindings and evictions that were sent and not yet answered")
                       .Add({});
  Family<Gauge>& waiting_writes = GaugeFamily(registry, "krafla_writes_waiting",
                                              "Statuses and events that are not yet written");
  Gauge& statuses = waiting_writes.Add({{"what", "status"}});
  Gauge& events = waiting_writes.Add({{"what", "event"}});
  Gauge& events_sent =
      GaugeFamily(registry, "krafla_events_sent_total", "Events the server has taken").Add({});
  Gauge& events_dropped =
      GaugeFamily(registry, "krafla_events_dropped_total", "Events given up").Add({});
  Family<Gauge>& failures =
      GaugeFamily(registry, "krafla_effect_failures_total", "Effects the server refused for good");
  Gauge& bind_failures = failures.Add({{"effect", "bind"}});
  Gauge& eviction_failures = failures.Add({{"effect", "evict"}});
  Gauge& repeated = GaugeFamily(registry, "krafla_requests_repeated_total",
                                "Requests sent again after an answer that may change")
                        .Add({});
  Gauge& malformed = GaugeFamily(registry, "krafla_objects_malformed_total",
                                 "Objects with fields that could not be read")
                         .Add({});
  Gauge& rebuilds = GaugeFamily(registry, "krafla_table_rebuilds_total",
                                "How often the tables were built anew from all facts")
                        .Add({});
  Gauge& waiting_pods =
      GaugeFamily(registry, "krafla_waiting_pods", "Pods that wait for a place").Add({});
  Gauge& re_evictions = GaugeFamily(registry, "krafla_re_evictions_total",
                                    "Evictions from PodGroups that have lost pods before")
                            .Add({});
  Gauge& rollbacks = GaugeFamily(registry, "krafla_etcd_rollbacks_total",
                                 "Times that etcd has gone back to an earlier state")
                         .Add({});
  Gauge& eviction_loops = GaugeFamily(registry, "krafla_eviction_loops_total",
                                      "Rings of jobs that evict each other in turn")
                              .Add({});
  Counter& eviction_storms = CounterFamily(registry, "krafla_eviction_storms_total",
                                           "Storms of evictions that lead nowhere")
                                 .Add({});
  Gauge& eviction_limit_reached =
      GaugeFamily(registry, "krafla_eviction_limit_reached", "1: evictions wait for the limits")
          .Add({});
  Counter& evictions_held_back =
      CounterFamily(registry, "krafla_evictions_held_back_total",
                    "Evictions that had to wait for the limits; each time once")
          .Add({});
  Gauge& leading = GaugeFamily(registry, "krafla_leading", "1: this process schedules").Add({});
  Family<Counter>& reloads = CounterFamily(registry, "krafla_config_reloads_total",
                                           "Configurations read again, by result");
  Counter& reloads_taken = reloads.Add({{"result", "taken"}});
  Counter& reloads_refused = reloads.Add({{"result", "refused"}});
  ByLabel<Gauge> watch_lag{GaugeFamily(registry, "krafla_watch_lag_seconds",
                                       "Since the last word of a watch, a bookmark at least"),
                           "kind"};
  Gauge& state_bytes =
      GaugeFamily(registry, "krafla_state_bytes", "Texts of objects kept for those who look in")
          .Add({});
  Gauge& state_gaps = GaugeFamily(registry, "krafla_state_gaps_total",
                                  "Times that whoever keeps them did not keep up")
                          .Add({});
  Gauge& record_bytes =
      GaugeFamily(registry, "krafla_record_bytes", "Size of the record, at its last segment")
          .Add({});
  Gauge& record_failures = GaugeFamily(registry, "krafla_record_failures_total",
                                       "Times that the record could not be written")
                               .Add({});
  ClusterMetrics cluster{registry};
};

ServeMetrics::ServeMetrics() : families_(std::make_unique<Families>()) {}
ServeMetrics::~ServeMetrics() = default;

void ServeMetrics::Cycle(const Session& session, const std::vector<JobPhaseChange>& phases,
                         double wall_ms) {
  Families& f = *families_;
  f.cluster.Cycle(session, phases);
  const Cluster& c = session.cluster;
  f.cycles.Increment();
  f.cycle.Observe(wall_ms);
  for (const StepTime& step : session.step_times) {
    f.phase.Get(step.name).Set(step.wall_ms / 1000);
    if (step.name == "open") {
      f.open.Observe(step.wall_ms);
    } else if (step.name != "close") {
      f.action.Get(step.name, Doubling(1, 14)).Observe(step.wall_ms);
    }
  }
  int jobs = 0;
  int tasks = 0;
  for (const Job& job : c.jobs) {
    const int waiting = job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kPipelined);
    if (waiting == 0) continue;
    ++jobs;
    tasks += waiting;
  }
  f.unscheduled_jobs.Set(jobs);
  f.unscheduled_tasks.Set(tasks);
  f.attempts.Get("scheduled").Increment(static_cast<double>(session.plan.binds.size()));
  f.attempts.Get("unschedulable").Increment(tasks);

  TaskId last;
  for (const Eviction& eviction : session.plan.evictions) {
    const Task& victim = c.tasks[eviction.task];
    f.evictions
        .Add({{"action", std::string(eviction.action)},
              {"queue",
               victim.job.valid() ? std::string(c.QueueName(c.jobs[victim.job].queue)) : ""},
              {"reason", std::string(ToString(ReasonOf(session, eviction)))}})
        .Increment();
    if (eviction.for_task.valid() && eviction.for_task != last) f.preemptions.Increment();
    last = eviction.for_task;
  }
  if (!session.plan.evictions.empty())
    f.victims.Set(static_cast<double>(session.plan.evictions.size()));

  for (const QueueId id : c.queues_by_name) {
    const std::string_view name = c.QueueName(id);
    f.weight.Get(name).Set(c.queues[id].weight);
    const QueueReport& report = session.queue_reports[id];
    const double share = report.known ? report.share : 0;  // nobody is there
    f.share.Get(name).Set(share);
    f.overused.Get(name).Set(share > 1 ? 1 : 0);
  }
  const auto there = [&](const std::string& name) { return c.FindQueue(name).valid(); };
  for (ByLabel<Gauge>* family : {&f.weight, &f.share, &f.overused}) family->Prune(there);
}

void ServeMetrics::Bound(double seconds_since_creation) {
  families_->task.Observe(seconds_since_creation * 1000);
}

void ServeMetrics::Set(const Levels& levels) {
  Families& f = *families_;
  f.effects.Set(levels.effects_in_flight);
  f.statuses.Set(levels.statuses_waiting);
  f.events.Set(levels.events_waiting);
  f.events_sent.Set(levels.events_sent);
  f.events_dropped.Set(levels.events_dropped);
  f.bind_failures.Set(levels.bind_failures);
  f.eviction_failures.Set(levels.eviction_failures);
  f.repeated.Set(levels.requests_repeated);
  f.malformed.Set(levels.objects_malformed);
  f.rebuilds.Set(levels.table_rebuilds);
  f.waiting_pods.Set(levels.waiting_pods);
  f.re_evictions.Set(levels.re_evictions);
  f.eviction_loops.Set(levels.eviction_loops);
  f.rollbacks.Set(levels.rollbacks);
  f.leading.Set(levels.leading);
}

void ServeMetrics::EvictionLimit(bool reached, double more) {
  families_->eviction_limit_reached.Set(reached ? 1 : 0);
  families_->evictions_held_back.Increment(more);
}

void ServeMetrics::EvictionStorm() {
  families_->eviction_storms.Increment();
}

void ServeMetrics::WatchLag(std::string_view kind, double seconds) {
  families_->watch_lag.Get(kind).Set(seconds);
}

void ServeMetrics::Kept(const StateKeeper::Figures& figures) {
  Families& f = *families_;
  f.state_bytes.Set(static_cast<double>(figures.objects_bytes));
  f.state_gaps.Set(static_cast<double>(figures.gaps));
  f.record_bytes.Set(static_cast<double>(figures.record.bytes));
  f.record_failures.Set(static_cast<double>(figures.record.failures));
}

void ServeMetrics::ConfigReload(bool taken) {
  (taken ? families_->reloads_taken : families_->reloads_refused).Increment();
}

std::string ServeMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace krafla
