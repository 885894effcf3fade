#include "config/compatibility.h"

namespace krafla {

namespace {

constexpr CompatibilitySwitch kSwitches[] = {
    {"victims-in-preempt", &Compatibility::victims_in_preempt},
    {"budget-floor", &Compatibility::budget_floor},
    {"budget-precedence", &Compatibility::budget_precedence},
    {"windows", &Compatibility::windows},
    {"evict-period-per-zone", &Compatibility::evict_period_per_zone},
    {"named-zones", &Compatibility::named_zones},
    {"budget-accounting", &Compatibility::budget_accounting},
    {"guards", &Compatibility::guards},
    {"empty-intersection", &Compatibility::empty_intersection},
    {"reprieve", &Compatibility::reprieve},
    {"pdb-unlabelled", &Compatibility::pdb_unlabelled},
    {"csi-attach-limit", &Compatibility::csi_attach_limit},
    {"closed-queue", &Compatibility::closed_queue},
    {"victims-filter", &Compatibility::victims_filter},
    {"drain-gang", &Compatibility::drain_gang},
    {"drain-guards", &Compatibility::drain_guards},
    {"predicate-error-cache", &Compatibility::predicate_error_cache},
    {"reclaim-predicates", &Compatibility::reclaim_predicates},
    {"preemptable-default", &Compatibility::preemptable_default},
    {"implied-zone", &Compatibility::implied_zone},
    {"exact-undo", &Compatibility::exact_undo},
    {"missing-claims", &Compatibility::missing_claims},
    {"dry-run-share", &Compatibility::dry_run_share},
    {"newcomers-affinity", &Compatibility::newcomers_affinity},
    {"inherited-cooldown", &Compatibility::inherited_cooldown},
    {"budget-unreadable", &Compatibility::budget_unreadable},
    {"lost-nomination", &Compatibility::lost_nomination},
};

}  // namespace

std::span<const CompatibilitySwitch> CompatibilitySwitches() {
  return kSwitches;
}

Compatibility Compatibility::Volcano() {
  Compatibility all_off;
  for (const CompatibilitySwitch& s : kSwitches) all_off.*s.member = false;
  return all_off;
}

}  // namespace krafla
