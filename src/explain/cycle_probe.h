// Listens to a cycle for the sake of one job: what the plugins are asked about it and what they
// answer, by wrapping their hooks. It changes nothing, with one exception: at chosen moments it
// hands the session to whoever wants to look closer, and what comes out of such a cycle is not to
// be used.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "explain/enqueue_account.h"
#include "session/session.h"

namespace krafla {

struct PluginVote {
  std::string plugin;
  Vote vote = Vote::kAbstain;
};

// One time the session asked whether the job starves. Preempt and reclaim ask once for every job,
// then before each pod of the job that looks for room.
struct StarvingRound {
  std::string action;
  std::vector<PluginVote> votes;
  int32_t ready = 0;    // of the job, when it was asked
  int32_t waiting = 0;  // pipelined

  bool Starving() const;
};

struct PipelinedPoll {
  std::string action;
  std::vector<PluginVote> votes;
  int32_t ready = 0;
  int32_t waiting = 0;
};

// The first time it was asked whether the job is valid: later ones find what the cycle has changed.
struct ValidityAsked {
  int32_t valid = 0;  // pods that count
  std::optional<InvalidJob> invalid;
};

// A question about the job's queue that was answered with no.
struct QueueRefusal {
  std::string action;
  std::string plugin;
  TaskId task;         // invalid: the queue as a whole is passed over
  Resource allocated;  // of the queue, when it was asked
};

// What one plugin said about candidates for eviction.
struct VictimVote {
  std::string plugin;
  Vote vote = Vote::kAbstain;
  std::vector<TaskId> asked;
  std::vector<TaskId> let_go;
  std::map<TaskId, VetoCode> vetoes;
};

class CycleProbe {
 public:
  CycleProbe(const Cluster& cluster, JobId job) : cluster_(&cluster), job_(job) {}
  CycleProbe(const CycleProbe&) = delete;
  CycleProbe& operator=(const CycleProbe&) = delete;

  // Before the session is made.
  void ListenThrough(SessionOptions& options);
  // Right after it was made.
  void Attach(Session& session);

  // Called just before the job is asked about for the n-th time in this cycle.
  using Look = std::function<void(Session&)>;
  void LookAt(size_t round, Look look) { looks_[round] = std::move(look); }

  const std::vector<StarvingRound>& starving() const { return starving_; }
  const std::vector<PipelinedPoll>& pipelined() const { return pipelined_; }
  const std::vector<PluginVote>& enqueue() const { return enqueue_; }
  // Nothing: nobody asked.
  const std::optional<ValidityAsked>& validity() const { return validity_; }
  // When the first plugin was asked whether the job may enter its queue.
  const std::optional<EnqueueAccount>& enqueue_account() const { return enqueue_account_; }
  // The first of each kind per action.
  const std::vector<QueueRefusal>& queue_refusals() const { return queue_refusals_; }
  // The pods of the job that wait, in the order in which they are tried, when `action` first
  // asked whether it starves.
  const std::vector<TaskId>& WaitingTasks(std::string_view action) const;

  // What the plugins that were listened to can do.
  bool VotesOnVictims(std::string_view plugin, bool for_reclaim) const {
    return (for_reclaim ? reclaim_voters_ : preempt_voters_).contains(plugin);
  }
  bool IsGuard(std::string_view plugin) const { return guards_.contains(plugin); }

  // Victim votes are kept only between these two: a look collects what it causes itself.
  void StartVotes() { votes_.clear(), listening_to_votes_ = true; }
  std::vector<VictimVote> TakeVotes();

 private:
  void Wrap(std::string_view plugin, PluginHooks& hooks);
  void OnStarving(std::string_view plugin);
  std::string Action() const { return std::string(session_->current_action()); }
  void NoteRefusal(const std::string& plugin, TaskId task);
  VictimsFn Listen(std::string plugin, VictimsFn inner);

  const Cluster* cluster_;
  JobId job_;
  Session* session_ = nullptr;
  std::string first_starving_plugin_;
  std::string first_pipelined_plugin_;
  std::string first_validity_plugin_;
  bool validity_is_known_ = false;  // the first plugin was asked again
  std::optional<ValidityAsked> validity_;
  std::vector<StarvingRound> starving_;
  std::vector<PipelinedPoll> pipelined_;
  std::vector<PluginVote> enqueue_;
  std::optional<EnqueueAccount> enqueue_account_;
  std::vector<QueueRefusal> queue_refusals_;
  std::map<std::string, std::vector<TaskId>, std::less<>> waiting_tasks_;
  std::map<size_t, Look> looks_;
  std::set<std::string, std::less<>> preempt_voters_, reclaim_voters_, guards_;
  bool listening_to_votes_ = false;
  std::vector<VictimVote> votes_;
};

}  // namespace krafla
