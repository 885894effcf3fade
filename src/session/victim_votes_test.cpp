// Whom the tiers let go, with plugins made for the occasion.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "session/session.h"
#include "support/council.h"

namespace krafla {
namespace {

// ---- victims per tier

using Names = std::vector<uint32_t>;

constexpr uint64_t Bit(int plugin) {
  return uint64_t{1} << plugin;
}

// What is said about preemption is said about the other two as well.
void AnswerAllAlike(PluginHooks& hooks) {
  hooks.reclaimable = hooks.preemptable;
  hooks.unified_evictable = [ask = hooks.preemptable](const EvictionContext&,
                                                      std::span<const TaskId> candidates,
                                                      std::vector<TaskId>& victims) {
    return ask(TaskId{}, candidates, victims);
  };
}

// Answers every question about victims with those candidates that are named.
Fill Chooses(Names names, bool guard = false) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = guard;
    hooks.preemptable = [=](TaskId, std::span<const TaskId> candidates,
                            std::vector<TaskId>& victims) {
      for (TaskId candidate : candidates)
        if (std::find(names.begin(), names.end(), candidate.value) != names.end())
          victims.push_back(candidate);
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

// Has an answer on its lips and abstains.
Fill Abstains(bool guard = false) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = guard;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      victims.push_back(candidates.front());
      return Vote::kAbstain;
    };
    AnswerAllAlike(hooks);
  };
}

// The three questions follow one rule: they must agree.
Victims Vote3(Council& council) {
  const std::vector<TaskId> all{kTask0, kTask1, kTask2, kTask3};
  const Victims victims = council->Preemptable(TaskId{}, all);
  const Victims reclaimed = council->Reclaimable(TaskId{}, all);
  const Victims unified = council->UnifiedEvictable({kJobA, false}, all);
  EXPECT_EQ(victims.tasks, reclaimed.tasks);
  EXPECT_EQ(victims.tasks, unified.tasks);
  EXPECT_EQ(victims.permitted_by, reclaimed.permitted_by);
  EXPECT_EQ(victims.permitted_by, unified.permitted_by);
  return victims;
}

Names NamesOf(const Victims& victims) {
  Names names;
  for (TaskId task : victims.tasks) names.push_back(task.value);
  return names;
}

Compatibility Without(bool Compatibility::* member) {
  Compatibility compat;
  compat.*member = false;
  return compat;
}

TEST(VictimsPerTier, NobodyAskedIsNobody) {
  Council council({{kSilent}, {}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{});
  EXPECT_EQ(Vote3(council).permitted_by, 0u);
}

TEST(VictimsPerTier, AbstainingIsNoAnswer) {
  Council council({{Abstains(), Chooses({1, 2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  EXPECT_EQ(Vote3(council).permitted_by, Bit(1));
  Council whole_tier({{Abstains(), Abstains()}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(whole_tier)), Names{3});
}

TEST(VictimsPerTier, AnswersOfATierAreIntersected) {
  Council council({{Chooses({0, 1, 2}), Chooses({2, 1, 3}), Chooses({1, 2, 3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  EXPECT_EQ(Vote3(council).permitted_by, Bit(0) | Bit(1) | Bit(2));
}

TEST(VictimsPerTier, TheFirstTierWithAResultDecides) {
  Council council({{}, {Chooses({3})}, {Chooses({0, 1})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(0));
}

TEST(VictimsPerTier, AnEmptyAnswerEmptiesItsTier) {
  for (const bool D16 : {true, false}) {
    Compatibility compat;
    compat.empty_intersection = D16;
    Council council({{Chooses({1}), Chooses({}), Chooses({1, 2})}, {Chooses({3})}}, compat);
    EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
    EXPECT_EQ(Vote3(council).permitted_by, Bit(3));
  }
}

TEST(VictimsPerTier, AnEmptyIntersectionEndsTheTier) {
  Council council({{Chooses({0}), Chooses({1}), Chooses({2})}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(3));
}

TEST(VictimsPerTier, VolcanoForgetsAnEmptyIntersection) {
  const Compatibility volcano = Without(&Compatibility::empty_intersection);
  Council council({{Chooses({0}), Chooses({1}), Chooses({2})}, {Chooses({3})}}, volcano);
  EXPECT_EQ(NamesOf(Vote3(council)), Names{2});
  Council at_the_end({{Chooses({0}), Chooses({1})}, {Chooses({3})}}, volcano);
  EXPECT_EQ(NamesOf(Vote3(at_the_end)), Names{3});
}

TEST(Guards, TheirVetoOutlivesTheirTier) {
  // The guard lets 0 and 1 go, its neighbour 2 and 3: the tier ends empty, and the next one would
  // take 2 as well.
  const std::vector<std::vector<Fill>> tiers = {{Chooses({0, 1}, true), Chooses({2, 3})},
                                                {Chooses({0, 2})}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{0});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), (Names{0, 2}));
}

TEST(Guards, AreAskedOnce) {
  // Its vote in its own tier counts all the same.
  int asked = 0;
  const Fill guard = [&](PluginHooks& hooks) {
    hooks.is_guard = true;
    hooks.preemptable = [&](TaskId, std::span<const TaskId> candidates,
                            std::vector<TaskId>& victims) {
      ++asked;
      victims.assign(candidates.begin() + 1, candidates.end());
      if (candidates.size() < 4) victims.assign(candidates.begin(), candidates.end());
      return Vote::kPermit;
    };
  };
  Council council({{Chooses({0, 1, 2}), guard}});
  const std::vector<TaskId> all{kTask0, kTask1, kTask2, kTask3};
  const Victims victims = council->Preemptable(TaskId{}, all);
  EXPECT_EQ(NamesOf(victims), (Names{1, 2}));
  EXPECT_EQ(victims.permitted_by, Bit(0) | Bit(1));
#ifndef KRAFLA_VERIFY  // which asks again, to see that it says the same
  EXPECT_EQ(asked, 1);
#endif
}

TEST(Guards, TheirVetoHoldsInTiersBeforeTheirOwn) {
  const std::vector<std::vector<Fill>> tiers = {{Chooses({2, 3})}, {Chooses({3}, true)}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{3});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), (Names{2, 3}));
}

TEST(Guards, ATierThatTheyEmptyDoesNotDecide) {
  Council council({{Chooses({2})}, {Chooses({3}, true)}, {Chooses({1, 3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{3});
  EXPECT_EQ(Vote3(council).permitted_by, Bit(1));
}

TEST(Guards, AGuardThatLetsNobodyGoLeavesNobody) {
  Council council({{Chooses({0, 1})}, {Chooses({}, true)}, {Chooses({2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{});
}

TEST(Guards, AnAbstainingGuardHoldsNobody) {
  Council council({{Abstains(true), Chooses({0, 2})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 2}));
}

TEST(Guards, SeveralGuardsAllHold) {
  Council council({{Chooses({0, 1, 2}, true)}, {Chooses({1, 2, 3}, true)}, {Chooses({0, 3})}});
  // The first tier decides: what it lets go, without what the second guard holds.
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
}

// Lets so many go, the first of those it is asked about: a budget.
Fill AllowsFirst(size_t count) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = hooks.guard_counts = true;
    hooks.preemptable = [=](TaskId, std::span<const TaskId> candidates,
                            std::vector<TaskId>& victims) {
      const auto allowed = candidates.subspan(0, std::min(count, candidates.size()));
      victims.assign(allowed.begin(), allowed.end());
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

TEST(Guards, ABudgetIsNotUsedUpByPodsThatStayAnyway) {
  const std::vector<std::vector<Fill>> tiers = {{AllowsFirst(1), Chooses({2, 3})}, {Chooses({0})}};
  Council krafla(tiers);
  EXPECT_EQ(NamesOf(Vote3(krafla)), Names{2});
  Council volcano(tiers, Without(&Compatibility::guards));
  EXPECT_EQ(NamesOf(Vote3(volcano)), Names{0});  // its 0 and their 2 and 3 have nothing in common
}

// The same budget of a plugin that is no guard.
Fill CountsFirst(size_t count) {
  return [fill = AllowsFirst(count)](PluginHooks& hooks) {
    fill(hooks);
    hooks.is_guard = hooks.guard_counts = false;
    hooks.counts_victims = true;
  };
}

// Lets one go of {0, 1} and one of {2, 3}: a budget per job.
Fill CountsOnePerJob() {
  return [](PluginHooks& hooks) {
    hooks.counts_victims = true;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      for (const uint32_t job : {0U, 1U})
        for (TaskId candidate : candidates)
          if (candidate.value / 2 == job) {
            victims.push_back(candidate);
            break;
          }
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

// A guard with one disruption for {0, 2} and none for {1}; 3 is free.
Fill AllowsOneOf02AndNot1() {
  return [](PluginHooks& hooks) {
    hooks.is_guard = hooks.guard_counts = true;
    hooks.preemptable = [](TaskId, std::span<const TaskId> candidates,
                           std::vector<TaskId>& victims) {
      bool used = false;
      for (TaskId candidate : candidates) {
        if (candidate == kTask1) continue;
        if (candidate != kTask3 && std::exchange(used, true)) continue;
        victims.push_back(candidate);
      }
      return Vote::kPermit;
    };
    AnswerAllAlike(hooks);
  };
}

TEST(CountingPlugins, ABudgetIsNotUsedUpByPodsThatTheTierSpares) {
  for (const auto& tier : {std::vector<Fill>{CountsFirst(1), Chooses({2, 3})},
                           std::vector<Fill>{Chooses({2, 3}), CountsFirst(1)}}) {
    Council council({tier, {Chooses({0})}});
    EXPECT_EQ(NamesOf(Vote3(council)), Names{2});
    EXPECT_EQ(Vote3(council).permitted_by, Bit(0) | Bit(1));
  }
}

TEST(CountingPlugins, AnEmptyAnswerEmptiesTheTier) {
  Council council({{CountsFirst(0), Chooses({2, 3})}, {Chooses({1})}});
  EXPECT_EQ(NamesOf(Vote3(council)), Names{1});
  Council spared({{CountsFirst(2), Chooses({})}, {Chooses({1})}});
  EXPECT_EQ(NamesOf(Vote3(spared)), Names{1});
}

TEST(CountingPlugins, AloneInATierTheyDecideIt) {
  Council council({{CountsFirst(2)}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 1}));
}

// One by one: 0 goes and uses up the guard's budget, 1 is held by it, 2 too, 3 is free; the job of
// 2 and 3 has given nobody yet.
TEST(CountingPlugins, TwoBudgetsDoNotUseUpEachOther) {
  for (const auto& tier : {std::vector<Fill>{CountsOnePerJob(), AllowsOneOf02AndNot1()},
                           std::vector<Fill>{AllowsOneOf02AndNot1(), CountsOnePerJob()}}) {
    Council council({tier});
    EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 3}));
  }
}

TEST(Guards, ABudgetAloneInATierDecidesThatTier) {
  Council council({{AllowsFirst(2)}, {Chooses({3})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{0, 1}));
}

TEST(Guards, ABudgetHoldsInEveryTier) {
  Council council({{Chooses({1, 2, 3})}, {AllowsFirst(2), Chooses({0})}});
  EXPECT_EQ(NamesOf(Vote3(council)), (Names{1, 2}));
  Council exhausted({{Chooses({1, 2, 3})}, {AllowsFirst(0)}, {Chooses({0})}});
  EXPECT_EQ(NamesOf(Vote3(exhausted)), Names{});
}

// ---- nominate, then filter

Fill Nominates(Names names) {
  return [=](PluginHooks& hooks) {
    hooks.victim_tasks = [=](std::vector<TaskId>& nominated) {
      for (uint32_t name : names) nominated.push_back(TaskId(name));
    };
  };
}

Fill Spares(Names names) {
  return [=](PluginHooks& hooks) {
    hooks.is_guard = true;
    hooks.spare_victims = [=](std::vector<TaskId>& nominated) {
      std::erase_if(nominated, [&](TaskId task) {
        return std::find(names.begin(), names.end(), task.value) != names.end();
      });
    };
  };
}

TEST(NominateThenFilter, GuardsOfEveryTierTakeOffTheList) {
  Council council({{Spares({0})}, {Nominates({0, 1, 2})}, {Spares({2})}});
  EXPECT_EQ(NamesOf(council->VictimTasks()), Names{1});
}

TEST(NominateThenFilter, NobodyNominatedNobodyEvicted) {
  Council council({{Spares({0})}, {Spares({1})}});
  EXPECT_EQ(NamesOf(council->VictimTasks()), Names{});
  Council nobody({{Nominates({})}, {kSilent}});
  EXPECT_EQ(NamesOf(nobody->VictimTasks()), Names{});
}

TEST(NominateThenFilter, VolcanoTakesTheUnionOfTheFirstTierThatNamesAny) {
  const Compatibility volcano = Compatibility::Volcano();
  Council council({{Nominates({})}, {Nominates({1, 0}), Nominates({0, 3})}, {Nominates({2})}},
                  volcano);
  EXPECT_EQ(NamesOf(council->VictimTasks()), (Names{1, 0, 3}));
  EXPECT_EQ(council->VictimTasks().permitted_by, Bit(1) | Bit(2));
}

TEST(NominateThenFilter, VolcanoAsksNoGuard) {
  const std::vector<std::vector<Fill>> tiers = {{Nominates({0, 1}), Spares({0})}};
  Council volcano(tiers, Without(&Compatibility::drain_guards));
  EXPECT_EQ(NamesOf(volcano->VictimTasks()), (Names{0, 1}));
}

}  // namespace
}  // namespace krafla
