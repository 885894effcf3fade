#include "actions/level_ceilings.h"

#include <algorithm>
#include <limits>

namespace krafla {

void LevelCeilings::NoteNobodyNamed(QueueId queue) {
  if (queue_ != queue) {
    queue_ = queue;
    in_vain_ = 0;
    is_known_ = false;
  }
  ++in_vain_;
}

bool LevelCeilings::MayNameSomebody(TaskId task) {
  const Cluster& cluster = session_.cluster;
  if (cluster.jobs[cluster.tasks[task].job].queue != queue_) return true;
  if (!is_known_) {
    // Asking again looks at some hundred tasks.
    constexpr size_t kTasksAskedAgain = 256;
    if (in_vain_ * kTasksAskedAgain < cluster.tasks.size()) return true;
    Begin();
  } else {
    CatchUp();
  }
  auto ceiling = ceilings_.begin();
  for (const VotingTier& tier : Tiers()) {
    if (tier.voters.empty()) continue;
    const auto end = ceiling + static_cast<ptrdiff_t>(tier.voters.size());
    // Where one voter names nobody the tier does not.
    if (std::all_of(ceiling, end, [&](const Ceiling& c) { return IsWithin(c, task); })) return true;
    ceiling = end;
  }
  return false;
}

bool LevelCeilings::IsWithin(const Ceiling& ceiling, TaskId task) {
  const VictimLevels* voter = ceiling.voter;
  if (voter == nullptr || voter->state) return true;
  if (voter->level && voter->needed && ceiling.level < voter->needed(task)) return false;
  return !voter->exactly_needed || ceiling.exact_level >= voter->exactly_needed(task);
}

void LevelCeilings::Begin() {
  ceilings_.clear();
  for (const VotingTier& tier : Tiers())
    for (const VictimLevels* voter : tier.voters)
      ceilings_.push_back({.voter = voter,
                           .level = std::numeric_limits<int64_t>::min(),
                           .exact_level = -std::numeric_limits<double>::infinity()});
  gained_.assign(session_.cluster.tasks.size(), 0);
  synced_ = session_.task_changes().size();
  is_known_ = true;
  evictable_.CatchUp();
  for (uint32_t task = 0; task < session_.cluster.tasks.size(); ++task) LookAt(TaskId(task));
}

void LevelCeilings::CatchUp() {
  using Kind = TaskChange::Kind;
  const Cluster& cluster = session_.cluster;
  const TaskChanges& changes = session_.task_changes();
  may_have_more_.clear();
  for (const auto [task, kind] : changes.From(synced_)) {
    int8_t& gained = gained_[task.value];
    if (kind == Kind::kLost) {
      --gained;
    } else {
      gained = kind == Kind::kGained ? static_cast<int8_t>(gained + 1) : kOther;
      if (gained > 0) may_have_more_.push_back(task);
    }
  }
  synced_ = changes.size();
  if (may_have_more_.empty()) return;
  evictable_.CatchUp();
  for (const TaskId task : may_have_more_) {
    if (gained_[task.value] <= 0) continue;  // it was lost again, or has been looked at
    for (const TaskId other : cluster.jobs[cluster.tasks[task].job].tasks) {
      gained_[other.value] = 0;
      LookAt(other);
    }
  }
}

void LevelCeilings::LookAt(TaskId task) {
  if (!evictable_.Counts({Asking::kPreempt, queue_}, task)) return;
  for (Ceiling& ceiling : ceilings_) {
    const VictimLevels* voter = ceiling.voter;
    if (voter == nullptr) continue;
    if (voter->level) ceiling.level = std::max(ceiling.level, voter->level(task));
    if (voter->exact_level)
      ceiling.exact_level = std::max(ceiling.exact_level, voter->exact_level(task));
  }
}

}  // namespace krafla
