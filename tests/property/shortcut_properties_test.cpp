// Searches for victims leave out what is known to be in vain. With log lines for every node
// switched on they try everything, so the same cycle with and without them must decide the same.
#include <gtest/gtest.h>

#include "property/for_all.h"
#include "support/cycle.h"

namespace krafla::testing {
namespace {

std::string Decisions(const RandomCluster& random, int verbosity, bool for_good = false,
                      size_t trace = Trace::kLimit) {
  Cycle cycle({.cluster = random.Text(),
               .config = random.config,
               .now = random.now,
               .profile = random.profile,
               .lenient = true,
               .verbosity = verbosity,
               .for_good = for_good});
  cycle.session->trace.SetLimit(trace);
  cycle.Run();
  cycle.session->VerifyInvariants();
  return Summary(cycle);
}

std::string WhatDiffers(const RandomCluster& random) {
  const std::string left_out = Decisions(random, 0);
  const std::string tried = Decisions(random, 3);
  return left_out == tried ? "" : "without the tries:\n" + left_out + "\nwith them:\n" + tried;
}

TEST(Shortcuts, ATryLeftOutWouldHaveBeenInVain) {
  ForAll(500, {.contest = true}, WhatDiffers);
}

TEST(Shortcuts, AlsoWherePodsAreOnlyBoundAndBudgetsHold) {
  ForAll(500,
         {.features = {Feature::kPriorities, Feature::kGangs, Feature::kBound, Feature::kZones,
                       Feature::kBudgets, Feature::kPodBudgets, Feature::kCooldowns},
          .contest = true},
         WhatDiffers);
}

TEST(Shortcuts, AlsoForPodsThatLookAround) {
  ForAll(400,
         {.features = {Feature::kPriorities, Feature::kGangs, Feature::kPodAffinity,
                       Feature::kSpread, Feature::kNodeSelectors, Feature::kSystemPods},
          .contest = true},
         WhatDiffers);
}

TEST(Shortcuts, AlsoWhenNodesAreComparedInDryRuns) {
  ForAll(400, {.features = {Feature::kPriorities, Feature::kTopologyAware}, .contest = true},
         WhatDiffers);
}

// krafla run keeps old values only while a statement is open.
TEST(Shortcuts, ACycleThatNobodyRewindsDecidesTheSame) {
  ForAll(500, {.contest = true}, [](const RandomCluster& random) {
    const std::string all_kept = Decisions(random, 0);
    const std::string for_good = Decisions(random, 0, true);
    return all_kept == for_good ? "" : "kept:\n" + all_kept + "\nfor good:\n" + for_good;
  });
}

// With -o json krafla run keeps no trace, from which searches learn what need not be told again.
TEST(Shortcuts, ACycleWithoutATraceDecidesTheSame) {
  ForAll(400,
         {.features = {Feature::kPriorities, Feature::kGangs, Feature::kPodAffinity,
                       Feature::kSpread, Feature::kZones, Feature::kCooldowns},
          .contest = true},
         [](const RandomCluster& random) {
           const std::string told = Decisions(random, 0, true);
           const std::string untold = Decisions(random, 0, true, 0);
           return told == untold ? "" : "with a trace:\n" + told + "\nwithout:\n" + untold;
         });
}

}  // namespace
}  // namespace krafla::testing
