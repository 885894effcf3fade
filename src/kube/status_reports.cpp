#include "kube/status_reports.h"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "kube/api_objects.h"
#include "session/job_by_name.h"

namespace krafla {

namespace {

void Mix(size_t& hash, size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
}

size_t HashOf(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

GroupStatus StatusOf(const Job& job) {
  GroupStatus status;
  status.phase = ToString(job.phase);
  bool scheduled = false;
  bool unschedulable = false;
  for (const JobCondition& condition : job.conditions) {
    if (!condition.from_this_session) continue;
    status.conditions.push_back(
        {condition.type, condition.status, condition.reason, condition.message});
    scheduled = scheduled || condition.type == "Scheduled";
    unschedulable = unschedulable || condition.type == "Unschedulable";
  }
  // What was true before no longer is.
  if (scheduled && !unschedulable)
    for (const JobCondition& condition : job.conditions)
      if (condition.type == "Unschedulable" && condition.status == "True")
        status.conditions.push_back({"Unschedulable", "False", "Scheduled", ""});
  status.running = job.Count(TaskStatus::kRunning);
  status.succeeded = job.Count(TaskStatus::kSucceeded);
  status.failed = job.Count(TaskStatus::kFailed);
  return status;
}

std::string WishOf(const GroupStatus& status) {
  std::string wish =
      fmt::format("{} {} {} {}", status.phase, status.running, status.succeeded, status.failed);
  for (const GroupCondition& c : status.conditions)
    wish += fmt::format("\n{} {} {} {}", c.type, c.status, c.reason, c.message);
  return wish;
}

// Allocated at the end of a cycle: it had a place, and waits with its gang all the same.
bool Waits(const Task& task) {
  return (task.status == TaskStatus::kPending || task.status == TaskStatus::kPipelined ||
          task.status == TaskStatus::kAllocated) &&
         !task.gated;
}

}  // namespace

StatusReports::StatusReports(ApiClient& client, ClusterMirror& mirror, EventRecorder& events,
                             Options options)
    : client_(client),
      mirror_(mirror),
      events_(events),
      options_(std::move(options)),
      groups_(client, {.calm = options_.count_calm,
                       .on_refused =
                           [this](const std::string& key, const HttpResponse& response) {
                             mirror_.ForgetPhase(key);
                             memos_.erase(key);
                             refused_.push_back(key);
                             if (options_.log)
                               options_.log(fmt::format(
                                   "status of PodGroup was refused podgroup={} error=\"{}\"", key,
                                   Describe(response)));
                           }}),
      pods_(client,
            {.first_delay = options_.first_wait,
             .calm = options_.calm,
             .on_refused =
                 [this](const std::string& key, const HttpResponse& response) {
                   // 409: another pod of that name.
                   if (response.status != 409 && options_.log)
                     options_.log(fmt::format("status of pod was refused pod={} error=\"{}\"", key,
                                              Describe(response)));
                 }}),
      queues_(client,
              {.calm = options_.queue_calm,
               .on_refused = [this](const std::string& key, const HttpResponse& response) {
                 if (options_.log)
                   options_.log(fmt::format("status of queue was refused queue={} error=\"{}\"",
                                            key, Describe(response)));
               }}) {}

void StatusReports::Flush() {
  groups_.Flush();
  pods_.Flush();
  queues_.Flush();
}

void StatusReports::AfterCycle(Session& session) {
  ++cycle_;
  // Seen anew: what the server has may differ from what we wished. All of these are among the jobs
  // that have changed.
  for (const std::string& key : mirror_.TakeChangedGroups()) {
    const auto it = memos_.find(key);
    if (it == memos_.end()) continue;
    it->second.stale = true;
    if (!mirror_.UidOf(WatchedKind::kPodGroup, key).empty()) continue;
    groups_.Forget(key);
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

// No plugin speaks of a queue without jobs, and without proportion of none at all; what its jobs
// hold is known all the same. One that never held anything is left alone.
void StatusReports::ReportQueues(const Session& session) {
  const Cluster& c = session.cluster;
  Table<QueueId, Resource> held(c.queues.size());
  for (const Job& job : c.jobs)
    if (job.queue.valid()) held[job.queue].Add(job.allocated);
  for (const QueueId id : c.queues_by_name) {
    const QueueReport& report = session.queue_reports[id];
    const Resource& allocated = report.known ? report.allocated : held[id];
    const std::string name(c.QueueName(id));
    if (!report.known && allocated.IsEmpty() && !reported_queues_.contains(name)) continue;
    reported_queues_.insert(name);
    ReportQueue(session, id, allocated);
  }
  std::erase_if(reported_queues_, [&](const std::string& name) {
    if (c.FindQueue(name).valid()) return false;
    queues_.Forget(name);
    return true;
  });
}

void StatusReports::ReportQueue(const Session& session, QueueId id, const Resource& allocated) {
  const std::string name(session.cluster.QueueName(id));
  std::string body = QueueStatusPatch(allocated, session.cluster.kinds);
  std::string wish = body;
  queues_.Want(name, std::move(wish),
               {.method = "PATCH",
                .target = fmt::format("/apis/{}/queues/{}/status", kSchedulingApi, name),
                .content_type = std::string(kMergePatch),
                .body = std::move(body),
                .urgency = Urgency::kStatus},
               false);
}

void StatusReports::ReportGroup(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  if (ClusterMirror::IsGroupOfOne(c.Text(job.name))) return;
  const std::string key = c.JobKey(id);
  size_t hash = static_cast<size_t>(job.phase);
  bool unschedulable = false;
  for (const JobCondition& condition : job.conditions) {
    if (!condition.from_this_session) continue;
    Mix(hash, HashOf(condition.type));
    Mix(hash, HashOf(condition.message));
    unschedulable = unschedulable || condition.type == "Unschedulable";
  }
  const size_t words = hash;
  for (const TaskStatus status :
       {TaskStatus::kRunning, TaskStatus::kSucceeded, TaskStatus::kFailed})
    Mix(hash, static_cast<size_t>(job.Count(status)));
  const auto [it, is_new] = memos_.try_emplace(key);
  GroupMemo& memo = it->second;
  if (!is_new && !memo.stale && memo.hash == hash) return;
  if (std::exchange(memo.stale, false)) memo.unschedulable = false;
  memo.hash = hash;
  // A phase is told at once; pods that start one after the other are told together.
  const bool urgent = memo.words != words;
  memo.words = words;
  const std::string* current = mirror_.StatusOf(key);
  if (current == nullptr) return;
  const ObjectRef group = PodGroupRef(c.Text(job.ns), c.Text(job.name), c.Text(job.uid));
  const GroupStatus wanted = StatusOf(job);
  std::optional<std::string> patch = GroupStatusPatch(
      *current, wanted, fmt::format("{:x}-{}", session.now.ns, cycle_), session.now);
  if (!patch) return;
  mirror_.ExpectPhase(key, job.phase);
  // The current status is part of the wish: if it is still wanted when the server shows something
  // else, it has to be written once more.
  groups_.Want(key, WishOf(wanted) + "\n" + *current,
               {.method = "PATCH",
                .target = PodGroupPath(group),
                .content_type = std::string(kMergePatch),
                .body = std::move(*patch),
                .urgency = Urgency::kStatus},
               urgent);
  if (unschedulable)
    for (const GroupCondition& condition : wanted.conditions)
      if (condition.type == "Unschedulable" && condition.status == "True" && !memo.unschedulable)
        events_.Record({group, true, "Unschedulable", condition.message});
  memo.unschedulable = unschedulable;
}

void StatusReports::ReportWaiting(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  if (job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kPipelined) +
          job.Count(TaskStatus::kAllocated) ==
      0)
    return;
  std::string message;  // of the job, when a task has no word of its own
  for (const TaskId task : job.tasks) {
    if (!Waits(c.tasks[task])) continue;
    if (const FitError* error = session.fit_errors.Find(task)) {
      ReportWaitingPod(session, task, FitErrors::Text(*error, session.reasons));
      continue;
    }
    if (message.empty()) message = session.WaitingReason(id);
    ReportWaitingPod(session, task, message);
  }
}

void StatusReports::ReportWaitingPod(const Session& session, TaskId id,
                                     const std::string& message) {
  const Cluster& c = session.cluster;
  const Task& task = c.tasks[id];
  // A place is named when the job as a whole is about to have what it needs.
  const bool pipelined = task.status == TaskStatus::kPipelined && task.node.valid() &&
                         task.job.valid() && session.JobPipelined(task.job);
  const std::string_view node = pipelined ? c.NodeName(task.node) : std::string_view{};
  size_t hash = HashOf(message);
  Mix(hash, HashOf(node));
  auto known = waiting_.find(c.Text(task.uid));
  if (known == waiting_.end()) known = waiting_.try_emplace(std::string(c.Text(task.uid))).first;
  WaitingMemo& memo = known->second;
  memo.cycle = cycle_;
  if (memo.hash == hash) return;
  memo.hash = hash;
  const ObjectRef pod = PodRef(c.Text(task.ns), c.Text(task.name), c.Text(task.uid));
  memo.key = pod.Key();
  constexpr int64_t kBetweenEventsNs = 10 * Timestamp::kNsPerSecond;
  const bool first = !std::exchange(memo.told, true);
  pods_.Want(memo.key, fmt::format("{}\n{}\n{}", pod.uid, node, message),
             {.method = "PATCH",
              .target = PodPath(pod) + "/status",
              .content_type = std::string(kStrategicPatch),
              .body = WaitingPatch(pod, message, node, first ? session.now : Timestamp{}),
              .urgency = Urgency::kStatus},
             pipelined);
  // The first word comes with the first write, after a while; see ForgetPlacedPods.
  if (first) {
    client_.After(options_.first_wait, [this, pod, message] {
      const auto it = waiting_.find(pod.uid);
      if (it == waiting_.end()) return;  // found its place
      it->second.event = client_.Now();
      events_.Record({pod, true, "FailedScheduling", message});
    });
  } else if (ElapsedNs(memo.event, session.now) >= kBetweenEventsNs && memo.event.Present()) {
    memo.event = session.now;
    events_.Record({pod, true, "FailedScheduling", message});
  }
}

// Whoever waits was looked at in this cycle.
void StatusReports::ForgetPlacedPods() {
  std::erase_if(waiting_, [&](const auto& entry) {
    if (entry.second.cycle == cycle_) return false;
    pods_.Forget(entry.second.key);
    return true;
  });
}

}  // namespace krafla
