#include "kube/serve_metrics.h"

#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include <prometheus/text_serializer.h>

#include "kube/cluster_metrics.h"
#include "kube/http_channel.h"
#include "kube/metric_families.h"
#include "kube/process_metrics.h"
#include "kube/request_kind.h"
#include "session/eviction_reason.h"

namespace krafla {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

const std::string kPrefix = kVolcanoPrefix;

const Histogram::BucketBoundaries kRequestSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,  0.5,    1,     2.5,  5,     10,   30};

// Counts and durations of requests to the API server. Several channels report at the same time.
class RequestFigures {
 public:
  explicit RequestFigures(Registry& registry)
      : requests_(CounterFamily(registry, "krafla_api_requests_total",
                                "Requests to the API server, by result")),
        durations_(HistogramFamily(registry, "krafla_api_request_duration_seconds",
                                   "Duration of requests to the API server; of watches, until they "
                                   "open")) {}

  void Add(const RequestOutcome& outcome) {
    const RequestKind kind = KindOf(outcome.method, outcome.target);
    const int status = outcome.response.status;
    const int code = status >= 100 && status <= 599 ? status : 0;
    const std::scoped_lock lock(mutex_);
    Figures& figures = by_kind_[{kind.verb, kind.resource}];
    if (figures.duration == nullptr)
      figures.duration = &durations_.Add(LabelsOf(kind), kRequestSeconds);
    figures.duration->Observe(std::chrono::duration<double>(outcome.duration).count());
    Counter*& counter = figures.by_code[code];
    if (counter == nullptr) {
      prometheus::Labels with_code = LabelsOf(kind);
      with_code["code"] = code == 0 ? std::string("error") : std::to_string(code);
      counter = &requests_.Add(with_code);
    }
    counter->Increment();
  }

 private:
  struct Figures {
    Histogram* duration = nullptr;
    std::map<int, Counter*> by_code;  // 0: no answer
  };
  static prometheus::Labels LabelsOf(const RequestKind& kind) {
    return {{"verb", std::string(kind.verb)}, {"resource", std::string(kind.resource)}};
  }

  Family<Counter>& requests_;
  Family<Histogram>& durations_;
  std::mutex mutex_;
  // Verbs and resources are of a fixed set and live for ever.
  std::map<std::pair<std::string_view, std::string_view>, Figures> by_kind_;
};

// A label of krafla_build_info.
constexpr std::string_view CompilerName() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

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
  Counter& events_sent =
      CounterFamily(registry, "krafla_events_sent_total", "Events the server has taken").Add({});
  Counter& events_dropped =
      CounterFamily(registry, "krafla_events_dropped_total", "Events given up").Add({});
  Family<Counter>& failures = CounterFamily(registry, "krafla_effect_failures_total",
                                            "Effects the server refused for good");
  Counter& bind_failures = failures.Add({{"effect", "bind"}});
  Counter& eviction_failures = failures.Add({{"effect", "evict"}});
  Counter& repeated = CounterFamily(registry, "krafla_requests_repeated_total",
                                    "Requests sent again after an answer that may change")
                          .Add({});
  Counter& malformed = CounterFamily(registry, "krafla_objects_malformed_total",
                                     "Objects with fields that could not be read")
                           .Add({});
  Counter& rebuilds = CounterFamily(registry, "krafla_table_rebuilds_total",
                                    "How often the tables were rebuilt from all facts")
                          .Add({});
  Gauge& waiting_pods =
      GaugeFamily(registry, "krafla_waiting_pods", "Pods that wait for a place").Add({});
  Counter& rollbacks = CounterFamily(registry, "krafla_etcd_rollbacks_total",
                                     "Times that etcd has gone back to an earlier state")
                           .Add({});
  Counter& re_evictions = CounterFamily(registry, "krafla_re_evictions_total",
                                        "Evictions from PodGroups that have lost pods before")
                              .Add({});
  Counter& eviction_loops = CounterFamily(registry, "krafla_eviction_loops_total",
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
  ByLabel<Gauge> quarantined{
      GaugeFamily(registry, "krafla_quarantined_objects",
                  "Objects left out because an internal check failed while they were handled"),
      "kind"};
  Counter& check_failures = CounterFamily(registry, "krafla_internal_check_failures_total",
                                          "Internal checks that failed, each a bug")
                                .Add({});
  Gauge& suspended = GaugeFamily(registry, "krafla_scheduling_suspended",
                                 "1: no cycle can be run, because internal checks fail")
                         .Add({});
  Gauge& skipped_actions =
      GaugeFamily(registry, "krafla_skipped_actions",
                  "Actions left out of cycles for now, because internal checks fail in them")
          .Add({});
  Gauge& leading = GaugeFamily(registry, "krafla_leading", "1: this process schedules").Add({});
  Gauge& controllers_seen =
      GaugeFamily(registry, "krafla_volcano_controllers_seen",
                  "1: Volcano's controllers were seen, pods without PodGroup wait for theirs")
          .Add({});
  Counter& burst_waits =
      CounterFamily(registry, "krafla_burst_waits_total",
                    "Jobs whose pods beyond minMember waited for the jobs of a burst")
          .Add({});
  Family<Counter>& reloads = CounterFamily(registry, "krafla_config_reloads_total",
                                           "Configurations read again, by result");
  Counter& reloads_taken = reloads.Add({{"result", "taken"}});
  Counter& reloads_refused = reloads.Add({{"result", "refused"}});
  ByLabel<Gauge> watch_lag{GaugeFamily(registry, "krafla_watch_lag_seconds",
                                       "Since the last word of a watch, a bookmark at least"),
                           "kind"};
  Gauge& heartbeat_age = GaugeFamily(registry, "krafla_heartbeat_age_seconds",
                                     "Since the scheduling thread entered the phase it is in")
                             .Add({});
  Family<Gauge>& lease_age =
      GaugeFamily(registry, "krafla_lease_renewal_age_seconds",
                  "Since the leader lease was seen to be renewed, by this replica or another one");
  Family<Gauge>& clock_skew =
      GaugeFamily(registry, "krafla_clock_skew_seconds",
                  "By how much this machine's clock is ahead of the API server's");
  Gauge& state_bytes =
      GaugeFamily(registry, "krafla_state_bytes", "Texts of objects kept for those who look in")
          .Add({});
  Counter& state_gaps =
      CounterFamily(registry, "krafla_state_gaps_total", "Times that their keeper did not keep up")
          .Add({});
  Gauge& record_bytes =
      GaugeFamily(registry, "krafla_record_bytes", "Size of the record, at its last segment")
          .Add({});
  Counter& record_failures = CounterFamily(registry, "krafla_record_failures_total",
                                           "Times that the record could not be written")
                                 .Add({});
  Family<Counter>& page_requests =
      CounterFamily(registry, "krafla_page_requests_total",
                    "Requests to /metrics and /api/v1, by what became of the caller");
  Family<Counter>& page_reviews =
      CounterFamily(registry, "krafla_page_reviews_total",
                    "TokenReviews and SubjectAccessReviews of callers of the pages");
  RequestFigures requests{registry};
  Family<Counter>& page_processes =
      CounterFamily(registry, "krafla_page_processes_total",
                    "Processes that made a page of the API, by page and what became of it");
  PageProcesses::Counts page_processes_seen;
  Gauge& page_processes_running =
      GaugeFamily(registry, "krafla_page_processes_running", "Processes that make a page now")
          .Add({});
  ClusterMetrics cluster{registry};
};

ServeMetrics::ServeMetrics(std::string_view version) : families_(std::make_unique<Families>()) {
  GaugeFamily(families_->registry, "krafla_build_info", "1; the labels say which build this is")
      .Add({{"version", std::string(version)}, {"compiler", std::string(CompilerName())}})
      .Set(1);
}
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

  for (const CycleMemory::SurplusWait& wait : session.memory.surplus_waits)
    if (!wait.job.empty() && wait.since == session.now) f.burst_waits.Increment();

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
  RaiseTo(f.events_sent, levels.events_sent);
  RaiseTo(f.events_dropped, levels.events_dropped);
  RaiseTo(f.bind_failures, levels.bind_failures);
  RaiseTo(f.eviction_failures, levels.eviction_failures);
  RaiseTo(f.repeated, levels.requests_repeated);
  RaiseTo(f.malformed, levels.objects_malformed);
  RaiseTo(f.rebuilds, levels.table_rebuilds);
  f.waiting_pods.Set(levels.waiting_pods);
  RaiseTo(f.re_evictions, levels.re_evictions);
  RaiseTo(f.eviction_loops, levels.eviction_loops);
  RaiseTo(f.rollbacks, levels.rollbacks);
  f.leading.Set(levels.leading);
  f.controllers_seen.Set(levels.controllers_seen);
}

void ServeMetrics::EvictionLimit(bool reached, double more) {
  families_->eviction_limit_reached.Set(reached ? 1 : 0);
  families_->evictions_held_back.Increment(more);
}

void ServeMetrics::EvictionStorm() {
  families_->eviction_storms.Increment();
}

void ServeMetrics::Quarantined(std::string_view kind, double objects) {
  families_->quarantined.Get(kind).Set(objects);
}

void ServeMetrics::InternalChecksFailed(double more) {
  families_->check_failures.Increment(more);
}

void ServeMetrics::CyclesFail(bool suspended, double skipped_actions) {
  families_->suspended.Set(suspended ? 1 : 0);
  families_->skipped_actions.Set(skipped_actions);
}

void ServeMetrics::WatchLag(std::string_view kind, double seconds) {
  families_->watch_lag.Get(kind).Set(seconds);
}

void ServeMetrics::Kept(const StateKeeper::Figures& figures) {
  Families& f = *families_;
  f.state_bytes.Set(static_cast<double>(figures.objects_bytes));
  RaiseTo(f.state_gaps, static_cast<double>(figures.gaps));
  f.record_bytes.Set(static_cast<double>(figures.record.bytes));
  RaiseTo(f.record_failures, static_cast<double>(figures.record.failures));
}

void ServeMetrics::CountPageProcesses(const PageProcesses::Counts& counts, int running) {
  Families& f = *families_;
  for (const auto& [key, count] : counts) {
    uint64_t& seen = f.page_processes_seen[key];
    f.page_processes.Add({{"page", std::string(key.first)}, {"result", std::string(key.second)}})
        .Increment(static_cast<double>(count - seen));
    seen = count;
  }
  f.page_processes_running.Set(running);
}

// A figure is absent from the page until it is known for the first time.
void ServeMetrics::SetAges(const Ages& ages) {
  families_->heartbeat_age.Set(ages.heartbeat);
  if (ages.lease_renewal) families_->lease_age.Add({}).Set(*ages.lease_renewal);
  if (ages.clock_skew) families_->clock_skew.Add({}).Set(*ages.clock_skew);
}

void ServeMetrics::ConfigReload(bool taken) {
  (taken ? families_->reloads_taken : families_->reloads_refused).Increment();
}

void ServeMetrics::PageRequest(std::string_view page, std::string_view result) {
  families_->page_requests.Add({{"page", std::string(page)}, {"result", std::string(result)}})
      .Increment();
}

void ServeMetrics::PageReview(std::string_view review, std::string_view result) {
  families_->page_reviews.Add({{"review", std::string(review)}, {"result", std::string(result)}})
      .Increment();
}

void ServeMetrics::Request(const RequestOutcome& outcome) {
  families_->requests.Add(outcome);
}

std::string ServeMetrics::Text() const {
  std::vector<prometheus::MetricFamily> families = families_->registry.Collect();
  for (prometheus::MetricFamily& family : ProcessMetrics()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace krafla
