// Jobs and queues in the order in which they have their turns, as a session's plugins have it.
#pragma once

#include "base/fetch.h"
#include "base/go_heap.h"
#include "session/session.h"

namespace krafla {

struct JobOrder {
  Session* session;
  bool operator()(JobId l, JobId r) const { return session->JobLess(l, r); }
  KRAFLA_FETCHES void FetchAhead(JobId job) const { Fetch(&session->cluster.jobs[job]); }
};
struct QueueOrder {
  Session* session;
  bool operator()(QueueId l, QueueId r) const { return session->QueueLess(l, r); }
};
using JobHeap = GoHeap<JobId, JobOrder>;
using QueueHeap = GoHeap<QueueId, QueueOrder>;

}  // namespace krafla
