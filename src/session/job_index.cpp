#include "session/job_index.h"

#include <algorithm>

#include "base/check.h"
#include "session/session.h"

namespace krafla {

JobIndex::Place JobIndex::PlaceOf(JobId id) const {
  const Job& job = session_.cluster.jobs[id];
  if (job.IsPending() || job.Count(TaskStatus::kPending) > 0 || job.Waiting() > 0)
    return {Kind::kWaiting, job.queue};
  if (session_.JobInvalid(id)) return {Kind::kQuietInvalid, job.queue};
  return {session_.JobStarving(id) ? Kind::kWaiting : Kind::kQuiet, job.queue};
}

std::vector<JobId>& JobIndex::ListOf(const Place& place) {
  if (place.kind == Kind::kWaiting) return waiting_;
  return place.kind == Kind::kQuiet ? quiet_[place.queue] : quiet_invalid_[place.queue];
}

void JobIndex::Make() {
  const Cluster& cluster = session_.cluster;
  made_ = true;
  places_.Reset(cluster.jobs.size());
  waiting_.clear();
  quiet_.Reset(cluster.queues.size());
  quiet_invalid_.Reset(cluster.queues.size());
  for (const JobId job : cluster.jobs_by_name) {
    places_[job] = PlaceOf(job);
    ListOf(places_[job]).push_back(job);
  }
}

void JobIndex::Insert(JobId job, const Place& place) {
  std::vector<JobId>& list = ListOf(place);
  list.insert(
      std::lower_bound(list.begin(), list.end(), job,
                       [&](JobId a, JobId b) { return session_.cluster.JobNameLess(a, b); }),
      job);
}

// By number: the row may have another job in it by now, and another name.
void JobIndex::Forget(const Place& place, JobId job) {
  std::vector<JobId>& list = ListOf(place);
  const auto at = std::find(list.begin(), list.end(), job);
  KRAFLA_CHECK(at != list.end(), "a job is where its place says");
  list.erase(at);
}

void JobIndex::Renumber(const Place& place, JobId before, JobId after) {
  std::vector<JobId>& list = ListOf(place);
  const auto at = std::find(list.begin(), list.end(), before);
  KRAFLA_CHECK(at != list.end(), "a job is where its place says");
  *at = after;
}

void JobIndex::Follow(const ClusterChanges& changes) {
  // Each step looks through a list; many of them cost more than making the lists.
  if (!made_ || changes.job_steps.size() + changes.jobs.size() > 64 + places_.size() / 16) {
    Make();
    return;
  }
  for (const ClusterChanges::JobStep& step : changes.job_steps) {
    if (step.kind == ClusterChanges::JobStep::Kind::kAdded) {
      places_.Add({});
      continue;
    }
    const JobId last(static_cast<uint32_t>(places_.size() - 1));
    if (places_[step.job].kind != Kind::kUnknown) Forget(places_[step.job], step.job);
    if (step.job != last) {
      if (places_[last].kind != Kind::kUnknown) Renumber(places_[last], last, step.job);
      places_[step.job] = places_[last];
    }
    places_.raw().pop_back();
  }
  for (const JobId job : changes.jobs) LookAgain(job);
}

void JobIndex::LookAgain(JobId job) {
  const Place now = PlaceOf(job);
  Place& place = places_[job];
  if (now == place) return;
  if (place.kind != Kind::kUnknown) Forget(place, job);
  place = now;
  Insert(job, place);
}

const std::vector<JobId>& JobIndex::Visits() {
  visits_ = waiting_;
  for (const auto* lists : {&quiet_, &quiet_invalid_}) {
    for (const std::vector<JobId>& list : *lists) {
      if (list.empty()) continue;
      visits_.insert(
          std::lower_bound(visits_.begin(), visits_.end(), list.front(),
                           [&](JobId a, JobId b) { return session_.cluster.JobNameLess(a, b); }),
          list.front());
    }
  }
  return visits_;
}

void JobIndex::Verify() const {
  JobIndex fresh(session_);
  fresh.Make();
  KRAFLA_CHECK(places_.raw() == fresh.places_.raw() && waiting_ == fresh.waiting_ &&
                   quiet_.raw() == fresh.quiet_.raw() &&
                   quiet_invalid_.raw() == fresh.quiet_invalid_.raw(),
               "the index of jobs has followed every change");
}

}  // namespace krafla
