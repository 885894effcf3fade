#include "kube/status_reports.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "explain/amount_words.h"
#include "kube/api_objects.h"
#include "kube/room_words.h"
#include "model/queue_amounts.h"
#include "session/job_by_name.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr const char* kUnschedulable = "Unschedulable";
constexpr const char* kScheduled = "Scheduled";

void Mix(size_t& hash, size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
}

size_t HashOf(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

// It had what it needs, and has lost it.
bool IsNoLongerScheduled(const Job& job, bool waits) {
  if (job.min_available <= 0) return false;        // it needs nothing
  if (!waits && !job.tasks.empty()) return false;  // its pods end, and hold their places
  return std::any_of(job.conditions.begin(), job.conditions.end(),
                     [](const JobCondition& condition) {
                       return condition.type == kScheduled && condition.status == "True" &&
                              !condition.from_this_session;
                     });
}

GroupStatus StatusOf(const Job& job, const GroupCondition* waits) {
  GroupStatus status;
  status.phase = ToString(job.phase);
  bool scheduled = false;
  for (const JobCondition& condition : job.conditions) {
    if (!condition.from_this_session || condition.type == kUnschedulable) continue;
    status.conditions.push_back(
        {condition.type, condition.status, condition.reason, condition.message});
    scheduled = scheduled || condition.type == kScheduled;
  }
  const bool lost = !scheduled && IsNoLongerScheduled(job, waits != nullptr);
  if (lost)
    status.conditions.push_back(
        {kScheduled, "False", "TooFewPodsPlaced", "fewer pods than minMember have a place"});
  if (waits != nullptr) {
    status.conditions.push_back(*waits);  // the last one
  } else {
    // What was true before no longer is, nor is it scheduled instead.
    for (const JobCondition& condition : job.conditions)
      if (condition.type == kUnschedulable &&
          (condition.status == "True"
               ? scheduled || job.tasks.empty() || condition.reason == kQueueNotFound
               : lost && condition.reason == kScheduled))
        status.conditions.push_back(
            {kUnschedulable, "False", scheduled ? "Scheduled" : "NoLongerSo", ""});
  }
  status.running = job.Count(TaskStatus::kRunning);
  status.succeeded = job.Count(TaskStatus::kSucceeded);
  status.failed = job.Count(TaskStatus::kFailed);
  return status;
}

// Allocated at the end of a cycle: it had a place, and waits with its gang all the same.
bool IsWaiting(const Task& task) {
  return (task.status == TaskStatus::kPending || task.status == TaskStatus::kPipelined ||
          task.status == TaskStatus::kAllocated) &&
         (!task.gated || task.needs_claims);
}

}  // namespace

StatusReports::StatusReports(ApiClient& client, ClusterMirror& mirror, EventRecorder& events,
                             Options options)
    : client_(client),
      mirror_(mirror),
      options_(std::move(options)),
      writer_(client, mirror, events,
              {.log = options_.log,
               .calm = options_.calm,
               .queue_calm = options_.queue_calm,
               .count_calm = options_.count_calm,
               .read_pod_again = options_.read_pod_again,
               .on_group_refused =
                   [this](const std::string& key) {
                     mirror_.ForgetPhase(key);
                     memos_.erase(key);
                     refused_.push_back(key);
                   }}),
      stranded_(
          client, writer_,
          {.grace = options_.grace,
           .log = options_.log,
           .wait_for_group = [this](const std::string& pod) { return mirror_.WaitForGroup(pod); },
           .why_quarantined =
               [this](WatchedKind kind, const std::string& key) {
                 return std::string(mirror_.WhyQuarantined(kind, key));
               }}) {}

void StatusReports::Flush() {
  std::vector<WaitingMemo*> held;
  for (auto& [uid, memo] : waiting_)
    if (!memo.written && !memo.brief) held.push_back(&memo);
  std::sort(held.begin(), held.end(),
            [](const WaitingMemo* a, const WaitingMemo* b) { return a->pod.Key() < b->pod.Key(); });
  for (WaitingMemo* memo : held) WritePod(*memo, true);
  writer_.Flush();
}

void StatusReports::WriteAllAgain() {
  for (auto& [uid, memo] : waiting_) writer_.ForgetPod(memo.pod.Key());
  waiting_.clear();
  // PodGroups and queues are compared with what the server shows.
  for (auto& [key, memo] : memos_) memo.stale = true;
}

void StatusReports::AfterCycle(Session& session) {
  ++cycle_;
  stranded_.Follow(mirror_.live(), session.cluster);
  // Seen anew: what the server has may differ from what we wished. All of these are among the jobs
  // that have changed.
  for (const std::string& key : mirror_.TakeChangedGroups()) {
    const auto it = memos_.find(key);
    if (it == memos_.end()) continue;
    it->second.stale = true;
    if (!mirror_.UidOf(WatchedKind::kPodGroup, key).empty()) continue;
    writer_.ForgetGroup(key);
    memos_.erase(it);
  }
  for (const std::string& key : std::exchange(refused_, {}))
    if (const JobId id = FindJob(session.cluster, key); id.valid()) ReportGroup(session, id);
  for (const JobId id : session.JobsToClose()) {
    ReportGroup(session, id);
    ReportWaiting(session, id);
  }
  ReportQueues(session);
  ForgetPlacedPods();
}

const NodeSizes& StatusReports::SizesIn(const Cluster& c) {
  const uint64_t version = mirror_.live().node_sizes_version();
  if (!sizes_ || sizes_version_ != version) sizes_.emplace(c);
  sizes_version_ = version;
  return *sizes_;
}

std::optional<StatusReports::Waits> StatusReports::WhyItWaits(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  const std::string* refusal = session.EnqueueRefusal(id);
  const auto said =
      std::find_if(job.conditions.begin(), job.conditions.end(), [](const JobCondition& condition) {
        return condition.from_this_session && condition.type == kUnschedulable &&
               condition.status == "True";
      });
  const std::string not_let_in = refusal == nullptr ? std::string()
                                                    : fmt::format("not let into queue {}: {}",
                                                                  c.QueueName(job.queue), *refusal);
  Waits waits{.condition = {kUnschedulable, "True", "NotEnoughResources", not_let_in}};
  std::string& message = waits.condition.message;
  // Without pods no plugin speaks of it; its pods may be made when it is let in.
  const bool without_pods = said == job.conditions.end() && job.tasks.empty();
  if (said == job.conditions.end() && !without_pods) return std::nullopt;
  if (without_pods && refusal != nullptr) {
    // All is said.
  } else if (RoomIsBeingMade(session, id)) {
    waits.room_is_made = true;
    RoomWords room = WhoHasToLeave(session, id);
    message = std::move(room.sentence);
    waits.steady = std::move(room.where);
    return waits;
  } else if (std::optional<PodShortage> shortage = ShortageOf(session, id)) {
    waits.lacks_pods = true;
    waits.condition.reason = std::move(shortage->reason);
    message = std::move(shortage->message);
    if (const size_t left_out = stranded_.LeftOutOf(c.JobKey(id)); left_out != 0)
      message += fmt::format("; {} left out, because claims do not exist", PodCount(left_out));
    // A hard topology is the reason of both.
    if (refusal != nullptr && !refusal->ends_with(kNeedsTopology)) message += "; " + not_let_in;
  } else if (without_pods) {
    return std::nullopt;
  } else {
    waits.condition.reason = said->reason;
    message = said->message;
    if (const std::string queue = FurtherCause(session, id); !queue.empty())
      message += "; " + queue;
    if (const std::string large = SizesIn(c).WhyTooLarge(c, id); !large.empty())
      message = large + "; " + message;
  }
  if (const std::string_view priority = stranded_.PriorityWords(c.Text(job.uid)); !priority.empty())
    message.append("; ").append(priority);
  return waits;
}

// What pods hold, whether a plugin shares among queues or not. A queue that never held anything,
// and of which the server says nothing, is left alone.
void StatusReports::ReportQueues(const Session& session) {
  const Cluster& c = session.cluster;
  const AmountByQueue allocated = AllocatedByQueue(c);
  for (const QueueId id : c.queues_by_name) {
    const std::string name(c.QueueName(id));
    const std::string* current = mirror_.StatusOf(WatchedKind::kQueue, name);
    if (current == nullptr) continue;  // Assumed by the builder; there is nothing to write to.
    // Most queues do not change from one cycle to the next, and reading JSON is not free.
    if (const auto written = written_queues_.find(name);
        written != written_queues_.end() && written->second.status == *current &&
        written->second.allocated.SameAs(allocated[id]))
      continue;
    if (allocated[id].IsEmpty() && !session.queue_reports[id].known &&
        !reported_queues_.contains(name) && !HasAllocated(*current))
      continue;
    reported_queues_.insert(name);
    std::optional<std::string> patch = QueueStatusPatch(*current, allocated[id], c.kinds);
    if (patch) {
      written_queues_.erase(name);
    } else {
      written_queues_[name] = {*current, allocated[id]};
    }
    writer_.WriteQueue(name, std::move(patch), *current);
  }
  std::erase_if(reported_queues_, [&](const std::string& name) {
    if (c.FindQueue(name).valid()) return false;
    writer_.ForgetQueue(name);
    written_queues_.erase(name);
    return true;
  });
}

void StatusReports::ReportGroup(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  if (ClusterMirror::IsGroupOfOne(c.Text(job.name))) return;
  const std::string key = c.JobKey(id);
  const std::optional<Waits> waits = WhyItWaits(session, id);
  size_t hash = static_cast<size_t>(job.phase);
  for (const JobCondition& condition : job.conditions) {
    if (!condition.from_this_session || condition.type == kUnschedulable) continue;
    Mix(hash, HashOf(condition.type));
    Mix(hash, HashOf(condition.message));
  }
  if (waits) {
    Mix(hash, HashOf(waits->condition.reason));
    Mix(hash, HashOf(waits->steady.empty() ? waits->condition.message : waits->steady));
  }
  const size_t words = hash;
  if (waits && !waits->steady.empty()) Mix(hash, HashOf(waits->condition.message));
  for (const TaskStatus status :
       {TaskStatus::kRunning, TaskStatus::kSucceeded, TaskStatus::kFailed})
    Mix(hash, static_cast<size_t>(job.Count(status)));
  const auto [it, is_new] = memos_.try_emplace(key);
  GroupMemo& memo = it->second;
  if (!is_new && !memo.stale && memo.hash == hash) return;
  memo.stale = false;
  memo.hash = hash;
  // A phase is told at once; pods that start, or leave, one after the other are told together.
  const bool urgent = memo.words != words;
  memo.words = words;
  memo.group = PodGroupRef(c.Text(job.ns), c.Text(job.name), c.Text(job.uid));
  memo.phase = job.phase;
  GroupStatus wanted = StatusOf(job, waits ? &waits->condition : nullptr);
  wanted.room_is_made = waits && waits->room_is_made;
  memo.held.reset();
  if (!waits || !waits->lacks_pods) {
    memo.short_at.reset();
  } else {
    if (!memo.short_at) memo.short_at = client_.SteadyNow();
    if (GraceLeft(memo).count() > 0) {
      // Its pods may be on their way.
      memo.held = wanted;
      wanted.conditions.pop_back();
      SetGroupTimer(key, memo);
    }
  }
  if (writer_.WriteGroup(memo.group, wanted, urgent)) mirror_.ExpectPhase(key, job.phase);
}

milliseconds StatusReports::GraceLeft(const GroupMemo& memo) const {
  return LeftOf(options_.grace, *memo.short_at, client_.SteadyNow());
}

void StatusReports::SetGroupTimer(const std::string& key, GroupMemo& memo) {
  if (std::exchange(memo.timer, true)) return;
  client_.After(GraceLeft(memo), [this, key] { TellHeld(key); });
}

void StatusReports::TellHeld(const std::string& key) {
  const auto it = memos_.find(key);
  if (it == memos_.end()) return;
  GroupMemo& memo = it->second;
  memo.timer = false;
  if (!memo.held) return;
  if (GraceLeft(memo).count() > 0) return SetGroupTimer(key, memo);
  const GroupStatus wanted = *std::exchange(memo.held, std::nullopt);
  if (writer_.WriteGroup(memo.group, wanted, true)) mirror_.ExpectPhase(key, memo.phase);
}

void StatusReports::ReportWaiting(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  if (job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kPipelined) +
          job.Count(TaskStatus::kAllocated) ==
      0)
    return;
  // As long as it has not all its pods no place is looked for.
  std::string message;
  const std::optional<PodShortage> shortage = ShortageOf(session, id);
  if (shortage) message = fmt::format("PodGroup {}: {}", c.Text(job.name), shortage->message);
  // A place is named when the job as a whole is about to have what it needs.
  const bool room_is_made = RoomIsBeingMade(session, id);
  for (const TaskId task : job.tasks) {
    if (!IsWaiting(c.tasks[task])) continue;
    if (room_is_made && c.tasks[task].status == TaskStatus::kPipelined &&
        c.tasks[task].node.valid()) {
      ReportWaitingPod(session, task, WhoHasToLeave(session, task).sentence,
                       c.NodeName(c.tasks[task].node), false);
      continue;
    }
    std::string own;  // what is said of this one only
    if (c.tasks[task].needs_claims) {
      own = fmt::format("{} {}", c.Text(c.tasks[task].name), kNeedsClaims);
    } else if (const FitError* error = session.fit_errors.Find(task);
               error != nullptr && !shortage) {
      own = FitErrors::Text(*error, session.reasons);
    } else if (message.empty()) {
      message = session.WaitingReason(id);
      if (const std::string queue = FurtherCause(session, id); !queue.empty())
        message += "; " + queue;
    }
    if (!shortage)
      if (const std::string large = SizesIn(c).WhyTooLarge(c, task); !large.empty())
        own = fmt::format("{}; {}", large, own.empty() ? message : own);
    ReportWaitingPod(session, task, own.empty() ? message : own, {}, shortage.has_value());
  }
}

void StatusReports::ReportWaitingPod(const Session& session, TaskId id, const std::string& message,
                                     std::string_view node, bool brief) {
  const Cluster& c = session.cluster;
  const Task& task = c.tasks[id];
  size_t hash = HashOf(message);
  Mix(hash, HashOf(node));
  auto known = waiting_.find(c.Text(task.uid));
  if (known == waiting_.end()) {
    known = waiting_.try_emplace(std::string(c.Text(task.uid))).first;
    known->second.since = client_.Now();
    known->second.began = client_.SteadyNow();
  }
  WaitingMemo& memo = known->second;
  memo.cycle = cycle_;
  if (memo.hash == hash && memo.brief == brief) return;
  memo.hash = hash;
  memo.brief = brief;
  memo.message = message;
  const bool nominated = !node.empty() && memo.node != node;
  memo.node = node;
  memo.pod = PodRef(c.Text(task.ns), c.Text(task.name), c.Text(task.uid));
  memo.patience = brief ? options_.grace : options_.first_wait;
  if (memo.written || !node.empty()) WritePod(memo, nominated);
  if (memo.announced) return writer_.AnnouncePod(memo.pod, memo.message, !node.empty());
  SetPodTimer(memo);
}

// The first word comes after a while; see ForgetPlacedPods.
void StatusReports::SetPodTimer(WaitingMemo& memo) {
  if (memo.timer && *memo.timer <= memo.patience) return;
  memo.timer = memo.patience;
  client_.After(LeftOf(memo.patience, memo.began, client_.SteadyNow()),
                [this, uid = memo.pod.uid] { TellPod(uid); });
}

void StatusReports::TellPod(const std::string& uid) {
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return;  // found its place
  WaitingMemo& memo = it->second;
  if (memo.announced) return;
  memo.timer.reset();
  if (LeftOf(memo.patience, memo.began, client_.SteadyNow()).count() > 0) return SetPodTimer(memo);
  memo.announced = true;
  if (!memo.written) WritePod(memo, false);
  writer_.AnnouncePod(memo.pod, memo.message, !memo.node.empty());
}

void StatusReports::WritePod(WaitingMemo& memo, bool urgent) {
  const bool first = !std::exchange(memo.written, true);
  writer_.WritePod(memo.pod, memo.message, memo.node, first ? memo.since : Timestamp{}, urgent);
}

// Whoever waits was looked at in this cycle.
void StatusReports::ForgetPlacedPods() {
  std::erase_if(waiting_, [&](const auto& entry) {
    if (entry.second.cycle == cycle_) return false;
    writer_.ForgetPod(entry.second.pod.Key());
    return true;
  });
}

}  // namespace krafla
