// How a run goes:
//   1. Everything is read and checked (workload.h); the cluster of the start is put together.
//   2. What will happen stands in a queue by time. The clock jumps from one happening to the next.
//   3. Cycles run on a grid, start + k * schedule period (or cycle delay, where the scenario gives
//      one): at the first grid point at which the scheduling loop says that one is due, after
//      everything else of that instant has happened.
//   4. Decisions take effect in the world at once, and the scheduler is told when its session is
//      over.
#include "sim/simulation.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/did_you_mean.h"
#include "explain/eviction_story.h"
#include "scheduler/refusal_hold.h"
#include "scheduler/scheduling_loop.h"
#include "session/eviction_reason.h"
#include "sim/cycle_observer.h"
#include "sim/fault_injector.h"
#include "sim/workload.h"
#include "sim/zone_watch.h"

namespace krafla {

namespace {

ReadClusterOptions ReadOptionsOf(const SchedulerConfig& config) {
  ReadClusterOptions read;
  read.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  read.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  return read;
}

BudgetRules BudgetRulesOf(const Compatibility& compat) {
  return {.floor = compat.budget_floor,
          .max_unavailable_wins = compat.budget_precedence,
          .unreadable_protects = compat.budget_unreadable};
}

constexpr int64_t kProgressSteps = 1000;

}  // namespace

class Simulation::Impl final : public DecisionSink {
 public:
  Impl(const Scenario& scenario, SchedulerConfig config, Log& log, SimulationOptions options)
      : scenario_(scenario),
        options_(options),
        read_options_(ReadOptionsOf(config)),
        now_(scenario.start),
        draws_(scenario.seed),
        live_(BuildOptionsOf(read_options_)),
        templates_(live_, read_options_),
        world_(live_, templates_, config.compatibility),
        events_(world_, now_),
        active_faults_(scenario.faults, draws_),
        controller_(world_, queue_, events_, draws_, now_, scenario.recreate_after_ns,
                    BudgetRulesOf(config.compatibility)),
        kubelet_(world_, queue_, events_, draws_, active_faults_, controller_, now_,
                 scenario.kubelet),
        injector_(scenario.faults, world_, queue_, events_, kubelet_, active_faults_, draws_),
        zones_(config, scenario.zone, world_, events_),
        observer_(world_, queue_, events_, zones_, now_),
        loop_(live_, std::move(config), scenario.zone, log) {
    if (options_.every_tick) loop_.SearchAlways();
    loop_.SetSteadyClock([this] { return now_.ns; });
    loop_.SetSchedulePeriod(scenario.schedule_period_ns);
    loop_.SetFollowsChanges(CyclePeriod() < scenario.schedule_period_ns);
  }

  bool Prepare(Diagnostics& diagnostics);
  void AddObserver(SimObserver* observer) { events_.AddObserver(observer); }
  SimulationResult Run(const std::function<void(const Progress&)>& progress);

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override;

 private:
  void Begin();
  void Apply(const Workload::Manifest& manifest, const RunTime& run_time);
  void Handle(const Timer& timer);
  void HandleFault(const Timer& timer);
  void HandlePod(const Timer& timer);
  void Arrive(uint32_t index, uint32_t number);
  void PlanArrival(uint32_t index, uint32_t number, Timestamp after);
  void LookAtZones();
  Timestamp SchedulerNow() const { return After(now_, active_faults_.ClockOffsetNs()); }
  int64_t CyclePeriod() const {
    return scenario_.cycle_delay_ns > 0 ? scenario_.cycle_delay_ns : scenario_.schedule_period_ns;
  }
  Timestamp GridPoint(int64_t tick) const { return After(scenario_.start, tick * CyclePeriod()); }
  void Submit(const JobTemplate& made_of, StrId name, const JobShape& shape);
  int64_t TickAtOrAfter(Timestamp at) const;
  int64_t NextCycleTick() const;
  void RunCycle(int64_t tick);
  void ApplyBind(const Session& session, const Bind& bind);
  void HoldRefused(SimPodId pod);
  void ApplyEviction(const Session& session, size_t index, const EvictionStories& stories);
  void Report(const std::function<void(const Progress&)>& progress);

  const Scenario& scenario_;
  const SimulationOptions options_;
  const ReadClusterOptions read_options_;
  Timestamp now_;
  Draws draws_;
  EventQueue queue_;
  LiveCluster live_;
  Templates templates_;
  World world_;
  EventTeller events_;
  ActiveFaults active_faults_;
  JobController controller_;
  Kubelet kubelet_;
  FaultInjector injector_;
  ZoneWatch zones_;
  CycleObserver observer_;
  SchedulingLoop loop_;

  Workload workload_;
  bool prepared_ = false;
  bool sound_ = false;
  int64_t next_tick_ = 0;       // the first at which no cycle has run
  bool clock_changed_ = false;  // since the last cycle
  bool due_ = false;            // the cycle that runs was due
  uint64_t due_cycles_ = 0;
  uint32_t zone_token_ = 0;
  int64_t evictions_ = 0;
};

// ---- before

bool Simulation::Impl::Prepare(Diagnostics& diagnostics) {
  prepared_ = true;
  workload_ = ReadWorkload(scenario_, live_, templates_, read_options_, diagnostics);
  if (diagnostics.HasErrors()) return false;
  FactCollector& facts = *workload_.at_start.facts;
  for (QueueFacts& queue : facts.queues) live_.AddQueue(std::move(queue));
  for (const PriorityClassFacts& entry : facts.priority_classes) live_.AddPriorityClass(entry);
  for (const auto& add : facts.others) add(live_);
  std::vector<PriorityClassFacts> classes = facts.priority_classes;
  for (const Workload::Manifest& manifest : workload_.manifests)
    classes.insert(classes.end(), manifest.facts->priority_classes.begin(),
                   manifest.facts->priority_classes.end());
  world_.SetPriorityClasses(std::move(classes));
  // Every kind of resource is known by now: amounts get their final numbers.
  world_.FollowKinds();
  std::sort(facts.nodes.begin(), facts.nodes.end(), [&](const NodeFacts& a, const NodeFacts& b) {
    return world_.Text(a.node.name) < world_.Text(b.node.name);
  });
  for (NodeFacts& node : facts.nodes) world_.AddNode(std::move(node));
  std::vector<std::string> kinds;
  for (int kind = 0; kind < live_.kinds().size(); ++kind) kinds.push_back(live_.kinds().Name(kind));
  live_.cluster();
  world_.FollowKinds();
  Renumbering to;
  for (const std::string& kind : kinds) to.push_back(live_.kinds().Find(kind));
  for (Workload::Manifest& manifest : workload_.manifests) {
    for (NodeFacts& node : manifest.facts->nodes) Renumber(node, to);
    for (QueueFacts& queue : manifest.facts->queues) Renumber(queue, to);
  }
  for (const Diagnostic& problem : live_.warnings().items()) diagnostics.Add(problem);
  sound_ = !diagnostics.HasErrors();
  return sound_;
}

// ---- the run

void Simulation::Impl::Begin() {
  SimEvent& event = events_.Begin(SimEventKind::kRunBegins);
  event.text = scenario_.name;
  event.count = static_cast<int64_t>(scenario_.seed);
  events_.Send();
  for (SimNodeId node{0}; node.value < world_.nodes().size(); ++node.value) {
    events_.BeginNode(SimEventKind::kNodeAdded, node).amounts =
        world_.Amounts(world_.nodes()[node].facts.allocatable);
    events_.Send();
  }
  LookAtZones();
  injector_.PlanAll();
  Apply(workload_.at_start, {});
  const auto plan = [&](const auto& list, TimerKind kind) {
    for (uint32_t i = 0; i < list.size(); ++i)
      queue_.Plan(std::max(list[i].at, scenario_.start), kind, i);
  };
  plan(scenario_.manifest_submissions, TimerKind::kManifest);
  plan(scenario_.submissions, TimerKind::kSubmission);
  for (uint32_t i = 0; i < scenario_.arrivals.size(); ++i)
    PlanArrival(i, 1, std::max(scenario_.arrivals[i].from, scenario_.start));
}

SimulationResult Simulation::Impl::Run(const std::function<void(const Progress&)>& progress) {
  if (!prepared_) {
    Diagnostics diagnostics;
    Prepare(diagnostics);
  }
  KRAFLA_CHECK(sound_, "a scenario with errors is not run");
  Begin();
  const int64_t step =
      std::max<int64_t>(1, (scenario_.until.ns - scenario_.start.ns) / kProgressSteps);
  Timestamp report_at = scenario_.start;
  constexpr Timestamp kNever{std::numeric_limits<int64_t>::max()};
  for (;;) {
    const int64_t tick = NextCycleTick();
    const Timestamp cycle_at = tick >= 0 ? GridPoint(tick) : kNever;
    const Timestamp timer_at = queue_.empty() ? kNever : queue_.next().at;
    const Timestamp at = std::min(cycle_at, timer_at);
    if (at == kNever || at > scenario_.until) break;
    now_ = at;
    if (progress && now_ >= report_at) {
      Report(progress);
      report_at = After(now_, step);
    }
    // Everything of an instant happens before its cycle.
    if (timer_at <= cycle_at) {
      Handle(queue_.Take());
    } else {
      RunCycle(tick);
    }
    zones_.LookForEmptyZones(now_);
  }
  now_ = scenario_.until;
  if (progress) Report(progress);
  events_.Begin(SimEventKind::kRunEnds);
  events_.Send();
  const int64_t ticks = (scenario_.until.ns - scenario_.start.ns) / CyclePeriod() + 1;
  return {.end = now_,
          .cycles = loop_.cycles(),
          .due_cycles = due_cycles_,
          .skipped_ticks = static_cast<uint64_t>(ticks) - loop_.cycles(),
          .events = events_.count(),
          .pods_created = controller_.pods_created(),
          .jobs_submitted = controller_.jobs_submitted(),
          .jobs_completed = controller_.jobs_completed()};
}

void Simulation::Impl::Report(const std::function<void(const Progress&)>& progress) {
  progress({.now = now_,
            .begin = scenario_.start,
            .end = scenario_.until,
            .cycles = loop_.cycles(),
            .events = events_.count(),
            .running_pods = world_.Count(PodState::kRunning),
            .pending_pods = world_.Count(PodState::kPending),
            .evictions = evictions_});
}

// ---- the clock

int64_t Simulation::Impl::TickAtOrAfter(Timestamp at) const {
  // A timer may be centuries away; one tick after the end is as good as never.
  const int64_t period = CyclePeriod();
  const Timestamp reachable = std::min(at, After(scenario_.until, period));
  const int64_t since = std::max<int64_t>(0, reachable.ns - scenario_.start.ns);
  return since / period + (since % period != 0 ? 1 : 0);
}

// The grid point at which the next cycle runs if nothing else happens before; -1 when none does.
int64_t Simulation::Impl::NextCycleTick() const {
  const int64_t soonest = std::max(next_tick_, TickAtOrAfter(now_));
  if (options_.every_tick || clock_changed_ || loop_.IsDue(SchedulerNow())) return soonest;
  const std::optional<Timestamp> timer = loop_.next_timer();
  if (!timer) return -1;
  return std::max(soonest, TickAtOrAfter(After(*timer, -active_faults_.ClockOffsetNs())));
}

void Simulation::Impl::RunCycle(int64_t tick) {
  next_tick_ = tick + 1;
  const Timestamp scheduler_now = SchedulerNow();
  due_ = clock_changed_ || loop_.IsDue(scheduler_now);
  due_cycles_ += due_ ? 1 : 0;
  clock_changed_ = false;
  if (options_.witness != nullptr) options_.witness->BeforeCycle(live_.cluster(), scheduler_now);
  world_.HoldTells();
  loop_.RunCycle(scheduler_now, *this);
  world_.ReleaseTells();
}

// ---- what happens

void Simulation::Impl::HandleFault(const Timer& timer) {
  const int64_t offset_before = active_faults_.ClockOffsetNs();
  const bool clock_was_set = timer.kind == TimerKind::kFaultBegins ? injector_.Begin(timer.subject)
                                                                   : injector_.End(timer.subject);
  if (!clock_was_set) return;
  clock_changed_ = true;
  const int64_t offset = active_faults_.ClockOffsetNs();
  loop_.ClockWasSet(offset - offset_before);
  if (options_.witness != nullptr) options_.witness->ClockWasSet(offset - offset_before);
  if (scenario_.max_clock_skew_ns > 0)
    loop_.SetClockSkew(std::abs(offset) > scenario_.max_clock_skew_ns
                           ? std::optional(offset / Timestamp::kNsPerSecond)
                           : std::nullopt);
  LookAtZones();
}

void Simulation::Impl::Handle(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kSubmission: {
      const JobShape& shape = scenario_.submissions[timer.subject].job;
      Submit(*workload_.submissions[timer.subject], live_.strings().Intern(shape.name), shape);
      break;
    }
    case TimerKind::kArrival:
      Arrive(timer.subject, timer.token);
      break;
    case TimerKind::kManifest:
      Apply(workload_.manifests[timer.subject],
            scenario_.manifest_submissions[timer.subject].run_time);
      break;
    case TimerKind::kPodStarts:
    case TimerKind::kPodEnds:
    case TimerKind::kPodGone:
    case TimerKind::kPodRecreated:
      HandlePod(timer);
      break;
    case TimerKind::kHoldEnds:
      world_.EndHold(SimPodId(timer.subject), timer.token);
      break;
    case TimerKind::kFaultBegins:
    case TimerKind::kFaultEnds:
      HandleFault(timer);
      break;
    case TimerKind::kZonesChange:
      if (timer.token == zone_token_) LookAtZones();
      break;
    case TimerKind::kShareDue:
      observer_.OnShareDue(timer.subject);
      break;
  }
}

void Simulation::Impl::HandlePod(const Timer& timer) {
  const SimPodId pod(timer.subject);
  if (world_.pod(pod).token != timer.token) return;  // something else has happened to it
  if (timer.kind == TimerKind::kPodStarts) kubelet_.Start(pod);
  if (timer.kind == TimerKind::kPodEnds) kubelet_.End(pod);
  if (timer.kind == TimerKind::kPodGone) kubelet_.Gone(pod);
  if (timer.kind == TimerKind::kPodRecreated) controller_.Create(pod);
}

void Simulation::Impl::PlanArrival(uint32_t index, uint32_t number, Timestamp after) {
  const Arrivals& arrivals = scenario_.arrivals[index];
  if (arrivals.limit >= 0 && static_cast<int64_t>(number) > arrivals.limit) return;
  int64_t gap = number == 1 ? 0 : arrivals.every_ns;
  if (arrivals.process == Arrivals::Process::kPoisson) {
    const std::string name = arrivals.job.ns + "/" + arrivals.job.name;
    gap = DrawGapNs(arrivals.every_ns, draws_.Unit("arrival", name, number));
  }
  const Timestamp at = After(after, gap);
  if (arrivals.until.Present() && at >= arrivals.until) return;
  queue_.Plan(at, TimerKind::kArrival, index, number);
}

void Simulation::Impl::Arrive(uint32_t index, uint32_t number) {
  const JobShape& shape = scenario_.arrivals[index].job;
  const StrId name = live_.strings().Intern(fmt::format("{}-{}", shape.name, number));
  Submit(*workload_.arrivals[index], name, shape);
  PlanArrival(index, number + 1, now_);
}

void Simulation::Impl::Submit(const JobTemplate& made_of, StrId name, const JobShape& shape) {
  if (shape.create_every_ns < 0) {
    controller_.Submit(made_of, name, shape.run_time, shape.keeps_work);
  } else {
    controller_.SubmitSlowly(made_of, name, shape.run_time, shape.keeps_work,
                             shape.create_every_ns);
  }
}

// The start has its nodes and queues already.
void Simulation::Impl::Apply(const Workload::Manifest& manifest, const RunTime& run_time) {
  if (&manifest != &workload_.at_start) {
    for (const QueueFacts& queue : manifest.facts->queues) live_.AddQueue(queue);
    for (const PriorityClassFacts& entry : manifest.facts->priority_classes)
      live_.AddPriorityClass(entry);
    for (const auto& add : manifest.facts->others) add(live_);
    for (const NodeFacts& node : manifest.facts->nodes) {
      if (world_.FindNode(node.node.name).valid()) continue;
      const SimNodeId id = world_.AddNode(node);
      events_.BeginNode(SimEventKind::kNodeAdded, id).amounts = world_.Amounts(node.allocatable);
      events_.Send();
    }
  }
  for (const JobTemplate* made_of : manifest.jobs) {
    const SimJobId job =
        controller_.AddJob(*made_of, made_of->group.job.name, run_time, /*keeps_work=*/false);
    // Adopting the last pod of a job that has finished removes it.
    const std::vector<SimPodId> pods = world_.job(job).pods;
    for (const SimPodId pod : pods) controller_.Create(pod);
    // No cycle sees such a job, and none can say why it waits.
    const std::string queue(world_.Text(made_of->group.queue));
    if (made_of->has_group && workload_.missing_queues.contains(queue)) {
      events_.BeginJob(SimEventKind::kJobWaiting, job).text =
          fmt::format("there is no queue {}", Quoted(queue));
      events_.Send();
    }
    for (const SimPodId pod : pods) kubelet_.Adopt(pod);
  }
}

void Simulation::Impl::LookAtZones() {
  const std::optional<Timestamp> change = zones_.Look(now_, SchedulerNow());
  ++zone_token_;
  if (change)
    queue_.Plan(After(*change, -active_faults_.ClockOffsetNs()), TimerKind::kZonesChange, 0,
                zone_token_);
}

// ---- decisions

void Simulation::Impl::OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) {
  if (options_.witness != nullptr) options_.witness->AfterCycle(session);
  for (const Bind& bind : session.plan.binds) ApplyBind(session, bind);
  if (!session.plan.evictions.empty()) {
    const EvictionStories stories(session);
    for (size_t i = 0; i < session.plan.evictions.size(); ++i) ApplyEviction(session, i, stories);
  }
  for (const EvictionLedger::Ring& ring : loop_.TakeEvictionRings())
    events_.TellText(SimEventKind::kEvictionLoop, ring.text);
  observer_.OnPhases(session, phases);
  for (const JobPhaseChange& change : phases) {
    if (change.before != JobPhase::kPending) continue;
    const Job& job = session.cluster.jobs[change.job];
    controller_.OnAdmitted(world_.FindJob(job.ns, job.name));
  }
  if (due_) observer_.OnCycle(session);
}

void Simulation::Impl::ApplyBind(const Session& session, const Bind& bind) {
  const Cluster& cluster = session.cluster;
  const Task& task = cluster.tasks[bind.task];
  const SimPodId pod = world_.FindPod(task.ns, task.name);
  const SimNodeId node = world_.FindNode(cluster.nodes[bind.node].name);
  KRAFLA_CHECK(pod.valid() && node.valid(), cluster.TaskKey(bind.task));
  KRAFLA_CHECK(world_.pod(pod).state == PodState::kPending, cluster.TaskKey(bind.task));
  const std::string_view node_name = cluster.NodeName(bind.node);
  if (active_faults_.Refuses(Fault::Kind::kBindFails, world_.PodKey(pod), node_name,
                             world_.pod(pod).tries)) {
    SimEvent& event = events_.BeginPod(SimEventKind::kBindFailed, pod);
    event.node = node_name;
    event.action = bind.action;
    event.text = "the API server refused to bind";
    events_.Send();
    HoldRefused(pod);
    return;
  }
  world_.pod(pod).refusals = 0;
  kubelet_.Bind(pod, node);
  events_.BeginPod(SimEventKind::kPodBound, pod).action = bind.action;
  events_.Send();
}

// As in a live cluster: whoever is refused is not asked about again at once.
void Simulation::Impl::HoldRefused(SimPodId id) {
  SimPod& pod = world_.pod(id);
  ++pod.tries;
  const std::chrono::nanoseconds hold = HoldAfterRefusal(pod.refusals++);
  queue_.Plan(After(now_, hold.count()), TimerKind::kHoldEnds, id.value, world_.Hold(id));
}

void Simulation::Impl::ApplyEviction(const Session& session, size_t index,
                                     const EvictionStories& stories) {
  const Cluster& cluster = session.cluster;
  const Eviction& eviction = session.plan.evictions[index];
  const Task& task = cluster.tasks[eviction.task];
  const SimPodId id = world_.FindPod(task.ns, task.name);
  KRAFLA_CHECK(id.valid(), cluster.TaskKey(eviction.task));
  const SimPod& pod = world_.pod(id);
  KRAFLA_CHECK(pod.state == PodState::kBound || pod.state == PodState::kRunning,
               cluster.TaskKey(eviction.task));
  const std::string_view node = world_.Text(world_.nodes()[pod.node].facts.node.name);
  if (active_faults_.Refuses(Fault::Kind::kEvictFails, world_.PodKey(id), node, pod.tries)) {
    SimEvent& event = events_.BeginPod(SimEventKind::kEvictFailed, id);
    event.action = eviction.action;
    event.text = "the API server refused to evict";
    events_.Send();
    HoldRefused(id);
    return;
  }
  world_.pod(id).refusals = 0;
  ++evictions_;
  SimEvent& event = events_.BeginPod(SimEventKind::kPodEvicted, id);
  event.action = eviction.action;
  event.reason = ToString(ReasonOf(session, eviction));
  if (eviction.for_task.valid()) {
    event.for_pod = cluster.TaskKey(eviction.for_task);
    const JobId for_job = cluster.tasks[eviction.for_task].job;
    if (for_job.valid()) event.for_job = cluster.JobKey(for_job);
  }
  for (size_t i = 0; i < session.plugin_names().size(); ++i)
    if ((eviction.permitted_by >> i) & 1) event.permitted_by.push_back(session.plugin_names()[i]);
  loop_.EvictionTaken(event.pod);
  event.text = stories.Story(index);
  if (!world_.job(pod.job).keeps_work)
    event.count = kubelet_.WorkDoneNs(id) / Timestamp::kNsPerSecond;
  events_.Send();
  kubelet_.Evict(id);
}

// ---- the class outside

Simulation::Simulation(const Scenario& scenario, SchedulerConfig config, Log& log,
                       SimulationOptions options)
    : impl_(std::make_unique<Impl>(scenario, std::move(config), log, options)) {}

Simulation::~Simulation() = default;

bool Simulation::Prepare(Diagnostics& diagnostics) {
  return impl_->Prepare(diagnostics);
}

void Simulation::AddObserver(SimObserver* observer) {
  impl_->AddObserver(observer);
}

SimulationResult Simulation::Run(const std::function<void(const Progress&)>& progress) {
  return impl_->Run(progress);
}

}  // namespace krafla
