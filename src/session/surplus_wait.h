// Pods beyond a job's minMember wait while the jobs of a burst still get their pods. A live cycle
// follows a change within milliseconds, and controllers create pods one by one: without the wait
// the first job takes the nodes before the pods of the next job exist.
//
// A job's pods beyond its minMember wait
//   - for one schedule period from its admission, when pods were created after it was admitted;
//   - while another job that was admitted within the last schedule period has fewer pods than its
//     minMember;
// and no longer than one schedule period, however many such jobs follow each other. What is decided
// depends on instants and on the cluster, not on how many cycles ran in between.
//
// Session owns it; SchedulingLoop switches it on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/timestamp.h"
#include "model/cluster.h"
#include "session/cycle_memory.h"

namespace krafla {

class SurplusWait {
 public:
  SurplusWait(const Cluster& cluster, CycleMemory& memory) : cluster_(cluster), memory_(memory) {}

  // A cycle begins.
  void Begin(Timestamp now);
  // The job was admitted (phase Inqueue) in this cycle.
  void NoteAdmitted(JobId job) {
    if (memory_.surplus_wait_ns > 0) admitted_.push_back(job);
  }
  // False: no job waits in this cycle.
  bool MayHold() const { return !admitted_.empty() || !memory_.admissions.empty(); }
  // Whether pods of the job wait in this cycle. The job has its minMember.
  bool Holds(JobId job);
  // The cycle is over: what the next one has to know goes into the memory.
  void End();

  // The first instant at which a wait of this cycle ends although nothing changes.
  std::optional<Timestamp> NextTimer() const;
  // Why the job's pods wait: "pods beyond minMember wait up to 1s: PodGroup b/c was just admitted
  // and has 0 of its 2 pods". Empty: they do not.
  std::string Why(JobId job) const;

 private:
  struct Young {  // admitted within the last schedule period
    Timestamp ends;
    size_t pods = 0;  // when it was admitted
  };
  struct Cause {
    Timestamp ends;
    JobId lacking;    // the job that lacks pods; invalid: its own admission
    Timestamp since;  // there is a cause without interruption
  };
  void Resolve();
  void AddYoung(JobId job, Timestamp at, size_t pods);
  std::optional<Cause> FindCause(JobId job) const;
  bool IsHeld(const Cause& cause) const {
    return now_.ns < cause.since.ns + memory_.surplus_wait_ns;
  }

  const Cluster& cluster_;
  CycleMemory& memory_;
  Timestamp now_;
  std::vector<JobId> admitted_;  // in this cycle
  bool resolved_ = false;
  std::unordered_map<JobId, Young> young_;
  std::vector<JobId> lacking_;  // young ones without their minMember of pods, the latest first
  std::unordered_map<JobId, Cause> causes_;  // of jobs that were asked about
};

}  // namespace krafla
