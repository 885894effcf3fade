#include "sim/world.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster_state/name_index.h"

namespace krafla {

namespace {

bool HoldsPlace(PodState state) {
  return state == PodState::kBound || state == PodState::kRunning ||
         state == PodState::kTerminating;
}

bool CountsAsAllocated(PodState state) {
  return state == PodState::kBound || state == PodState::kRunning;
}

TaskStatus StatusOf(PodState state) {
  switch (state) {
    case PodState::kAbsent:
    case PodState::kPending:
      return TaskStatus::kPending;
    case PodState::kBound:
      return TaskStatus::kBound;
    case PodState::kRunning:
      return TaskStatus::kRunning;
    case PodState::kTerminating:
      return TaskStatus::kReleasing;
    case PodState::kSucceeded:
      return TaskStatus::kSucceeded;
    case PodState::kFailed:
      return TaskStatus::kFailed;
  }
  return TaskStatus::kUnknown;
}

}  // namespace

World::World(LiveCluster& live, Templates& templates, const Compatibility& compatibility)
    : live_(live),
      templates_(templates),
      access_{.named_zones = compatibility.named_zones,
              .needs_annotation = compatibility.implied_zone,
              .silence_is_no = compatibility.preemptable_default},
      job_name_label_(live.strings().Intern("volcano.sh/job-name")),
      task_index_label_(live.strings().Intern("volcano.sh/task-index")),
      default_queue_(live.strings().Intern("default")) {}

// ---- nodes

SimNodeId World::AddNode(NodeFacts facts) {
  const StrId name = facts.node.name;
  const SimNodeId id = nodes_.Add({.facts = std::move(facts), .present = true});
  node_ids_.emplace(name, id);
  TellNode(id);
  return id;
}

void World::TellNode(SimNodeId id) {
  FollowKinds();
  const SimNode& node = nodes_[id];
  if (!node.present) {
    live_.RemoveNode(node.facts.node.name);
    return;
  }
  NodeFacts facts = node.facts;
  if (node.cordons > 0) facts.node.unschedulable = true;
  live_.AddNode(std::move(facts));
}

void World::SetPresent(SimNodeId node, bool present) {
  nodes_[node].present = present;
  TellNode(node);
}

void World::SetCordons(SimNodeId node, int32_t cordons) {
  nodes_[node].cordons = cordons;
  if (nodes_[node].present) TellNode(node);
}

SimNodeId World::FindNode(StrId name) const {
  const auto found = node_ids_.find(name);
  return found != node_ids_.end() ? found->second : SimNodeId{};
}

StrId World::ZoneOf(SimNodeId node) const {
  return node.valid() ? nodes_[node].facts.node.zone : kEmptyStr;
}

void World::FollowKinds() {
  const ResourceKinds& kinds = live_.kinds();
  bool same = static_cast<size_t>(kinds.size()) == kinds_.size();
  for (int kind = 0; same && kind < kinds.size(); ++kind)
    same = kinds.Name(kind) == kinds_[static_cast<size_t>(kind)];
  if (same) return;
  Renumbering to;
  for (const std::string& name : kinds_) to.push_back(kinds.Find(name));
  if (!to.empty()) {
    for (SimNode& node : nodes_) Renumber(node.facts, to);
    templates_.FollowKinds(to);
    // Sums of requests, which are numbered by the tables themselves.
    for (auto& [queue, sum] : allocated_) sum = {};
    for (const SimPod& pod : pods_)
      if (pod.job.valid() && CountsAsAllocated(pod.state)) Account(pod, 1);
  }
  kinds_.clear();
  for (int kind = 0; kind < kinds.size(); ++kind) kinds_.push_back(kinds.Name(kind));
}

// ---- classes

void World::SetPriorityClasses(std::vector<PriorityClassFacts> classes) {
  priority_classes_ = std::move(classes);
  priorities_ = PriorityIndex(priority_classes_);
}

// ---- jobs

SimJobId World::AddJob(const JobTemplate& made_of, StrId name, const RunTime& run_time,
                       bool keeps_work, Timestamp now) {
  SimJobId id;
  if (free_jobs_.empty()) {
    id = jobs_.Add({});
  } else {
    id = free_jobs_.back();
    free_jobs_.pop_back();
  }
  FollowKinds();
  SimJob job{.made_of = &made_of, .run_time = run_time, .keeps_work = keeps_work};
  const PodGroupFacts& group = made_of.group;
  job.ns = group.job.ns;
  job.name = name;
  job.uid = live_.strings().Intern(fmt::format("job-{:010}", ++uids_given_));
  job.queue = group.queue != kEmptyStr ? group.queue : default_queue_;
  const PriorityClassFacts* priority_class = priorities_.Find(group.job.priority_class);
  job.priority = priority_class != nullptr ? priority_class->value : priorities_.DefaultPriority();
  job.created = group.job.created.Present() ? group.job.created : ApiTime(now);
  if (made_of.has_group) {
    const bool is_new = job_ids_.emplace(NameKey(job.ns, name), id).second;
    KRAFLA_CHECK(is_new, "two jobs of one name");
  }
  jobs_[id] = std::move(job);

  for (uint32_t role = 0; role < made_of.roles.size(); ++role)
    for (int32_t index = 0; index < made_of.roles[role].replicas; ++index)
      jobs_[id].pods.push_back(AddPod(id, role, index));
  if (made_of.has_group) {
    PodGroupFacts facts = group;
    facts.job.name = name;
    facts.job.uid = jobs_[id].uid;
    facts.job.created = jobs_[id].created;
    live_.AddPodGroup(std::move(facts), Origin::kWritten);
  }
  return id;
}

void World::RemoveJob(SimJobId id) {
  SimJob& job = jobs_[id];
  for (const SimPodId pod_id : job.pods) {
    if (pods_[pod_id].state != PodState::kAbsent) SetState(pod_id, PodState::kAbsent);
    SimPod& pod = pods_[pod_id];
    pod_ids_.erase(NameKey(job.ns, pod.name));
    --counts_[static_cast<size_t>(PodState::kAbsent)];
    // The token lives on: timers of this pod must not meet the next one in its slot.
    pod = {.token = pod.token + 1};
    free_pods_.push_back(pod_id);
  }
  if (job.made_of->has_group) {
    live_.RemovePodGroup(job.ns, job.name);
    job_ids_.erase(NameKey(job.ns, job.name));
  }
  job = {};
  free_jobs_.push_back(id);
}

SimJobId World::FindJob(StrId ns, StrId name) const {
  const auto found = job_ids_.find(NameKey(ns, name));
  return found != job_ids_.end() ? found->second : SimJobId{};
}

// ---- pods

SimPodId World::AddPod(SimJobId job_id, uint32_t role, int32_t index) {
  const SimJob& job = jobs_[job_id];
  const PodTemplate& made_of = job.made_of->roles[role];
  SimPodId id;
  uint32_t token = 0;
  if (free_pods_.empty()) {
    id = pods_.Add({});
  } else {
    id = free_pods_.back();
    free_pods_.pop_back();
    token = pods_[id].token;
  }
  SimPod pod{.job = job_id, .role = role, .index = index, .token = token};
  if (made_of.has_own_name) {
    pod.name = made_of.facts.task.name;
    pod.labels = made_of.facts.task.labels;
  } else {
    pod.name = live_.strings().Intern(
        fmt::format("{}-{}-{}", Text(job.name), Text(made_of.facts.task.role), index));
    pod.labels = LabelsOf(made_of, job.name, index);
  }
  pod.priority = PriorityOf(made_of.facts);
  pod.offers_itself = OffersItself(
      made_of.facts.task, job.made_of->has_group ? &job.made_of->group.job : nullptr, access_);
  // Job "a" with role "b-0" and job "a-b" with role "0" make pods of one name.
  while (!pod_ids_.emplace(NameKey(job.ns, pod.name), id).second)
    pod.name = live_.strings().Intern(fmt::format("{}-again", Text(pod.name)));
  ++counts_[static_cast<size_t>(PodState::kAbsent)];
  pods_[id] = pod;
  return id;
}

LabelSetId World::LabelsOf(const PodTemplate& made_of, StrId job, int32_t index) {
  LabelSet labels = live_.labels(made_of.facts.task.labels);
  for (auto& [key, value] : labels) {
    if (key == job_name_label_) value = job;
    if (key == task_index_label_) value = live_.strings().Intern(std::to_string(index));
  }
  return live_.InternLabels(std::move(labels));
}

SimPodId World::FindPod(StrId ns, StrId name) const {
  const auto found = pod_ids_.find(NameKey(ns, name));
  return found != pod_ids_.end() ? found->second : SimPodId{};
}

std::string World::PodKey(SimPodId id) const {
  std::string key(Text(jobs_[pods_[id].job].ns));
  return key.append("/").append(Text(pods_[id].name));
}

std::string World::JobKey(SimJobId id) const {
  std::string key(Text(jobs_[id].ns));
  return key.append("/").append(Text(jobs_[id].name));
}

int32_t World::PriorityOf(PodFacts facts) const {
  if (!facts.admitted) priorities_.Apply(facts, facts.task);
  return facts.task.pod_priority;
}

const Resource& World::RequestOf(const SimPod& pod) const {
  return live_.spec(TemplateOf(pod).facts.task.spec).request;
}

void World::SetState(SimPodId id, PodState state, SimNodeId node) {
  SimPod& pod = pods_[id];
  const PodState before = pod.state;
  if (CountsAsAllocated(before) != CountsAsAllocated(state))
    Account(pod, CountsAsAllocated(state) ? 1 : -1);
  --counts_[static_cast<size_t>(before)];
  ++counts_[static_cast<size_t>(state)];
  pod.state = state;
  ++pod.token;
  if (!HoldsPlace(before) && HoldsPlace(state)) TakePlace(id, node);
  if (HoldsPlace(before) && !HoldsPlace(state)) LeavePlace(id);
  if (state == PodState::kAbsent) {
    pod.scheduled = pod.started = {};
    pod.pipelined_to = {};
    pod.node = {};
  }
  Tell(id);
}

void World::Account(const SimPod& pod, int sign) {
  const StrId queue = jobs_[pod.job].queue;
  Resource& sum = allocated_[queue];
  if (sign > 0) {
    sum.Add(RequestOf(pod));
  } else {
    sum.Sub(RequestOf(pod));
  }
  if (std::find(touched_queues_.begin(), touched_queues_.end(), queue) == touched_queues_.end())
    touched_queues_.push_back(queue);
}

void World::TakePlace(SimPodId id, SimNodeId node) {
  SimPod& pod = pods_[id];
  pod.node = node;
  nodes_[node].pods.push_back(id);
  if (pod.offers_itself) ++guests_[ZoneOf(node)];
}

// Where it was stays written in the pod, as in Kubernetes.
void World::LeavePlace(SimPodId id) {
  const SimPod& pod = pods_[id];
  std::vector<SimPodId>& pods = nodes_[pod.node].pods;
  pods.erase(std::find(pods.begin(), pods.end(), id));
  if (pod.offers_itself) --guests_[ZoneOf(pod.node)];
}

PodFacts World::FactsOf(const SimPod& pod) const {
  const SimJob& job = jobs_[pod.job];
  PodFacts facts = TemplateOf(pod).facts;
  Task& task = facts.task;
  task.name = pod.name;
  task.uid = pod.uid;
  task.labels = pod.labels;
  if (task.name_index >= 0 && !TemplateOf(pod).has_own_name) task.name_index = pod.index;
  if (job.made_of->has_group) facts.group = job.name;
  task.status = StatusOf(pod.state);
  task.created = pod.created;
  task.node_name = pod.node.valid() ? nodes_[pod.node].facts.node.name : kEmptyStr;
  task.scheduled_at = pod.scheduled;
  task.started = pod.started.Present() ? ApiTime(pod.started) : Timestamp{};
  task.pod_running = pod.state == PodState::kRunning ||
                     (pod.state == PodState::kTerminating && pod.started.Present());
  return facts;
}

void World::Tell(SimPodId id) {
  if (tells_held_) {
    held_tells_.push_back(id);
  } else {
    TellNow(id);
  }
}

uint32_t World::Hold(SimPodId id) {
  return pods_[id].hold = ++holds_given_;
}

void World::EndHold(SimPodId id, uint32_t hold) {
  if (pods_[id].hold != hold) return;
  pods_[id].hold = 0;
  Tell(id);
}

void World::TellNow(SimPodId id) {
  SimPod& pod = pods_[id];
  const bool goes_on = pod.state == PodState::kPending || pod.state == PodState::kBound ||
                       pod.state == PodState::kRunning;
  if (pod.hold != 0 && goes_on) return;
  pod.hold = 0;
  if (pod.state == PodState::kAbsent) {
    live_.RemovePod(jobs_[pod.job].ns, pod.name);
  } else {
    live_.AddPod(FactsOf(pod), Origin::kWritten);
  }
}

void World::ReleaseTells() {
  tells_held_ = false;
  for (const SimPodId id : held_tells_) TellNow(id);
  held_tells_.clear();
}

int64_t World::GuestsOf(StrId zone) const {
  const auto found = guests_.find(zone);
  return found != guests_.end() ? found->second : 0;
}

const Resource& World::AllocatedTo(StrId queue) const {
  static const Resource kNothing;
  const auto found = allocated_.find(queue);
  return found != allocated_.end() ? found->second : kNothing;
}

std::vector<StrId> World::TakeTouchedQueues() {
  return std::exchange(touched_queues_, {});
}

AmountMap World::Amounts(const Resource& resource) const {
  const ResourceKinds& kinds = live_.kinds();
  AmountMap amounts;
  resource.ForEachNamed([&](int kind) {
    if (kind == ResourceKinds::kPods) return;
    const double unit = kind == ResourceKinds::kMemory ? 1 : 1000;
    amounts.emplace(kinds.Name(kind), resource.Get(kind) / unit);
  });
  return amounts;
}

}  // namespace krafla
