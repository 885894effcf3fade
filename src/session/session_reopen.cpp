// One session for many cycles. Between two of them:
//   1. Rewind takes back what the cycle did. Values saved in the undo log, the plugins' too, are
//      those of the opening again.
//   2. The cluster changes; LiveCluster says which rows.
//   3. Reopen lets everything that was computed follow: the view of pods on nodes, the kept answers
//      about nodes, the plugins' sums, the index of jobs. A plugin that cannot follow is made anew.
// What cannot be compared row by row (a zone that opens) makes the kept answers void.
#include <algorithm>
#include <utility>

#include "session/in_hand.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/step_timer.h"

namespace krafla {

namespace {

// Lists that only grow are begun again from time to time.
constexpr size_t kMaxNodeChanges = 1 << 16;
constexpr size_t kMaxReasons = 1 << 12;

// Beyond so many, looking at jobs one by one costs more than looking at all.
size_t FewJobs(size_t jobs) {
  return 64 + jobs / 16;
}

}  // namespace

void Session::NotePhases() {
  kept_.notes_phases = true;
  kept_.closing = cluster.jobs_by_name;
  kept_.phase_before.clear();
  kept_.phase_before.reserve(kept_.closing.size());
  for (const JobId job : kept_.closing) kept_.phase_before.push_back(cluster.jobs[job].phase);
}

void Session::Rewind() {
  kept_.rewound.clear();
  kept_.job_seen.Resize(cluster.jobs.size());
  ++kept_.seen;
  for (const auto& [task, kind] : task_changes_.Look()) {
    const JobId job = cluster.tasks[task].job;
    if (std::exchange(kept_.job_seen[job], kept_.seen) != kept_.seen) kept_.rewound.push_back(job);
  }
  undo.RollbackTo(0);
  kube.NoteRollback();
  node_changes_.TakeBack(kept_.opened_at);
  task_changes_.Clear();
  kept_.jobs_synced = 0;
  if (!jobs_.made()) return;
  if (kept_.rewound.size() > FewJobs(cluster.jobs.size())) {
    jobs_.Make();
  } else {
    for (const JobId job : kept_.rewound) jobs_.LookAgain(job);
  }
}

bool Session::Reopen(Timestamp at, const ClusterChanges& changes) {
  if (changes.rebuilt || reasons.size() > kMaxReasons) return false;
  step_times.clear();
  StepTimer timer(*this, "open");
  now = at;
  trace.Clear();
  plan.binds.clear();
  plan.evictions.clear();
  fit_errors.Clear();
  enqueue_refusals_.clear();
  undone_.clear();
  eviction_limit.Begin(config.eviction_limits, memory);
  surplus_wait.Begin(now);
  queue_reports.Reset(cluster.queues.size());

  if (node_changes_.size() > kMaxNodeChanges + cluster.nodes.size()) {
    node_search_->Forget();
    node_changes_.Clear();
  }
  for (const NodeId node : changes.nodes) node_changes_.push_back(node);
  kept_.opened_at = node_changes_.size();
  kube.Follow(changes);
  node_search_->Follow(changes);
  FollowZoneNodes(changes);
  ReopenPlugins(changes);
  if (!LastingAnswersHold()) node_search_->Forget();
  // Jobs that the last cycle had changed are as they were before it; by number, which may have
  // become another job's since: one too many does no harm.
  jobs_.Follow(changes);

  ++kept_.cycle;
  kept_.close_seen.Resize(cluster.jobs.size());
  kept_.closing.clear();
  kept_.phase_before.clear();
  for (const JobId job : jobs_.waiting()) AddToClose(job);
  for (const JobId job : changes.jobs) AddToClose(job);
  for (const JobId job : kept_.rewound)
    if (job.value < cluster.jobs.size()) AddToClose(job);
  if (log.V(3))
    log.Line("Open Session with <{}> Job and <{}> Queues.", cluster.jobs_by_name.size(),
             cluster.queues_by_name.size());
#ifdef KRAFLA_VERIFY
  jobs_.Verify();
  node_search_->Verify();
#endif
  return true;
}

void Session::ReopenPlugins(const ClusterChanges& changes) {
  for (size_t i = 0; i < plugins_.size(); ++i) {
    in_hand = {InHand::Step::kOpen, plugin_options_[i]->name, JobId{}};
    const double begin = ClockMs(CLOCK_MONOTONIC);
    if (!plugins_[i].plugin->Reopen(*this, changes)) {
      plugins_[i].plugin = make_plugin_(plugin_names_[i]);
      plugins_[i].hooks = {};
      OpenOne(i);
    }
    plugin_times[i].open_ms = ClockMs(CLOCK_MONOTONIC) - begin;
  }
  CollectHooks();
}

// Whether what is kept about nodes still holds where the nodes have not changed.
bool Session::LastingAnswersHold() {
  bool all_say = true;
  kept_.lasting_scratch.clear();
  for (const OpenPlugin& open : plugins_) {
    if (!open.hooks.predicate && !open.hooks.score) continue;
    if (!open.hooks.lasting) {
      all_say = false;
      continue;
    }
    kept_.lasting_scratch.push_back(open.hooks.lasting->size());
    kept_.lasting_scratch.insert(kept_.lasting_scratch.end(), open.hooks.lasting->begin(),
                                 open.hooks.lasting->end());
  }
  const bool same = kept_.lasting_scratch == kept_.lasting;
  std::swap(kept_.lasting, kept_.lasting_scratch);
  return all_say && same;
}

const std::vector<NodeId>& Session::ZoneNodes() {
  if (!kept_.zone_nodes) {
    kept_.zone_nodes.emplace();
    for (const NodeId node : cluster.nodes_by_name)
      if (cluster.nodes[node].zone != kEmptyStr) kept_.zone_nodes->push_back(node);
  }
  return *kept_.zone_nodes;
}

void Session::FollowZoneNodes(const ClusterChanges& changes) {
  if (!kept_.zone_nodes) return;
  for (const NodeId node : changes.node_facts) {
    const bool listed = std::find(kept_.zone_nodes->begin(), kept_.zone_nodes->end(), node) !=
                        kept_.zone_nodes->end();
    if (listed == (cluster.nodes[node].zone != kEmptyStr)) continue;
    kept_.zone_nodes.reset();
    return;
  }
}

void Session::CatchUpWithJobs() {
  const TaskChanges& changes = task_changes_.Look();
  if (kept_.jobs_synced == changes.size()) return;
  // So many that most jobs will be among them: looked at by job, not by change.
  if (changes.size() - kept_.jobs_synced > cluster.jobs.size()) {
    jobs_.Make();
    kept_.jobs_synced = changes.size();
    return;
  }
  std::vector<JobId> changed;
  kept_.job_seen.Resize(cluster.jobs.size());
  ++kept_.seen;
  for (const auto& [task, kind] : changes.From(kept_.jobs_synced)) {
    const JobId job = cluster.tasks[task].job;
    if (std::exchange(kept_.job_seen[job], kept_.seen) != kept_.seen) changed.push_back(job);
  }
  kept_.jobs_synced = changes.size();
  if (changed.size() > FewJobs(cluster.jobs.size())) {
    jobs_.Make();
  } else {
    for (const JobId job : changed) jobs_.LookAgain(job);
  }
}

const std::vector<JobId>& Session::JobsToVisit() {
  // Log lines tell of every job.
  if (log.V(3) || kept_.visits_all_jobs) return cluster.jobs_by_name;
  if (jobs_.made()) {
    CatchUpWithJobs();
  } else {
    jobs_.Make();
    kept_.jobs_synced = task_changes_.Look().size();
  }
  return jobs_.Visits();
}

void Session::AddToClose(JobId job) {
  if (std::exchange(kept_.close_seen[job], kept_.cycle) == kept_.cycle) return;
  kept_.closing.push_back(job);
  kept_.phase_before.push_back(cluster.jobs[job].phase);
}

const std::vector<JobId>& Session::JobsToClose() {
  if (kept_.cycle == 0) return cluster.jobs_by_name;
  // Who was not listed when the session opened still has the phase it had then: only jobs that
  // wait to be let in get another one before the session closes.
  for (const auto& [task, kind] : task_changes_.Look()) AddToClose(cluster.tasks[task].job);
  return kept_.closing;
}

}  // namespace krafla
