#include "sim/run_tracker.h"

#include <algorithm>

#include "sim/local_time.h"

namespace krafla {

namespace {

template <class T>
T& At(std::vector<T>& items, int32_t number) {
  if (static_cast<size_t>(number) >= items.size()) items.resize(static_cast<size_t>(number) + 1);
  return items[static_cast<size_t>(number)];
}

}  // namespace

int32_t NameNumbers::Number(std::string_view name) {
  if (const auto it = numbers_.find(name); it != numbers_.end()) return it->second;
  const int32_t number = size();
  names_.emplace_back(name);
  numbers_.emplace(names_.back(), number);
  return number;
}

int32_t NameNumbers::Find(std::string_view name) const {
  const auto it = numbers_.find(name);
  return it == numbers_.end() ? -1 : it->second;
}

void AddAmounts(Amounts& a, const Amounts& b, double sign) {
  if (a.size() < b.size()) a.resize(b.size(), 0);
  for (size_t kind = 0; kind < b.size(); ++kind) a[kind] += sign * b[kind];
}

double TrackedNode::Load() const {
  double load = 0;
  for (size_t kind = 0; kind < std::min(used.size(), allocatable.size()); ++kind)
    if (allocatable[kind] > 0) load = std::max(load, used[kind] / allocatable[kind]);
  return std::clamp(load, 0.0, 1.0);
}

Amounts RunTracker::ToAmounts(const AmountMap& amounts) {
  Amounts result;
  for (const auto& [name, amount] : amounts)
    if (name != "pods" && amount != 0) At(result, kinds.Number(name)) = amount;
  return result;
}

int32_t RunTracker::ShapeNumber(const AmountMap& amounts) {
  const auto [it, added] = shape_numbers_.emplace(amounts, static_cast<int32_t>(shapes_.size()));
  if (added) shapes_.push_back(ToAmounts(amounts));
  return it->second;
}

int32_t RunTracker::JobNumber(const SimEvent& event) {
  if (event.job.empty()) return -1;
  const int32_t number = jobs.Number(event.job);
  TrackedJob& job = At(jobs_, number);
  // Pods of the cluster at the start may belong to jobs that nobody submitted.
  if (!job.submitted.Present()) job.submitted = job.waiting_since = event.at;
  if (job.queue < 0 && !event.queue.empty()) job.queue = queues.Number(event.queue);
  return number;
}

int32_t RunTracker::QueueOf(const SimEvent& event, int32_t job) {
  if (!event.queue.empty()) return queues.Number(event.queue);
  return job < 0 ? -1 : jobs_[static_cast<size_t>(job)].queue;
}

TrackedPod& RunTracker::PodOf(const SimEvent& event) {
  const auto [it, added] = pods_.try_emplace(event.pod);
  TrackedPod& pod = it->second;
  if (added) {
    pod.created = event.at;
    pod.requests = ShapeNumber({});
  }
  if (pod.job < 0) pod.job = step_.job;
  if (pod.queue < 0) pod.queue = step_.queue;
  return pod;
}

const TrackedStep& RunTracker::Apply(const SimEvent& event) {
  step_.places.clear();
  step_.waiting_changed.clear();
  step_ = TrackedStep{.places = std::move(step_.places),
                      .waiting_changed = std::move(step_.waiting_changed)};
  step_.job = JobNumber(event);
  step_.queue = QueueOf(event, step_.job);
  if (!event.zone.empty()) step_.zone = zones.Number(event.zone);
  if (!event.node.empty()) {
    step_.node = nodes.Number(event.node);
    At(nodes_, step_.node);
  }

  switch (event.kind) {
    case SimEventKind::kNodeAdded:
      AddNode(event);
      break;
    case SimEventKind::kNodeLost:
      LoseNode(event);
      break;
    case SimEventKind::kJobSubmitted: {
      TrackedJob& job = jobs_[static_cast<size_t>(step_.job)];
      job.minimum = event.minimum;
      job.pods = static_cast<int32_t>(event.count);
      job.budget_floor = event.budget_floor;
      job.submitted = job.waiting_since = event.at;
      break;
    }
    case SimEventKind::kJobPhase:
      if (step_.job >= 0) jobs_[static_cast<size_t>(step_.job)].phase = event.text;
      break;
    case SimEventKind::kJobWaiting:
      if (step_.job >= 0) jobs_[static_cast<size_t>(step_.job)].why = event.text;
      break;
    case SimEventKind::kJobCompleted:
      if (step_.job >= 0) {
        TrackedJob& job = jobs_[static_cast<size_t>(step_.job)];
        job.completed = true;
        job.phase = "Completed";
        job.why = {};
        job.unreplaced = {};
      }
      break;
    case SimEventKind::kPodCreated:
      Create(event);
      break;
    case SimEventKind::kPodBound:
      Bind(event);
      break;
    case SimEventKind::kPodStarted:
      PodOf(event).started = event.at;
      break;
    case SimEventKind::kPodEvicted:
      Evict(event);
      break;
    case SimEventKind::kPodSucceeded:
    case SimEventKind::kPodFailed:
    case SimEventKind::kPodGone:
      End(event);
      break;
    default:
      break;
  }

  if (step_.job >= 0) CountWaiting(step_.job, event.at);
  return step_;
}

void RunTracker::CountWaiting(int32_t number, Timestamp now) {
  TrackedJob& job = jobs_[static_cast<size_t>(number)];
  const bool waiting = job.waiting();
  if (!waiting && !job.reached_minimum && job.bound > 0) {
    job.reached_minimum = true;
    step_.reached_minimum = true;
  }
  if (waiting == job.counted_as_waiting || job.queue < 0) return;
  job.counted_as_waiting = waiting;
  if (waiting) job.waiting_since = now;
  At(waiting_, job.queue) += waiting ? 1 : -1;
  step_.waiting_changed.push_back(job.queue);
}

void RunTracker::AddNode(const SimEvent& event) {
  TrackedNode& node = nodes_[static_cast<size_t>(step_.node)];
  if (node.present) {
    AddAmounts(allocatable_, node.allocatable, -1);
  } else {
    ++nodes_present_;
  }
  node.zone = step_.zone;
  node.present = true;
  node.allocatable = ToAmounts(event.amounts);
  AddAmounts(allocatable_, node.allocatable, 1);
}

// Whoever was there holds no place any more, whenever their failure is told.
void RunTracker::LoseNode(const SimEvent& event) {
  TrackedNode& node = nodes_[static_cast<size_t>(step_.node)];
  if (!node.present) return;
  node.present = false;
  --nodes_present_;
  AddAmounts(allocatable_, node.allocatable, -1);
  std::vector<std::string_view> there;
  for (const auto& [name, pod] : pods_)
    if (pod.node == step_.node) there.push_back(name);
  std::ranges::sort(there);
  for (const std::string_view name : there) {
    TrackedPod& pod = pods_.find(std::string(name))->second;
    Leave(pod);
    if (pod.job >= 0) CountWaiting(pod.job, event.at);
  }
  node.used.assign(node.used.size(), 0);
}

void RunTracker::Create(const SimEvent& event) {
  int32_t place_evictions = 0;
  TrackedJob* job = step_.job < 0 ? nullptr : &jobs_[static_cast<size_t>(step_.job)];
  // A successor has its predecessor's name as a rule; else it takes the oldest place left empty.
  const auto before = pods_.find(event.pod);
  if (before != pods_.end()) {
    place_evictions = before->second.place_evictions;
    if (before->second.node >= 0) Leave(before->second);
    if (job != nullptr) std::erase(job->unreplaced, event.pod);
  } else if (event.count != 0 && job != nullptr && !job->unreplaced.empty()) {
    const auto gone = pods_.find(job->unreplaced.front());
    job->unreplaced.erase(job->unreplaced.begin());
    if (gone != pods_.end()) {
      place_evictions = gone->second.place_evictions;
      gone->second.replaced = true;
      if (gone->second.node < 0) pods_.erase(gone);
    }
  }
  pods_[event.pod] = {.job = step_.job,
                      .queue = step_.queue,
                      .requests = ShapeNumber(event.amounts),
                      .place_evictions = place_evictions,
                      .created = event.at};
}

void RunTracker::Bind(const SimEvent& event) {
  TrackedPod& pod = PodOf(event);
  if (pod.node >= 0 || step_.node < 0) return;
  pod.node = step_.node;
  pod.evicted = false;
  step_.pod_waited = SecondsBetween(pod.created, event.at);
  AddAmounts(nodes_[static_cast<size_t>(pod.node)].used, requests(pod.requests), 1);
  step_.places.push_back({pod.node, pod.queue, pod.requests, 1});
  if (pod.job >= 0) ++jobs_[static_cast<size_t>(pod.job)].bound;
}

void RunTracker::Evict(const SimEvent& event) {
  TrackedPod& pod = PodOf(event);
  if (pod.evicted) return;
  pod.evicted = true;
  step_.place_evictions = ++pod.place_evictions;
  StopWork(pod, event.at);
  if (pod.job < 0) return;
  TrackedJob& job = jobs_[static_cast<size_t>(pod.job)];
  if (pod.node >= 0) --job.bound;
  job.unreplaced.push_back(event.pod);
}

void RunTracker::End(const SimEvent& event) {
  const auto it = pods_.find(event.pod);
  if (it == pods_.end()) return;
  TrackedPod& pod = it->second;
  StopWork(pod, event.at);
  if (pod.node >= 0) Leave(pod);
  if (event.kind == SimEventKind::kPodSucceeded && pod.job >= 0)
    ++jobs_[static_cast<size_t>(pod.job)].succeeded;
  pod.ended = true;
  // How often a place was evicted is remembered until somebody has taken it over.
  if (pod.place_evictions == 0 || pod.replaced || event.kind == SimEventKind::kPodSucceeded)
    pods_.erase(it);
}

void RunTracker::Leave(TrackedPod& pod) {
  AddAmounts(nodes_[static_cast<size_t>(pod.node)].used, requests(pod.requests), -1);
  step_.places.push_back({pod.node, pod.queue, pod.requests, -1});
  pod.node = -1;
  if (!pod.evicted && pod.job >= 0) --jobs_[static_cast<size_t>(pod.job)].bound;
}

void RunTracker::StopWork(TrackedPod& pod, Timestamp now) {
  if (!pod.started.Present()) return;
  step_.worked_seconds = SecondsBetween(pod.started, now);
  pod.started = {};
}

double DeservedShare(const SimEvent& share, const RunTracker& tracker) {
  const auto fraction = [&](const AmountMap& amounts, const std::string& name) {
    const auto amount = amounts.find(name);
    const int32_t kind = tracker.kinds.Find(name);
    const double all = kind < 0 ? 0 : AmountOf(tracker.allocatable(), kind);
    return amount == amounts.end() || all <= 0 ? 0.0 : amount->second / all;
  };
  double most_held = 0;
  double of_that_kind = 0;
  double most_deserved = 0;
  for (const auto& [name, amount] : share.deserved) {
    const double deserved = fraction(share.deserved, name);
    most_deserved = std::max(most_deserved, deserved);
    if (const double held = fraction(share.amounts, name); held > most_held) {
      most_held = held;
      of_that_kind = deserved;
    }
  }
  return most_held > 0 ? of_that_kind : most_deserved;
}

}  // namespace krafla
