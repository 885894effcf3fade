// What the scheduling thread tells of itself, in the order of happening: the mirror's changes, each
// cycle with what it decided, the memory when somebody else than a cycle has changed it, a new
// configuration. Everything is handed over at once; nothing here waits.
//
// Owned by the scheduling thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "record/change_feed.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

class SchedulerTap {
 public:
  explicit SchedulerTap(ChangeFeed& feed) : feed_(feed) {}

  void OnChange(RecordedChange change) { feed_.Put(std::move(change)); }
  void OnConfig(std::string text);
  // Of the configuration in force; empty: none is skipped any more.
  void OnSkippedActions(const std::vector<std::string>& actions);
  void BeforeCycle(const CycleMemory& memory);
  // While the session is open.
  void OnCycle(const Session& session, const std::vector<JobPhaseChange>& phases, uint64_t number,
               double wall_ms);

 private:
  ChangeFeed& feed_;
  std::string config_;
  std::shared_ptr<const CycleMemory> told_ = std::make_shared<const CycleMemory>();
};

}  // namespace krafla
