// K20, K21: who is asked, and who is not. How tiers combine answers is in docs/plugins.md; which
// plugin answers which question is asked of the plugins themselves (PluginProbe).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "check/check_input.h"
#include "check/check_rule.h"

namespace krafla {

namespace {

using Voters = std::vector<const PluginOption*>;

// A question about victims, and the action that asks it.
struct VictimQuestion {
  std::string_view action;
  VictimsFn PluginHooks::* hook;
  Switch needs;
  std::string_view switch_name;
};
constexpr std::array kVictimQuestions = {
    VictimQuestion{"preempt", &PluginHooks::preemptable, Switch::kPreemptable, "enablePreemptable"},
    VictimQuestion{"reclaim", &PluginHooks::reclaimable, Switch::kReclaimable,
                   "enableReclaimable"}};

// The questions that the configured actions ask.
std::vector<VictimQuestion> AskedQuestions(const CheckInput& input) {
  std::vector<VictimQuestion> asked;
  for (const VictimQuestion& question : kVictimQuestions)
    if (input.config.HasAction(question.action)) asked.push_back(question);
  return asked;
}

std::vector<Voters> VotersByTier(const CheckInput& input, const VictimQuestion& question) {
  std::vector<Voters> tiers;
  for (size_t tier = 0; tier < input.config.tiers.size(); ++tier)
    tiers.push_back(input.probe.Voters(tier, question.hook, question.needs));
  return tiers;
}

bool Has(const Voters& voters, std::string_view name) {
  return std::ranges::any_of(voters,
                             [&](const PluginOption* voter) { return voter->name == name; });
}

std::string Names(const Voters& voters) {
  std::vector<std::string> names;
  for (const PluginOption* voter : voters) names.push_back(voter->name);
  return List(names, names.size());
}

std::string Plugin(const PluginOption& option) {
  return "plugin " + option.name;
}

// Guards are asked before all tiers, about every candidate (D15). A tier of nobody else lets go
// whoever is left, so that it always decides. One that counts (pdb) is not asked again inside a
// tier, unless it is alone there; then it may leave nobody, and the next tier is asked.
bool LetsEverybodyGo(const CheckInput& input, const Voters& voters) {
  if (!input.config.compatibility.guards || voters.empty()) return false;
  bool some = false;
  for (const PluginOption* voter : voters) {
    const PluginHooks& hooks = *input.probe.HooksOf(voter->name);
    if (!hooks.is_guard) return false;
    some |= !hooks.guard_counts;
  }
  return some;
}

void NeverAskedAboutVictims(const CheckInput& input, RuleReport& report) {
  for (const VictimQuestion& question : AskedQuestions(input)) {
    const std::vector<Voters> tiers = VotersByTier(input, question);
    const auto decider = std::ranges::find_if(
        tiers, [&](const Voters& voters) { return LetsEverybodyGo(input, voters); });
    if (decider == tiers.end()) continue;
    const size_t deciding = static_cast<size_t>(decider - tiers.begin());
    for (size_t tier = deciding + 1; tier < tiers.size(); ++tier) {
      for (const PluginOption* voter : tiers[tier]) {
        if (input.probe.HooksOf(voter->name)->is_guard) continue;
        report.Add(
            {.place = input.InConfig(voter->location),
             .object = Plugin(*voter),
             .message = fmt::format(
                 "in tier {} it is never asked whom {} may evict: tier {} ({}) always decides",
                 tier + 1, question.action, deciding + 1, Names(*decider)),
             .consequence = fmt::format("{} evicts whoever {} let{} go, and {} has no say in it",
                                        question.action, Names(*decider),
                                        decider->size() == 1 ? "s" : "", voter->name),
             .fix = fmt::format("move {} into the tier of {}: tiers are alternatives, and plugins "
                                "that must agree belong into one",
                                Names(*decider), voter->name)});
      }
    }
  }
}

// The first tier with a plugin that has the question decides it (jobStarving).
void NeverAskedAboutStarving(const CheckInput& input, RuleReport& report) {
  if (AskedQuestions(input).empty()) return;
  const Voters* deciding = nullptr;
  std::vector<Voters> tiers;
  for (size_t tier = 0; tier < input.config.tiers.size(); ++tier)
    tiers.push_back(input.probe.Voters(tier, &PluginHooks::job_starving, Switch::kJobStarving));
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    if (deciding == nullptr) {
      if (!tiers[tier].empty()) deciding = &tiers[tier];
      continue;
    }
    for (const PluginOption* voter : tiers[tier]) {
      if (Has(*deciding, voter->name)) continue;
      const bool tdm = voter->name == "tdm";
      report.Add(
          {.place = input.InConfig(voter->location),
           .object = Plugin(*voter),
           .message = fmt::format("in tier {} it is never asked whether a job starves: {} "
                                  "in an earlier tier always decide{}",
                                  tier + 1, Names(*deciding), deciding->size() == 1 ? "s" : ""),
           .consequence = tdm ? "jobs that offer themselves (volcano.sh/preemptable) count "
                                "as starving like all others and look for victims"
                              : fmt::format("a job that {} would not call starving looks "
                                            "for victims all the same",
                                            voter->name),
           .fix = fmt::format("move {} into the tier of {}, or say enableJobStarving: false "
                              "to show that this is meant",
                              voter->name, Names(*deciding))});
    }
  }
}

// Votes per tier: whoever never abstains makes its tier the last one that is asked.
struct TierVote {
  std::function<Vote(JobId)> PluginHooks::* hook;
  Switch needs;
  std::string_view question;
  std::string_view without;  // what is not heard
};
const std::array kTierVotes = {
    TierVote{&PluginHooks::job_pipelined, Switch::kJobPipelined,
             "whether a job keeps the places it was promised", "a job whose time is up loses them"},
    TierVote{&PluginHooks::job_enqueueable, Switch::kJobEnqueued,
             "whether a job may enter its queue", "a job whose time is up waits on"}};

// gang and tdm permit or reject pipelining, overcommit and proportion an entry; a test asks them.
bool NeverAbstains(const PluginOption& plugin) {
  return plugin.name == "gang" || plugin.name == "tdm" || plugin.name == "overcommit" ||
         plugin.name == "proportion";
}

void SlaOutvoted(const CheckInput& input, RuleReport& report) {
  const PluginOption* sla = input.FindPlugin("sla");
  if (sla == nullptr) return;
  for (const TierVote& vote : kTierVotes) {
    Voters deciders;
    bool same_tier = false;
    bool reached = false;
    for (size_t tier = 0; tier < input.config.tiers.size() && !reached; ++tier) {
      const Voters voters = input.probe.Voters(tier, vote.hook, vote.needs);
      reached = Has(voters, "sla");
      for (const PluginOption* voter : voters)
        if (NeverAbstains(*voter)) deciders.push_back(voter);
      if (reached && !deciders.empty()) {
        same_tier = true;
        for (const PluginOption* decider : deciders) same_tier &= Has(voters, decider->name);
      } else if (!deciders.empty()) {
        // An earlier tier has decided; whether sla follows at all is seen below.
        for (size_t later = tier + 1; later < input.config.tiers.size(); ++later)
          reached |= Has(input.probe.Voters(later, vote.hook, vote.needs), "sla");
        break;
      }
    }
    if (!reached || deciders.empty()) continue;
    report.Add(
        {.place = input.InConfig(sla->location),
         .object = Plugin(*sla),
         .message =
             same_tier
                 ? fmt::format("it stands in one tier with {}, whose no wins, on the "
                               "question {}",
                               Names(deciders), vote.question)
                 : fmt::format("it is never asked {}: {} in an earlier tier always decide{}",
                               vote.question, Names(deciders), deciders.size() == 1 ? "s" : ""),
         .consequence =
             fmt::format("sla-waiting-time only orders the jobs: {} all the same", vote.without),
         .fix = fmt::format("put sla into a tier of its own before {}", Names(deciders))});
  }
}

// The roles of a gang are looked at by gang alone; tdm, when it is asked first, counts all pods
// alike.
void GangNotAskedAboutPipelining(const CheckInput& input, RuleReport& report) {
  if (AskedQuestions(input).empty()) return;
  for (size_t tier = 0; tier < input.config.tiers.size(); ++tier) {
    const Voters voters =
        input.probe.Voters(tier, &PluginHooks::job_pipelined, Switch::kJobPipelined);
    if (Has(voters, "gang")) return;
    if (!Has(voters, "tdm")) continue;
    for (size_t later = tier + 1; later < input.config.tiers.size(); ++later)
      for (const PluginOption* voter :
           input.probe.Voters(later, &PluginHooks::job_pipelined, Switch::kJobPipelined))
        if (voter->name == "gang")
          report.Add({.place = input.InConfig(voter->location),
                      .object = Plugin(*voter),
                      .message = fmt::format("in tier {} it is never asked whether a job has "
                                             "found enough places: tdm in tier {} always decides",
                                             later + 1, tier + 1),
                      .consequence = "pods are evicted for a job that reaches its minMember but "
                                     "not the minTaskMember of each role, and so cannot start",
                      .fix = "move gang into the tier of tdm or before it"});
    return;
  }
}

std::string_view WhatIsLost(std::string_view plugin) {
  if (plugin == "gang")
    return "it may push a job below its minMember, and the rest of the gang keeps its places "
           "without being able to work";
  if (plugin == "cdp") return "it may evict a pod that is still in its cooldown";
  if (plugin == "conformance") return "it may evict pods of kube-system and critical pods";
  return "it may evict a pod that its PodDisruptionBudget protects";
}

// An empty answer ends a tier, and the next one decides without whoever gave it.
void VetoOverruled(const CheckInput& input, RuleReport& report) {
  for (const VictimQuestion& question : AskedQuestions(input)) {
    std::vector<Voters> tiers = VotersByTier(input, question);
    // Behind a tier that always decides nobody is asked, and nobody overrules: K201 says so.
    const auto decider = std::ranges::find_if(
        tiers, [&](const Voters& voters) { return LetsEverybodyGo(input, voters); });
    if (decider != tiers.end()) tiers.erase(decider + 1, tiers.end());
    for (size_t tier = 0; tier < tiers.size(); ++tier) {
      for (const PluginOption* voter : tiers[tier]) {
        const bool guard = input.probe.HooksOf(voter->name)->is_guard;
        if (guard ? input.config.compatibility.guards : voter->name != "gang") continue;
        for (size_t later = tier + 1; later < tiers.size(); ++later) {
          if (tiers[later].empty() || Has(tiers[later], voter->name)) continue;
          std::string fix =
              fmt::format("list {} and {} in one tier", voter->name, Names(tiers[later]));
          if (guard)
            fix += ", or say compatibility: {guards: true}: a guard's veto then holds";
          else
            fix += fmt::format(", or switch the later votes off ({}: false)", question.switch_name);
          report.Add(
              {.place = input.InConfig(voter->location),
               .object = Plugin(*voter),
               .message = fmt::format("its veto against {} in tier {} can be overruled by tier {} "
                                      "({})",
                                      question.action, tier + 1, later + 1, Names(tiers[later])),
               .consequence =
                   fmt::format("when tier {} lets nobody go, {} decide{} alone: {}", tier + 1,
                               Names(tiers[later]), tiers[later].size() == 1 ? "s" : "",
                               WhatIsLost(voter->name)),
               .fix = std::move(fix)});
          break;
        }
      }
    }
  }
}

void ProportionBehindOthers(const CheckInput& input, RuleReport& report) {
  if (!input.config.HasAction("reclaim")) return;
  const std::vector<Voters> tiers = VotersByTier(input, kVictimQuestions[1]);
  std::optional<size_t> earlier;
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    if (!Has(tiers[tier], "proportion")) {
      // A tier that always decides is the matter of another rule.
      if (LetsEverybodyGo(input, tiers[tier])) return;
      if (!earlier && !tiers[tier].empty()) earlier = tier;
      continue;
    }
    if (!earlier) return;
    report.Add(
        {.place = input.PlaceOfPlugin("proportion"),
         .object = "plugin proportion",
         .message = fmt::format("in tier {} it is asked about reclaim's victims only when "
                                "tier {} ({}) lets nobody go",
                                tier + 1, *earlier + 1, Names(tiers[*earlier])),
         .consequence = "reclaim may take pods from queues that have no more than they deserve",
         .fix = fmt::format("move proportion into the tier of {}", Names(tiers[*earlier]))});
    return;
  }
}

void NobodyNamesVictims(const CheckInput& input, RuleReport& report) {
  for (const VictimQuestion& question : AskedQuestions(input)) {
    if (input.probe.AnyVoter(question.hook, question.needs)) continue;
    const bool preempt = question.action == "preempt";
    const bool drains = preempt && input.tdm.drains;
    report.Add(
        {.place = input.PlaceOfAction(question.action),
         .object = fmt::format("action {}", question.action),
         .message = "no configured plugin says who may be evicted",
         .consequence = fmt::format("{} evicts nobody{}", question.action,
                                    drains ? ", except from zones that have closed" : ""),
         .fix = fmt::format("add {}, or take {} out",
                            preempt ? "priority and gang" : "gang and proportion to one tier",
                            question.action)});
  }
}

void NobodyStarves(const CheckInput& input, RuleReport& report) {
  if (input.probe.AnyVoter(&PluginHooks::job_starving, Switch::kJobStarving)) return;
  for (const VictimQuestion& question : AskedQuestions(input))
    report.Add({.place = input.PlaceOfAction(question.action),
                .object = fmt::format("action {}", question.action),
                .message = "no configured plugin says which jobs starve",
                .consequence =
                    fmt::format("no job starves, and {} makes room for nobody", question.action),
                .fix = "add priority, gang or tdm, or switch enableJobStarving on again"});
}

void TdmWithoutEvictor(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || input.tdm.zones.empty() || input.tdm.drains) return;
  const bool off = !input.tdm.option->Enabled(Switch::kVictim);
  const bool only_shuffle = !input.config.compatibility.victims_in_preempt;
  std::string message = "neither preempt nor shuffle is configured";
  std::string fix = "add preempt or shuffle to the actions";
  if (off) {
    message = "enabledVictim is false";
    fix = "take enabledVictim: false out";
  } else if (only_shuffle) {
    message =
        "shuffle is not configured, and with victims-in-preempt: false (profile volcano) "
        "preempt does not empty zones";
    fix = "add shuffle to the actions, or say compatibility: {victims-in-preempt: true}";
  }
  report.Add({.place = input.InConfig(input.tdm.option->location),
              .object = "plugin tdm",
              .message = std::move(message),
              .consequence = "nobody is placed in a closed zone, but whoever runs there stays: the "
                             "zones are never emptied",
              .fix = std::move(fix)});
}

void GuardWithoutEvictor(const CheckInput& input, RuleReport& report) {
  if (!AskedQuestions(input).empty()) return;
  for (const std::string_view name : {"cdp", "pdb"}) {
    const PluginOption* plugin = input.FindPlugin(name);
    if (plugin == nullptr || (name == "pdb" && input.tdm.drains)) continue;
    report.Add({.place = input.InConfig(plugin->location),
                .object = Plugin(*plugin),
                .message = "neither preempt nor reclaim is configured",
                .consequence = "nobody is evicted that it could spare: it has no effect",
                .fix = fmt::format("take {} out, or add the action it is meant for", name)});
  }
}

void NoAllocate(const CheckInput& input, RuleReport& report) {
  if (input.config.actions.empty() || input.config.HasAction("allocate")) return;
  report.Add({.place = input.InConfig(input.config.actions.front().location),
              .object = "actions",
              .message = "allocate is not configured",
              .consequence = "no pod that asks for resources is ever bound",
              .fix = "add allocate"});
}

void NoBackfill(const CheckInput& input, RuleReport& report) {
  if (!input.config.HasAction("allocate") || input.config.HasAction("backfill")) return;
  report.Add({.place = input.PlaceOfAction("allocate"),
              .object = "actions",
              .message = "backfill is not configured",
              .consequence = input.config.HasAction("preempt")
                                 ? "no pod that asks for nothing is ever bound: allocate passes it "
                                   "over, and what preempt keeps for it stays a promise"
                                 : "no pod that asks for nothing is ever bound: allocate passes it "
                                   "over",
              .fix = "add backfill"});
}

void PreemptBeforeAllocate(const CheckInput& input, RuleReport& report) {
  const auto place_of = [&](std::string_view name) {
    return std::ranges::find_if(input.config.actions,
                                [&](const ActionOption& action) { return action.name == name; });
  };
  const auto preempt = place_of("preempt");
  const auto allocate = place_of("allocate");
  if (allocate == input.config.actions.end() || preempt >= allocate) return;
  report.Add({.place = input.InConfig(preempt->location),
              .object = "actions",
              .message = "preempt comes before allocate",
              .consequence = "preempt keeps a place for a starving job also where there is room "
                             "already, allocate then passes the job over, and places that are kept "
                             "last one cycle: the job waits for ever, on an empty cluster too",
              .fix = "list allocate before preempt"});
}

void NoPredicates(const CheckInput& input, RuleReport& report) {
  bool asked = false;
  for (const Tier& tier : input.config.tiers)
    for (const PluginOption& plugin : tier.plugins)
      asked |= plugin.name == "predicates" && plugin.Enabled(Switch::kPredicate);
  if (asked || input.config.actions.empty()) return;
  report.Add({.place = input.InConfig(input.config.actions.front().location),
              .object = "tiers",
              .message = "the plugin predicates is not configured",
              .consequence = "node selectors, affinity, taints, host ports and volumes are not "
                             "looked at: pods may be bound to nodes that cannot run them",
              .fix = "add predicates to a tier"});
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;
constexpr FindingLevel kNote = FindingLevel::kNote;

constexpr std::array kRules = {
    CheckRule{"K201", "never-consulted", kWarning, RuleNeeds::kConfig,
              "A plugin is never asked about victims because an earlier tier always decides.",
              &NeverAskedAboutVictims},
    CheckRule{"K202", "starving-never-asked", kWarning, RuleNeeds::kConfig,
              "A plugin is never asked which jobs starve because an earlier tier always decides.",
              &NeverAskedAboutStarving},
    CheckRule{"K203", "sla-outvoted", kWarning, RuleNeeds::kConfig,
              "sla stands where its word cannot count.", &SlaOutvoted},
    CheckRule{"K204", "roles-never-asked", kWarning, RuleNeeds::kConfig,
              "gang stands behind tdm, and the roles of a job are not looked at.",
              &GangNotAskedAboutPipelining},
    CheckRule{"K205", "veto-overruled", kWarning, RuleNeeds::kConfig,
              "The veto of gang, cdp, conformance or pdb can be overruled by a later tier.",
              &VetoOverruled},
    CheckRule{"K206", "proportion-behind", kWarning, RuleNeeds::kConfig,
              "reclaim's victims are chosen before proportion is asked.", &ProportionBehindOthers},
    CheckRule{"K207", "no-victims-named", kWarning, RuleNeeds::kConfig,
              "preempt or reclaim is configured, and no plugin names victims.",
              &NobodyNamesVictims},
    CheckRule{"K208", "nobody-starves", kWarning, RuleNeeds::kConfig,
              "preempt or reclaim is configured, and no plugin says which jobs starve.",
              &NobodyStarves},
    CheckRule{"K209", "tdm-without-evictor", kWarning, RuleNeeds::kConfig,
              "tdm has zones, and no action empties them when they close.", &TdmWithoutEvictor},
    CheckRule{"K210", "guard-without-evictor", kNote, RuleNeeds::kConfig,
              "cdp or pdb is configured, and no action evicts anybody.", &GuardWithoutEvictor},
    CheckRule{"K211", "no-allocate", kWarning, RuleNeeds::kConfig,
              "The action allocate is missing.", &NoAllocate},
    CheckRule{"K212", "no-predicates", kNote, RuleNeeds::kConfig,
              "The plugin predicates is missing.", &NoPredicates},
    CheckRule{"K213", "preempt-before-allocate", kWarning, RuleNeeds::kConfig,
              "The action preempt comes before allocate.", &PreemptBeforeAllocate},
    CheckRule{"K214", "no-backfill", kWarning, RuleNeeds::kConfig,
              "The action backfill is missing: pods that ask for nothing are never placed.",
              &NoBackfill},
};

}  // namespace

std::span<const CheckRule> TierRules() {
  return kRules;
}

}  // namespace krafla
