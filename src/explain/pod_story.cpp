#include "explain/pod_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/find_plugin.h"
#include "explain/candidates.h"
#include "explain/cooldown_words.h"
#include "explain/eviction_story.h"
#include "explain/veto_numbers.h"
#include "explain/vote_tiers.h"
#include "model/disruption_budget.h"
#include "model/pod_budgets.h"

namespace krafla {

namespace {

constexpr size_t kMostTakers = 10;
constexpr size_t kMostNeighbours = 12;
constexpr size_t kMostVictims = 20;

class PodStory {
 public:
  PodStory(Session& session, CycleProbe* probe, TaskId pod, Explanation& out)
      : s_(session),
        c_(session.cluster),
        probe_(probe),
        pod_(pod),
        task_(c_.tasks[pod]),
        name_(c_.TaskKey(pod)),
        out_(out) {}

  void Tell() {
    for (size_t i = 0; i < s_.plan.evictions.size(); ++i)
      if (s_.plan.evictions[i].task == pod_) return TellEvicted(i);
    if (!task_.job.valid()) {
      out_.answer = fmt::format(
          "{} belongs to no PodGroup of this scheduler: it is neither placed nor evicted by it.",
          name_);
      return;
    }
    Where();
    if (!IsPreemptableStatus(task_.status)) {
      out_.answer = fmt::format("{} is {}: it is neither placed nor evicted by this cycle.", name_,
                                ToString(task_.status));
      return;
    }
    HeldInClosedZone();
    Protections();
    Takers();
    out_.answer = fmt::format("{} stays where it is: {}.", name_, Summary());
  }

 private:
  void Where() {
    const Job& job = c_.jobs[task_.job];
    size_t evicted = 0;
    size_t bound = 0;
    for (const Eviction& e : s_.plan.evictions) evicted += c_.tasks[e.task].job == task_.job;
    for (const Bind& b : s_.plan.binds) bound += c_.tasks[b.task].job == task_.job;
    std::string changed;
    if (evicted > 0) changed = fmt::format("evicts {} of its pods", evicted);
    if (bound > 0)
      changed += fmt::format("{}binds {} of its pods", changed.empty() ? "" : " and ", bound);
    out_.facts.push_back(
        fmt::format("{} on {}; PodGroup {}: {} ready{}, minimum {}; queue {}; priority {}",
                    ToString(task_.status),
                    task_.node.valid() ? std::string(c_.NodeName(task_.node)) : "an unknown node",
                    c_.JobKey(task_.job), job.Ready(),
                    changed.empty() ? "" : " after this cycle, which " + changed, job.min_available,
                    c_.QueueName(job.queue), job.priority));
  }

  void TellEvicted(size_t index) {
    const Eviction& e = s_.plan.evictions[index];
    out_.answer = fmt::format("{} is {}.", name_, EvictionHeadline(s_, index));
    if (e.for_task.valid()) {
      const JobId taker = c_.tasks[e.for_task].job;
      out_.facts.push_back(fmt::format(
          "its place on {} goes to {} of PodGroup {} (queue {}, priority {}), once it has ended",
          e.node.valid() ? c_.NodeName(e.node) : "its node", c_.TaskKey(e.for_task),
          c_.JobKey(taker), c_.QueueName(c_.jobs[taker].queue), c_.jobs[taker].priority));
    } else {
      out_.facts.push_back("nobody takes its place: its node is handed back");
    }
    WhoDecided(e);
    ExplanationTable table{.name = "neighbours",
                           .title = e.node.valid()
                                        ? fmt::format("the others on {}", c_.NodeName(e.node))
                                        : "the others",
                           .columns = {"pod", "what became of it"}};
    for (const EvictionStories::Neighbour& n : EvictionStories(s_).NeighboursOf(index)) {
      if (table.rows.size() >= kMostNeighbours) {
        ++table.left_out;
        continue;
      }
      table.rows.push_back({c_.TaskKey(n.task), n.why});
    }
    if (table.rows.empty()) {
      out_.facts.push_back("it was alone on its node");
    } else {
      out_.tables.push_back(std::move(table));
    }
  }

  void WhoDecided(const Eviction& e) {
    const std::string agreed = PluginsThatAllowed(s_, e);
    if (agreed.empty() || !e.for_task.valid()) return;  // nobody voted: it was nominated
    if (probe_ != nullptr) {
      const VoteTiers tiers(s_, *probe_,
                            e.reason == EvictionReason::kReclaim ? EvictingAction::kReclaim
                                                                 : EvictingAction::kPreempt);
      if (const std::optional<size_t> tier = tiers.TierOfAll(e.permitted_by);
          tier && tiers.several()) {
        const std::vector<size_t> before = tiers.Before(*tier);
        out_.facts.push_back(fmt::format(
            "asked and agreed in tier {}, which decided: {}{}", *tier + 1, agreed,
            before.empty()
                ? ""
                : fmt::format("; {} named nobody on its node", tiers.Texts(before, "and"))));
        return;
      }
    }
    out_.facts.push_back(fmt::format("asked and agreed, in the tier that decided: {}", agreed));
  }

  bool Configured(std::string_view plugin) const {
    return FindPlugin(s_.config, plugin) != nullptr;
  }

  // Whether it is asked by every action that takes pods for others.
  bool GangVotes() const {
    const PluginOption* const gang = FindPlugin(s_.config, "gang");
    return gang != nullptr &&
           (!s_.config.HasAction("preempt") || gang->Enabled(Switch::kPreemptable)) &&
           (!s_.config.HasAction("reclaim") || gang->Enabled(Switch::kReclaimable));
  }

  struct Protection {
    std::string by;
    std::string why;
    std::string holds;   // how far
    std::string weaker;  // empty: nobody can overrule it
  };

  void Protect(std::string_view by, std::string why) {
    protections_.push_back({std::string(by), std::move(why), "always: it is no candidate", ""});
  }

  // By the vote of a plugin, which may count in its own tier alone.
  void ProtectByVote(const std::string& plugin, std::string why) {
    Protection protection{.by = plugin, .why = std::move(why), .holds = {}, .weaker = {}};
    std::string asks;    // the actions that ask it …
    std::string passes;  // … and that do not
    for (EvictingAction action : {EvictingAction::kPreempt, EvictingAction::kReclaim}) {
      if (!s_.config.HasAction(ToString(action))) continue;
      const VoteTiers tiers(s_, *probe_, action);
      if (!tiers.TierOf(plugin)) {
        passes = ToString(action);
        continue;
      }
      asks = ToString(action);
      const std::string holds = tiers.HowFarItHolds(plugin);
      if (holds != protection.holds) {
        const bool differs = !protection.holds.empty();
        if (differs) protection.holds = "preempt: " + protection.holds + "; reclaim: ";
        protection.holds += holds;
      }
      const std::vector<size_t> others = tiers.MayOverrule(plugin);
      if (others.empty() || !protection.weaker.empty()) continue;
      protection.weaker =
          fmt::format("{} spares it in tier {} ({}), but {} may name it all the same", plugin,
                      *tiers.TierOf(plugin) + 1, protection.why, tiers.Texts(others, "or"));
    }
    if (asks.empty()) return;
    if (!passes.empty()) {
      protection.holds = fmt::format("{}: {}; {} does not ask", asks, protection.holds, passes);
      if (protection.weaker.empty())
        protection.weaker = fmt::format("{} spares it from {} ({}), but {} does not ask {}", plugin,
                                        asks, protection.why, passes, plugin);
    }
    protections_.push_back(std::move(protection));
  }

  // Its zone is closed and it would go, were it not for its budget or its gang: the drainer said so
  // in the trace.
  void HeldInClosedZone() {
    if (!task_.node.valid() || c_.nodes[task_.node].zone == kEmptyStr) return;
    const auto& events = s_.trace.events();
    const auto held = std::find_if(events.begin(), events.end(), [&](const TraceEvent& event) {
      if (event.kind != TraceKind::kVeto || TaskId(event.a) != pod_) return false;
      const auto code = static_cast<VetoCode>(event.code);
      return (code == VetoCode::kBudget || code == VetoCode::kGangAtMinimum ||
              code == VetoCode::kClockSkew) &&
             s_.plugin_names()[event.plugin] == "tdm";
    });
    if (held == events.end()) return;
    const std::string budget =
        DescribeBudget(c_.jobs[task_.job].budget, s_.compat.budget_precedence);
    const std::string zone(c_.Text(c_.nodes[task_.node].zone));
    std::string holder = budget.empty()
                             ? "its gang, which goes whole or not at all,"
                             : fmt::format("the budget of {} ({})", c_.JobKey(task_.job), budget);
    if (static_cast<VetoCode>(held->code) == VetoCode::kClockSkew && s_.memory.clock_skew_s)
      holder = DescribeClockSkew(*s_.memory.clock_skew_s);
    held_ = fmt::format("zone {} is closed, but {} holds it there for now", zone, holder);
    size_t gone = 0;
    for (const Eviction& e : s_.plan.evictions)
      if (c_.tasks[e.task].job == task_.job && !e.for_task.valid() && e.node.valid() &&
          c_.nodes[e.node].zone == c_.nodes[task_.node].zone)
        ++gone;
    if (gone > 0)
      out_.facts.push_back(fmt::format("this cycle evicts {} other pod{} of its job from the zone",
                                       gone, gone == 1 ? "" : "s"));
  }

  // What would hold against anybody.
  void Protections() {
    const Job& job = c_.jobs[task_.job];
    if (!task_.preemptable) Protect("the pod", "says preemptable: false");
    if (GangVotes() && job.Ready() <= job.min_available)
      ProtectByVote("gang", fmt::format("{} has {} ready, minimum {}", c_.JobKey(task_.job),
                                        job.Ready(), job.min_available));
    if (const auto standing = CooldownStandingOf(s_, pod_))
      ProtectByVote("cdp", DescribeCooldown(s_, pod_, *standing));
    if (Configured("conformance")) {
      const std::string_view cls = c_.Text(task_.priority_class);
      if (c_.Text(task_.ns) == "kube-system" || cls == "system-cluster-critical" ||
          cls == "system-node-critical")
        ProtectByVote("conformance", "it belongs to the system");
    }
    if (Configured("pdb")) {
      PodBudgets budgets(c_,
                         PodBudgets::Rules{.charge_only_the_allowed = s_.compat.budget_accounting,
                                           .unlabelled_may_go = s_.compat.pdb_unlabelled});
      for (uint32_t b : budgets.BudgetsOf(pod_))
        if (c_.budgets[b].disruptions_allowed <= 0)
          ProtectByVote("pdb", fmt::format("PodDisruptionBudget {}/{} allows no disruption",
                                           c_.Text(c_.budgets[b].ns), c_.Text(c_.budgets[b].name)));
    }
    if (protections_.empty()) return;
    ExplanationTable table{
        .name = "protections", .title = "what protects it", .columns = {"by", "because", "holds"}};
    for (const Protection& p : protections_) table.rows.push_back({p.by, p.why, p.holds});
    out_.tables.push_back(std::move(table));
  }

  // The pods that wait and could ask for its place, each with the answer it would get.
  void Takers() {
    ExplanationTable table{.name = "takers",
                           .title = "who waits, and what keeps this pod from being taken for it",
                           .columns = {"for", "action", "answer"}};
    size_t waiting = 0;
    for (JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      if (id == task_.job || job.Count(TaskStatus::kPending) == 0) continue;
      const bool same_queue = job.queue == c_.jobs[task_.job].queue;
      const EvictingAction action =
          same_queue ? EvictingAction::kPreempt : EvictingAction::kReclaim;
      if (!s_.config.HasAction(ToString(action))) continue;
      const auto taker = std::find_if(job.tasks.begin(), job.tasks.end(), [&](TaskId t) {
        return c_.tasks[t].status == TaskStatus::kPending && !c_.tasks[t].gated;
      });
      if (taker == job.tasks.end()) continue;
      if (++waiting > kMostTakers) {
        ++table.left_out;
        continue;
      }
      table.rows.push_back({c_.TaskKey(*taker), ToString(action), AnswerTo(action, id, *taker)});
    }
    takers_ = waiting;
    if (!table.rows.empty()) out_.tables.push_back(std::move(table));
  }

  std::string AnswerTo(EvictingAction action, JobId job, TaskId taker) {
    if (s_.JobInvalid(job)) return "its job is not valid";
    if (!s_.JobStarving(job)) return "its job does not starve";
    if (!task_.node.valid()) return "its node is not known";
    const Candidacy candidacy = CandidacyOf(s_, action, taker, pod_);
    if (candidacy != Candidacy::kCandidate)
      return fmt::format("not a candidate: {}", ToString(candidacy));
    const CandidateCensus census = CandidatesOn(s_, action, taker, task_.node);
    probe_->StartVotes();
    const Victims victims = action == EvictingAction::kPreempt
                                ? s_.Preemptable(taker, census.candidates)
                                : s_.Reclaimable(taker, census.candidates);
    const std::vector<VictimVote> votes = probe_->TakeVotes();
    if (std::find(victims.tasks.begin(), victims.tasks.end(), pod_) != victims.tasks.end()) {
      ++could_be_taken_;
      return "the plugins would let it go; this cycle took another way";
    }
    return WhoSpares(action, taker, votes, victims);
  }

  // The first veto of each tier that was asked; where a guard spares it there is but one.
  std::string WhoSpares(EvictingAction action, TaskId taker, const std::vector<VictimVote>& votes,
                        const Victims& victims) {
    const VoteTiers tiers(s_, *probe_, action);
    std::vector<size_t> told;
    std::string text;
    for (const VictimVote& vote : votes) {
      if (vote.vote == Vote::kAbstain) continue;
      if (std::find(vote.asked.begin(), vote.asked.end(), pod_) == vote.asked.end()) continue;
      if (std::find(vote.let_go.begin(), vote.let_go.end(), pod_) != vote.let_go.end()) continue;
      const std::string veto = DescribeVeto(s_, action, taker, vote, pod_);
      const std::optional<size_t> tier = tiers.TierOf(vote.plugin);
      if (!tier || !tiers.several() || tiers.HoldsEverywhere(vote.plugin))
        return "spared by " + veto;
      if (std::find(told.begin(), told.end(), *tier) != told.end()) continue;
      told.push_back(*tier);
      text += fmt::format("{}in tier {} by {}", text.empty() ? "spared " : ", ", *tier + 1, veto);
    }
    if (text.empty()) return "the plugins do not agree on any victim";
    if (const std::optional<size_t> decided = tiers.TierOfAll(victims.permitted_by);
        decided && !victims.tasks.empty())
      text += fmt::format("; tier {} names others on its node", *decided + 1);
    return text;
  }

  std::string Summary() const {
    if (!held_.empty()) return held_;
    for (const Protection& p : protections_)
      if (p.weaker.empty()) return fmt::format("{} protects it ({})", p.by, p.why);
    if (could_be_taken_ > 0)
      return "it could be a victim, but nobody needed its place in this cycle";
    if (!protections_.empty()) return protections_.front().weaker;
    if (takers_ > 0) return "nobody who waits may take its place";
    if (!s_.config.HasAction("preempt") && !s_.config.HasAction("reclaim"))
      return "neither preempt nor reclaim is among the actions, so that nobody is evicted for "
             "another";
    return "nobody waits for its place, and nothing protects it";
  }

  Session& s_;
  const Cluster& c_;
  CycleProbe* probe_;
  TaskId pod_;
  const Task& task_;
  std::string name_;
  Explanation& out_;
  std::vector<Protection> protections_;
  std::string held_;  // by what, in a closed zone
  size_t takers_ = 0;
  size_t could_be_taken_ = 0;
};

}  // namespace

void TellPodStory(Session& session, CycleProbe* probe, TaskId pod, Explanation& explanation) {
  PodStory(session, probe, pod, explanation).Tell();
}

void AddRefusalsOfPod(Session& s, TaskId pod, JobGates& gates) {
  const FitError* error = s.fit_errors.Find(pod);
  if (error == nullptr) return;
  for (Gate& gate : gates.gates) {
    if (gate.name != "room") continue;
    if (gate.verdict != Verdict::kNo) return;
    gate.text = fmt::format("{}: {}", s.cluster.TaskKey(pod), FitErrors::Text(*error, s.reasons));
    ExplanationTable table = RefusalCounts(s, *error);
    gate.tables.clear();
    if (table.rows.size() > 1) gate.tables.push_back(std::move(table));
  }
}

void AddVictimsFor(const Session& s, JobId job, TaskId pod, Explanation& explanation) {
  ExplanationTable table{
      .name = "victims", .title = "who goes for it", .columns = {"pod", "node", "why"}};
  for (const Eviction& e : s.plan.evictions) {
    if (!e.for_task.valid()) continue;
    if (pod.valid() ? e.for_task != pod : s.cluster.tasks[e.for_task].job != job) continue;
    const std::string agreed = PluginsThatAllowed(s, e);
    table.rows.push_back(
        {s.cluster.TaskKey(e.task), e.node.valid() ? s.cluster.NodeName(e.node) : "unknown",
         fmt::format("{}{}", WhyEvicted(s, e), agreed.empty() ? "" : "; allowed by " + agreed)});
  }
  if (table.rows.size() > kMostVictims) {
    table.left_out = table.rows.size() - kMostVictims;
    table.rows.erase(table.rows.begin() + static_cast<ptrdiff_t>(kMostVictims), table.rows.end());
  }
  if (!table.rows.empty()) explanation.tables.push_back(std::move(table));
}

}  // namespace krafla
