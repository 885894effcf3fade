#include "record/scheduler_tap.h"

#include <utility>

#include "config/skipped_actions.h"
#include "record/memory_json.h"
#include "record/record_cycle.h"

namespace krafla {

void SchedulerTap::OnConfig(std::string text) {
  config_ = std::move(text);
  OnSkippedActions({});
}

void SchedulerTap::OnSkippedActions(const std::vector<std::string>& actions) {
  feed_.Put({.what = RecordedChange::What::kConfig,
             .object = WithSkippedActions(config_, actions),
             .cycle = {}});
}

void SchedulerTap::BeforeCycle(const CycleMemory& memory) {
  if (SameMemory(*told_, memory)) return;
  told_ = std::make_shared<const CycleMemory>(memory);
  feed_.Put({.what = RecordedChange::What::kMemory, .memory = told_, .cycle = {}});
}

void SchedulerTap::OnCycle(const Session& session, const std::vector<JobPhaseChange>& phases,
                           uint64_t number, double wall_ms) {
  RecordedChange change{
      .what = RecordedChange::What::kCycle,
      .cycle = std::make_unique<RecordedCycle>(RecordCycle(session, phases, number))};
  change.cycle->wall_ms = wall_ms;
  if (!SameMemory(*told_, session.memory)) {
    told_ = std::make_shared<const CycleMemory>(session.memory);
    change.memory = told_;
  }
  feed_.Put(std::move(change));
}

}  // namespace krafla
