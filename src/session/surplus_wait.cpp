#include "session/surplus_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/go_duration.h"
#include "session/job_by_name.h"
#include "session/job_checks.h"

namespace krafla {

namespace {

// Jobs of a burst share what is left at one instant: the first of them whose pods wait says when,
// one schedule period after its admission. In the memory that is the wait of the job without a
// name. It stays for another period, because jobs that were admitted before that instant belong to
// the burst.
constexpr JobId kBurst{};
constexpr std::string_view kBurstName = "";

bool LacksPods(const Job& job) {
  return job.Valid() < job.min_available || !RolesAreValid(job);
}

// Whether a job that was admitted at `at` waits for the end of a burst: it was admitted within a
// schedule period before the burst began, or since.
bool TakesPart(Timestamp at, Timestamp burst_ends, Timestamp now, int64_t period_ns) {
  return at <= now && now < burst_ends && burst_ends.ns < at.ns + 2 * period_ns;
}

}  // namespace

void SurplusWait::Begin(Timestamp now) {
  now_ = now;
  admitted_.clear();
  causes_.clear();
  young_.clear();
  lacking_.clear();
  resolved_ = false;
}

void SurplusWait::AddYoung(JobId id, Timestamp at, size_t pods) {
  // A clock that was set back ends a wait; it never makes it longer.
  if (now_ < at) return;
  const Timestamp ends{at.ns + memory_.surplus_wait_ns};
  const bool is_young = now_ < ends;
  const auto burst = causes_.find(kBurst);
  if (!is_young &&
      (burst == causes_.end() || !TakesPart(at, burst->second.ends, now_, memory_.surplus_wait_ns)))
    return;
  const bool is_new = !young_.contains(id);
  young_[id] = {.ends = ends, .pods = pods};
  const Job& job = cluster_.jobs[id];
  if (is_young && is_new && !job.IsPending() && LacksPods(job)) lacking_.push_back(id);
}

void SurplusWait::Resolve() {
  resolved_ = true;
  std::optional<Timestamp> ends;
  if (const CycleMemory::SurplusWait* burst = memory_.FindSurplusWait(kBurstName);
      burst != nullptr && burst->since <= now_) {
    ends = burst->until;
    causes_[kBurst] = {.ends = burst->until, .lacking = {}, .since = burst->since};
  }
  for (const CycleMemory::Admission& admission : memory_.admissions)
    if (const JobId job = FindJob(cluster_, admission.job); job.valid())
      AddYoung(job, admission.at, static_cast<size_t>(admission.pods));
  for (const JobId job : admitted_) AddYoung(job, now_, cluster_.jobs[job].tasks.size());
  std::ranges::stable_sort(lacking_, std::ranges::greater{},
                           [&](JobId job) { return young_.at(job).ends.ns; });
  if (ends && now_ < *ends) return;

  // Another burst begins with a job that was admitted after the last one had ended.
  std::optional<Timestamp> next;
  for (const auto& [id, young] : young_) {
    const Job& job = cluster_.jobs[id];
    const bool waits = job.tasks.size() > young.pods && job.Count(TaskStatus::kPending) > 0 &&
                       job.Valid() > job.min_available;
    const bool is_later = !ends || young.ends.ns - memory_.surplus_wait_ns >= ends->ns;
    if (waits && is_later && (!next || young.ends < *next)) next = young.ends;
  }
  if (next)
    causes_[kBurst] = {
        .ends = *next, .lacking = {}, .since = Timestamp{next->ns - memory_.surplus_wait_ns}};
}

std::optional<SurplusWait::Cause> SurplusWait::FindCause(JobId id) const {
  std::optional<Cause> cause;
  const auto own = young_.find(id);
  const auto burst = causes_.find(kBurst);
  if (own != young_.end() && burst != causes_.end() && now_ < burst->second.ends &&
      cluster_.jobs[id].tasks.size() > own->second.pods)
    cause = Cause{.ends = burst->second.ends, .lacking = {}, .since = now_};
  const size_t other = !lacking_.empty() && lacking_[0] == id ? 1 : 0;
  if (other < lacking_.size()) {
    const Timestamp ends = young_.at(lacking_[other]).ends;
    if (!cause || cause->ends < ends)
      cause = Cause{.ends = ends, .lacking = lacking_[other], .since = now_};
  }
  return cause;
}

bool SurplusWait::Holds(JobId id) {
  if (const auto known = causes_.find(id); known != causes_.end()) return IsHeld(known->second);
  if (!resolved_) Resolve();
  if (young_.empty()) return false;
  std::optional<Cause> cause = FindCause(id);
  if (!cause) return false;
  if (!memory_.surplus_waits.empty()) {
    const CycleMemory::SurplusWait* before = memory_.FindSurplusWait(cluster_.JobKey(id));
    if (before != nullptr && before->since <= now_ && now_ < before->until)
      cause->since = before->since;
  }
  return IsHeld(causes_.emplace(id, *cause).first->second);
}

void SurplusWait::End() {
  if (memory_.surplus_wait_ns == 0) {
    memory_.admissions.clear();
    memory_.surplus_waits.clear();
    return;
  }
  std::optional<CycleMemory::SurplusWait> burst;
  if (const auto found = causes_.find(kBurst); found != causes_.end()) {
    burst = {std::string(kBurstName), found->second.since, found->second.ends};
  } else if (const auto* before = memory_.FindSurplusWait(kBurstName); before != nullptr) {
    burst = *before;
  }
  if (burst && (now_ < burst->since || burst->until.ns + memory_.surplus_wait_ns <= now_.ns))
    burst.reset();
  std::erase_if(memory_.admissions, [&](const CycleMemory::Admission& admission) {
    const bool is_young =
        admission.at <= now_ && now_.ns < admission.at.ns + memory_.surplus_wait_ns;
    return !is_young &&
           !(burst && TakesPart(admission.at, burst->until, now_, memory_.surplus_wait_ns));
  });
  for (const JobId job : admitted_)
    memory_.admissions.push_back({.job = cluster_.JobKey(job),
                                  .at = now_,
                                  .pods = static_cast<int64_t>(cluster_.jobs[job].tasks.size())});
  memory_.surplus_waits.clear();
  if (burst) memory_.surplus_waits.push_back(*burst);
  for (const auto& [job, cause] : causes_)
    if (job != kBurst)
      memory_.surplus_waits.push_back(
          {.job = cluster_.JobKey(job), .since = cause.since, .until = cause.ends});
  std::ranges::sort(memory_.surplus_waits, {}, &CycleMemory::SurplusWait::job);
}

std::optional<Timestamp> SurplusWait::NextTimer() const {
  std::optional<Timestamp> next;
  for (const auto& [job, cause] : causes_) {
    if (job == kBurst || !IsHeld(cause)) continue;
    const Timestamp until{std::min(cause.ends.ns, cause.since.ns + memory_.surplus_wait_ns)};
    if (!next || until < *next) next = until;
  }
  return next;
}

std::string SurplusWait::Why(JobId id) const {
  const auto found = causes_.find(id);
  if (found == causes_.end() || !IsHeld(found->second)) return {};
  const std::string begin =
      fmt::format("pods beyond minMember wait up to {}", FormatGoDuration(memory_.surplus_wait_ns));
  const JobId other = found->second.lacking;
  if (!other.valid())
    return begin + " after the admission of their PodGroup: other jobs of a burst get theirs first";
  const Job& job = cluster_.jobs[other];
  if (job.Valid() < job.min_available)
    return fmt::format("{}: PodGroup {} was just admitted and has {} of its {} pods", begin,
                       cluster_.JobKey(other), job.Valid(), job.min_available);
  return fmt::format("{}: PodGroup {} was just admitted and lacks pods of a task in minTaskMember",
                     begin, cluster_.JobKey(other));
}

}  // namespace krafla
