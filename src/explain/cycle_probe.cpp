#include "explain/cycle_probe.h"

#include <algorithm>
#include <utility>

#include "explain/held_amounts.h"

namespace krafla {

bool StarvingRound::Starving() const {
  return !votes.empty() && std::all_of(votes.begin(), votes.end(),
                                       [](const PluginVote& v) { return v.vote == Vote::kPermit; });
}

void CycleProbe::ListenThrough(SessionOptions& options) {
  options.wrap_hooks = [this](std::string_view plugin, PluginHooks& hooks) { Wrap(plugin, hooks); };
}

void CycleProbe::Attach(Session& session) {
  session_ = &session;
  // The codes of vetoes are read from it: none may be dropped.
  session.trace.SetLimit(SIZE_MAX);
}

const std::vector<TaskId>& CycleProbe::WaitingTasks(std::string_view action) const {
  static const std::vector<TaskId> kNone;
  const auto it = waiting_tasks_.find(action);
  return it == waiting_tasks_.end() ? kNone : it->second;
}

std::vector<VictimVote> CycleProbe::TakeVotes() {
  listening_to_votes_ = false;
  return std::exchange(votes_, {});
}

// A new round begins when the first plugin that is asked at all is asked again.
void CycleProbe::OnStarving(std::string_view plugin) {
  if (first_starving_plugin_.empty()) first_starving_plugin_ = plugin;
  if (plugin != first_starving_plugin_) return;
  const Job& job = cluster_->jobs[job_];
  const std::string action = Action();
  if (auto [it, is_new] = waiting_tasks_.try_emplace(action); is_new) {
    for (TaskId id : job.tasks) {
      const Task& task = cluster_->tasks[id];
      if (task.status == TaskStatus::kPending && !task.gated) it->second.push_back(id);
    }
    std::sort(it->second.begin(), it->second.end(),
              [&](TaskId l, TaskId r) { return session_->TaskLess(l, r); });
  }
  const size_t round = starving_.size();
  starving_.push_back(
      {.action = action, .votes = {}, .ready = job.Ready(), .waiting = job.Waiting()});
  if (const auto look = looks_.find(round); look != looks_.end()) look->second(*session_);
}

void CycleProbe::NoteRefusal(const std::string& plugin, TaskId task) {
  const std::string action = Action();
  const bool known = std::any_of(
      queue_refusals_.begin(), queue_refusals_.end(),
      [&](const QueueRefusal& r) { return r.action == action && r.task.valid() == task.valid(); });
  if (!known) {
    const QueueId queue = cluster_->jobs[job_].queue;
    queue_refusals_.push_back({action, plugin, task, AllocatedOf(*cluster_, queue)});
  }
}

VictimsFn CycleProbe::Listen(std::string plugin, VictimsFn inner) {
  return [this, plugin = std::move(plugin), inner = std::move(inner)](
             TaskId for_task, std::span<const TaskId> candidates, std::vector<TaskId>& victims) {
    if (!listening_to_votes_) return inner(for_task, candidates, victims);
    const size_t before = session_->trace.events().size();
    const size_t had = victims.size();
    VictimVote vote{.plugin = plugin,
                    .vote = inner(for_task, candidates, victims),
                    .asked = {candidates.begin(), candidates.end()},
                    .let_go = {victims.begin() + static_cast<ptrdiff_t>(had), victims.end()},
                    .vetoes = {}};
    const Trace::Events& events = session_->trace.events();
    for (size_t i = before; i < events.size(); ++i)
      if (events[i].kind == TraceKind::kVeto)
        vote.vetoes[TaskId(events[i].a)] = static_cast<VetoCode>(events[i].code);
    const Vote answer = vote.vote;
    votes_.push_back(std::move(vote));
    return answer;
  };
}

void CycleProbe::Wrap(std::string_view name, PluginHooks& hooks) {
  const std::string plugin(name);
  if (hooks.preemptable) preempt_voters_.insert(plugin);
  if (hooks.reclaimable) reclaim_voters_.insert(plugin);
  if (hooks.is_guard) guards_.insert(plugin);
  if (hooks.job_starving)
    hooks.job_starving = [this, plugin, inner = hooks.job_starving](JobId job) {
      if (job != job_) return inner(job);
      OnStarving(plugin);
      const bool starving = inner(job);
      starving_.back().votes.push_back({plugin, starving ? Vote::kPermit : Vote::kReject});
      return starving;
    };
  if (hooks.job_valid)
    hooks.job_valid = [this, plugin, inner = hooks.job_valid](JobId job) {
      std::optional<InvalidJob> invalid = inner(job);
      if (job != job_ || validity_is_known_) return invalid;
      if (!validity_) {
        first_validity_plugin_ = plugin;
        validity_ = ValidityAsked{.valid = cluster_->jobs[job].Valid(), .invalid = {}};
      } else if (plugin == first_validity_plugin_) {
        validity_is_known_ = true;
        return invalid;
      }
      if (invalid) {
        validity_->invalid = invalid;
        validity_is_known_ = true;
      }
      return invalid;
    };
  if (hooks.job_pipelined)
    hooks.job_pipelined = [this, plugin, inner = hooks.job_pipelined](JobId id) {
      const Vote vote = inner(id);
      if (id != job_) return vote;
      if (first_pipelined_plugin_.empty()) first_pipelined_plugin_ = plugin;
      const Job& job = cluster_->jobs[id];
      if (plugin == first_pipelined_plugin_)
        pipelined_.push_back(
            {.action = Action(), .votes = {}, .ready = job.Ready(), .waiting = job.Waiting()});
      pipelined_.back().votes.push_back({plugin, vote});
      return vote;
    };
  if (hooks.job_enqueueable)
    hooks.job_enqueueable = [this, plugin, inner = hooks.job_enqueueable](JobId job) {
      if (job == job_ && !enqueue_account_)
        enqueue_account_ = EnqueueAccountOf(*cluster_, cluster_->jobs[job].queue);
      const Vote vote = inner(job);
      if (job == job_) enqueue_.push_back({plugin, vote});
      return vote;
    };
  if (hooks.overused)
    hooks.overused = [this, plugin, inner = hooks.overused](QueueId queue) {
      const bool overused = inner(queue);
      if (overused && queue == cluster_->jobs[job_].queue) NoteRefusal(plugin, TaskId{});
      return overused;
    };
  auto listen_to_share = [&](std::function<bool(QueueId, TaskId)>& hook) {
    if (!hook) return;
    hook = [this, plugin, inner = hook](QueueId queue, TaskId task) {
      const bool allowed = inner(queue, task);
      if (!allowed && task.valid() && cluster_->tasks[task].job == job_) NoteRefusal(plugin, task);
      return allowed;
    };
  };
  listen_to_share(hooks.allocatable);
  listen_to_share(hooks.preemptive);
  if (hooks.preemptable) hooks.preemptable = Listen(plugin, hooks.preemptable);
  if (hooks.reclaimable) hooks.reclaimable = Listen(plugin, hooks.reclaimable);
}

}  // namespace krafla
