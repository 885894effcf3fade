// Who leaves when a revocable zone has closed: the decision for one job, and the clock between two
// such steps. Pure; ZoneDrainer collects what goes in.
//
// The idea, in steps:
// 1. The job's budget says how many may go now (disruption_budget.h); without one it is one step
//    per evict period.
// 2. Surplus goes first: candidates without whom the job still has its minAvailable, and each role
//    its own minimum.
// 3. When the remaining candidates belong to that minimum, taking some of them would leave pods
//    that hold resources and cannot work. Such a gang goes whole, in one step: every task of it
//    that is on a node, also those on ordinary nodes and in open zones, since they are of no use
//    alone. Without a budget that is the one step of the period.
// 4. If the budget does not cover the whole gang, or one member must not be evicted, nobody of it
//    goes. The plan says what held it.
// 5. A budget that covers everybody, when everybody is on a closing node: no reason to go in two
//    steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"
#include "model/disruption_budget.h"
#include "model/ids.h"

namespace krafla {

// A task of the job that has a node and could be evicted by its state.
struct DrainMember {
  TaskId task;
  uint16_t role = 0;
  bool closing = false;  // its node's zone is closed and its turn has come
  bool running = true;   // counts against a budget
  bool may_go = true;    // offers itself, and no guard holds it
};

struct DrainJob {
  Allowance allowance;
  int32_t ready = 0;
  int32_t min_available = 0;
  // By role: how many of its ready tasks are above the role's minimum. Empty: roles have none.
  std::vector<int32_t> role_surplus;
  // Some task has a node and cannot be evicted yet: it is being bound.
  bool in_flight = false;
  // In the order in which they go; without gangs being looked at only closing ones are needed.
  std::vector<DrainMember> members;
};

enum class DrainHold : uint8_t {
  kNothing,   // everybody on a closing node who may go does
  kBudget,    // the annotation allows no more
  kPeriod,    // no annotation: one step per evict period
  kMember,    // the gang would go whole, but `held_by` must stay
  kInFlight,  // the gang would go whole, but a member is being bound
  kLater,     // surplus goes now, the gang in a later step
  kGuard,     // whoever else may go does, but a guard does not let go of `held_by`
  kClock,     // the scheduler's clock is not trusted: nothing is drained
};

struct DrainPlan {
  std::vector<TaskId> go;  // in the order of the members
  bool whole = false;      // the gang goes whole
  DrainHold hold = DrainHold::kNothing;
  TaskId held_by;  // kMember, kGuard: the first of them
};

// `keep_gangs` false: Volcano's way (D25), the first that the budget allows.
DrainPlan PlanDrain(const DrainJob& job, bool keep_gangs);

// Why somebody stays, as the end of a sentence about the job; empty for kNothing. `budget` as
// DescribeBudget gives it, `held_by` the pod's name.
std::string DescribeHold(const DrainJob& job, const DrainPlan& plan, std::string_view budget,
                         std::string_view held_by);

// Whether at least `period_ns` have passed since the last eviction (null: there was none). A clock
// from the far future, after the wall clock was set back, does not stop evictions.
bool IsPeriodOver(const Timestamp* last, Timestamp now, int64_t period_ns);
// The next instant after `now` at which IsPeriodOver changes; none if it never does.
std::optional<Timestamp> NextPeriodChange(const Timestamp* last, Timestamp now, int64_t period_ns);

}  // namespace krafla
