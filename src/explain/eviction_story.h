// One eviction of a cycle in words: who took the place, which plugins allowed it, why this pod and
// not its neighbour. For events, the simulator's log and `explain`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/session.h"

namespace krafla {

// Why this pod had to go, as the end of a sentence: "job priority 1000 over 10".
std::string WhyEvicted(const Session& session, const Eviction& eviction);

// "priority, gang": who agreed in the tier that decided; empty when nobody was asked.
std::string PluginsThatAllowed(const Session& session, const Eviction& eviction);

// "evicted by preempt for team-a/urgent-0 (job priority 1000 over 10), allowed by priority, gang":
// one line, for logs and events. `index` is into session.plan.evictions.
std::string EvictionHeadline(const Session& session, size_t index);

// The headline and, sentence by sentence, what the trace knows: who else was a candidate on that
// node and why it stayed. Reads the trace once; for all evictions of a cycle use EvictionStories.
std::string EvictionStory(const Session& session, size_t index);

// The stories of all evictions of a cycle: the trace is read once, when this is made.
class EvictionStories {
 public:
  explicit EvictionStories(const Session& session);
  std::string Story(size_t index) const;

  // A pod on the victim's node and what became of it.
  struct Neighbour {
    TaskId task;
    std::string why;  // "was evicted too"; "is spared by gang: its job needs it for its minimum"
  };
  // Of the victim's node, by name; without those that are done. Those of the victim's own job and
  // those that were asked about come first.
  std::vector<Neighbour> NeighboursOf(size_t index) const;

 private:
  const Session& session_;
  std::vector<TaskId> evicted_;      // sorted
  std::vector<size_t> evict_event_;  // by eviction: its place in the trace, SIZE_MAX: not there
};

}  // namespace krafla
