#include "scheduler/culprit_search.h"

#include <algorithm>

namespace krafla {

namespace {

using Kind = LiveCluster::ObjectName::Kind;

CulpritSearch::Names Together(const CulpritSearch::Names& found,
                              std::span<const LiveCluster::ObjectName> more) {
  CulpritSearch::Names all = found;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

CulpritSearch::Names CulpritSearch::Find(const CycleFailure& failure, bool doubts_jobs) {
  constexpr Kind kSharedFirst[] = {Kind::kNode, Kind::kQueue, Kind::kPod, Kind::kPodGroup};
  constexpr Kind kJobsFirst[] = {Kind::kPodGroup, Kind::kPod, Kind::kNode, Kind::kQueue};
  too_many_jobs_ = false;
  Names jobs;
  if (!doubts_jobs) jobs = FollowJobsInHand(failure);
  if (jobs.size() == 1) return jobs;
  if (!jobs.empty()) {
    // Several jobs, or one victim or node that all of them meet.
    for (const Kind kind : {Kind::kPodGroup, Kind::kNode})
      if (Names shared = FindOfKind(kind, 1); !shared.empty()) return shared;
    return jobs;
  }
  for (const Kind kind : doubts_jobs ? kSharedFirst : kJobsFirst) {
    if (too_many_jobs_ && (kind == Kind::kPodGroup || kind == Kind::kPod)) continue;
    // Without its queue no job has a turn, and no action fails: that says nothing about the queue.
    if (failure.step == InHand::Step::kAction && kind == Kind::kQueue) continue;
    if (Names found = FindOfKind(kind, kMostCulprits); !found.empty()) return found;
  }
  return {};
}

CulpritSearch::Names CulpritSearch::FollowJobsInHand(const CycleFailure& failure) {
  Names blamed;
  std::optional<Name> next = failure.job;
  while (next && blamed.size() < kMostJobs &&
         std::find(blamed.begin(), blamed.end(), *next) == blamed.end()) {
    blamed.push_back(*next);
    const std::optional<CycleFailure> other = trial_(blamed);
    if (other) {
      next = other->job;
      continue;
    }
    // Not every one that was in hand need be at fault.
    const bool few = blamed.size() <= kMostCulprits;
    for (size_t i = 0; few && blamed.size() > 1 && i < blamed.size();) {
      Names fewer = blamed;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
      if (Passes(fewer)) {
        blamed = std::move(fewer);
      } else {
        ++i;
      }
    }
    return blamed;
  }
  too_many_jobs_ = blamed.size() == kMostJobs;
  return {};
}

CulpritSearch::Names CulpritSearch::FindOfKind(Name::Kind kind, size_t most) {
  const Names names = names_(kind);
  Names found;
  while (found.size() < most) {
    const std::optional<Name> one = FindOne(names, found);
    if (!one) return {};
    found.push_back(*one);
    const bool shared = kind == Kind::kNode || kind == Kind::kQueue;
    if (shared && found.size() == names.size()) return {};
    if (Passes(found)) return found;
  }
  return {};
}

std::optional<CulpritSearch::Name> CulpritSearch::FindOne(const Names& names, const Names& found) {
  const std::span<const Name> all(names);
  if (all.empty() || !Passes(Together(found, all))) return std::nullopt;
  size_t fails = 0;  // without so many of the first it still fails
  size_t passes = all.size();
  while (passes - fails > 1) {
    const size_t middle = fails + (passes - fails) / 2;
    (Passes(Together(found, all.first(middle))) ? passes : fails) = middle;
  }
  return all[passes - 1];
}

}  // namespace krafla
