#include "explain/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/did_you_mean.h"
#include "cluster_state/facts.h"
#include "explain/amount_words.h"
#include "explain/cooldown_words.h"
#include "explain/eviction_story.h"
#include "explain/flip_search.h"
#include "explain/node_sizes.h"
#include "explain/pod_story.h"
#include "explain/queue_story.h"
#include "explain/waiting_words.h"
#include "explain/zone_story.h"
#include "session/tdm_settings.h"
#include "session/unsupported.h"

namespace krafla {

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes:
      return "yes";
    case Verdict::kNo:
      return "no";
    case Verdict::kNotAsked:
      return "not asked";
  }
  return "";
}

namespace {

// Attempts of one class fail alike; a few different ones are looked at.
constexpr size_t kMostLooks = 3;

std::string Unknown(std::string_view what, std::string_view name,
                    const std::vector<std::string>& known) {
  std::vector<std::string_view> views(known.begin(), known.end());
  std::string text = fmt::format("no {} {} in the input", what, Quoted(name));
  if (const auto near = DidYouMean(name, views))
    return text + fmt::format("; did you mean \"{}\"?", *near);
  if (!name.contains('/')) {
    for (std::string_view view : views)
      if (view.ends_with(fmt::format("/{}", name)))
        return text + fmt::format("; did you mean \"{}\"?", view);
  }
  if (views.empty()) return text + "; it has none";
  // A cluster has many; a few show what a name looks like.
  std::string some;
  for (size_t i = 0; i < views.size() && i < 5; ++i)
    some += fmt::format("{}{}", i == 0 ? "" : ", ", views[i]);
  return text + fmt::format("; there {} {}{}", views.size() == 1 ? "is" : "are", some,
                            views.size() > 5 ? fmt::format(" and {} more", views.size() - 5) : "");
}

}  // namespace

Explainer::Explainer(Cluster cluster, SchedulerConfig config, const SessionOptions& when)
    : cluster_(std::move(cluster)), config_(std::move(config)), when_(when) {
  if (when.memory != nullptr) memory_ = *when.memory;
  when_.memory = nullptr;
}

Result<Explanation> Explainer::Explain(std::string_view kind, std::string_view name) {
  if (kind == "job") return ExplainJob(name);
  if (kind == "pod") return ExplainPod(name);
  if (kind == "queue") return ExplainQueue(name);
  if (kind == "zone") return ExplainZone(name);
  static constexpr std::string_view kKinds[] = {"job", "pod", "queue", "zone"};
  return Fail(fmt::format("cannot explain {}{}", Quoted(kind), DidYouMeanHint(kind, kKinds)));
}

std::unique_ptr<Explainer::Baseline> Explainer::RunBaseline(JobId job) {
  auto baseline = std::make_unique<Baseline>(
      Baseline{.cluster = CopyCluster(cluster_), .memory = memory_, .muted = {}, .log = Log{}});
  baseline->log.CaptureTo(&baseline->muted);
  baseline->probe = std::make_unique<CycleProbe>(baseline->cluster, job);
  SessionOptions options = when_;
  options.memory = &baseline->memory;
  options.visits_all_jobs = true;  // what is said of a job must not depend on whether it was quiet
  if (job.valid()) baseline->probe->ListenThrough(options);
  baseline->session = std::make_unique<Session>(baseline->cluster, config_, options, baseline->log);
  baseline->probe->Attach(*baseline->session);
  baseline->session->RunActions();
  return baseline;
}

// Runs the cycle once more and stops at the chosen moments to look at every node.
std::vector<RoomLook> Explainer::LookAtAttempts(JobId job,
                                                const std::vector<EvictionAttempt>& attempts,
                                                TaskId pod) {
  std::vector<const EvictionAttempt*> chosen;
  for (const char* action : {"preempt", "reclaim"}) {
    std::set<ClassId> classes;
    const EvictionAttempt* first = nullptr;
    size_t looks = 0;
    for (const EvictionAttempt& attempt : attempts) {
      if (attempt.action != action) continue;
      if (first == nullptr) first = &attempt;
      const bool asked_for = attempt.task == pod;
      if (pod.valid() ? !asked_for
                      : attempt.placed || looks >= kMostLooks ||
                            !classes.insert(cluster_.tasks[attempt.task].cls).second)
        continue;
      ++looks;
      chosen.push_back(&attempt);
    }
    // All found room: the first one shows how.
    if (looks == 0 && first != nullptr) chosen.push_back(first);
  }
  std::vector<RoomLook> searches;
  if (chosen.empty()) return searches;
  CycleRun run(Inputs());
  CycleProbe probe(run.cluster(), job);
  for (const EvictionAttempt* attempt : chosen)
    probe.LookAt(attempt->round, [&, attempt](Session& session) {
      const auto action =
          attempt->action == "preempt" ? EvictingAction::kPreempt : EvictingAction::kReclaim;
      searches.push_back(SearchRoom(session, probe, action, attempt->task));
    });
  run.Run(&probe);
  return searches;
}

void Explainer::DescribeJob(const Session& s, JobId id, const JobGates& gates, TaskId pod,
                            Explanation& explanation) const {
  const Cluster& c = s.cluster;
  const Job& job = c.jobs[id];
  const JobStanding standing = StandingOf(s, id);
  const bool of_one = c.Text(job.name).starts_with(kGroupOfOnePrefix);
  const std::string who = pod.valid()                       ? c.TaskKey(pod)
                          : of_one && job.tasks.size() == 1 ? c.TaskKey(job.tasks.front())
                                                            : c.JobKey(id);
  size_t evicted = 0;
  for (const Eviction& e : s.plan.evictions)
    if (e.for_task.valid() && (pod.valid() ? e.for_task == pod : c.tasks[e.for_task].job == id))
      ++evicted;

  std::vector<const Eviction*> lost;
  for (const Eviction& e : s.plan.evictions)
    if (!pod.valid() && c.tasks[e.task].job == id) lost.push_back(&e);

  const bool invalid = std::any_of(gates.gates.begin(), gates.gates.end(), [](const Gate& gate) {
    return gate.name == "valid" && gate.verdict == Verdict::kNo;
  });

  std::string why = gates.why;
  // Nothing else matters for a pod that no node is large enough for.
  const NodeSizes sizes(c);
  std::string too_large;
  if (!pod.valid())
    too_large = sizes.WhyTooLarge(c, id);
  else if (c.tasks[pod].status == TaskStatus::kPending)
    too_large = sizes.WhyTooLarge(c, pod);
  if (!invalid && !too_large.empty()) why = too_large + (why.empty() ? "" : "; " + why);

  const bool pod_placed = pod.valid() && c.tasks[pod].status != TaskStatus::kPending &&
                          c.tasks[pod].status != TaskStatus::kAllocated;
  const auto never_bound = std::find_if(job.tasks.begin(), job.tasks.end(), [&](TaskId t) {
    return (!pod.valid() || t == pod) && c.tasks[t].status == TaskStatus::kPipelined &&
           IsNeverBound(s, t);
  });
  if (never_bound != job.tasks.end()) {
    explanation.answer = fmt::format(
        "{} waits: {} {}.", who, who == c.TaskKey(*never_bound) ? "it" : c.TaskKey(*never_bound),
        kOnlyBackfillPlaces);
  } else if (pod_placed) {
    const std::string node(c.NodeName(c.tasks[pod].node));
    explanation.answer =
        c.tasks[pod].status == TaskStatus::kPipelined
            ? fmt::format("{} gets its room on {} in this cycle, once {}.", who, node,
                          evicted > 0 ? fmt::format("{} evicted for it {} ended", PodCount(evicted),
                                                    evicted == 1 ? "has" : "have")
                                      : "terminating pods are gone")
            : fmt::format("{} is bound to {} by this cycle.", who, node);
  } else if (!pod.valid() && standing.pending == 0 && standing.pipelined == 0 &&
             standing.bound == 0) {
    if (job.tasks.empty() && job.phase == JobPhase::kPending && !why.empty())
      explanation.answer =
          fmt::format("{} waits to be let into queue {}: {}.", who, c.QueueName(job.queue), why);
    else if (job.phase != JobPhase::kCompleted && !why.empty() && invalid)
      explanation.answer = fmt::format("{} waits: {}.", who, why);
    else
      explanation.answer = fmt::format(
          "{} waits for nothing{}.", who,
          lost.empty() ? "" : fmt::format(", and loses {} in this cycle", PodCount(lost.size())));
  } else if (!pod.valid() && standing.pipelined > 0 && standing.has_minimum) {
    explanation.answer =
        fmt::format("{} gets room in this cycle: {} {} for {}.", who, PodCount(standing.pipelined),
                    standing.pipelined == 1 ? "waits" : "wait",
                    evicted > 0 ? fmt::format("{} evicted for it to end", PodCount(evicted))
                                : "terminating pods to be gone");
  } else if (!pod.valid() && standing.bound > 0) {
    explanation.answer =
        standing.pending == 0
            ? fmt::format("{} is placed by this cycle: {} bound.", who, PodCount(standing.bound))
            : fmt::format("{} gets {} bound by this cycle, {} more wait{}: {}.", who,
                          PodCount(standing.bound), standing.pending,
                          standing.pending == 1 ? "s" : "",
                          why.empty() ? "there is no room for more" : why);
  } else {
    explanation.answer =
        fmt::format("{} waits: {}.", who, why.empty() ? "its minimum could not be reached" : why);
  }
  // All else is said of the cycle's own moments: so are these, where the cycle changes them.
  const Job& before = cluster_.jobs[id];
  const int32_t ready = before.Ready();
  const int32_t ready_after = job.Ready() - job.Count(TaskStatus::kAllocated);
  const bool changes = ready != ready_after || before.phase != job.phase;
  explanation.facts.push_back(
      fmt::format("{}{}: {} of {} ready, minimum {}, priority {}, queue {}, phase {}",
                  of_one ? "no PodGroup, a group of its own" : "PodGroup " + c.JobKey(id),
                  changes ? ", before this cycle" : "", ready, PodCount(job.tasks.size()),
                  job.min_available, job.priority, c.QueueName(job.queue), ToString(before.phase)));
  if (changes)
    explanation.facts.push_back(fmt::format(
        "after it: {} of {} ready{}{}, phase {}", ready_after, PodCount(job.tasks.size()),
        standing.bound > 0 ? ", those it binds included" : "",
        standing.pipelined > 0
            ? fmt::format(", {} waiting for room that is made", standing.pipelined)
            : "",
        ToString(job.phase)));
  if (const std::string passed_over = PassedOver(job); !passed_over.empty())
    explanation.facts.push_back(
        fmt::format("it is scheduled without {}: not supported yet", passed_over));
  if (!lost.empty()) {
    const Eviction& first = *lost.front();
    explanation.facts.push_back(fmt::format(
        "this cycle evicts {} of it: {}{} ({}){}", PodCount(lost.size()), c.TaskKey(first.task),
        first.for_task.valid() ? " for " + c.TaskKey(first.for_task) : "", WhyEvicted(s, first),
        lost.size() > 1 ? fmt::format(" and {} more", lost.size() - 1) : ""));
  }
}

void Explainer::AddHistory(Explanation& explanation) const {
  std::string text = DescribeEvictionHistory(config_, cluster_, memory_, when_.now);
  if (!text.empty()) explanation.facts.push_back(std::move(text));
}

void Explainer::ExplainWaiting(JobId id, TaskId pod, Explanation& explanation) {
  std::vector<RoomLook> searches;
  FlipClues clues{.searches = searches, .said_no = {}};
  bool waits = false;
  {
    const JobPhase phase_before = cluster_.jobs[id].phase;
    const std::unique_ptr<Baseline> baseline = RunBaseline(id);
    Session& session = *baseline->session;
    const std::vector<EvictionAttempt> attempts = AttemptsOf(*baseline->probe);
    searches = LookAtAttempts(id, attempts, pod);
    JobGates gates = GatesOf({.session = session,
                              .probe = *baseline->probe,
                              .job = id,
                              .phase_before = phase_before,
                              .attempts = attempts,
                              .searches = searches});
    if (pod.valid()) AddRefusalsOfPod(session, pod, gates);
    DescribeJob(session, id, gates, pod, explanation);
    AddHistory(explanation);
    explanation.gates = std::move(gates.gates);
    AddVictimsFor(session, id, pod, explanation);

    const JobStanding standing = StandingOf(session, id);
    const TaskStatus status =
        pod.valid() ? baseline->cluster.tasks[pod].status : TaskStatus::kPending;
    waits = pod.valid()
                ? status == TaskStatus::kPending || status == TaskStatus::kAllocated
                : standing.pending > 0 || (cluster_.jobs[id].tasks.empty() &&
                                           baseline->cluster.jobs[id].phase == JobPhase::kPending);
    for (const TaskId task : baseline->cluster.jobs[id].tasks)
      waits |= (!pod.valid() || task == pod) && IsNeverBound(session, task) &&
               baseline->cluster.tasks[task].status == TaskStatus::kPipelined;
    const CycleProbe& probe = *baseline->probe;
    for (const PluginVote& vote : probe.enqueue())
      if (vote.vote == Vote::kReject) clues.said_no.emplace_back(vote.plugin, Switch::kJobEnqueued);
    for (const StarvingRound& round : probe.starving())
      for (const PluginVote& vote : round.votes)
        if (vote.vote == Vote::kReject)
          clues.said_no.emplace_back(vote.plugin, Switch::kJobStarving);
    for (const PipelinedPoll& poll : probe.pipelined())
      for (const PluginVote& vote : poll.votes)
        if (vote.vote == Vote::kReject)
          clues.said_no.emplace_back(vote.plugin, Switch::kJobPipelined);
    for (const QueueRefusal& refusal : probe.queue_refusals()) {
      clues.said_no.emplace_back(refusal.plugin, Switch::kAllocatable);
      clues.said_no.emplace_back(refusal.plugin, Switch::kOverused);
    }
  }
  if (waits) explanation.flips = SearchFlips(Inputs(), {.job = id, .pod = pod}, clues);
}

bool Explainer::IsGroupOfPod(JobId id, std::string_view pod) const {
  const Job& job = cluster_.jobs[id];
  const std::string_view name = cluster_.Text(job.name);
  return name.starts_with(kGroupOfOnePrefix) &&
         pod == fmt::format("{}/{}", cluster_.Text(job.ns), name.substr(kGroupOfOnePrefix.size()));
}

Result<Explanation> Explainer::ExplainJob(std::string_view name) {
  std::vector<std::string> known;
  JobId job;
  for (JobId id : cluster_.jobs_by_name) {
    known.push_back(cluster_.JobKey(id));
    // A PodGroup of that name goes before a pod that is a group of its own.
    if (known.back() == name || (!job.valid() && IsGroupOfPod(id, name))) job = id;
  }
  if (!job.valid()) {
    // One that no cycle places has no group; there is something to say about the pod all the same.
    for (TaskId pod{0}; pod.value < cluster_.tasks.size(); ++pod.value)
      if (!cluster_.tasks[pod].job.valid() && cluster_.TaskKey(pod) == name) {
        Result<Explanation> explanation = ExplainPod(name);
        if (explanation) explanation->kind = "job";
        return explanation;
      }
    return Fail(Unknown("PodGroup", name, known));
  }
  Explanation explanation{.kind = "job", .name = std::string(name)};
  ExplainWaiting(job, TaskId{}, explanation);
  return explanation;
}

Result<Explanation> Explainer::ExplainPod(std::string_view name) {
  TaskId pod;
  std::vector<std::string> known;
  for (uint32_t t = 0; t < cluster_.tasks.size(); ++t) {
    known.push_back(cluster_.TaskKey(TaskId(t)));
    if (known.back() == name) pod = TaskId(t);
  }
  std::sort(known.begin(), known.end());
  if (!pod.valid()) return Fail(Unknown("pod", name, known));
  Explanation explanation{.kind = "pod", .name = std::string(name)};
  const Task& task = cluster_.tasks[pod];
  if (task.status == TaskStatus::kPending && task.job.valid()) {
    ExplainWaiting(task.job, pod, explanation);
    return explanation;
  }
  const std::unique_ptr<Baseline> baseline = RunBaseline(task.job);
  TellPodStory(*baseline->session, task.job.valid() ? baseline->probe.get() : nullptr, pod,
               explanation);
  AddHistory(explanation);
  return explanation;
}

Result<Explanation> Explainer::ExplainQueue(std::string_view name) {
  const QueueId queue = cluster_.FindQueue(name);
  if (!queue.valid()) {
    std::vector<std::string> known;
    for (QueueId id : cluster_.queues_by_name) known.emplace_back(cluster_.QueueName(id));
    return Fail(Unknown("queue", name, known));
  }
  Explanation explanation{.kind = "queue", .name = std::string(name)};
  const Cluster before = CopyCluster(cluster_);
  const std::unique_ptr<Baseline> baseline = RunBaseline(JobId{});
  TellQueueStory(before, *baseline->session, queue, explanation);
  return explanation;
}

Result<Explanation> Explainer::ExplainZone(std::string_view name) {
  std::set<std::string> names;
  for (const TdmZone& zone : ReadTdmSettings(config_, when_.zone).zones) names.insert(zone.name);
  for (const Node& node : cluster_.nodes)
    if (node.zone != kEmptyStr) names.insert(std::string(cluster_.Text(node.zone)));
  if (!names.contains(std::string(name)))
    return Fail(Unknown("zone", name, {names.begin(), names.end()}));
  Explanation explanation{.kind = "zone", .name = std::string(name)};
  TellZoneStory(Inputs(), name, explanation);
  return explanation;
}

}  // namespace krafla
