// How the tiers combine whom the plugins let go.
#include <algorithm>

#include "base/check.h"
#include "session/session.h"

namespace krafla {

namespace {

// The members of `list` that are in `other` too, in the order of `list`. The order of `other` is
// nobody's afterwards.
void Intersect(std::vector<TaskId>& list, std::vector<TaskId>& other) {
  std::sort(other.begin(), other.end());
  std::erase_if(list, [&](TaskId t) { return !std::binary_search(other.begin(), other.end(), t); });
}

// Where several count, each by its own budgets, what one allows must not be used up by those whom
// another spares: in the order of the list, everybody goes with whom all agree, given those before.
template <class Reduce>
std::vector<TaskId> AgreeOneByOne(const std::vector<TaskId>& list, Reduce&& reduce) {
  std::vector<TaskId> agreed;
  for (TaskId task : list) {
    std::vector<TaskId> asked = agreed;
    asked.push_back(task);
    reduce(asked);
    if (asked.size() > agreed.size()) agreed.push_back(task);
  }
  return agreed;
}

}  // namespace

// Guards first: what one of them spares is out in every tier, and is not even offered to the tiers,
// whose plugins would count it among those they let go. A guard that counts (a budget) is asked
// last, about those the tiers would let go: its allowance is not for pods that stay anyway.
Victims Session::VoteOnVictims(const Tiered<VictimsFn>& hooks, TaskId for_task,
                               std::span<const TaskId> candidates) {
  std::vector<TaskId>& allowed = voting_.allowed;
  std::vector<TaskId>& victims = voting_.victims;
  std::vector<TaskId>& answer = voting_.answer;
  const uint64_t guards = compat.guards ? voting_.guards : 0;
  const uint64_t counting_guards = compat.guards ? voting_.counting_guards : 0;
  const auto is_of = [](uint64_t plugins, const auto& entry) {
    return (plugins >> entry.plugin & 1) != 0;
  };
  // Gives back who of them has voted.
  const auto ask_guards = [&](uint64_t which, std::vector<TaskId>& tasks) {
    uint64_t voted = 0;
    if (which == 0) return voted;
    for (const auto& tier : hooks) {
      for (const auto& entry : tier) {
        if (!is_of(which, entry)) continue;
        answer.clear();
        if ((*entry.call)(for_task, tasks, answer) == Vote::kAbstain) continue;
        std::swap(tasks, answer);
        voted |= uint64_t{1} << entry.plugin;
      }
    }
    return voted;
  };
  uint64_t have_agreed = 0;  // guards, to all who are left
  if (guards != 0) {
    allowed.assign(candidates.begin(), candidates.end());
    have_agreed = ask_guards(guards & ~counting_guards, allowed);
    candidates = allowed;
    if (candidates.empty()) return {.stays_empty = true};
  }

  bool stays_empty = true;
  for (size_t t = 0; t < hooks.size(); ++t) {
    bool any_named = false;  // `victims` are those all have named so far
    uint64_t permitted_by = 0;
    bool ended = false;
    bool nobody_named = hooks[t].empty();  // by one plugin, out of all candidates
    const auto note = [&](const auto& entry, size_t asked, size_t named) {
      trace.Add({TraceKind::kVotes, entry.plugin, static_cast<uint16_t>(t),
                 static_cast<uint32_t>(asked), static_cast<uint32_t>(named)});
      permitted_by |= uint64_t{1} << entry.plugin;
    };
    const auto ask = [&](const auto& entry, std::span<const TaskId> asked) {
      answer.clear();
      if ((*entry.call)(for_task, asked, answer) == Vote::kAbstain) return;
      note(entry, asked.size(), answer.size());
      if (answer.empty()) {
        any_named = false;
        ended = true;
        nobody_named = !plugins_[entry.plugin].hooks.counts_victims;
        return;
      }
      if (!any_named) {
        std::swap(victims, answer);
        any_named = true;
        return;
      }
      Intersect(victims, answer);
      if (!victims.empty()) return;
      // Volcano forgets an empty intersection and lets the tier's next plugin start afresh.
      any_named = false;
      ended = compat.empty_intersection;
      if (!ended) permitted_by = 0;
    };
    // A guard that has been asked before would name all who are left.
    const auto agree = [&](const auto& entry) {
#ifdef KRAFLA_VERIFY
      answer.clear();
      KRAFLA_CHECK(
          (*entry.call)(for_task, candidates, answer) != Vote::kAbstain &&
              std::equal(answer.begin(), answer.end(), candidates.begin(), candidates.end()),
          "a guard lets go whom it has let go before");
#endif
      note(entry, candidates.size(), candidates.size());
      if (!any_named) victims.assign(candidates.begin(), candidates.end());
      any_named = true;
    };
    std::vector<const TieredEntry<VictimsFn>*> counting;
    for (const auto& entry : hooks[t]) {
      if (ended) break;
      // Its say comes below; alone in a tier it still decides that tier.
      if (is_of(counting_guards, entry) && hooks[t].size() > 1) continue;
      if (plugins_[entry.plugin].hooks.counts_victims) {
        counting.push_back(&entry);
      } else if (is_of(have_agreed, entry)) {
        agree(entry);
      } else {
        ask(entry, candidates);
      }
    }
    stays_empty &= nobody_named;
    if (ended) continue;
    // What a budget allows is not for those that the rest of the tier spares.
    std::vector<TaskId> before;
    if (!counting.empty())
      before = any_named ? victims : std::vector(candidates.begin(), candidates.end());
    for (const auto* entry : counting)
      if (!ended) ask(*entry, any_named ? std::span<const TaskId>(victims) : candidates);
    if (!any_named) continue;
    if (guards != 0) {
      const size_t allowed_by_tier = victims.size();
      (void)ask_guards(counting_guards, victims);
      if (!counting.empty() && victims.size() < allowed_by_tier)
        victims = AgreeOneByOne(before, [&](std::vector<TaskId>& tasks) {
          for (const auto* entry : counting) {
            std::vector<TaskId> left;
            if ((*entry->call)(for_task, tasks, left) != Vote::kAbstain) Intersect(tasks, left);
          }
          (void)ask_guards(counting_guards, tasks);
        });
    }
    if (!victims.empty()) return {victims, permitted_by};
  }
  return {.stays_empty = stays_empty};
}

Victims Session::Preemptable(TaskId preemptor, std::span<const TaskId> candidates) {
  return VoteOnVictims(preemptable_, preemptor, candidates);
}

Victims Session::Reclaimable(TaskId reclaimer, std::span<const TaskId> candidates) {
  return VoteOnVictims(reclaimable_, reclaimer, candidates);
}

Victims Session::UnifiedEvictable(const EvictionContext& context,
                                  std::span<const TaskId> candidates) {
  // The same rule; the question is another one.
  Tiered<VictimsFn> hooks(unified_evictable_.size());
  std::vector<VictimsFn> calls;
  size_t count = 0;
  for (const auto& tier : unified_evictable_) count += tier.size();
  calls.reserve(count);
  for (size_t t = 0; t < unified_evictable_.size(); ++t) {
    for (const auto& entry : unified_evictable_[t]) {
      calls.push_back(
          [&context, &entry](TaskId, std::span<const TaskId> all, std::vector<TaskId>& victims) {
            return (*entry.call)(context, all, victims);
          });
      hooks[t].push_back({entry.plugin, &calls.back()});
    }
  }
  return VoteOnVictims(hooks, TaskId{}, candidates);
}

Victims Session::VictimTasks() {
  Victims victims;
  std::vector<bool> seen;  // by TaskId
  for (const auto& tier : victim_tasks_) {
    for (const auto& entry : tier) {
      std::vector<TaskId> nominated;
      (*entry.call)(nominated);
      if (nominated.empty()) continue;
      seen.resize(cluster.tasks.size());
      victims.permitted_by |= uint64_t{1} << entry.plugin;
      for (TaskId task : nominated)
        if (!seen[task.value]) {
          seen[task.value] = true;
          victims.tasks.push_back(task);
        }
    }
    if (!victims.tasks.empty()) break;
  }
  if (!compat.drain_guards) return victims;
  for (const auto& tier : spare_victims_)
    for (const auto& entry : tier) (*entry.call)(victims.tasks);
  return victims;
}

}  // namespace krafla
