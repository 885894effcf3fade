// Empties revocable zones that have closed, or are about to: finds who is still there, asks the
// guards, plans job by job (model/zone_drain.h), and keeps the clocks of the evict period. Owned by
// tdm, one per session.
//
// Order (D12): zones by name, nodes by name, a node's tasks by namespace/name; among them jobs by
// namespace/name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/revocable_access.h"
#include "model/zone_drain.h"
#include "session/drain_guard.h"
#include "session/job_disruptions.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

// A configured zone at the instant of the session.
struct DrainZone {
  std::string name;
  bool open = false;
  bool empties_early = false;  // open, but closing so soon that it is being emptied already
  Timestamp closes;            // while it is open and there is a lead; else absent
  std::vector<NodeId> nodes;   // by name

  bool IsEmptied() const { return !open || empties_early; }
};

// A job that stays on closing nodes until somebody does something about it.
struct HeldDrain {
  JobId job;
  DrainHold hold = DrainHold::kNothing;
  std::string why;  // the end of a sentence about the job
  // The same once those who are named in this step have gone: they have used up their budget.
  std::string why_after_step;
};

// The plugin that empties zones, for whoever explains why one does not get empty.
class DrainReport {
 public:
  virtual ~DrainReport() = default;
  // Of this session so far, in the order in which they were found.
  virtual std::vector<HeldDrain> HeldDrains() const = 0;
};

class ZoneDrainer {
 public:
  // `zones` by name. References must outlive the drainer.
  ZoneDrainer(Session& session, const std::vector<DrainZone>& zones, int64_t evict_period_ns,
              const AccessRules& access, JobDisruptions& disruptions, VictimNotes& notes);

  // Adds who should go now.
  void Nominate(std::vector<TaskId>& nominated);
  // Starts the clocks of zones that have lost a nominated task since. Nominate does so itself; the
  // last call of a session comes when it closes.
  void StartClocks();
  // The session ends: drops clocks that have run out.
  void ForgetClocks();
  // When Nominate names others although nothing else changes: the end of an evict period.
  std::optional<Timestamp> NextChange() const;
  std::vector<HeldDrain> HeldDrains() const;

 private:
  // A task on a node of a closing zone, with what the next passes need: not to look it up again.
  struct FoundTask {
    TaskId task;
    JobId job;
    uint16_t role = 0;
  };
  // One job's part of a step.
  struct Group {
    JobId job;
    DrainJob input;  // members: who is on a closing node, then the rest of the gang
    // By member: may go as far as the pod itself is concerned. Only with guards.
    std::vector<bool> offered;
    DrainPlan plan;
    bool settled = false;  // nobody of it goes: not to be asked about again
  };

  std::vector<const DrainZone*> ClosingZones() const;
  bool StartSharedClock();
  void NominateFrom(std::span<const DrainZone* const> zones, std::vector<TaskId>& nominated);
  std::vector<FoundTask> FindOnNodes(std::span<const DrainZone* const> zones) const;
  std::vector<FoundTask> SortByJob(const std::vector<FoundTask>& found);
  void ForgetHeld(std::span<const FoundTask> found);
  Group MakeGroup(std::span<const FoundTask> found);
  void AddRestOfGang(Group& group) const;
  // By task of the cluster.
  using TaskFlags = std::vector<bool>;
  bool In(const TaskFlags& flags, TaskId task) const { return flags[task.value]; }
  std::vector<DrainGuard*> GuardsToAsk();
  void PlanWith(const std::vector<DrainGuard*>& guards, std::vector<Group>& groups);
  bool Ask(const std::vector<DrainGuard*>& guards, std::vector<Group>& groups);
  static void SetGuardHold(Group& group);
  void Report(const Group& group);
  std::string WhyHeld(const Group& group) const;
  std::string WhyHeld(const DrainJob& input, const DrainPlan& plan, JobId job) const;
  bool Offers(TaskId task) const;
  bool IsToGo(TaskId task, const DrainZone& zone) const;
  bool HasSomebody(const DrainZone& zone) const;

  Session& session_;
  const Cluster& cluster_;
  const std::vector<DrainZone>& zones_;
  const int64_t evict_period_ns_;
  const AccessRules access_;
  JobDisruptions& disruptions_;
  VictimNotes& notes_;

  TaskFlags nominated_;           // in this session
  TaskFlags taken_;               // in this call
  TaskFlags found_;               // in this step
  std::vector<Group> held_;       // in this session, the last answer per job
  size_t evictions_seen_ = 0;     // of the session's plan
  Table<JobId, uint32_t> rank_;   // by name; filled when first needed
  Table<JobId, uint32_t> place_;  // in the sorted list; zero outside SortByJob
};

}  // namespace krafla
