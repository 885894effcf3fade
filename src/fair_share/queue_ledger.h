// What the jobs of each queue have, ask for and keep reserved, in a scheduler that runs on: follows
// the jobs that change instead of adding all of them up. The same sums, bit for bit.
#pragma once

#include "fair_share/running_sum.h"
#include "model/cluster.h"
#include "model/cluster_changes.h"

namespace krafla {

// One job's part in the sums of its queue.
struct JobClaims {
  QueueId queue;  // invalid: none
  Resource allocated;
  Resource pending;  // of tasks that wait
  Resource inqueue;  // kept for it although it does not hold it yet
  bool keeps_inqueue = false;
  Resource elastic;  // what it has beyond its minimum
};
JobClaims ClaimsOf(const Cluster& cluster, JobId job);

class QueueLedger {
 public:
  struct Sums {
    int64_t jobs = 0;
    RunningSum allocated;
    RunningSum request;  // of tasks that hold resources or wait
    RunningSum inqueue;
    RunningSum elastic;
    bool exact() const {
      return allocated.exact() && request.exact() && inqueue.exact() && elastic.exact();
    }
  };

  bool made() const { return made_; }
  void Make(const Cluster& cluster);
  void Follow(const Cluster& cluster, const ClusterChanges& changes);
  const Sums& Of(QueueId queue) const { return sums_[queue]; }
  // Whether all sums are what adding up would give.
  bool exact() const;

 private:
  void Enter(const JobClaims& claims);
  void Strike(const JobClaims& claims);

  bool made_ = false;
  Table<JobId, JobClaims> claims_;
  Table<QueueId, Sums> sums_;
};

}  // namespace krafla
