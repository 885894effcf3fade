#include "explain/job_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "explain/amount_words.h"
#include "explain/room_gates.h"
#include "explain/waiting_words.h"
#include "session/unsupported.h"

namespace krafla {

std::vector<EvictionAttempt> AttemptsOf(const CycleProbe& probe) {
  std::vector<EvictionAttempt> attempts;
  const std::vector<StarvingRound>& rounds = probe.starving();
  std::map<std::string, size_t> asked;  // by action
  for (size_t i = 0; i < rounds.size(); ++i) {
    const StarvingRound& round = rounds[i];
    if (round.action != "preempt" && round.action != "reclaim") continue;
    // The first time is for the list of starving jobs; then once before each pod.
    const size_t turn = asked[round.action]++;
    const std::vector<TaskId>& tasks = probe.WaitingTasks(round.action);
    if (turn == 0 || turn > tasks.size() || !round.Starving()) continue;
    int32_t after = -1;
    if (i + 1 < rounds.size() && rounds[i + 1].action == round.action) {
      after = rounds[i + 1].ready + rounds[i + 1].waiting;
    } else {
      for (const PipelinedPoll& poll : probe.pipelined())
        if (poll.action == round.action) after = poll.ready + poll.waiting;
    }
    attempts.push_back({.action = round.action,
                        .round = i,
                        .task = tasks[turn - 1],
                        .placed = after > round.ready + round.waiting});
  }
  return attempts;
}

JobStanding StandingOf(const Session& s, JobId id) {
  const Job& job = s.cluster.jobs[id];
  JobStanding standing;
  for (const Bind& bind : s.plan.binds)
    if (s.cluster.tasks[bind.task].job == id) ++standing.bound;
  standing.pipelined = job.Waiting();
  standing.pending = job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kAllocated);
  standing.has_minimum = job.IsPipelined();
  return standing;
}

namespace {

std::string Join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

class GateWriter {
 public:
  explicit GateWriter(const JobGatesInput& in)
      : in_(in), s_(in.session), c_(in.session.cluster), job_(c_.jobs[in.job]) {}

  JobGates Write() {
    if (!Phase() || !Valid()) return std::move(out_);
    Allocate();
    bool looks_for_victims = false;
    for (const ActionOption& action : s_.config.actions) {
      if (action.name != "preempt" && action.name != "reclaim") continue;
      if (std::any_of(out_.gates.begin(), out_.gates.end(),
                      [&](const Gate& g) { return g.action == action.name; }))
        continue;  // configured twice
      looks_for_victims = true;
      Evicting(action.name);
    }
    if (!looks_for_victims && job_.Count(TaskStatus::kPending) > 0)
      out_.gates.push_back({.name = "evicting",
                            .verdict = Verdict::kNotAsked,
                            .text = "neither preempt nor reclaim is among the actions: nobody is "
                                    "evicted for it"});
    ChooseWhy();
    return std::move(out_);
  }

 private:
  Gate& Add(Gate gate) {
    out_.gates.push_back(std::move(gate));
    return out_.gates.back();
  }

  bool Stop(Gate gate) {
    gate.verdict = Verdict::kNo;
    out_.why = gate.text;
    Add(std::move(gate));
    return false;
  }

  static std::string_view Word(Vote vote) {
    return vote == Vote::kPermit ? "yes" : vote == Vote::kReject ? "no" : "no opinion";
  }

  // ---- before any action looks at it

  bool Phase() {
    Gate gate{.name = "phase"};
    if (in_.phase_before != JobPhase::kPending) {
      gate.text = fmt::format("it is {}", ToString(in_.phase_before));
      Add(std::move(gate));
      return true;
    }
    if (!s_.config.HasAction("enqueue")) {
      if (s_.config.HasAction("allocate")) {
        gate.text = "it is Pending; without an enqueue action allocate takes it as it comes";
        Add(std::move(gate));
        return true;
      }
      gate.text = "it is Pending, and no enqueue action lets it in";
      return Stop(std::move(gate));
    }
    return Enqueue();
  }

  // Which plugin voted what, and what counted.
  bool Enqueue() {
    const std::vector<PluginVote>& asked = in_.probe.enqueue();
    const std::vector<std::string> rejecting = Rejecting(asked);
    Gate gate{.name = "phase", .action = "enqueue"};
    ExplanationTable votes{.name = "votes", .title = "", .columns = {"plugin", "vote"}};
    for (const PluginVote& vote : asked) votes.rows.push_back({vote.plugin, Word(vote.vote)});
    if (!votes.rows.empty()) gate.tables.push_back(std::move(votes));
    if (in_.probe.enqueue_account())
      AddEnqueueNumbers(s_, in_.job, *in_.probe.enqueue_account(), gate);
    const bool let_in = job_.phase != JobPhase::kPending;
    if (const std::string* refusal = s_.EnqueueRefusal(in_.job); refusal != nullptr && !let_in) {
      gate.text = fmt::format("{}{}", rejecting.empty() ? "" : Join(rejecting) + ": ", *refusal);
      return Stop(std::move(gate));
    }
    if (!let_in && !rejecting.empty()) {
      gate.text = fmt::format("{} does not let it into queue {}", Join(rejecting),
                              c_.QueueName(job_.queue));
      return Stop(std::move(gate));
    }
    gate.text = job_.min_resources ? "let into its queue by this cycle"
                                   : "let into its queue: it names no minResources to be held to";
    Add(std::move(gate));
    return true;
  }

  static std::vector<std::string> Rejecting(const std::vector<PluginVote>& votes) {
    std::vector<std::string> names;
    for (const PluginVote& vote : votes)
      if (vote.vote == Vote::kReject) names.push_back(vote.plugin);
    return names;
  }

  bool Valid() {
    Gate gate{.name = "valid"};
    // As it was asked: the cycle itself may have taken pods from the job since.
    const ValidityAsked asked = in_.probe.validity().value_or(
        ValidityAsked{.valid = job_.Valid(), .invalid = s_.JobInvalid(in_.job)});
    gate.numbers = {{"valid", static_cast<double>(asked.valid)},
                    {"minAvailable", static_cast<double>(job_.min_available)}};
    if (asked.invalid) {
      gate.text = asked.valid < job_.min_available
                      ? fmt::format("{} of the {} pods of minMember are there ({})", asked.valid,
                                    job_.min_available, asked.invalid->reason)
                      : fmt::format("{} ({})", asked.invalid->message, asked.invalid->reason);
      return Stop(std::move(gate));
    }
    gate.text = fmt::format("{} valid pod(s), minMember {}", asked.valid, job_.min_available);
    Add(std::move(gate));
    return true;
  }

  // ---- room without evicting anybody

  void Allocate() {
    if (!s_.config.HasAction("allocate")) return;
    Gate gate{.name = "room", .action = "allocate"};
    const int32_t bound = static_cast<int32_t>(std::count_if(
        s_.plan.binds.begin(), s_.plan.binds.end(),
        [&](const Bind& b) { return b.action == "allocate" && c_.tasks[b.task].job == in_.job; }));
    if (bound > 0) {
      gate.text = fmt::format("{} pod(s) bound without evicting anybody", bound);
      gate.numbers = {{"bound", static_cast<double>(bound)}};
      Add(std::move(gate));
      return;
    }
    if (job_.Count(TaskStatus::kPending) + job_.Waiting() == 0) {
      gate.verdict = Verdict::kNotAsked;
      gate.text = "it has no pod that waits";
      Add(std::move(gate));
      return;
    }
    gate.verdict = Verdict::kNo;
    if (WhyNoShare("allocate", gate) || WhyGated(gate) || WhyNoFit(gate)) {
      // told
    } else if (const std::string waits = s_.surplus_wait.Why(in_.job); !waits.empty()) {
      gate.text = waits;
    } else if (job_.Ready() >= job_.min_available) {
      gate.text = "its minimum runs; there is no room for more";
    } else {
      gate.text = fmt::format("no room for the {} pod(s) it needs at once",
                              job_.min_available - job_.Ready());
    }
    Add(std::move(gate));
  }

  // Whether the queue said no; the numbers are those of the moment.
  bool WhyNoShare(std::string_view action, Gate& gate) {
    const Queue& queue = c_.queues[job_.queue];
    for (const QueueRefusal& refusal : in_.probe.queue_refusals()) {
      if (refusal.action != action) continue;
      gate.text = DescribeQueueRefusal(s_, job_.queue, refusal.task, refusal.allocated);
      AddQueueNumbers(s_, job_.queue, refusal.allocated, refusal.task, gate);
      return true;
    }
    if (queue.state != QueueState::kOpen && action == "allocate") {
      gate.text = fmt::format("queue {} is {}", c_.QueueName(job_.queue), ToString(queue.state));
      return true;
    }
    return false;
  }

  bool WhyGated(Gate& gate) {
    const auto gated = std::count_if(job_.tasks.begin(), job_.tasks.end(), [&](TaskId t) {
      return c_.tasks[t].status == TaskStatus::kPending && c_.tasks[t].gated;
    });
    if (gated > 0 && NeedsClaims(gate)) return true;
    if (gated == 0 || gated < job_.Count(TaskStatus::kPending)) return false;
    gate.text = fmt::format("its {} waiting pod(s) have scheduling gates", gated);
    return true;
  }

  bool NeedsClaims(Gate& gate) {
    gate.text = PodsThatNeedClaims(c_, job_);
    return !gate.text.empty();
  }

  bool WhyNoFit(Gate& gate) {
    for (TaskId task : job_.tasks) {
      const FitError* error = s_.fit_errors.Find(task);
      if (error == nullptr || (error->reasons.empty() && !error->message.empty())) continue;
      gate.text = fmt::format("{}: {}", c_.TaskKey(task), FitErrors::Text(*error, s_.reasons));
      ExplanationTable table = RefusalCounts(s_, *error);
      // The sentence says it all when there is one reason.
      if (table.rows.size() > 1) gate.tables.push_back(std::move(table));
      return true;
    }
    for (TaskId task : job_.tasks) {
      const TaskStatus status = c_.tasks[task].status;
      if ((status == TaskStatus::kPending || status == TaskStatus::kPipelined) &&
          IsNeverBound(s_, task)) {
        gate.text = fmt::format("{} {}", c_.TaskKey(task), kOnlyBackfillPlaces);
        return true;
      }
    }
    return false;
  }

  // ---- preempt and reclaim

  void Evicting(const std::string& action) {
    if (!Starving(action)) return;
    if (action == "reclaim" && !NotOverused()) return;
    const RoomLook* search = FurthestSearch(action);
    std::vector<const EvictionAttempt*> attempts;
    for (const EvictionAttempt& attempt : in_.attempts)
      if (attempt.action == action) attempts.push_back(&attempt);
    if (attempts.empty()) {
      if (job_.has_network_topology && action == "preempt")
        Add({.name = "eligible",
             .action = action,
             .verdict = Verdict::kNo,
             .text = "jobs with a network topology do not preempt"});
      return;
    }
    const auto placed = static_cast<size_t>(std::count_if(
        attempts.begin(), attempts.end(), [](const EvictionAttempt* a) { return a->placed; }));
    const bool all_no = placed == 0;
    if (search != nullptr) {
      std::vector<Gate> gates = RoomGates(s_, in_.job, *search);
      if (all_no) {
        out_.gates.insert(out_.gates.end(), std::make_move_iterator(gates.begin()),
                          std::make_move_iterator(gates.end()));
        if (out_.gates.back().verdict == Verdict::kNo) return;
      } else {
        AddPassed(std::move(gates), *search, attempts.size(), placed);
      }
    }
    Pipelined(action, attempts.size(), placed, search);
  }

  // Some pods found room: what stopped another one is told with the last gate.
  void AddPassed(std::vector<Gate> gates, const RoomLook& search, size_t tried, size_t placed) {
    for (Gate& gate : gates) {
      if (gate.verdict != Verdict::kNo) {
        Add(std::move(gate));
        continue;
      }
      gate.verdict = Verdict::kYes;
      held_ = fmt::format("{}: {}", c_.TaskKey(search.task), gate.text);
      held_tables_ = std::move(gate.tables);
      gate.tables.clear();
      gate.text = fmt::format("for {} of {} pod(s) that were tried", placed, tried);
      Add(std::move(gate));
      return;
    }
  }

  bool Starving(const std::string& action) {
    Gate gate{.name = "starving", .action = action};
    const StarvingRound* first = nullptr;
    for (const StarvingRound& round : in_.probe.starving())
      if (first == nullptr && round.action == action) first = &round;
    if (first == nullptr) {
      gate.verdict = Verdict::kNo;
      gate.text =
          "no plugin is asked whether it starves (enableJobStarving): nobody is evicted "
          "for it";
      Add(std::move(gate));
      return false;
    }
    gate.numbers = {{"ready", static_cast<double>(first->ready)},
                    {"waiting", static_cast<double>(first->waiting)},
                    {"minAvailable", static_cast<double>(job_.min_available)}};
    ExplanationTable votes{.name = "votes", .columns = {"plugin", "starving"}};
    for (const PluginVote& vote : first->votes)
      votes.rows.push_back({vote.plugin, Word(vote.vote)});
    const std::string counts = fmt::format("{} ready + {} waiting, minMember {}", first->ready,
                                           first->waiting, job_.min_available);
    if (first->Starving()) {
      std::vector<std::string> names;
      for (const PluginVote& vote : first->votes) names.push_back(vote.plugin);
      gate.text = fmt::format("{} (asked: {})", counts, Join(names));
      Add(std::move(gate));
      return true;
    }
    gate.verdict = Verdict::kNo;
    gate.text = fmt::format("{}: {}", counts, WhyNotStarving(*first));
    gate.tables.push_back(std::move(votes));
    Add(std::move(gate));
    return false;
  }

  std::string WhyNotStarving(const StarvingRound& round) {
    const std::string& plugin = round.votes.back().plugin;
    if (plugin == "gang") return "gang says its minimum is met, and nobody is evicted for more";
    if (plugin == "priority") return "priority says all its pods have a place";
    if (plugin == "tdm")
      return job_.preemptable ? "tdm says it offers to step aside itself, and evicts nobody"
                              : "tdm says it has no pending pod";
    return plugin + " says no";
  }

  // Reclaim passes over queues that have all they deserve.
  bool NotOverused() {
    for (const QueueRefusal& refusal : in_.probe.queue_refusals()) {
      if (refusal.action != "reclaim" || refusal.task.valid()) continue;
      Gate gate{.name = "queue", .action = "reclaim", .verdict = Verdict::kNo};
      gate.text = DescribeQueueRefusal(s_, job_.queue, TaskId{}, refusal.allocated);
      AddQueueNumbers(s_, job_.queue, refusal.allocated, TaskId{}, gate);
      Add(std::move(gate));
      return false;
    }
    return true;
  }

  const RoomLook* FurthestSearch(std::string_view action) const {
    const RoomLook* best = nullptr;
    for (const RoomLook& search : in_.searches)
      if (ToString(search.action) == action &&
          (best == nullptr || search.Furthest() > best->Furthest()))
        best = &search;
    return best;
  }

  void Pipelined(const std::string& action, size_t tried, size_t placed, const RoomLook* search) {
    Gate gate{.name = "pipelined", .action = action};
    const PipelinedPoll* poll = nullptr;
    for (const PipelinedPoll& p : in_.probe.pipelined())
      if (p.action == action && poll == nullptr) poll = &p;
    if (poll == nullptr) return;
    gate.numbers = {{"ready", static_cast<double>(poll->ready)},
                    {"waiting", static_cast<double>(poll->waiting)},
                    {"minAvailable", static_cast<double>(job_.min_available)}};
    const std::vector<std::string> rejecting = Rejecting(poll->votes);
    if (rejecting.empty()) {
      const auto evicted =
          std::count_if(s_.plan.evictions.begin(), s_.plan.evictions.end(), [&](const Eviction& e) {
            return e.action == action && e.for_task.valid() && c_.tasks[e.for_task].job == in_.job;
          });
      gate.numbers.push_back({"evicted", static_cast<double>(evicted)});
      if (placed == 0) {
        gate.verdict = Verdict::kNo;
        gate.text = "found no room for any pod";
      } else {
        if (const std::string held = s_.eviction_limit.WhyHeldBackNow(in_.job);
            !held.empty() && evicted == 0) {
          gate.verdict = Verdict::kNo;
          gate.text = fmt::format("room for {} pod(s) was found, and taken back: {}", placed, held);
        } else {
          gate.text = fmt::format("committed: room for {} pod(s), {} evicted", placed, evicted);
        }
      }
      Add(std::move(gate));
      return;
    }
    gate.verdict = Verdict::kNo;
    const int32_t needed = std::max(0, job_.min_available - poll->ready);
    gate.text = fmt::format(
        "taken back: room for {} of the {} pod(s) it needs at once ({} ready + "
        "{} waiting of minMember {}, says {})",
        poll->waiting, needed, poll->ready, poll->waiting, job_.min_available, Join(rejecting));
    if (!held_.empty())
      gate.text += "; no room for " + held_;
    else if (search == nullptr && placed < tried)
      gate.text += "; the others found none";
    gate.tables = std::move(held_tables_);
    Add(std::move(gate));
  }

  // Of what said no, what came furthest: a job that nearly got its place by preempting is not
  // explained by what allocate says of a full cluster.
  void ChooseWhy() {
    // A queue that is not open stops what it is asked for, however far other actions came.
    const std::string closed = c_.queues[job_.queue].state == QueueState::kOpen
                                   ? ""
                                   : DescribeQueueRefusal(s_, job_.queue, TaskId{}, job_.allocated);
    for (const Gate& gate : out_.gates) {
      if (gate.verdict != Verdict::kNo || gate.text != closed) continue;
      out_.why = closed;
      return;
    }
    const Gate* best = nullptr;
    for (const Gate& gate : out_.gates) {
      if (gate.verdict != Verdict::kNo) continue;
      if (best == nullptr || Rank(gate) > Rank(*best)) best = &gate;
    }
    if (best != nullptr) out_.why = fmt::format("{} ({})", best->text, best->action);
  }

  static int Rank(const Gate& gate) {
    static constexpr std::string_view kOrder[] = {
        "room",    "starving", "queue",       "eligible",         "predicates", "candidates",
        "victims", "enough",   "queue share", "predicates after", "pipelined"};
    for (size_t i = 0; i < std::size(kOrder); ++i)
      if (kOrder[i] == gate.name) return static_cast<int>(i);
    return 100;
  }

  const JobGatesInput& in_;
  Session& s_;
  const Cluster& c_;
  const Job& job_;
  JobGates out_;
  std::string held_;
  std::vector<ExplanationTable> held_tables_;
};

}  // namespace

ExplanationTable RefusalCounts(const Session& session, const FitError& error) {
  ExplanationTable table{.name = "refusals", .columns = {"nodes", "reason"}};
  for (const auto& [code, count] : error.reasons)
    table.rows.push_back({count, session.reasons.Text(code)});
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& l, const auto& r) { return *l[0].number > *r[0].number; });
  return table;
}

JobGates GatesOf(const JobGatesInput& input) {
  return GateWriter(input).Write();
}

}  // namespace krafla
