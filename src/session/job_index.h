// The jobs that actions have to look at: a cluster has thousands of jobs that run, and in most
// cycles nothing is to be done for them.
//
// A job is quiet when every action would pass it by: it has been let in, none of its tasks waits,
// and it does not starve. Whether it is depends on the job alone, so it is asked again only when
// the job has changed. Quiet jobs leave one trace: a queue takes its place in the line when the
// first of its jobs comes up, by name, also when that job is quiet. So the first quiet one of each
// queue is visited too, and the first that is valid (actions that ask pass by the others).
//
// Owned by the session; made when the first action asks, and kept when the session is opened again.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"
#include "model/cluster_changes.h"

namespace krafla {

class Session;

class JobIndex {
 public:
  explicit JobIndex(Session& session) : session_(session) {}

  bool made() const { return made_; }
  void Make();
  // Between two cycles. The plugins are open already.
  void Follow(const ClusterChanges& changes);
  // The job may have changed.
  void LookAgain(JobId job);

  // By name: those that are not quiet.
  const std::vector<JobId>& waiting() const { return waiting_; }
  // By name: whom actions have to visit.
  const std::vector<JobId>& Visits();
  // Aborts when it is not what it would be if it were made now.
  void Verify() const;

 private:
  enum class Kind : uint8_t { kUnknown, kWaiting, kQuiet, kQuietInvalid };
  struct Place {
    Kind kind = Kind::kUnknown;
    QueueId queue;
    bool operator==(const Place&) const = default;
  };

  Place PlaceOf(JobId job) const;
  std::vector<JobId>& ListOf(const Place& place);
  void Insert(JobId job, const Place& place);
  void Forget(const Place& place, JobId job);
  void Renumber(const Place& place, JobId before, JobId after);

  Session& session_;
  bool made_ = false;
  Table<JobId, Place> places_;
  // Each list by name.
  std::vector<JobId> waiting_;
  Table<QueueId, std::vector<JobId>> quiet_;
  Table<QueueId, std::vector<JobId>> quiet_invalid_;
  std::vector<JobId> visits_;
};

}  // namespace krafla
