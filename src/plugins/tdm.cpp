// tdm, time division multiplexing: nodes that Kubernetes may use only at certain hours. Each such
// node names its zone in the label volcano.sh/revocable-zone, the configuration gives each zone its
// windows, and pods that may be taken off again name the zones they are ready for.
//
// - Inside the window: only such pods may use the zone's nodes, and they prefer them.
// - Outside: nobody may, and who is still there is taken off step by step (session/zone_drainer.h).
// - With a lead, that begins before the window closes, and who will not be done by then is not let
//   in any more.
// - Ordinary pods may preempt pods that offer themselves, on ordinary nodes and within the budget
//   of each job.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "model/well_known.h"
#include "model/zone_schedule.h"
#include "session/call_column.h"
#include "session/job_disruptions.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/tdm_settings.h"
#include "session/victim_notes.h"
#include "session/zone_drainer.h"

namespace krafla {

namespace {

constexpr double kPreferred = 100;  // Kubernetes' highest node score

template <class T>
std::optional<std::string> ProblemOf(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().message);
}

class TdmPlugin final : public Plugin, public DrainReport {
 public:
  std::vector<ArgumentSpec> Arguments() const override;
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;
  void Close(Session& session) override;
  std::vector<HeldDrain> HeldDrains() const override { return drainer_->HeldDrains(); }

 private:
  // A zone that nodes name, configured or not.
  struct NodeZone {
    StrId name;
    DrainZone* configured = nullptr;
    ReasonCode closed = 0;    // why it is; 0 when it is open
    ReasonCode foreign = 0;   // what a pod is told that names other zones
    ReasonCode too_long = 0;  // … that would not be done before the window closes
  };
  // What pods of a class say that concerns zones.
  struct ZoneWish {
    RevocableAccess access;
    int64_t run_time_ns = -1;  // -1: not said
    friend bool operator==(const ZoneWish&, const ZoneWish&) = default;
  };
  struct ZoneNode {
    NodeId node;
    uint32_t zone;  // index into node_zones_
  };

  void FindZoneNodes();
  NodeZone DescribeZone(StrId name);
  void ReadWindows(const TdmZone& read);
  std::optional<Timestamp> NextTimer() const;

  std::vector<uint64_t> ZoneWords() const;

  ZoneWish WishOf(const Task& task) const;
  const ZoneWish& WishOfClass(ClassId cls);
  void SampleClasses();
  // 0: the node's zone can be used.
  ReasonCode WhyNotUsable(const ZoneNode& node, const ZoneWish& wish);
  void Filter(ClassId cls, std::span<Refusal> refusals);
  Refusal FilterAt(ClassId cls, NodeId node);
  void FilterDependsOn(ClassId cls, std::vector<uint64_t>& words);
  void LogFilter(TaskId task);
  double Score(ClassId cls, NodeId node);
  bool StepsAside(TaskId task) const;
  Vote MayBePreempted(TaskId preemptor, std::span<const TaskId> candidates,
                      std::vector<TaskId>& victims);
  std::optional<VetoCode> WhySpared(const Task& task);
  uint32_t RankOf(JobId job);

  Session* session_ = nullptr;
  Cluster* cluster_ = nullptr;
  AccessRules access_;
  TdmSettings settings_;

  std::vector<DrainZone> zones_;                  // configured, by name
  std::vector<std::string> why_closed_;           // by zone, empty where it is open
  std::vector<std::optional<Timestamp>> change_;  // by zone: when it opens, closes, or is emptied
  // When the first pod that was let in here would no longer be done in time.
  std::optional<Timestamp> next_too_long_;
  std::vector<NodeZone> node_zones_;
  std::unordered_map<StrId, uint32_t> zone_of_name_;  // index into node_zones_
  std::vector<ZoneNode> zone_nodes_;                  // by name
  ReasonCode not_revocable_ = 0;
  std::vector<ZoneWish> class_wishes_;  // empty until somebody asks
  static constexpr size_t kMaxWishesSeen = 64;
  std::vector<ClassId> wishes_seen_;  // a class for each wish that has come up

  std::optional<VictimNotes> notes_;
  std::optional<JobDisruptions> disruptions_;
  std::optional<ZoneDrainer> drainer_;

  std::optional<bool> names_alone_;  // known when the first vote is asked for

  // Scratch of the vote.
  CallColumn<JobId, int64_t> left_;
  std::vector<std::pair<uint32_t, TaskId>> chosen_;  // with the rank of its job
  std::vector<uint32_t> rank_;                       // by job
};

std::vector<ArgumentSpec> TdmPlugin::Arguments() const {
  return {
      {std::string(TdmSettings::kZonePrefix) + "*", ArgumentType::kString,
       "when the zone of that name is open: HH:MM-HH:MM, or several such windows with days, "
       "Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00",
       [](std::string_view text) { return ProblemOf(ParseZoneSchedule(text)); }},
      {std::string(TdmSettings::kEvictPeriod), ArgumentType::kDuration,
       "the time between two steps of emptying a closed zone, default 1m"},
      {std::string(TdmSettings::kTimeZone), ArgumentType::kString,
       "the IANA name of the time zone of the windows, default the scheduler's own",
       [](std::string_view text) { return ProblemOf(FindTimeZone(text)); }},
      {std::string(TdmSettings::kDrainLead), ArgumentType::kDuration,
       "how long before its window closes a zone begins to be emptied, default 0s",
       [](std::string_view text) -> std::optional<std::string> {
         const Result<int64_t> lead_ns = ParseGoDuration(text);
         if (lead_ns && *lead_ns >= 0) return std::nullopt;
         return "must not be negative";
       }},
  };
}

void TdmPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  cluster_ = &session.cluster;
  access_ = AccessRulesOf(session.compat);
  settings_ = ReadTdmSettings(option, session.compat, session.zone);
  const int64_t period_ns = settings_.StepNs();
  for (const TdmZone& zone : settings_.zones) ReadWindows(zone);
  FindZoneNodes();
  notes_.emplace(session, "tdm");
  disruptions_.emplace(session, period_ns);
  drainer_.emplace(session, zones_, period_ns, access_, *disruptions_, *notes_);

  hooks.predicate = PredicateHook{
      .fixed = [this](ClassId cls, std::span<Refusal> refusals) { Filter(cls, refusals); },
      .fixed_at = [this](ClassId cls, NodeId node) { return FilterAt(cls, node); },
      .fixed_depends_on = [this](ClassId cls,
                                 std::vector<uint64_t>& words) { FilterDependsOn(cls, words); }};
  hooks.lasting = ZoneWords();
  if (session.log.V(4))
    hooks.predicate->prepare = [this](TaskId task) {
      LogFilter(task);
      return Refusal{};
    };
  hooks.score = ScoreHook{.node = [this](ClassId cls, NodeId node) { return Score(cls, node); }};
  // Beside the candidates and their jobs: whether the preemptor may push others at all.
  hooks.vote_depends_on = [this](Asking, TaskId id, std::vector<uint64_t>& words) {
    words.push_back(static_cast<uint64_t>(StepsAside(id)));
  };
  hooks.preemptable = [this](TaskId preemptor, std::span<const TaskId> candidates,
                             std::vector<TaskId>& victims) {
    return MayBePreempted(preemptor, candidates, victims);
  };
  // D14: Volcano recomputes the budget at each call, whoever else is asked.
  hooks.counts_victims = session.compat.budget_accounting;
  hooks.victim_tasks = [this](std::vector<TaskId>& nominated) { drainer_->Nominate(nominated); };
  hooks.on_allocate = [this](TaskId task) { disruptions_->OnAllocate(task); };
  hooks.on_deallocate = [this](TaskId task) { disruptions_->OnDeallocate(task); };
  hooks.next_timer = [this] { return NextTimer(); };

  // Jobs that may be pushed aside wait behind those that may not, and never starve.
  hooks.job_order = [this](JobId l, JobId r) {
    return static_cast<int>(cluster_->jobs[l].preemptable) -
           static_cast<int>(cluster_->jobs[r].preemptable);
  };
  hooks.job_pipelined = [this](JobId job) {
    return cluster_->jobs[job].IsPipelined() ? Vote::kPermit : Vote::kReject;
  };
  hooks.job_starving = [this](JobId id) {
    const Job& job = cluster_->jobs[id];
    return !job.preemptable && job.Count(TaskStatus::kPending) > 0;
  };
}

void TdmPlugin::Close(Session&) {
  drainer_->StartClocks();
  drainer_->ForgetClocks();
  disruptions_->Remember();
}

std::optional<Timestamp> TdmPlugin::NextTimer() const {
  std::optional<Timestamp> next = drainer_->NextChange();
  const auto consider = [&](std::optional<Timestamp> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  consider(disruptions_->NextChange());
  consider(next_too_long_);
  for (size_t i = 0; i < zones_.size(); ++i)
    if (!zones_[i].nodes.empty()) consider(change_[i]);
  return next;
}

// ---- zones

void TdmPlugin::ReadWindows(const TdmZone& read) {
  const Timestamp now = session_->now;
  DrainZone& zone = zones_.emplace_back(DrainZone{.name = read.name});
  std::string& why_closed = why_closed_.emplace_back();
  std::optional<Timestamp>& change = change_.emplace_back();
  if (!read.readable()) {
    // Only a lenient reading of the configuration lets such a window through (D11).
    why_closed = fmt::format("zone {} is never open: its window {} cannot be read", zone.name,
                             Quoted(read.text));
    return;
  }
  if (!settings_.whole_windows && !read.one_daily_window) {
    why_closed = fmt::format(
        "zone {} is never open: {} is more than one daily window, which Volcano does not know",
        zone.name, Quoted(read.text));
    return;
  }
  zone.open = settings_.IsOpen(read, now);
  change = settings_.NextChange(read, now);
  if (!zone.open) {
    why_closed = DescribeClosed(zone.name, *read.schedule, now, settings_.time_zone);
    return;
  }
  if (settings_.drain_lead_ns == 0 || !change) return;
  zone.closes = *change;
  zone.empties_early = settings_.IsEmptied(read, now);
  if (!zone.empties_early) change = Timestamp{zone.closes.ns - settings_.drain_lead_ns};
}

void TdmPlugin::FindZoneNodes() {
  not_revocable_ = session_->reasons.Intern(
      fmt::format("not allowed on revocable node: needs annotation {}", keys::kRevocableZone));
  for (NodeId node : session_->ZoneNodes()) {
    const StrId name = cluster_->nodes[node].zone;
    const auto [it, is_new] =
        zone_of_name_.try_emplace(name, static_cast<uint32_t>(node_zones_.size()));
    if (is_new) node_zones_.push_back(DescribeZone(name));
    const NodeZone& zone = node_zones_[it->second];
    if (zone.configured != nullptr) zone.configured->nodes.push_back(node);
    zone_nodes_.push_back({node, it->second});
  }
}

TdmPlugin::NodeZone TdmPlugin::DescribeZone(StrId id) {
  const std::string_view name = cluster_->Text(id);
  NodeZone zone{.name = id};
  zone.foreign = session_->reasons.Intern(fmt::format(
      "not allowed in zone {}: annotation {} names other zones", name, keys::kRevocableZone));
  const auto it = std::find_if(zones_.begin(), zones_.end(),
                               [&](const DrainZone& z) { return z.name == name; });
  if (it == zones_.end()) {
    zone.closed = session_->reasons.Intern(fmt::format(
        "zone {} is not configured: no argument {}{}", name, TdmSettings::kZonePrefix, name));
    return zone;
  }
  zone.configured = &*it;
  if (it->closes.Present())
    zone.too_long = session_->reasons.Intern(fmt::format(
        "zone {} closes at {}{}", name, DescribeTime(it->closes, settings_.time_zone),
        it->empties_early ? fmt::format(" and takes only pods that will be done by then: needs "
                                        "annotation {}",
                                        keys::kExpectedRunTime)
                          : ", before the pod would be done"));
  if (!it->open)
    zone.closed = session_->reasons.Intern(why_closed_[static_cast<size_t>(it - zones_.begin())]);
  return zone;
}

// What the zones say to a class now. With a window's end in sight it depends on the instant.
std::vector<uint64_t> TdmPlugin::ZoneWords() const {
  std::vector<uint64_t> words{not_revocable_};
  bool ends = false;
  for (const NodeZone& zone : node_zones_) {
    words.insert(words.end(), {zone.name.value, zone.closed, zone.foreign, zone.too_long});
    ends = ends || zone.too_long != 0;
  }
  if (ends) words.push_back(static_cast<uint64_t>(session_->now.ns));
  return words;
}

// ---- predicate and score: what a class may do, asked once per session

TdmPlugin::ZoneWish TdmPlugin::WishOf(const Task& task) const {
  return {.access = AccessOf(task, access_, cluster_->strings), .run_time_ns = task.run_time_ns};
}

const TdmPlugin::ZoneWish& TdmPlugin::WishOfClass(ClassId cls) {
  if (class_wishes_.empty()) SampleClasses();
  return class_wishes_[cls.value];
}

// A class has no annotations of its own; its tasks have, and all of them the same.
void TdmPlugin::SampleClasses() {
  std::vector<const Task*> sample(cluster_->classes.size());
  class_wishes_.resize(cluster_->classes.size());
  for (const Task& task : cluster_->tasks) {
    const Task*& first = sample[task.cls.value];
    ZoneWish& wish = class_wishes_[task.cls.value];
    if (first == nullptr) {
      first = &task;
      wish = WishOf(task);
    } else if (task.zones == first->zones && task.run_time_ns == first->run_time_ns &&
               task.annotation_preemptable == first->annotation_preemptable) {
      continue;
    } else if (task.zones.annotated || task.annotation_preemptable || wish.access.Any()) {
      KRAFLA_CHECK(WishOf(task) == wish,
                   fmt::format("pods {} and {} are of one class but not for the same zones",
                               cluster_->Text(first->name), cluster_->Text(task.name)));
    }
  }
}

ReasonCode TdmPlugin::WhyNotUsable(const ZoneNode& node, const ZoneWish& wish) {
  const NodeZone& zone = node_zones_[node.zone];
  if (zone.closed != 0) return zone.closed;
  if (!wish.access.Allows(zone.name)) return wish.access.Any() ? zone.foreign : not_revocable_;
  if (zone.too_long == 0) return 0;
  // Who does not say how long it runs is not let into a zone that is being emptied: it would be
  // taken off again at once.
  if (wish.run_time_ns < 0) return zone.configured->empties_early ? zone.too_long : 0;
  if (ElapsedNs(session_->now, zone.configured->closes) <= wish.run_time_ns) return zone.too_long;
  const Timestamp too_late{zone.configured->closes.ns - wish.run_time_ns};
  if (!next_too_long_ || too_late < *next_too_long_) next_too_long_ = too_late;
  return 0;
}

void TdmPlugin::Filter(ClassId cls, std::span<Refusal> refusals) {
  if (zone_nodes_.empty()) return;
  const ZoneWish& wish = WishOfClass(cls);
  for (const ZoneNode& entry : zone_nodes_)
    if (const ReasonCode why = WhyNotUsable(entry, wish); why != 0)
      refusals[entry.node.value].Join({Refusal::kUnschedulableAndUnresolvable, why});
}

Refusal TdmPlugin::FilterAt(ClassId cls, NodeId node) {
  const StrId name = cluster_->nodes[node].zone;
  if (name == kEmptyStr) return {};
  const ReasonCode why = WhyNotUsable({node, zone_of_name_.at(name)}, WishOfClass(cls));
  return why != 0 ? Refusal{Refusal::kUnschedulableAndUnresolvable, why} : Refusal{};
}

// Where no node is in a zone all are told the same; when one comes, kept answers are void.
void TdmPlugin::FilterDependsOn(ClassId cls, std::vector<uint64_t>& words) {
  if (zone_nodes_.empty()) return;
  const ZoneWish& wish = WishOfClass(cls);
  const auto same = std::find_if(wishes_seen_.begin(), wishes_seen_.end(),
                                 [&](ClassId other) { return class_wishes_[other.value] == wish; });
  if (same != wishes_seen_.end()) {
    cls = *same;
  } else if (wishes_seen_.size() < kMaxWishesSeen) {
    wishes_seen_.push_back(cls);
  }
  words.push_back(cls.value);
}

// The lines are per task and node; the answer is per class, so they are written apart from it.
void TdmPlugin::LogFilter(TaskId id) {
  const ZoneWish wish = WishOf(cluster_->tasks[id]);
  for (const ZoneNode& entry : zone_nodes_) {
    const std::string node(cluster_->NodeName(entry.node));
    const ReasonCode why = WhyNotUsable(entry, wish);
    if (why == 0) {
      session_->log.Line("TDM filter for Task {} on node {} pass.", cluster_->TaskKey(id), node);
    } else {
      session_->log.Line("TDM filter for Task {} on node {} refuses: {}", cluster_->TaskKey(id),
                         node, session_->reasons.Text(why));
    }
  }
}

double TdmPlugin::Score(ClassId cls, NodeId node) {
  const StrId name = cluster_->nodes[node].zone;
  if (name == kEmptyStr) return 0;
  return WhyNotUsable({node, zone_of_name_.at(name)}, WishOfClass(cls)) == 0 ? kPreferred : 0;
}

// ---- preemption

bool TdmPlugin::StepsAside(TaskId id) const {
  const Task& task = cluster_->tasks[id];
  const Job* job = task.job.valid() ? &cluster_->jobs[task.job] : nullptr;
  return OffersItself(task, job, access_) || IsRevocable(task, access_);
}

// Who may be pushed aside may not push others: revocable pods live on what is left over.
Vote TdmPlugin::MayBePreempted(TaskId preemptor, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
  if (StepsAside(preemptor)) {
    const Task& task = cluster_->tasks[preemptor];
    if (session_->log.V(4))
      session_->log.Line("TDM task {}/{} is preemptable, do nothing skip", cluster_->Text(task.ns),
                         cluster_->Text(task.name));
    return Vote::kReject;
  }

  left_.Begin(cluster_->jobs.size());
  chosen_.clear();
  for (TaskId id : candidates) {
    const Task& candidate = cluster_->tasks[id];
    if (!candidate.job.valid() || !candidate.node.valid()) continue;
    if (const std::optional<VetoCode> why = WhySpared(candidate)) {
      notes_->Spared(id, *why);
      continue;
    }
    int64_t& left =
        left_.Get(candidate.job, [&] { return disruptions_->AllowanceOf(candidate.job).count; });
    if (left > 0) {
      --left;
      chosen_.emplace_back(RankOf(candidate.job), id);
    } else {
      notes_->Spared(id, VetoCode::kBudget);
    }
  }
  // The answer is by job (D12); in whose order victims are tried first may hang on it.
  std::stable_sort(chosen_.begin(), chosen_.end(),
                   [](const auto& l, const auto& r) { return l.first < r.first; });
  for (const auto& [rank, id] : chosen_) victims.push_back(id);
  if (session_->log.V(4)) session_->log.Line("TDM victims are {}", ListOf(*cluster_, victims));
  return Vote::kPermit;
}

std::optional<VetoCode> TdmPlugin::WhySpared(const Task& task) {
  if (!task.preemptable || task.status != TaskStatus::kRunning) return VetoCode::kNotPreemptable;
  // D29: a pod that says nothing may be preempted where somebody else names it, by priority or
  // share. Alone in a tier tdm would let anybody push anybody.
  if (!names_alone_) names_alone_ = session_->NamesVictimsAlone("tdm");
  if (*names_alone_ && !OffersItself(task, &cluster_->jobs[task.job], access_))
    return VetoCode::kNotPreemptable;
  if (cluster_->nodes[task.node].zone != kEmptyStr) return VetoCode::kOnRevocableNode;
  return std::nullopt;
}

uint32_t TdmPlugin::RankOf(JobId job) {
  if (rank_.empty()) {
    rank_.resize(cluster_->jobs.size());
    for (uint32_t i = 0; i < cluster_->jobs_by_name.size(); ++i)
      rank_[cluster_->jobs_by_name[i].value] = i;
  }
  return rank_[job.value];
}

}  // namespace

std::unique_ptr<Plugin> Make_tdm_plugin() {
  return std::make_unique<TdmPlugin>();
}

}  // namespace krafla
