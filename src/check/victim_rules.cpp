// K22: who could be a victim in the cluster at hand. The plugins' own votes are asked, on the
// candidates the actions would offer, so that a finding says what a cycle would.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/check_input.h"
#include "check/check_rule.h"
#include "model/candidacy.h"
#include "model/well_known.h"

namespace krafla {

namespace {

// ---- everybody is at the minimum

// Whether every tier that is asked whom `preempt` may evict has gang in it.
bool GangIsInEveryTier(const CheckInput& input) {
  bool some = false;
  for (size_t tier = 0; tier < input.config.tiers.size(); ++tier) {
    const auto voters = input.probe.Voters(tier, &PluginHooks::preemptable, Switch::kPreemptable);
    if (voters.empty()) continue;
    some = true;
    if (std::ranges::none_of(voters, [](const PluginOption* v) { return v->name == "gang"; }))
      return false;
  }
  return some;
}

void EverybodyAtMinimum(const CheckInput& input, RuleReport& report) {
  const Cluster& cluster = *input.cluster;
  if (!input.config.HasAction("preempt") || !GangIsInEveryTier(input)) return;
  std::vector<std::string> names;
  for (JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    const bool has_candidates = std::ranges::any_of(job.tasks, [&](TaskId task) {
      return IsPreemptableStatus(cluster.tasks[task].status) && cluster.tasks[task].preemptable;
    });
    if (!has_candidates) continue;
    if (static_cast<int64_t>(job.tasks.size()) > job.min_available) return;
    names.push_back(cluster.JobKey(id));
  }
  if (names.empty()) return;
  report.Add({.place = input.PlaceOfAction("preempt"),
              .object = "action preempt",
              .message = fmt::format(
                  "no job with running pods has more pods than its minMember ({})", List(names)),
              .consequence = fmt::format("gang lets nobody go: preempt never evicts anybody{}, "
                                         "however important the job that waits",
                                         input.tdm.drains ? " but from closed zones" : ""),
              .fix = "give jobs that may shrink a minMember below their number of pods"});
}

// ---- pairs that agree on nobody

struct Question {
  std::string_view action;
  VictimsFn PluginHooks::* hook;
  Switch needs;
};
constexpr std::array kQuestions = {
    Question{"preempt", &PluginHooks::preemptable, Switch::kPreemptable},
    Question{"reclaim", &PluginHooks::reclaimable, Switch::kReclaimable}};

// A search that takes longer than this is given up, and nothing is claimed.
constexpr size_t kMaxVotes = 2'000'000;

// Two voters of a tier, and what they said so far.
struct Pair {
  const PluginOption* first = nullptr;
  const PluginOption* second = nullptr;
  size_t tier = 0;
  bool agreed = false;  // on some victim, once
  size_t jobs = 0;      // for which each of the two would let somebody go
  std::string example;  // the first of them
  size_t first_lets = 0;
  size_t second_lets = 0;
};

class PairSearch {
 public:
  PairSearch(const CheckInput& input, const Question& question)
      : input_(input),
        session_(input.probe.session()),
        cluster_(*input.cluster),
        question_(question) {}

  std::vector<Pair> Run() {
    MakePairs();
    if (pairs_.empty()) return {};
    for (JobId job : cluster_.jobs_by_name) {
      if (const TaskId task = Preemptor(job); task.valid()) AskFor(job, task);
      // Two that agree once are no finding: nothing more to learn about them.
      std::erase_if(pairs_, [](const Pair& pair) { return pair.agreed; });
      if (pairs_.empty() || votes_ > kMaxVotes) return {};
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.jobs == 0; });
    return std::move(pairs_);
  }

 private:
  bool Guarded() const { return input_.config.compatibility.guards; }

  void MakePairs() {
    for (size_t tier = 0; tier < input_.config.tiers.size(); ++tier) {
      std::vector<const PluginOption*> voters;
      for (const PluginOption* voter : input_.probe.Voters(tier, question_.hook, question_.needs)) {
        // Guards are asked apart from the tiers, and never contradict a plugin: they hold pods.
        if (Guarded() && input_.probe.HooksOf(voter->name)->is_guard) continue;
        if (std::ranges::none_of(voters, [&](const auto* v) { return v->name == voter->name; }))
          voters.push_back(voter);
      }
      for (size_t i = 0; i < voters.size(); ++i)
        for (size_t k = i + 1; k < voters.size(); ++k)
          pairs_.push_back({.first = voters[i], .second = voters[k], .tier = tier});
    }
  }

  // The pod for which the action would look for victims first; none when the job does not.
  TaskId Preemptor(JobId id) const {
    const Job& job = cluster_.jobs[id];
    if (job.IsPending() || session_.JobInvalid(id) || !session_.JobStarving(id)) return {};
    TaskId best;
    for (TaskId id_of_task : job.tasks) {
      const Task& task = cluster_.tasks[id_of_task];
      if (task.status != TaskStatus::kPending || task.gated ||
          task.preemption_policy == PreemptionPolicy::kNever)
        continue;
      if (!best.valid() || session_.TaskLess(id_of_task, best)) best = id_of_task;
    }
    return best;
  }

  bool IsCandidate(const Task& victim, const Task& preemptor) const {
    const VictimsFrom from =
        question_.action == "reclaim" ? VictimsFrom::kOtherQueues : VictimsFrom::kOtherJobsOfQueue;
    return CandidacyOf(cluster_, from, preemptor, victim) == Candidacy::kCandidate;
  }

  std::vector<TaskId> Ask(std::string_view plugin, TaskId task,
                          const std::vector<TaskId>& candidates) {
    ++votes_;
    std::vector<TaskId> answer;
    const PluginHooks& hooks = *input_.probe.HooksOf(plugin);
    if ((hooks.*question_.hook)(task, candidates, answer) == Vote::kAbstain) return candidates;
    std::sort(answer.begin(), answer.end());
    return answer;
  }

  // Without those that guards keep out of every tier.
  std::vector<TaskId> Offered(std::vector<TaskId> candidates, TaskId task) {
    if (!Guarded()) return candidates;
    for (size_t tier = 0; tier < input_.config.tiers.size(); ++tier)
      for (const PluginOption* voter : input_.probe.Voters(tier, question_.hook, question_.needs)) {
        const PluginHooks& hooks = *input_.probe.HooksOf(voter->name);
        if (!hooks.is_guard || hooks.guard_counts || candidates.empty()) continue;
        std::vector<TaskId> left;
        if ((hooks.*question_.hook)(task, candidates, left) != Vote::kAbstain)
          candidates = std::move(left);
      }
    return candidates;
  }

  // Who counts (a budget) is asked about those the other lets go, as in the tier itself.
  bool Agree(const Pair& pair, const std::vector<TaskId>& first, const std::vector<TaskId>& second,
             TaskId task) {
    if (first.empty() || second.empty()) return false;
    if (input_.probe.HooksOf(pair.first->name)->counts_victims)
      return !Ask(pair.first->name, task, second).empty();
    if (input_.probe.HooksOf(pair.second->name)->counts_victims)
      return !Ask(pair.second->name, task, first).empty();
    return std::ranges::any_of(
        first, [&](TaskId id) { return std::ranges::find(second, id) != second.end(); });
  }

  void AskFor(JobId job, TaskId task) {
    std::map<std::string_view, size_t> lets;  // how many, over all nodes
    for (NodeId node : cluster_.nodes_by_name) {
      std::vector<TaskId> candidates;
      for (TaskId id : cluster_.nodes[node].tasks)
        if (IsCandidate(cluster_.tasks[id], cluster_.tasks[task])) candidates.push_back(id);
      candidates = Offered(std::move(candidates), task);
      if (candidates.empty()) continue;
      std::map<std::string_view, std::vector<TaskId>> answers;
      const auto answer_of = [&](const std::string& plugin) -> const std::vector<TaskId>& {
        const auto [it, is_new] = answers.try_emplace(plugin);
        if (is_new) {
          it->second = Ask(plugin, task, candidates);
          lets[plugin] += it->second.size();
        }
        return it->second;
      };
      for (Pair& pair : pairs_) {
        const std::vector<TaskId>& first = answer_of(pair.first->name);
        const std::vector<TaskId>& second = answer_of(pair.second->name);
        pair.agreed |= Agree(pair, first, second, task);
      }
    }
    for (Pair& pair : pairs_) {
      const size_t first = lets[pair.first->name];
      const size_t second = lets[pair.second->name];
      if (first == 0 || second == 0) continue;
      if (pair.jobs++ > 0) continue;
      pair.example = cluster_.JobKey(job);
      pair.first_lets = first;
      pair.second_lets = second;
    }
  }

  const CheckInput& input_;
  Session& session_;
  const Cluster& cluster_;
  const Question& question_;
  std::vector<Pair> pairs_;
  size_t votes_ = 0;
};

void AgreeOnNobody(const CheckInput& input, RuleReport& report) {
  for (const Question& question : kQuestions) {
    if (!input.config.HasAction(question.action)) continue;
    for (const Pair& pair : PairSearch(input, question).Run())
      report.Add(
          {.place = input.InConfig(pair.second->location),
           .object = fmt::format("plugins {} and {}", pair.first->name, pair.second->name),
           .message = fmt::format(
               "in tier {} they agree on no victim for any job that waits: for {}, {} would let {} "
               "go and {} {}, none of them the same",
               pair.tier + 1, pair.example, pair.first->name, Count(pair.first_lets, "pod"),
               pair.second->name, pair.second_lets),
           .consequence = fmt::format(
               "the tier ends without victims; a later tier decides alone, or {} evicts nobody",
               question.action),
           .fix = fmt::format("move one of the two into another tier, or switch its vote off "
                              "(enable{}: false)",
                              question.action == "preempt" ? "Preemptable" : "Reclaimable")});
  }
}

// preempt and reclaim look at the mark of each pod. The PodGroup's mark counts for drains and for
// the order of jobs only.
void GroupMarkProtectsNoPod(const CheckInput& input, RuleReport& report) {
  if (!input.config.HasAction("preempt") && !input.config.HasAction("reclaim")) return;
  const Cluster& cluster = *input.cluster;
  for (const JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    const std::string_view ns = cluster.Text(job.ns);
    const std::string_view name = cluster.Text(job.name);
    if (job.preemptable || !input.objects.HasField("PodGroup", ns, name, keys::kPreemptable))
      continue;
    const auto silent = std::count_if(job.tasks.begin(), job.tasks.end(), [&](TaskId task) {
      const Task& t = cluster.tasks[task];
      return t.preemptable && !t.says_preemptable && !IsTerminated(t.status);
    });
    if (silent == 0) continue;
    report.Add(
        {.place = input.objects.PlaceOfFirst("PodGroup", ns, name, {keys::kPreemptable}),
         .object = input.Title(id),
         .message = fmt::format(
             "{} is false on the PodGroup, and {} of it without the mark", keys::kPreemptable,
             silent == 1 ? "there is 1 pod" : fmt::format("there are {} pods", silent)),
         .consequence = "preempt and reclaim look at the mark of each pod: these pods may "
                        "be evicted",
         .fix = fmt::format("set {}: \"false\" in the pod template too", keys::kPreemptable)});
  }
}

constexpr std::array kRules = {
    CheckRule{"K221", "everybody-at-minimum", FindingLevel::kWarning, RuleNeeds::kCluster,
              "preempt is configured, and every job is at its minimum.", &EverybodyAtMinimum},
    CheckRule{"K222", "agree-on-nobody", FindingLevel::kWarning, RuleNeeds::kCluster,
              "Two plugins of a tier agree on no victim.", &AgreeOnNobody},
    CheckRule{"K223", "group-mark-protects-no-pod", FindingLevel::kWarning, RuleNeeds::kCluster,
              "A PodGroup is marked not preemptable, its pods are not.", &GroupMarkProtectsNoPod},
};

}  // namespace

std::span<const CheckRule> VictimRules() {
  return kRules;
}

}  // namespace krafla
