#include "simulation/life_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla::testing {

namespace {

constexpr std::string_view kStates[] = {"missing", "pending", "bound", "running",
                                        "evicted", "done",    "failed"};

}  // namespace

void LifeJudge::Complain(const SimEvent& event, std::string_view what) {
  if (complaint_.empty())
    complaint_ = fmt::format("{} {} {}{}: {}", FormatRfc3339(event.at), ToString(event.kind),
                             event.pod, event.pod.empty() ? event.job : "", what);
}

void LifeJudge::Move(const SimEvent& event, Pod& pod, std::initializer_list<State> from, State to) {
  if (std::find(from.begin(), from.end(), pod.state) == from.end())
    Complain(event, fmt::format("it was {}", kStates[static_cast<size_t>(pod.state)]));
  pod.state = to;
}

void LifeJudge::On(const SimEvent& event) {
  switch (event.kind) {
    case SimEventKind::kFault:
    case SimEventKind::kNodeLost:
    case SimEventKind::kNodeCordoned:
    case SimEventKind::kNodeAdded:
      last_fault_ = event.at;
      break;
    case SimEventKind::kJobSubmitted:
      if (jobs_.contains(event.job)) Complain(event, "there was one already");
      jobs_[event.job].pods = event.count;
      break;
    case SimEventKind::kJobCompleted: {
      Job& job = jobs_[event.job];
      if (job.complete) Complain(event, "it was complete already");
      if (job.succeeded != job.pods)
        Complain(event, fmt::format("{} of {} pods have succeeded", job.succeeded, job.pods));
      job.complete = true;
      last_completion_ = event.at;
      break;
    }
    default:
      if (!event.pod.empty()) OnPod(event);
  }
}

void LifeJudge::OnPod(const SimEvent& event) {
  const auto [it, is_new] = pods_.try_emplace(event.pod);
  Pod& pod = it->second;
  Job& job = jobs_[event.job];
  if (is_new) {
    pod.job = event.job;
    if (++job.created > job.pods) Complain(event, "its job has more pods than it said");
  }
  if (pod.job != event.job) Complain(event, "it belongs to another job");
  if (job.complete) Complain(event, "its job is complete");
  switch (event.kind) {
    case SimEventKind::kPodCreated:
      if ((event.count == 1) == is_new) Complain(event, "it says wrongly whom it replaces");
      Move(event, pod, {State::kMissing, State::kFailed}, State::kPending);
      break;
    case SimEventKind::kPodBound:
      Move(event, pod, {State::kPending}, State::kBound);
      break;
    case SimEventKind::kPodPipelined:
    case SimEventKind::kBindFailed:
      Move(event, pod, {State::kPending}, State::kPending);
      break;
    case SimEventKind::kEvictFailed:
      Move(event, pod, {State::kBound, State::kRunning}, pod.state);
      break;
    case SimEventKind::kPodStarted:
      Move(event, pod, {State::kBound}, State::kRunning);
      break;
    case SimEventKind::kPodSucceeded:
      Move(event, pod, {State::kRunning}, State::kDone);
      ++job.succeeded;
      break;
    case SimEventKind::kPodFailed:
      Move(event, pod, {State::kBound, State::kRunning}, State::kFailed);
      break;
    case SimEventKind::kPodEvicted:
      Move(event, pod, {State::kBound, State::kRunning}, State::kEvicted);
      break;
    case SimEventKind::kPodGone:
      Move(event, pod, {State::kEvicted}, State::kMissing);
      break;
    default:
      break;
  }
}

std::string LifeJudge::Unfinished() const {
  std::string text;
  for (const auto& [name, job] : jobs_) {
    if (job.complete || name.empty()) continue;
    text += fmt::format("{} is not complete:", name);
    for (const auto& [key, pod] : pods_)
      if (pod.job == name)
        text += fmt::format(" {} {};", key, kStates[static_cast<size_t>(pod.state)]);
    text += "\n";
  }
  return text;
}

}  // namespace krafla::testing
