#include "explain/why_waiting.h"

#include <fmt/format.h>

#include "explain/veto_words.h"

namespace krafla {

WhyWaiting::WhyWaiting(const Session& session) : session_(session), cluster_(session.cluster) {
  for (const TraceEvent& event : session.trace.events()) Read(event);
}

void WhyWaiting::Read(const TraceEvent& event) {
  switch (event.kind) {
    case TraceKind::kAction:
      action_ = event.a;
      break;
    case TraceKind::kJobSkipped:
      ReadSkip(event);
      break;
    case TraceKind::kTryTask:
      spared_ = false;
      break;
    case TraceKind::kVeto:
      spared_ = true;
      veto_ = event.code;
      spared_task_ = event.a;
      break;
    case TraceKind::kShort:
      ReadShort(event);
      break;
    case TraceKind::kAllocate:
    case TraceKind::kPipeline:
      if (Record& record = RecordOf(cluster_.tasks[TaskId(event.a)].job); !record.closed)
        ++record.places;
      break;
    case TraceKind::kCommit: {
      Record& record = RecordOf(JobId(event.a));
      record.closed = true;
      record.helped = record.places > 0;
      break;
    }
    case TraceKind::kDiscard: {
      const JobId job(event.a);
      Record& record = RecordOf(job);
      if (record.places > 0) Note(job, {.stage = Stage::kNotAll, .count = record.places});
      record.closed = true;
      break;
    }
    case TraceKind::kVotes:
    case TraceKind::kEvict:
      break;
  }
}

void WhyWaiting::ReadSkip(const TraceEvent& event) {
  Try attempt{.code = event.code, .task = event.b, .count = event.c};
  switch (static_cast<SkipCode>(event.code)) {
    case SkipCode::kNotStarving:
    case SkipCode::kNetworkTopology:
      attempt.stage = Stage::kNotStarving;
      break;
    case SkipCode::kNeverPreempts:
    case SkipCode::kNotAllocatable:
    case SkipCode::kQueueOverused:
    case SkipCode::kNominated:
      attempt.stage = Stage::kMayNot;
      break;
    case SkipCode::kNoNode:
      attempt.stage = Stage::kNoNode;
      break;
    case SkipCode::kEvictionLimit:
      attempt.stage = Stage::kHeldBack;
      break;
    case SkipCode::kSurplusWaits:
    case SkipCode::kPendingPhase:  // said elsewhere: these hold for all actions
    case SkipCode::kInvalid:
    case SkipCode::kNoTasks:
    case SkipCode::kNotPipelined:
      return;
  }
  Note(JobId(event.a), attempt);
  // What comes next is another action's, or about room within the job.
  if (attempt.stage == Stage::kHeldBack) RecordOf(JobId(event.a)).closed = true;
}

void WhyWaiting::ReadShort(const TraceEvent& event) {
  Try attempt{.code = veto_, .task = spared_task_, .node = event.b, .count = event.c};
  switch (static_cast<ShortCode>(event.code)) {
    case ShortCode::kCandidates:
      attempt.stage = event.c == 0 ? Stage::kNoCandidate : Stage::kTooLarge;
      attempt.task = event.a;
      break;
    case ShortCode::kVictims:
      attempt.stage = spared_ ? Stage::kSpared : Stage::kTooLarge;
      break;
    case ShortCode::kQueueShare:
      attempt.stage = Stage::kQueueShare;
      break;
    case ShortCode::kPredicate:
      attempt.stage = Stage::kPredicate;
      break;
  }
  Note(cluster_.tasks[TaskId(event.a)].job, attempt);
}

WhyWaiting::Record& WhyWaiting::RecordOf(JobId job) {
  std::vector<Record>& records = records_[job];
  if (records.empty() || records.back().action != action_) records.push_back({.action = action_});
  return records.back();
}

void WhyWaiting::Note(JobId job, const Try& attempt) {
  Record& record = RecordOf(job);
  if (!record.closed && attempt.stage > record.best.stage) record.best = attempt;
}

std::vector<WhyWaiting::Answer> WhyWaiting::Of(JobId job) const {
  std::vector<Answer> answers;
  const auto found = records_.find(job);
  if (found == records_.end()) return answers;
  for (const Record& record : found->second)
    if (!record.helped && record.best.stage != Stage::kNone)
      answers.push_back({session_.config.actions[record.action].name, Describe(job, record)});
  return answers;
}

uint32_t WhyWaiting::PlacesFound(JobId job, std::string_view action) const {
  uint32_t places = 0;
  if (const auto found = records_.find(job); found != records_.end())
    for (const Record& record : found->second)
      if (session_.config.actions[record.action].name == action) places += record.places;
  return places;
}

std::string WhyWaiting::NodeName(const Try& attempt) const {
  return std::string(cluster_.NodeName(NodeId(attempt.node)));
}

std::string WhyWaiting::Describe(JobId id, const Record& record) const {
  const Job& job = cluster_.jobs[id];
  const Try& attempt = record.best;
  switch (attempt.stage) {
    case Stage::kNone:
      return {};
    case Stage::kNotStarving:
    case Stage::kMayNot:
    case Stage::kNoNode:
      return DescribeSkip(id, attempt);
    case Stage::kNoCandidate:
      return DescribeNoCandidate(id, record);
    case Stage::kTooLarge:
      return fmt::format("not enough room on {}, even without the {} pod(s) that could go",
                         NodeName(attempt), attempt.count);
    case Stage::kSpared:
      return DescribeSpared(attempt);
    case Stage::kQueueShare:
      if (const std::string closed = DescribeClosedQueue(job.queue); !closed.empty())
        return fmt::format("room could be made on {}, but {}", NodeName(attempt), closed);
      return fmt::format("room could be made on {}, but queue {} has no share left for it",
                         NodeName(attempt), cluster_.QueueName(job.queue));
    case Stage::kPredicate:
      return fmt::format("room could be made on {}, but a predicate would still refuse the pod",
                         NodeName(attempt));
    case Stage::kNotAll:
      return fmt::format("room for {} of its pods, {} needed at once: taken back", attempt.count,
                         job.min_available - job.Ready());
    case Stage::kHeldBack:
      return session_.eviction_limit.WhyHeldBackNow(id);
  }
  return {};
}

// What is in the way of the first pod there that could have been meant: of another job of the queue
// for preempt, of another queue for reclaim.
std::string WhyWaiting::DescribeNoCandidate(JobId id, const Record& record) const {
  const Job& job = cluster_.jobs[id];
  const Task& own = cluster_.tasks[TaskId(record.best.task)];
  const bool across_queues = session_.config.actions[record.action].name == "reclaim";
  const std::string text =
      fmt::format("no pod on {} may be evicted for it: ", NodeName(record.best));
  for (TaskId other : cluster_.nodes[NodeId(record.best.node)].tasks) {
    const Task& task = cluster_.tasks[other];
    if (!task.job.valid() || task.job == id) continue;
    if ((cluster_.jobs[task.job].queue != job.queue) != across_queues) continue;
    const std::string name = cluster_.TaskKey(other);
    if (!task.preemptable) return text + name + " says preemptable: false";
    if (!IsPreemptableStatus(task.status))
      return text + fmt::format("{} is {}", name, ToString(task.status));
    if (!across_queues && own.best_effort && !task.best_effort)
      return text + "it asks for nothing itself, the others do";
    if (across_queues && !cluster_.queues[cluster_.jobs[task.job].queue].reclaimable)
      return text + fmt::format("queue {} is not reclaimable",
                                cluster_.QueueName(cluster_.jobs[task.job].queue));
  }
  return text + fmt::format("no other {}{} runs there",
                            across_queues ? "queue than " : "job of queue ",
                            cluster_.QueueName(job.queue));
}

std::string WhyWaiting::DescribeSkip(JobId id, const Try& attempt) const {
  const Job& job = cluster_.jobs[id];
  switch (static_cast<SkipCode>(attempt.code)) {
    case SkipCode::kNotStarving:
      if (job.Ready() >= job.min_available)
        return fmt::format("its minimum of {} runs; nobody is evicted for more", job.min_available);
      return job.preemptable ? "it offers to step aside itself; nobody is evicted for it"
                             : "the plugins do not call it starving; nobody is evicted for it";
    case SkipCode::kNetworkTopology:
      return "jobs with a network topology do not preempt";
    case SkipCode::kNeverPreempts:
      return fmt::format("{} says preemptionPolicy Never",
                         cluster_.Text(cluster_.tasks[TaskId(attempt.task)].name));
    case SkipCode::kNominated:
      return DescribeNomination(TaskId(attempt.task), static_cast<NominationCode>(attempt.count));
    case SkipCode::kNotAllocatable:
      if (std::string closed = DescribeClosedQueue(job.queue); !closed.empty()) return closed;
      return fmt::format("with {} queue {} would have more than it deserves",
                         cluster_.Text(cluster_.tasks[TaskId(attempt.task)].name),
                         cluster_.QueueName(job.queue));
    case SkipCode::kQueueOverused:
      return fmt::format("queue {} has all it deserves", cluster_.QueueName(job.queue));
    case SkipCode::kNoNode:
      return fmt::format("no node would take it, whoever is evicted{}{}",
                         attempt.count != 0 ? ": " : "",
                         session_.reasons.Text(static_cast<ReasonCode>(attempt.count)));
    default:
      return {};
  }
}

std::string WhyWaiting::DescribeNomination(TaskId id, NominationCode code) const {
  const Task& task = cluster_.tasks[id];
  const std::string nominated = fmt::format("{} is nominated for node {}", cluster_.Text(task.name),
                                            cluster_.Text(task.nominated_node));
  switch (code) {
    case NominationCode::kNodeIsGone:
      return nominated + ", which does not exist; Volcano lets it preempt nowhere else";
    case NominationCode::kNodePasses:
      return nominated + ", whose predicates pass; it may not preempt elsewhere meanwhile";
    case NominationCode::kVictimIsEnding:
      return nominated + ", where a pod that was preempted for it is still terminating";
  }
  return nominated;
}

std::string WhyWaiting::DescribeClosedQueue(QueueId queue) const {
  const QueueState state = cluster_.queues[queue].state;
  if (state == QueueState::kOpen) return {};
  return fmt::format("queue {} is {}", cluster_.QueueName(queue), ToString(state));
}

std::string WhyWaiting::DescribeSpared(const Try& attempt) const {
  return fmt::format("{} on {} is spared: {}", cluster_.TaskKey(TaskId(attempt.task)),
                     NodeName(attempt), WhySpared(static_cast<VetoCode>(attempt.code)));
}

}  // namespace krafla
