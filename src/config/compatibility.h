// Where Krafla decides otherwise than Volcano, one switch each: true = Krafla's way.
// docs/deviations.md explains every switch to a user; each has a test of both sides.
#pragma once

#include <span>
#include <string_view>

namespace krafla {

struct Compatibility {
  bool victims_in_preempt = true;  // D1  expired zones are emptied by preempt too, as its last step
  bool budget_floor = true;        // D2  a budget already broken is not broken further
  bool budget_precedence = true;   // D3  maxUnavailable wins over minAvailable
  bool windows = true;  // D6-D8 a window is a set of minutes, [start, end), wrapping at midnight
  bool evict_period_per_zone = true;  // D9  one clock per zone, started by an eviction
  bool named_zones = true;            // D13 a pod may name its zones
  bool budget_accounting = true;      // D14 budgets are added up over the cycle
  bool guards = true;                 // D15 the veto of cdp, conformance, pdb holds in every tier
  bool empty_intersection = true;     // D16 an empty intersection ends the tier
  bool reprieve = true;  // D19 victims that turned out superfluous are put back before a commit
  bool pdb_unlabelled = true;         // D21 a pod without labels is a victim like any other
  bool csi_attach_limit = true;       // D22 a driver that no CSINode declares is not counted
  bool closed_queue = true;           // D23 nothing enters a closed queue
  bool victims_filter = true;         // D24 nominate, then filter
  bool drain_gang = true;             // D25 a closing zone does not leave half a gang
  bool drain_guards = true;           // D26 conformance and pdb hold for a closing zone
  bool predicate_error_cache = true;  // D27 a refusal is asked again after evictions
  bool reclaim_predicates = true;     // D28 reclaim looks at predicates before it evicts
  bool preemptable_default = true;    // D29 a closing zone takes only pods that say preemptable
  bool implied_zone = true;           // D30 preemptable does not imply the zone annotation
  bool exact_undo = true;             // D32 an eviction that was taken back leaves no trace
  bool missing_claims = true;         // D33 a pod whose claim is not there waits with its job
  bool dry_run_share = true;          // D34 a dry run asks the queue's share as well
  bool newcomers_affinity =
      true;  // D35 (anti-)affinity of pods placed in this cycle counts at once
  bool inherited_cooldown = true;  // D36 a PodGroup's or Queue's cooldown counts for its pods
  bool budget_unreadable = true;   // D37 a budget annotation that is invalid allows no eviction
  bool lost_nomination = true;     // D38 a nomination to a node that is gone binds no pod

  static Compatibility Krafla() { return {}; }
  static Compatibility Volcano();
};

struct CompatibilitySwitch {
  std::string_view name;  // as in the configuration: "victims-in-preempt"
  bool Compatibility::* member;
};

// Every switch with its configuration name, in the order above.
std::span<const CompatibilitySwitch> CompatibilitySwitches();

}  // namespace krafla
