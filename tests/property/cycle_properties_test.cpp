// What must hold for every cycle, whatever the cluster and the configuration. Each property is
// judged at the commit it is about, on the state the scheduler had then, by means that do not use
// the code that decided.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "property/for_all.h"
#include "property/observed_cycle.h"
#include "session/job_checks.h"
#include "session/node_search.h"

namespace krafla::testing {
namespace {

const Wanted kAnything;
const Wanted kAnyContest{.features = {Feature::kPriorities}, .contest = true};
const Wanted kContest{.profile = "krafla", .features = {Feature::kPriorities}, .contest = true};
const Wanted kGuarded{.profile = "krafla",
                      .features = {Feature::kPriorities, Feature::kCooldowns, Feature::kPodBudgets,
                                   Feature::kSystemPods}};
const Wanted kClosingZones{
    .profile = "krafla",
    .features = {Feature::kZones, Feature::kPreemptableMarks, Feature::kBudgets, Feature::kGangs}};

bool ForSomebody(const Eviction& eviction) {
  return eviction.for_task.valid();
}

// Who holds a place on a node.
int32_t Placed(const Job& job) {
  return job.AllocatedCount();
}

// ---- room

// Amounts a node had at the start and has now. A node that held too much from the start may go on
// doing so.
class RoomJudge {
 public:
  explicit RoomJudge(ObservedCycle& cycle) : cycle_(cycle), cluster_(cycle.cluster) {
    idle_ = cluster_.idle;
    for (uint32_t n = 0; n < cluster_.nodes.size(); ++n)
      future_.Add(cluster_.FutureIdle(NodeId(n)));
    // Volcano loses sight of pods whose eviction was taken back.
    counts_pods_ = cycle.Asks("predicates", Switch::kPredicate) && cycle.session->compat.exact_undo;
  }

  void Judge(NodeId node) {
    const Resource future = cluster_.FutureIdle(node);
    for (int kind = 0; kind < cluster_.kinds.size(); ++kind) {
      const bool pods = kind == ResourceKinds::kPods;
      // Best-effort pods are placed by the predicates plugin alone. It counts pods, but not one
      // that is being evicted, so that a best-effort pod may be told to take its place a little
      // early.
      if (!pods) Compare("idle", node, kind, idle_[node].Get(kind), cluster_.idle[node].Get(kind));
      if (!pods || counts_pods_)
        Compare("future idle", node, kind, future_[node].Get(kind), future.Get(kind));
    }
  }
  void JudgeAll() {
    for (NodeId node : cluster_.nodes_by_name) Judge(node);
  }

 private:
  void Compare(std::string_view what, NodeId node, int kind, double before, double now) {
    if (now >= std::min(0.0, before) - kTolerance) return;
    cycle_.Complain(fmt::format("{} {} of node {}: {} at the start, {} now", what,
                                cluster_.kinds.Name(kind), cluster_.NodeName(node), before, now));
  }

  ObservedCycle& cycle_;
  Cluster& cluster_;
  Table<NodeId, Resource> idle_;
  Table<NodeId, Resource> future_;
  bool counts_pods_ = false;
};

TEST(CycleProperties, NoDecisionMakesANodesOvercommitWorse) {
  const auto property = [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    if (!cycle.complaint.empty()) return cycle.complaint;
    RoomJudge judge(cycle);
    cycle.on_move = [&](const Move& move) {
      if (move.kind == Move::Kind::kAllocate || move.kind == Move::Kind::kPipeline)
        judge.Judge(move.node);
    };
    cycle.on_commit = [&](const CommitView&) { judge.JudgeAll(); };
    cycle.after_action = [&] { judge.JudgeAll(); };
    cycle.Run();
    return cycle.complaint;
  };
  ForAll(400, kAnything, property);
  ForAll(400, kAnyContest, property);
}

// ---- gangs

TEST(CycleProperties, BindsAreIssuedOnlyForAJobThatReachesItsMinimumWithThem) {
  ForAll(500, kAnything, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    if (!cycle.Asks("gang", Switch::kJobReady)) return cycle.complaint;
    cycle.on_commit = [&](const CommitView& commit) {
      for (const Bind& bind : commit.binds) {
        const Job& job = cycle.cluster.jobs[cycle.cluster.tasks[bind.task].job];
        int32_t best_effort = 0;  // they need no room and follow
        for (TaskId task : job.tasks)
          best_effort += cycle.cluster.tasks[task].status == TaskStatus::kPending &&
                         cycle.cluster.tasks[task].best_effort;
        const int32_t has = Placed(job) + job.Count(TaskStatus::kSucceeded) + best_effort;
        const JobFacts& facts =
            random.jobs.at(cycle.cluster.JobKey(cycle.cluster.tasks[bind.task].job));
        if (has < facts.min_member)
          cycle.Complain(fmt::format("{} is bound, its job has {} of {}", cycle.Key(bind.task), has,
                                     facts.min_member));
      }
    };
    cycle.Run();
    return cycle.complaint;
  });
}

// ---- evictions for somebody

TEST(CycleProperties, EveryEvictionHasItsBeneficiaryOnThatNodeInTheSameCommit) {
  const auto property = [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    cycle.on_commit = [&](const CommitView& commit) {
      for (const Eviction& eviction : commit.evictions) {
        if (!ForSomebody(eviction)) continue;
        const bool pipelined_here =
            std::any_of(commit.moves.begin(), commit.moves.end(), [&](const Move& move) {
              return move.kind == Move::Kind::kPipeline && move.task == eviction.for_task &&
                     move.node == eviction.node;
            });
        const Task& task = cycle.cluster.tasks[eviction.for_task];
        if (!pipelined_here || task.status != TaskStatus::kPipelined || task.node != eviction.node)
          cycle.Complain(fmt::format("{} is evicted for {}, which does not get its place",
                                     cycle.Key(eviction.task), cycle.Key(eviction.for_task)));
      }
    };
    cycle.Run();
    return cycle.complaint;
  };
  ForAll(300, kAnything, property);
  ForAll(400, kAnyContest, property);
}

// D19. Puts one victim of a commit back and asks for everyone the commit pipelined whether it would
// still be placed: with a node search that remembers nothing.
class SparedJudge {
 public:
  SparedJudge(ObservedCycle& cycle, const CommitView& commit)
      : session_(*cycle.session), cycle_(cycle), fresh_(session_) {
    for (const Move& move : commit.moves)
      if (move.kind == Move::Kind::kPipeline &&
          cycle.cluster.tasks[move.task].status == TaskStatus::kPipelined)
        pipelined_.push_back(move.task);
  }

  bool CouldHaveStayed(const Eviction& eviction) {
    const Session::Mark mark = session_.MarkNow();
    session_.UnmarkReleasing(eviction.task, cycle_.StatusAtOpen(eviction.task));
    const bool all_fit = EveryoneFits();
    session_.Rollback(mark);
    return all_fit;
  }

  size_t pipelined() const { return pipelined_.size(); }
  bool EveryoneFits() {
    return std::all_of(pipelined_.begin(), pipelined_.end(),
                       [&](TaskId task) { return StillFits(task); });
  }

 private:
  bool StillFits(TaskId task) {
    const Cluster& cluster = session_.cluster;
    const NodeId node = cluster.tasks[task].node;
    const Session::Mark mark = session_.MarkNow();
    session_.Unplace(task);
    const Resource room = cluster.FutureIdle(node);
    bool fits = session_.Allocatable(cluster.jobs[cluster.tasks[task].job].queue, task);
    for (int kind = 0; kind < cluster.kinds.size(); ++kind)
      if (cluster.Request(task).Has(kind))
        fits = fits && cluster.Request(task).Get(kind) <= room.Get(kind) + kTolerance;
    fits = fits && !fresh_.Prepare(task).refused() && !fresh_.Check(task, node).refused();
    session_.Rollback(mark);
    return fits;
  }

  Session& session_;
  ObservedCycle& cycle_;
  NodeSearch fresh_;
  std::vector<TaskId> pipelined_;
};

TEST(CycleProperties, NoVictimCouldHaveBeenSparedByItsOwnCommit) {
  ForAll(800, kContest, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    cycle.on_commit = [&](const CommitView& commit) {
      SparedJudge judge(cycle, commit);
      for (const Eviction& eviction : commit.evictions)
        if (ForSomebody(eviction) && judge.CouldHaveStayed(eviction))
          cycle.Complain(fmt::format("{} need not have been evicted for {}",
                                     cycle.Key(eviction.task), cycle.Key(eviction.for_task)));
    };
    cycle.Run();
    return cycle.complaint;
  });
}

// Nobody is evicted for a pod that cannot land, and sparing a victim costs nobody its place. Where
// rules about other pods are in play only commits for one pod are judged: what a job's later task
// evicts may leave an earlier one of the same commit with too few neighbours.
TEST(CycleProperties, WhoeverSomebodyWasEvictedForCanLand) {
  ForAll(800, kContest, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    const bool neighbours = random.shape.features.contains(Feature::kPodAffinity) ||
                            random.shape.features.contains(Feature::kSpread);
    cycle.on_commit = [&](const CommitView& commit) {
      if (std::none_of(commit.evictions.begin(), commit.evictions.end(), ForSomebody)) return;
      SparedJudge judge(cycle, commit);
      if (neighbours && judge.pipelined() > 1) return;
      if (!judge.EveryoneFits())
        cycle.Complain(fmt::format("evicted for {}, and somebody of that commit has no place",
                                   cycle.Key(commit.evictions.begin()->for_task)));
    };
    cycle.Run();
    return cycle.complaint;
  });
}

// ---- guards

// The switch behind which a plugin is asked about this eviction.
Switch AskedBy(const Eviction& eviction) {
  if (!ForSomebody(eviction)) return Switch::kVictim;
  return eviction.reason == EvictionReason::kReclaim ? Switch::kReclaimable : Switch::kPreemptable;
}

void JudgeGuards(const RandomCluster& random, ObservedCycle& cycle) {
  std::vector<int> left;
  for (const PodBudgetFacts& budget : random.pod_budgets) left.push_back(budget.allowed);
  for (const Eviction& eviction : cycle.session->plan.evictions) {
    const std::string key = cycle.Key(eviction.task);
    const PodFacts& pod = random.pods.at(key);
    const Switch asked = AskedBy(eviction);
    const bool cooling =
        pod.state == PodFacts::State::kRunning && pod.placed_seconds_ago < pod.cooldown_seconds;
    if (ForSomebody(eviction) && cooling && cycle.Asks("cdp", asked))
      cycle.Complain(key + " is evicted while it cools down");
    const bool critical =
        pod.ns == "kube-system" || pod.priority_class == "system-cluster-critical";
    if (critical && cycle.Asks("conformance", asked))
      cycle.Complain(key + " is evicted, and the cluster lives on it");
    for (size_t i = 0; i < left.size(); ++i) {
      const PodBudgetFacts& budget = random.pod_budgets[i];
      const auto label = pod.labels.find(budget.label);
      if (pod.ns != budget.ns || label == pod.labels.end() || label->second != budget.value ||
          budget.disrupted.contains(pod.name))
        continue;
      if (--left[i] < 0 && cycle.Asks("pdb", asked))
        cycle.Complain(fmt::format("{} is evicted beyond the {} that a PodDisruptionBudget allows",
                                   key, budget.allowed));
    }
  }
}

TEST(CycleProperties, AGuardsVetoIsNeverOverruled) {
  ForAll(700, kGuarded, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    cycle.Run();
    if (cycle.complaint.empty()) JudgeGuards(random, cycle);
    return cycle.complaint;
  });
}

constexpr std::string_view kPdbConfig = R"(actions: "enqueue, allocate, preempt, reclaim, shuffle"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: pdb
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
)";

TEST(CycleProperties, WithNothingPendingPodBudgetsEvictNobody) {
  const Wanted wanted{
      .profile = "krafla", .pending_pods = false, .config = std::string(kPdbConfig)};
  ForAll(300, wanted, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    cycle.Run();
    if (cycle.complaint.empty() && !cycle.session->plan.evictions.empty())
      return "evicted: " + cycle.Key(cycle.session->plan.evictions[0].task);
    return cycle.complaint;
  });
}

// ---- closing zones

// "3" or "30%" of `total`, rounded up.
int ReadAmount(const std::string& text, int total) {
  const int number = std::stoi(text);
  return text.back() == '%' ? (number * total + 99) / 100 : number;
}

// The budgets of D2, D3 and D14, counted along the plan from what the manifests say.
class BudgetJudge {
 public:
  BudgetJudge(const RandomCluster& random, ObservedCycle& cycle) : random_(random), cycle_(cycle) {
    for (const auto& [key, pod] : random.pods) {
      if (pod.job.empty()) continue;
      Count& count = counts_[pod.job];
      ++count.total;
      count.running += pod.state == PodFacts::State::kRunning;
      count.finished += pod.state == PodFacts::State::kFinished;
    }
  }

  void Judge(const CommitView& commit) {
    std::map<std::string, int> drained;  // in this commit
    for (const Eviction& eviction : commit.evictions) {
      const PodFacts& pod = random_.pods.at(cycle_.Key(eviction.task));
      const JobFacts& job = random_.jobs.at(pod.job);
      Count& count = counts_.at(pod.job);
      if (pod.state == PodFacts::State::kRunning) --count.running;
      if (!ForSomebody(eviction)) {
        ++drained[pod.job];
        if (HasBudget(job)) JudgeAnnotations(cycle_.Key(eviction.task), job, count);
        if (!HasBudget(job) && count.evicted > 0)
          cycle_.Complain(
              fmt::format("{} goes while job {}, which has no budget, has an eviction "
                          "outstanding",
                          cycle_.Key(eviction.task), pod.job));
      }
    }
    for (const Eviction& eviction : commit.evictions)
      ++counts_.at(random_.pods.at(cycle_.Key(eviction.task)).job).evicted;
    for (const auto& [key, number] : drained) JudgeGang(key, number);
  }

 private:
  struct Count {
    int total = 0;
    int running = 0;
    int finished = 0;
    int evicted = 0;  // in earlier commits
  };

  static bool HasBudget(const JobFacts& job) {
    return !job.max_unavailable.empty() || !job.min_available.empty();
  }

  void JudgeAnnotations(const std::string& pod, const JobFacts& job, const Count& count) {
    if (!job.max_unavailable.empty()) {
      const int unavailable = count.total - count.finished - count.running;
      if (unavailable > ReadAmount(job.max_unavailable, count.total))
        cycle_.Complain(fmt::format("{} goes: {} unavailable, {} allowed", pod, unavailable,
                                    job.max_unavailable));
    } else if (count.running < ReadAmount(job.min_available, count.total)) {
      cycle_.Complain(
          fmt::format("{} goes: {} run, {} must", pod, count.running, job.min_available));
    }
  }

  // D25.
  void JudgeGang(const std::string& key, int drained) {
    const Cluster& cluster = cycle_.cluster;
    const auto id = std::find_if(cluster.jobs_by_name.begin(), cluster.jobs_by_name.end(),
                                 [&](JobId job) { return cluster.JobKey(job) == key; });
    const Job& job = cluster.jobs[*id];
    const bool whole = Placed(job) == 0;
    if (whole) return;
    if (drained > 1 && !HasBudget(random_.jobs.at(key)))
      cycle_.Complain(fmt::format("{} of job {}, which has no budget, go at once", drained, key));
    if (Placed(job) + job.Count(TaskStatus::kSucceeded) < random_.jobs.at(key).min_member)
      cycle_.Complain(fmt::format("job {} is left with {} of {}", key, Placed(job),
                                  random_.jobs.at(key).min_member));
  }

  const RandomCluster& random_;
  ObservedCycle& cycle_;
  std::map<std::string, Count> counts_;
};

TEST(CycleProperties, AClosingZoneKeepsToTheBudgetsAndTakesGangsWhole) {
  ForAll(800, kClosingZones, [](const RandomCluster& random) {
    ObservedCycle cycle(random);
    if (!cycle.complaint.empty()) return cycle.complaint;
    BudgetJudge judge(random, cycle);
    cycle.on_commit = [&](const CommitView& commit) { judge.Judge(commit); };
    cycle.Run();
    return cycle.complaint;
  });
}

// ---- determinism

TEST(CycleProperties, TheSameInputGivesTheSameBytes) {
  ForAll(300, kAnything, [](const RandomCluster& random) {
    const std::string text = random.Text();
    const std::string first = RunToJson(random, text);
    const std::string second = RunToJson(random, text);
    return first == second ? "" : fmt::format("first:\n{}\nsecond:\n{}", first, second);
  });
}

TEST(CycleProperties, TheOrderOfTheObjectsChangesNothing) {
  ForAll(300, kAnything, [](const RandomCluster& random) -> std::string {
    const std::string expected = RunToJson(random, random.Text());
    for (uint64_t order = 1; order <= 2; ++order) {
      const std::string got = RunToJson(random, random.ShuffledText(random.shape.seed + order));
      if (got != expected) return fmt::format("as written:\n{}\nshuffled:\n{}", expected, got);
    }
    const std::string as_list = RunToJson(random, random.ListText());
    return as_list == expected ? "" : fmt::format("YAML:\n{}\nJSON:\n{}", expected, as_list);
  });
}

// The other tests see cycles through an observer; it must not be what they see.
TEST(CycleProperties, BeingObservedChangesNothing) {
  auto decisions = [](const RandomCluster& random, bool observed) {
    ObservedCycle cycle(random, random.Text(), observed);
    cycle.Run();
    std::string text = cycle.complaint;
    if (!text.empty()) return text;
    for (const Bind& bind : cycle.session->plan.binds)
      text += fmt::format("{} on {}\n", cycle.Key(bind.task), cycle.cluster.NodeName(bind.node));
    for (const Eviction& eviction : cycle.session->plan.evictions)
      text += fmt::format("{} evicted\n", cycle.Key(eviction.task));
    return text;
  };
  ForAll(200, kAnything, [&](const RandomCluster& random) {
    const std::string with = decisions(random, true);
    const std::string without = decisions(random, false);
    return with == without ? "" : fmt::format("observed:\n{}\nnot observed:\n{}", with, without);
  });
}

// ---- sums

// The pods on nodes as the predicates plugin keeps them, counted anew.
void JudgeKubeView(ObservedCycle& cycle) {
  const Cluster& cluster = cycle.cluster;
  for (NodeId node : cluster.nodes_by_name) {
    std::vector<TaskId> expected;
    KubeView::Sums sums;
    for (TaskId task : cluster.nodes[node].tasks) {
      const bool evicted_now = cluster.tasks[task].status == TaskStatus::kReleasing &&
                               cycle.StatusAtOpen(task) != TaskStatus::kReleasing;
      if (evicted_now) continue;
      expected.push_back(task);
      sums.cpu += cluster.SpecOf(task).scored_cpu;
      sums.memory += cluster.SpecOf(task).scored_memory;
      sums.nonzero_cpu += cluster.SpecOf(task).nonzero_cpu;
      sums.nonzero_memory += cluster.SpecOf(task).nonzero_memory;
    }
    std::vector<TaskId> kept = cycle.session->kube.PodsOn(node);
    std::sort(kept.begin(), kept.end());
    std::sort(expected.begin(), expected.end());
    const KubeView::Sums& has = cycle.session->kube.SumsOf(node);
    if (kept != expected)
      cycle.Complain(fmt::format("the view of node {} has {} pods, not {}", cluster.NodeName(node),
                                 kept.size(), expected.size()));
    if (has.cpu != sums.cpu || has.memory != sums.memory || has.nonzero_cpu != sums.nonzero_cpu ||
        has.nonzero_memory != sums.nonzero_memory)
      cycle.Complain(fmt::format("the view of node {} sums up wrongly", cluster.NodeName(node)));
  }
}

TEST(CycleProperties, AllSumsAreRightAfterEveryAction) {
  ForAll(400, kAnything, [](const RandomCluster& random) {
    ObservedCycle cycle(random);  // verifies the session's own invariants itself
    cycle.after_action = [&] {
      // Volcano loses sight of pods whose eviction was taken back.
      if (cycle.session->kube.built() && cycle.session->compat.exact_undo &&
          cycle.Asks("predicates", Switch::kPredicate))
        JudgeKubeView(cycle);
    };
    cycle.Run();
    return cycle.complaint;
  });
}

}  // namespace
}  // namespace krafla::testing
