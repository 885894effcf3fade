#include "kube/serve.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/file_stamp.h"
#include "base/line_stream.h"
#include "base/log_text.h"
#include "base/recovery.h"
#include "kube/api_client.h"
#include "kube/check_drill.h"
#include "kube/clock_skew.h"
#include "kube/cluster_mirror.h"
#include "kube/credentials.h"
#include "kube/effects.h"
#include "kube/event_recorder.h"
#include "kube/heartbeat.h"
#include "kube/http_channel.h"
#include "kube/leader_events.h"
#include "kube/leader_lease.h"
#include "kube/live_scheduler.h"
#include "kube/outage_log.h"
#include "kube/page_access.h"
#include "kube/reflector.h"
#include "kube/request_kind.h"
#include "kube/seeing_in.h"
#include "kube/serve_metrics.h"
#include "kube/status_reports.h"
#include "kube/update_fallback.h"
#include "model/zone_window.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatienceAtEnd{5'000};    // for writes that are under way
constexpr milliseconds kExecPluginGrace{3'000};  // for an exec plugin that runs at the end
// A scheduling thread that does not end by then hangs: the process ends without it.
constexpr milliseconds kStopPatience = kPatienceAtEnd + milliseconds(2'000);
// Whatever hangs then, the process ends within ten seconds of its signal.
constexpr milliseconds kEndPatience{9'000};
constexpr milliseconds kClockProbePeriod{10'000};

std::vector<WatchedKind> KindsFor(const ServeOptions& options) {
  std::vector<WatchedKind> kinds;
  for (const WatchedKindInfo& info : kWatchedKinds) {
    if (info.kind == WatchedKind::kPriorityClass && !options.priority_classes) continue;
    if (info.kind == WatchedKind::kCsiNode && !options.csi_storage) continue;
    kinds.push_back(info.kind);
  }
  return kinds;
}

MirrorOptions MirrorFor(const ServeOptions& options, const CheckDrill& drill) {
  MirrorOptions mirror;
  mirror.build.default_queue = options.default_queue;
  mirror.build.ignored_provisioners = options.ignored_provisioners;
  mirror.build.lenient = true;
  mirror.scheduler_names = options.scheduler_names;
  mirror.node_labels = options.node_labels;
  mirror.kinds = KindsFor(options);
  mirror.group_of_one = options.group_of_one;
  mirror.log = options.log;
  if (!drill.decoded.empty())
    mirror.before_taking = [&drill](WatchedKind kind, const std::string& key, bool stand_in) {
      if (!stand_in) drill.OnDecoding(kind, key);
    };
  return mirror;
}

RecordHead HeadFor(const ServeOptions& options, const MirrorOptions& mirror) {
  const TimeZone zone = LocalTimeZone();
  RecordHead head{.version = options.version,
                  .begun = {},
                  .why = {},
                  .zone = zone.name(),
                  .offset_seconds = zone.OffsetAt(WallClock().UnixSeconds()).seconds,
                  .world = {mirror.build, mirror.scheduler_names, mirror.node_labels},
                  .lenient = options.lenient,
                  .profile = options.profile};
  return head;
}

// What is trusted, for whoever has to look after it.
std::string TrustOf(const KubeConnection& connection) {
  if (!connection.ca.file.empty())
    return fmt::format("Trusted: the certificates of {}.", connection.ca.file);
  if (!connection.ca.data.empty())
    return fmt::format("Trusted: certificate-authority-data of {}.", connection.origin);
  return fmt::format("{} names neither: the certificates of the system are trusted.",
                     connection.origin);
}

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

void LogTraps(const ServeOptions& options, const std::string& config_text) {
  if (!options.lint_config) return;
  for (const std::string& line : options.lint_config(config_text)) options.log(line);
}

// The signals that end us. Blocked before any thread starts, so that none of them is hit.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);  // where it is ignored, no exit code of an exec plugin can be read
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t& set() const { return set_; }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

class SignalWaiter {
 public:
  SignalWaiter(const BlockedSignals& blocked, std::function<void(int)> on_signal) {
    thread_ = std::thread([set = blocked.set(), on_signal = std::move(on_signal)] {
      int number = 0;
      while (sigwait(&set, &number) == 0 && number != SIGUSR2) on_signal(number);
    });
  }
  ~SignalWaiter() {
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }

 private:
  std::thread thread_;
};

// Everything that runs, in the order in which it is made; taken down in reverse.
class Server {
 public:
  Server(const ServeOptions& options, KubeConnection connection, SchedulerConfig config,
         const FileStamp& config_stamp, std::unique_ptr<SeeingIn> seeing_in,
         const CheckDrill& drill)
      : options_(options),
        drill_(drill),
        identity_(fmt::format(
            "{}_{:016x}", HostName(),
            std::random_device{}() * 0x1000003ULL ^ static_cast<uint64_t>(WallClock().ns))),
        credentials_(std::move(connection), ProcessSurroundings(), options.log),
        seeing_in_(std::move(seeing_in)),
        mirror_(MirrorWithRollback(options, drill)),
        log_(options.verbosity, cycle_lines_.file()),
        config_stamp_(config_stamp) {
    inbox_.OnRoom([this] { reading_.Resume(); });
    mirror_.SetConfig(config);
    effects_.SetEvictionApi(config.eviction_api);
    effects_.SetVolumePatience(VolumePatience(config));
    loop_.emplace(mirror_.live(), std::move(config), LocalTimeZone(), log_);
    if (!drill_.placed.empty())
      loop_->SetWrapHooks(
          [this](std::string_view, PluginHooks& hooks) { drill_.Wrap(mirror_.live(), hooks); });
    if (options.leader_elect)
      seeing_in_->pages().SetLeadership([this] {
        const LeaderLease* lease = lease_now_;
        return lease == nullptr ? Leadership{.leads = false, .leader = {}}
                                : Leadership{lease->MayWrite(), lease->Holder()};
      });
    // Nobody can look in: nothing is kept for them.
    if (!options.metrics_address && options.record_folder.empty()) return;
    mirror_.SetObserver(
        [this](RecordedChange change) { seeing_in_->tap().OnChange(std::move(change)); });
    loop_->SetBeforeSession([this](CycleMemory& memory) { seeing_in_->tap().BeforeCycle(memory); });
  }

  int Run(const BlockedSignals& blocked) {
    if (const Result<bool> started = StartServers(); !started) {
      options_.log(started.error().message);
      return 2;
    }
    options_.log(StartLine(options_, credentials_.connection()));
    LiveScheduler scheduler(
        {inbox_, mirror_, effects_, statuses_, events_, metrics_, client_}, *loop_,
        {.schedule_period = options_.schedule_period,
         .may_write = [this] { return MayWrite(); },
         .changed_config = options_.config_path.empty()
                               ? std::function<std::optional<SchedulerConfig>()>()
                               : [this] { return ChangedConfig(); },
         .on_ready = [this] { seeing_in_->SetReady(); },
         .on_cycle =
             [this](const Session& session, const std::vector<JobPhaseChange>& phases,
                    double wall_ms) {
               leader_events_.Flush();  // a cycle runs where the leader is
               if (!options_.metrics_address && options_.record_folder.empty()) return;
               seeing_in_->tap().OnCycle(session, phases, loop_->cycles() + 1, wall_ms);
             },
         .log = options_.log,
         .default_queue = options_.default_queue,
         .scheduler = Lease(),
         .on_waiting_evictions =
             [this](const std::string& note) {
               const std::scoped_lock lock(note_mutex_);
               waiting_evictions_ = note;
             },
         .quarantine_note = &quarantine_note_,
         .on_skip =
             [this](const std::vector<std::string>& actions) {
               seeing_in_->tap().OnSkippedActions(actions);
             },
         .heartbeat = &heartbeat_,
         .clock_skew = &clock_skew_,
         .longest_wait = std::min(milliseconds(10'000), options_.heartbeat_timeout / 3)});
    ReportReplacedShares(loop_->config());
    SignalWaiter signals(blocked, [&](int number) {
      options_.log(fmt::format("received {}, shutting down", SignalName(number)));
      credentials_.Stop(kExecPluginGrace);
      scheduler.Stop();
      monitor_.ExpectStop();
    });
    for (const WatchedKind kind : KindsFor(options_)) {
      reflectors_.push_back(std::make_unique<Reflector>(
          kind, reading_, inbox_, outages_,
          Reflector::Options{.seed = std::random_device{}(),
                             .scheduler_names = options_.scheduler_names,
                             .log = options_.log,
                             .before_decoding = DrillOfDecoding()}));
      reflectors_.back()->Start();
      const std::scoped_lock lock(page_mutex_);
      reflecting_.emplace_back(kind, reflectors_.back().get());
    }
    if (options_.leader_elect) {
      StartElection(scheduler);
    } else {
      ProbeClock();
    }
    const bool all_written = scheduler.Run(kPatienceAtEnd);
    monitor_.ExpectStop();  // also when no signal came: what follows is bounded
    const bool lost = lost_;
    if (!all_written && !lost && !scheduler.gave_up())
      options_.log(fmt::format("shutting down with writes left undone after {} s",
                               kPatienceAtEnd.count() / 1000));
    seeing_in_->pages().Stop();
    // What is still under way must not meet the work of whoever leads next.
    writing_.CutOff();
    if (lease_ != nullptr) lease_->Release();
    options_.log(fmt::format("stopped bound={} evicted={} cycles={}", effects_.counts().bound,
                             effects_.counts().evicted, loop_->cycles()));
    return lost || !all_written ? 1 : 0;
  }

 private:
  bool MayWrite() const {
    if (!options_.leader_elect) return true;
    const LeaderLease* lease = lease_now_;
    return lease != nullptr && lease->MayWrite();
  }

  // Nobody else may have the lease yet.
  LeaderLease::Clock::time_point WriteUntil() const {
    const LeaderLease* lease = lease_now_;
    return lease != nullptr ? lease->write_until() : LeaderLease::Clock::time_point::min();
  }

  std::function<void(WatchedKind, const std::string&)> DrillOfDecoding() const {
    if (drill_.decoded.empty()) return {};
    return [this](WatchedKind kind, const std::string& key) { drill_.OnDecoding(kind, key); };
  }

  void StartElection(LiveScheduler& scheduler) {
    lease_ = std::make_unique<LeaderLease>(
        leasing_, outages_,
        LeaseOptions{.ns = options_.lease_namespace,
                     .name = options_.lease_name,
                     .identity = identity_,
                     .lease_duration = options_.lease_duration,
                     .renew_deadline = options_.renew_deadline,
                     .retry_period = options_.retry_period,
                     .healthy = [this] { return !heartbeat_.Hangs(); },
                     .log = options_.log,
                     .on_started = [this] { inbox_.Interrupt(); },
                     .on_lost =
                         [this, &scheduler] {
                           lost_ = true;
                           credentials_.Stop(kExecPluginGrace);
                           writing_.Resume();
                           scheduler.Stop();
                           monitor_.ExpectStop();
                         }});
    lease_now_ = lease_.get();
  }

  // Without an election there is no regular request whose answer has a Date.
  void ProbeClock() {
    leasing_.Send({.target = "/version"});
    leasing_.After(kClockProbePeriod, [this] { ProbeClock(); });
  }

  Result<bool> StartServers() {
    StatusPages pages{
        .health = true,
        .live_checks = {{"scheduling-thread", [this] { return heartbeat_.Problem(); }}},
        .ready_checks = {{"caches-synced",
                          [this]() -> std::optional<std::string> {
                            if (seeing_in_->ready()) return std::nullopt;
                            return "not every kind is listed yet";
                          }},
                         // A scheduler whose evictions wait goes on binding: it stays ready.
                         {.name = "eviction-breaker",
                          .problem = [] { return std::optional<std::string>(); },
                          .note =
                              [this] {
                                const std::scoped_lock lock(note_mutex_);
                                return waiting_evictions_;
                              }},
                         {.name = "internal-checks",
                          .problem = [this] { return quarantine_note_.suspended(); },
                          .note = [this] { return quarantine_note_.quarantined(); }}},
        .metrics = [this] { return MetricsPage(); },
        .api = [this](const ApiRequest& request) { return seeing_in_->pages().Answer(request); },
        .authorize =
            [this](const ApiRequest& request, AccessVerdictCallback later) {
              return page_access_.Authorize(request, std::move(later));
            },
        .was_allowed =
            [this](const ApiRequest& request) { return page_access_.WasAllowed(request); },
        .plain_metrics = options_.anonymous_metrics};
    const bool one =
        options_.metrics_address && options_.metrics_address == options_.health_address;
    if (options_.metrics_address) {
      if (options_.anonymous_metrics)
        options_.log("/metrics needs neither a token nor TLS (--allow-anonymous-metrics)");
      StatusPages only = pages;
      only.health = one;
      if (one && options_.health_tls)
        options_.log(
            "metrics and the API are served over TLS: they share the address of the health pages");
      const bool tls_only = one && options_.health_tls.has_value();
      if (const auto started = Listen({.address = *options_.metrics_address,
                                       .pages = std::move(only),
                                       .transport = tls_only ? Transport::kTls : Transport::kBoth,
                                       .tls = tls_only ? options_.health_tls : options_.page_tls});
          !started)
        return started;
    }
    if (options_.health_address && !one) {
      StatusPages only = pages;
      only.metrics = nullptr;
      only.api = nullptr;
      return Listen({.address = *options_.health_address,
                     .pages = std::move(only),
                     .transport = options_.health_tls ? Transport::kTls : Transport::kPlain,
                     .tls = options_.health_tls});
    }
    return true;
  }

  PageAccess::Options PageAccessOptions() {
    PageAccess::Options access{
        .anonymous_metrics = options_.anonymous_metrics,
        .send = [this](HttpRequest request) { checking_.Send(std::move(request)); },
        .after = [this](milliseconds delay,
                        std::function<void()> task) { checking_.After(delay, std::move(task)); },
        .on_request = [this](std::string_view page,
                             std::string_view result) { metrics_.PageRequest(page, result); },
        .on_review = [this](std::string_view review,
                            std::string_view result) { metrics_.PageReview(review, result); },
        .log = options_.log};
    // A caller's token is sent no less carefully than our own.
    if (credentials_.connection().server.starts_with("http://")) access.send = nullptr;
    return access;
  }

  // On the server's threads.
  std::string MetricsPage() {
    const std::scoped_lock lock(page_mutex_);
    for (const auto& [kind, reflector] : reflecting_)
      metrics_.WatchLag(InfoOf(kind).resource, reflector->SecondsOfSilence());
    metrics_.Kept(seeing_in_->keeper().figures());
    metrics_.CountPageProcesses(seeing_in_->processes().counts(),
                                seeing_in_->processes().running());
    const LeaderLease* lease = lease_now_;
    metrics_.SetAges({.heartbeat = std::chrono::duration<double>(heartbeat_.Look().age).count(),
                      .lease_renewal = lease != nullptr ? lease->RenewalAgeSeconds() : std::nullopt,
                      .clock_skew = clock_skew_.Seconds(ReadClocks())});
    return metrics_.Text();
  }

  Result<bool> Listen(StatusServerOptions server_options) {
    const StatusPages& pages = server_options.pages;
    std::vector<std::string_view> names;
    if (pages.health) names.insert(names.end(), {"/healthz", "/livez", "/readyz"});
    if (pages.metrics) names.push_back("/metrics");
    if (pages.api) names.push_back("/api/v1");
    const bool self_signed = !server_options.tls;
    server_options.log = options_.log;
    Result<std::unique_ptr<StatusServer>> server = StatusServer::Start(std::move(server_options));
    if (!server) return Fail(server.error().message);
    const std::string certificate =
        (*server)->fingerprint().empty()
            ? std::string()
            : fmt::format(" certificate={} sha256={}", self_signed ? "self-signed" : "file",
                          (*server)->fingerprint());
    options_.log(fmt::format("listening at={} pages={}{}", (*server)->url(), fmt::join(names, ","),
                             certificate));
    servers_.push_back(std::move(*server));
    return true;
  }

  MirrorOptions MirrorWithRollback(const ServeOptions& options, const CheckDrill& drill) {
    MirrorOptions mirror = MirrorFor(options, drill);
    mirror.on_rollback = [this] { OnRollback(); };
    return mirror;
  }

  // On the scheduling thread.
  void OnRollback() {
    for (const std::unique_ptr<Reflector>& reflector : reflectors_) reflector->ListAgain();
    statuses_.WriteAllAgain();
    leader_events_.Record(
        "rollback",
        {Lease(), true, "ClusterRolledBack",
         "etcd has gone back to an earlier state, as after a restore from a backup: all "
         "objects are listed again, and what was expected of them is dropped"});
  }

  // On the scheduling thread.
  std::optional<SchedulerConfig> ChangedConfig() {
    const FileStamp stamp = StampOf(options_.config_path);
    if (stamp == config_stamp_) return std::nullopt;
    config_stamp_ = stamp;
    Diagnostics problems;
    std::string text;
    SchedulerConfig config = options_.read_config(problems, text);
    for (const Diagnostic& problem : problems.items()) options_.log(ToString(problem));
    const bool taken = !problems.HasErrors();
    metrics_.ConfigReload(taken);
    const ObjectRef about = Lease();
    if (!taken) {
      options_.log(fmt::format("configuration refused; the last good one stays file={}",
                               options_.config_path));
      std::string first;
      for (const Diagnostic& problem : problems.items())
        if (problem.severity == Severity::kError && first.empty()) first = ToString(problem);
      leader_events_.Record("configuration", {about, true, "ConfigurationRefused", first});
      return std::nullopt;
    }
    options_.log(fmt::format("configuration read again file={}", options_.config_path));
    LogTraps(options_, text);
    leader_events_.Record("configuration",
                          {about, false, "ConfigurationTaken", options_.config_path});
    ReportReplacedShares(config);
    seeing_in_->tap().OnConfig(std::move(text));
    return config;
  }

  // What events about the scheduler are about.
  ObjectRef Lease() const {
    return {"Lease", "coordination.k8s.io/v1", options_.lease_namespace, options_.lease_name, {}};
  }

  void ReportReplacedShares(const SchedulerConfig& config) {
    if (config.replaced_share_plugin.empty()) return;
    const std::string text = fmt::format(
        "plugin {} is not available: proportion shares the cluster among queues "
        "instead, by spec.weight; spec.deserved is not looked at",
        config.replaced_share_plugin);
    options_.log(text);
    leader_events_.Record("shares", {Lease(), true, "QueueSharesReplaced", text});
  }

  std::function<void(int64_t, BootClock::time_point)> NoteDate() {
    return [this](int64_t date_unix_s, BootClock::time_point sent) {
      clock_skew_.Note(date_unix_s, sent, ReadClocks());
    };
  }

  const ServeOptions& options_;
  const CheckDrill& drill_;
  const std::string identity_;
  Credentials credentials_;
  Inbox inbox_;
  std::unique_ptr<SeeingIn> seeing_in_;
  ClusterMirror mirror_;
  ServeMetrics metrics_{std::string_view(options_.version).substr(options_.version.find(' ') + 1)};
  Heartbeat heartbeat_{options_.heartbeat_timeout};
  // Outlives all that may hang while it is taken down.
  HeartbeatMonitor monitor_{heartbeat_,
                            {.stop_patience = kStopPatience,
                             .end_patience = kEndPatience,
                             .log = options_.log,
                             // Destructors would wait for the thread.
                             .on_stop_overdue = [] { _exit(1); }}};
  ClockSkew clock_skew_{options_.max_clock_skew};
  std::atomic<bool> lost_ = false;
  std::unique_ptr<LeaderLease> lease_;  // asked by the channels to their end
  std::atomic<LeaderLease*> lease_now_ = nullptr;
  std::vector<std::unique_ptr<Reflector>> reflectors_;  // outlive their channel's thread
  std::mutex page_mutex_;
  std::vector<std::pair<WatchedKind, const Reflector*>> reflecting_;  // for the page
  std::mutex note_mutex_;
  std::string waiting_evictions_;
  QuarantineNote quarantine_note_;

  // The channel ends before what gets its answers.
  PageAccess page_access_{PageAccessOptions()};
  HttpChannel checking_{credentials_,
                        {.name = "page-access",
                         .max_in_flight = 8,
                         .per_second = 20,
                         .burst = 40,
                         .on_outcome = [this](const RequestOutcome& o) { metrics_.Request(o); },
                         .log = options_.log}};

  // Outlives the channel that keeps its timers.
  OutageLog outages_{
      {.server = credentials_.connection().server,
       .trust = TrustOf(credentials_.connection()),
       .after = [this](milliseconds delay,
                       std::function<void()> task) { reading_.After(delay, std::move(task)); },
       .log = options_.log}};

  HttpChannel reading_{credentials_,
                       {.name = "watches",
                        .watchdog = true,
                        .on_outcome = [this](const RequestOutcome& o) { metrics_.Request(o); },
                        .on_date = NoteDate(),
                        .log = options_.log}};
  HttpChannel leasing_{credentials_,
                       {.name = "lease",
                        .on_outcome = [this](const RequestOutcome& o) { metrics_.Request(o); },
                        .on_date = NoteDate(),
                        .log = options_.log}};
  HttpChannel writing_{
      credentials_,
      {.name = "writes",
       .max_in_flight = 64,
       .per_second = options_.requests_per_second,
       .burst = options_.burst,
       .send_until = options_.leader_elect ? std::function<LeaderLease::Clock::time_point()>(
                                                 [this] { return WriteUntil(); })
                                           : nullptr,
       .on_outcome =
           [this](const RequestOutcome& o) {
             metrics_.Request(o);
             const RequestKind kind = KindOf(o.method, o.target);
             outages_.WriteAnswered(kind.verb, kind.resource, o.response);
           },
       .log = options_.log}};
  InboxApiClient sending_{writing_, inbox_};
  UpdateFallback client_{sending_, {.log = options_.log}};
  EventRecorder events_{client_,
                        {.component = options_.scheduler_names.front(), .instance = identity_}};
  LeaderEvents leader_events_{events_, [this] { return MayWrite(); }};
  Effects effects_{
      client_,
      mirror_,
      events_,
      {.seed = std::random_device{}(),
       .log = options_.log,
       .on_evicted = [this](const EvictOrder& order) { loop_->EvictionTaken(order.pod.Key()); }}};
  StatusReports statuses_{
      client_,
      mirror_,
      events_,
      {.log = options_.log,
       .read_pod_again = [this](const ObjectRef& pod, std::function<void()> then) {
         effects_.ReadAgain(pod, std::move(then));
       }}};
  LineStream cycle_lines_{options_.log};  // in the form of all others
  Log log_;
  std::optional<SchedulingLoop> loop_;
  FileStamp config_stamp_;
  std::vector<std::unique_ptr<StatusServer>> servers_;  // end first: pages look at all the rest
};

}  // namespace

std::string StartLine(const ServeOptions& options, const KubeConnection& connection) {
  return fmt::format("starting version={} server={} from={} schedulerNames={} config={}",
                     LogQuoted(options.version), connection.server, LogQuoted(connection.origin),
                     fmt::join(options.scheduler_names, ","),
                     options.config_path.empty() ? "default" : LogQuoted(options.config_path));
}

int Serve(const ServeOptions& options, Diagnostics& diagnostics) {
  std::string config_text;
  // Before it is read: what changes meanwhile is seen as a change.
  const FileStamp config_stamp = StampOf(options.config_path);
  SchedulerConfig config = options.read_config(diagnostics, config_text);
  KubeConnection connection = FindKubeConnection(options.kube, ProcessSurroundings(), diagnostics);
  if (diagnostics.HasErrors()) return 2;
  for (const Diagnostic& warning : diagnostics.items()) options.log(ToString(warning));
  LogTraps(options, config_text);
  diagnostics = {};
  CheckDrill drill;
  if (const char* text = std::getenv(kCheckDrillVariable)) {
    Result<CheckDrill> parsed = ParseCheckDrill(text);
    if (!parsed) {
      diagnostics.Error(kCheckDrillVariable, {}, parsed.error().message);
      return 2;
    }
    drill = std::move(*parsed);
    RecoveryScope::Enable(true);
    options.log(fmt::format("drill: internal checks fail on purpose {}={}", kCheckDrillVariable,
                            LogQuoted(text)));
  }
  const BlockedSignals blocked;
  InitializeHttp();
  Result<std::unique_ptr<SeeingIn>> seeing_in =
      SeeingIn::Start({.record_folder = options.record_folder,
                       .record_bytes = options.record_bytes,
                       .head = HeadFor(options, MirrorFor(options, drill)),
                       .now = &WallClock,
                       .page_memory_bytes = options.page_memory_bytes,
                       .log = options.log});
  if (!seeing_in) {
    diagnostics.Error("--record", {}, seeing_in.error().message);
    return 2;
  }
  (*seeing_in)->tap().OnConfig(std::move(config_text));
  return Server(options, std::move(connection), std::move(config), config_stamp,
                std::move(*seeing_in), drill)
      .Run(blocked);
}

}  // namespace krafla
