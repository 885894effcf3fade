#include "session/cycle_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace krafla {

namespace {

template <class Entries>
auto PlaceOf(Entries& by_job, std::string_view job) {
  return std::lower_bound(by_job.begin(), by_job.end(), job,
                          [](const auto& entry, std::string_view key) { return entry.job < key; });
}

template <class Entry>
const Entry* FindIn(const std::vector<Entry>& by_job, std::string_view job) {
  const auto it = PlaceOf(by_job, job);
  return it != by_job.end() && it->job == job ? &*it : nullptr;
}

template <class Entry>
Entry& EntryIn(std::vector<Entry>& by_job, std::string_view job) {
  auto it = PlaceOf(by_job, job);
  if (it == by_job.end() || it->job != job) {
    it = by_job.emplace(it);
    it->job = job;
  }
  return *it;
}

}  // namespace

const Timestamp* CycleMemory::LastEviction(std::string_view zone) const {
  for (const ZoneEviction& e : last_evictions)
    if (e.zone == zone) return &e.at;
  return nullptr;
}

void CycleMemory::SetLastEviction(std::string_view zone, Timestamp at) {
  for (ZoneEviction& e : last_evictions) {
    if (e.zone == zone) {
      e.at = at;
      return;
    }
  }
  last_evictions.push_back({std::string(zone), at});
}

const CycleMemory::JobLoss* CycleMemory::FindJobLoss(std::string_view job) const {
  return FindIn(job_losses, job);
}

CycleMemory::JobLoss& CycleMemory::JobLossOf(std::string_view job) {
  return EntryIn(job_losses, job);
}

const CycleMemory::JobEvictions* CycleMemory::FindJobEvictions(std::string_view job) const {
  return FindIn(job_evictions, job);
}

const CycleMemory::SurplusWait* CycleMemory::FindSurplusWait(std::string_view job) const {
  return FindIn(surplus_waits, job);
}

CycleMemory::JobEvictions& CycleMemory::JobEvictionsOf(std::string_view job) {
  return EntryIn(job_evictions, job);
}

void CycleMemory::ShiftBy(int64_t ns) {
  for (ZoneEviction& eviction : last_evictions) eviction.at = Shifted(eviction.at, ns);
  for (JobLoss& loss : job_losses) {
    loss.at = Shifted(loss.at, ns);
    loss.ended = Shifted(loss.ended, ns);
  }
  for (JobEvictions& evictions : job_evictions)
    for (Timestamp& time : evictions.times) time = Shifted(time, ns);
  for (Admission& admission : admissions) admission.at = Shifted(admission.at, ns);
  for (SurplusWait& wait : surplus_waits) {
    wait.since = Shifted(wait.since, ns);
    wait.until = Shifted(wait.until, ns);
  }
}

Timestamp Shifted(Timestamp at, int64_t by_ns) {
  if (!at.Present()) return at;
  int64_t ns = 0;
  if (__builtin_add_overflow(at.ns, by_ns, &ns))
    ns = by_ns > 0 ? std::numeric_limits<int64_t>::max() : Timestamp::kAbsentNs + 1;
  return Timestamp{std::max(ns, Timestamp::kAbsentNs + 1)};
}

std::string DescribeClockSkew(int64_t seconds) {
  return fmt::format("clock skew of {} s against the API server", seconds);
}

}  // namespace krafla
