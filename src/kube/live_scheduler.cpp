#include "kube/live_scheduler.h"

#include <algorithm>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/log_text.h"
#include "base/recovery.h"
#include "explain/eviction_story.h"
#include "kube/api_objects.h"
#include "kube/volume_choices.h"
#include "session/eviction_memory.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kConfigPeriod{1000};
constexpr milliseconds kAtEnd{50};
constexpr milliseconds kBetweenTakes{3};
constexpr std::chrono::minutes kPatienceInTrouble{5};

// Of the heartbeat, while a cycle runs.
std::string PhaseOf(std::string_view step) {
  if (step == "open" || step == "close") return fmt::format("cycle: {} session", step);
  return fmt::format("cycle: action {}", step);
}

ObjectRef RefOf(const Cluster& c, TaskId id) {
  if (!id.valid()) return {};
  const Task& task = c.tasks[id];
  return PodRef(c.Text(task.ns), c.Text(task.name), c.Text(task.uid));
}

ObjectRef GroupRefOf(const Cluster& c, JobId id) {
  if (!id.valid()) return {};
  const Job& job = c.jobs[id];
  if (ClusterMirror::IsGroupOfOne(c.Text(job.name))) return {};
  return PodGroupRef(c.Text(job.ns), c.Text(job.name), c.Text(job.uid));
}

ObjectRef GroupRef(std::string_view key, std::string_view uid) {
  const size_t slash = key.find('/');
  return PodGroupRef(key.substr(0, slash), key.substr(slash + 1), uid);
}

}  // namespace

LiveScheduler::LiveScheduler(Parts parts, SchedulingLoop& loop, Options options)
    : parts_(parts),
      loop_(loop),
      options_(std::move(options)),
      eviction_reports_(parts_.mirror, parts_.events, parts_.metrics,
                        {.scheduler = options_.scheduler,
                         .log = [this](const std::string& line) { Log(line); },
                         .on_waiting = options_.on_waiting_evictions}),
      quarantine_reports_(parts_.mirror, loop_, parts_.events, parts_.metrics,
                          {.scheduler = options_.scheduler,
                           .note = options_.quarantine_note,
                           .log = [this](const std::string& line) { Log(line); }}),
      clock_reports_(parts_.events, {.skew = options_.clock_skew,
                                     .clocks = options_.clocks,
                                     .scheduler = options_.scheduler,
                                     .log = [this](const std::string& line) { Log(line); }}) {
  loop_.RecoverFromFailedChecks(
      {.quarantine =
           [this](const SchedulingLoop::BrokenObject& object) { return LeaveOut(object); },
       .on_skip = options_.on_skip,
       .on_trial = [this] { Enter("cycle: looking for the object at fault"); }});
  loop_.SetSteadyClock([] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
        .count();
  });
  if (options_.heartbeat != nullptr)
    loop_.SetOnStep([this](std::string_view step) { Enter(PhaseOf(step)); });
  loop_.SetSchedulePeriod(std::chrono::nanoseconds(options_.schedule_period).count());
  loop_.SetFollowsChanges(options_.coalescing < options_.schedule_period);
}

void LiveScheduler::Log(const std::string& line) {
  if (options_.log) options_.log(line);
}

void LiveScheduler::Stop() {
  stop_ = true;
  parts_.inbox.Interrupt();
}

bool LiveScheduler::Take(Clock::time_point until) {
  // In a stream of news and answers each costs less when they are taken together.
  Enter("waiting for changes");
  std::this_thread::sleep_until(std::min(until, taken_at_ + kBetweenTakes));
  Inbox::Batch batch = parts_.inbox.Take(until);
  taken_at_ = Clock::now();
  Enter("reading changes");
  for (ObjectMessage& message : batch.objects) {
    something_new_ = something_new_ || !IsKnown(message);
    parts_.mirror.Apply(std::move(message));
  }
  parts_.mirror.RetryQuarantined();
  Enter("reading answers");
  for (auto& task : batch.tasks) task();
  ReadNodesAgain();
  return !stop_;
}

void LiveScheduler::ReadNodesAgain() {
  for (const std::string& node : parts_.mirror.TakeNodesToRead())
    ReadNodeAgain(node, std::string(parts_.mirror.UidOf(WatchedKind::kNode, node)), 0);
}

void LiveScheduler::ReadNodeAgain(const std::string& name, const std::string& uid, int attempt) {
  // Another version may have come, or the node be gone.
  if (parts_.mirror.UidOf(WatchedKind::kNode, name) != uid ||
      parts_.mirror.WhyQuarantined(WatchedKind::kNode, name).empty())
    return;
  parts_.client.Send(
      {.target = fmt::format("{}/{}", InfoOf(WatchedKind::kNode).path, name),
       .urgency = Urgency::kEvict},
      [this, name, uid, attempt](const HttpResponse& response) {
        ObjectMessage message{
            ObjectMessage::What::kReread, WatchedKind::kNode, Padded(response.body), {}};
        if (response.ok())
          if (Result<ObjectHead> head = parser_.ParseHead(message.object))
            message.head = std::move(*head);
        if (response.ok() && message.head.uid == uid)
          return parts_.mirror.Apply(std::move(message));
        if (!IsTransient(response)) return;  // the watch will show it
        parts_.client.After(std::max(response.retry_after.value_or(milliseconds(0)),
                                     milliseconds(500) * (1 << std::min(attempt, 7))),
                            [this, name, uid, attempt] { ReadNodeAgain(name, uid, attempt + 1); });
      });
}

bool LiveScheduler::IsKnown(const ObjectMessage& message) const {
  if (message.kind != WatchedKind::kPod && message.kind != WatchedKind::kNode &&
      message.kind != WatchedKind::kPodGroup && message.kind != WatchedKind::kQueue)
    return false;
  return message.what == ObjectMessage::What::kGone ||
         (message.what == ObjectMessage::What::kSeen &&
          parts_.mirror.UidOf(message.kind, KeyOf(message.head)) == message.head.uid);
}

bool LiveScheduler::Idle() const {
  return parts_.effects.in_flight() == 0 && parts_.statuses.open() == 0 &&
         parts_.events.waiting() == 0;
}

bool LiveScheduler::Run(milliseconds patience) {
  config_check_ = Clock::now() + kConfigPeriod;
  while (Take(NextWake())) {
    if (parts_.mirror.ReleaseLonePods()) something_new_ = true;
    if (!ready_ && parts_.mirror.synced()) {
      ready_ = true;
      Log(fmt::format(
          "caches synced nodes={} pods={} podgroups={} queues={}",
          parts_.mirror.Count(WatchedKind::kNode), parts_.mirror.Count(WatchedKind::kPod),
          parts_.mirror.Count(WatchedKind::kPodGroup), parts_.mirror.Count(WatchedKind::kQueue)));
      if (options_.on_ready) options_.on_ready();
    }
    CheckConfig();
    const bool leading = ready_ && options_.may_write();
    Enter("preparing a cycle");
    clock_reports_.Follow(loop_, leading);
    parts_.mirror.SetFollows(!leading);
    if (leading) {
      // Whoever led before us may have evicted since we last looked.
      if (!led_) {
        quarantine_reports_.Announce();
        parts_.mirror.RecallEvictions(parts_.client.Now(), loop_.memory());
        loop_.CountEvictionsUnderWay();
      }
      CreateMissingQueues();
      MaybeRunCycle();
    } else if (!has_led_) {
      parts_.mirror.TakeChangedGroups();  // nobody else does
    }
    Enter("reporting");
    led_ = leading;
    has_led_ = has_led_ || leading;
    eviction_reports_.Follow(loop_, Clock::now());
    quarantine_reports_.Follow(leading);
    SetLevels();
    if (leading && GivesUp()) {
      Log("no cycle could be run for 5 minutes; another process may lead");
      gave_up_ = true;
      break;
    }
  }
  // Nothing new is begun; what was begun is brought to its end.
  const auto deadline = Clock::now() + patience;
  parts_.statuses.Flush();
  while (!Idle() && Clock::now() < deadline && options_.may_write())
    Take(std::min(deadline, Clock::now() + kAtEnd));
  Enter({});  // it ends
  return Idle() && !gave_up_;
}

bool LiveScheduler::GivesUp() {
  if (!loop_.trouble().suspended_since) {
    no_cycle_since_.reset();
    return false;
  }
  if (!no_cycle_since_) no_cycle_since_ = Clock::now();
  return Clock::now() - *no_cycle_since_ > kPatienceInTrouble;
}

bool LiveScheduler::LeaveOut(const SchedulingLoop::BrokenObject& object) {
  using Kind = LiveCluster::ObjectName::Kind;
  switch (object.kind) {
    case Kind::kPodGroup:
      return parts_.mirror.LeaveOut(WatchedKind::kPodGroup, object.ns + "/" + object.name,
                                    object.check);
    case Kind::kPod:
      return parts_.mirror.LeaveOut(WatchedKind::kPod, object.ns + "/" + object.name, object.check);
    case Kind::kNode:
      return parts_.mirror.LeaveOut(WatchedKind::kNode, object.name, object.check);
    case Kind::kQueue:
      return parts_.mirror.LeaveOut(WatchedKind::kQueue, object.name, object.check);
  }
  return false;
}

LiveScheduler::Clock::time_point LiveScheduler::NextWake() const {
  const auto now = Clock::now();
  auto wake = now + std::max(options_.longest_wait, milliseconds(1));
  if (options_.changed_config) wake = std::min(wake, config_check_);
  if (const std::optional<int64_t> release = parts_.mirror.next_release_ns())
    wake = std::min(wake, Clock::time_point(std::chrono::nanoseconds(*release)));
  if (const auto retry = parts_.mirror.quarantine().NextDue())
    wake = std::min(wake, std::max(now, *retry));
  if (!ready_) return wake;
  if (!options_.may_write()) return std::min(wake, now + milliseconds(250));
  if (changed_since_) {
    // A cluster in motion costs a quarter of a processor at most.
    const bool calm = !something_new_ && !parts_.statuses.some_pod_is_looked_at();
    const milliseconds least = calm ? options_.calm_coalescing : options_.coalescing;
    const auto delay = std::clamp<Clock::duration>(
        3 * last_cycle_, least, std::max<Clock::duration>(options_.schedule_period, least));
    wake = std::min(wake, *changed_since_ + delay);
  }
  // Instants of the wall clock. One that is set makes a cycle due (ClockReports).
  if (const std::optional<Timestamp> timer = loop_.next_timer()) {
    const std::chrono::nanoseconds left(timer->ns - options_.clocks().wall.ns);
    wake = std::min(wake, now + std::max(left, std::chrono::nanoseconds(0)));
  }
  return wake;
}

void LiveScheduler::MaybeRunCycle() {
  const Timestamp now = options_.clocks().wall;
  if (!loop_.IsDue(now)) {
    changed_since_.reset();
    return;
  }
  if (!changed_since_) changed_since_ = Clock::now();
  const bool timer_is_due = loop_.next_timer() && *loop_.next_timer() <= now;
  if (!timer_is_due && NextWake() > Clock::now()) return;
  changed_since_.reset();
  something_new_ = false;
  cycle_begin_ = Clock::now();
  RunCycle(now);
  last_cycle_ = Clock::now() - cycle_begin_;
}

void LiveScheduler::RunCycle(Timestamp now) {
  loop_.RunCycle(now, *this);
  Enter("writing");
  for (BindOrder& order : std::exchange(binds_with_volumes_, {}))
    parts_.effects.Bind(std::move(order));
}

void LiveScheduler::OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) {
  Enter("cycle: handing over decisions");
  const Cluster& c = session.cluster;
  const double wall_ms =
      std::chrono::duration<double, std::milli>(Clock::now() - cycle_begin_).count();
  if (options_.on_cycle) options_.on_cycle(session, phases, wall_ms);
  std::vector<std::vector<ClaimOrder>> volumes = ChooseVolumes(session);
  for (size_t i = 0; i < session.plan.binds.size(); ++i) {
    const Bind& bind = session.plan.binds[i];
    const Task& task = c.tasks[bind.task];
    BindOrder order{RefOf(c, bind.task), std::string(c.NodeName(bind.node)), std::move(volumes[i])};
    if (order.claims.empty()) {
      parts_.effects.Bind(std::move(order));
    } else {
      binds_with_volumes_.push_back(std::move(order));
    }
    if (task.created.Present())
      parts_.metrics.Bound(static_cast<double>(ElapsedNs(task.created, session.now)) / 1e9);
  }
  std::vector<EvictOrder> evictions;
  for (size_t i = 0; i < session.plan.evictions.size(); ++i) {
    const Eviction& eviction = session.plan.evictions[i];
    std::string headline = "evicted";
    if (const std::optional<std::string> check =
            RunRecovering([&] { headline = EvictionHeadline(session, i); }))
      quarantine_reports_.ReportingFailed(*check);
    EvictOrder order{
        .pod = RefOf(c, eviction.task),
        .message = std::move(headline),
        .group = GroupRefOf(c, c.tasks[eviction.task].job),
        .for_pod = RefOf(c, eviction.for_task),
        .node = eviction.node.valid() ? std::string(c.NodeName(eviction.node)) : std::string()};
    if (!order.group.name.empty())
      order.memory = MemoryOf(session.memory, order.group.Key(), session.now);
    evictions.push_back(std::move(order));
  }
  // Of one group together, in the order of the first of each.
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < evictions.size(); ++i) first.try_emplace(evictions[i].group.Key(), i);
  std::stable_sort(evictions.begin(), evictions.end(),
                   [&](const EvictOrder& a, const EvictOrder& b) {
                     return first.at(a.group.Key()) < first.at(b.group.Key());
                   });
  parts_.effects.Evict(std::move(evictions));
  // Of these more was written down than came about.
  for (const std::string& group : loop_.TakeWithdrawn())
    if (const std::string_view uid = parts_.mirror.UidOf(WatchedKind::kPodGroup, group);
        !uid.empty())
      parts_.effects.CorrectMemory(GroupRef(group, uid), MemoryOf(session.memory, group));
  // The decisions stand, whatever becomes of what is said about them.
  if (const std::optional<std::string> check = RunRecovering([&] {
        for (const JobPhaseChange& change : phases)
          if (change.before == JobPhase::kPending) ReportPassedOver(c, change.job);
        parts_.statuses.AfterCycle(session);
        parts_.metrics.Cycle(session, phases, wall_ms);
      }))
    quarantine_reports_.ReportingFailed(*check);
  if (!session.plan.binds.empty() || !session.plan.evictions.empty())
    Log(fmt::format("cycle binds={} evictions={} jobs={} pods={} ms={:.1f}",
                    session.plan.binds.size(), session.plan.evictions.size(), c.jobs.size(),
                    c.tasks.size(), wall_ms));
}

// Once, when the PodGroup is admitted: parts of its spec have no effect.
void LiveScheduler::ReportPassedOver(const Cluster& c, JobId id) {
  const std::string passed_over = PassedOver(c.jobs[id]);
  if (passed_over.empty()) return;
  const std::string text = fmt::format("scheduled without {}: not supported yet", passed_over);
  Log(fmt::format("podgroup {} podgroup={}", text, c.JobKey(id)));
  parts_.events.Record({GroupRefOf(c, id), true, "NotSupported", text});
}

void LiveScheduler::CheckConfig() {
  if (!options_.changed_config || Clock::now() < config_check_) return;
  Enter("reading the configuration");
  config_check_ = Clock::now() + kConfigPeriod;
  if (std::optional<SchedulerConfig> config = options_.changed_config())
    SetConfig(std::move(*config));
}

void LiveScheduler::SetConfig(SchedulerConfig config) {
  parts_.mirror.SetConfig(config);
  parts_.effects.SetEvictionApi(config.eviction_api);
  parts_.effects.SetVolumePatience(VolumePatience(config));
  loop_.SetConfig(std::move(config));
}

void LiveScheduler::CreateMissingQueues() {
  if (std::exchange(queues_checked_, true)) return;
  if (parts_.mirror.UidOf(WatchedKind::kQueue, "root").empty()) CreateQueue("root", false, 0);
  if (parts_.mirror.UidOf(WatchedKind::kQueue, options_.default_queue).empty())
    CreateQueue(options_.default_queue, true, 0);
}

void LiveScheduler::CreateQueue(const std::string& name, bool reclaimable, int attempt) {
  parts_.client.Send(
      {.method = "POST",
       .target = fmt::format("/apis/{}/queues", kSchedulingApi),
       .content_type = std::string(kJsonType),
       .body = QueueBody(name, reclaimable),
       .urgency = Urgency::kEvict},
      [this, name, reclaimable, attempt](const HttpResponse& response) {
        if (response.ok()) return Log(fmt::format("queue created name={}", name));
        if (response.status == 409) return;  // somebody was faster
        Log(fmt::format("queue cannot be created name={} error={}", name,
                        LogQuoted(Describe(response))));
        if (!IsTransient(response) && !LacksPermission(response) && !IsRefusedByAdmission(response))
          return;
        parts_.client.After(
            std::max(response.retry_after.value_or(milliseconds(0)),
                     milliseconds(500) * (1 << std::min(attempt, 7))),
            [this, name, reclaimable, attempt] { CreateQueue(name, reclaimable, attempt + 1); });
      });
}

void LiveScheduler::SetLevels() {
  const EffectCounts& counts = parts_.effects.counts();
  parts_.metrics.Set({.effects_in_flight = static_cast<double>(parts_.effects.in_flight()),
                      .statuses_waiting = static_cast<double>(parts_.statuses.open()),
                      .events_waiting = static_cast<double>(parts_.events.waiting()),
                      .events_sent = static_cast<double>(parts_.events.sent()),
                      .events_dropped = static_cast<double>(parts_.events.dropped()),
                      .bind_failures = static_cast<double>(counts.bind_failures),
                      .eviction_failures = static_cast<double>(counts.eviction_failures),
                      .requests_repeated = static_cast<double>(counts.repeated),
                      .objects_malformed = static_cast<double>(parts_.mirror.malformed()),
                      .table_rebuilds = static_cast<double>(parts_.mirror.live().rebuilds()),
                      .waiting_pods = static_cast<double>(parts_.statuses.waiting_pods()),
                      .re_evictions = static_cast<double>(counts.re_evicted),
                      .eviction_loops = static_cast<double>(eviction_reports_.loops()),
                      .rollbacks = static_cast<double>(parts_.mirror.rollbacks()),
                      .leading = options_.may_write() ? 1.0 : 0.0,
                      .controllers_seen = parts_.mirror.controllers_seen() ? 1.0 : 0.0});
}

}  // namespace krafla
