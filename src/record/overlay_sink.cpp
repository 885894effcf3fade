#include "record/overlay_sink.h"

#include <algorithm>

#include <fmt/format.h>

namespace krafla {

namespace {

// In all that a pod says for the group it is.
bool SameGroupOfOne(const PodGroupFacts& a, const PodGroupFacts& b) {
  const Job& l = a.job;
  const Job& r = b.job;
  return a.queue == b.queue && l.phase == r.phase && l.priority_class == r.priority_class &&
         l.created == r.created && l.preemptable == r.preemptable &&
         l.annotation_preemptable == r.annotation_preemptable && l.zones == r.zones &&
         l.min_resources.has_value() && l.min_resources->SameAs(*r.min_resources);
}

// The PodGroup that a pod is when it names none.
PodGroupFacts SingletonOf(const PodFacts& pod, const Resource& request) {
  PodGroupFacts group;
  group.queue = pod.queue;
  group.job.ns = pod.task.ns;
  group.job.name = pod.group;
  group.job.uid = pod.task.uid;
  group.job.priority_class = pod.task.priority_class;
  group.job.min_available = 1;
  group.job.created = pod.task.created;
  group.job.preemptable = pod.task.says_preemptable;
  group.job.annotation_preemptable = pod.task.annotation_preemptable;
  group.job.zones = pod.task.zones;
  group.job.min_resources = request;
  return group;
}

}  // namespace

OverlaySink::OverlaySink(LiveCluster& live, const NodeLabels& node_labels)
    : FactSink(live), live_(live) {
  for (const auto& [key, value] : node_labels)
    node_labels_.emplace_back(live.strings().Intern(key), live.strings().Intern(value));
}

std::string OverlaySink::Key(StrId ns, StrId name) {
  return fmt::format("{}/{}", strings().Text(ns), strings().Text(name));
}

std::string OverlaySink::GroupName(StrId pod) {
  return fmt::format("{}{}", kGroupOfOnePrefix, strings().Text(pod));
}

FactSink::Added OverlaySink::AddPod(PodFacts pod, Origin origin) {
  outcome_.mark = MarkOf(pod.task);
  switch (outcome_.mark.what) {
    case AssumedMark::What::kBinding:
      pod.task.status = TaskStatus::kBinding;
      pod.task.node_name = strings().Intern(outcome_.mark.to);
      break;
    case AssumedMark::What::kReleasing:
      pod.task.status = TaskStatus::kReleasing;
      break;
    default:
      break;
  }
  MakeGroupOfOne(pod);
  outcome_.added = true;
  return live_.AddPod(std::move(pod), origin);
}

FactSink::Added OverlaySink::AddPodGroup(PodGroupFacts group, Origin origin) {
  outcome_.phase = PhaseOf(group.job);
  if (outcome_.phase) group.job.phase = *outcome_.phase;
  outcome_.added = true;
  return live_.AddPodGroup(std::move(group), origin);
}

bool OverlaySink::AddNode(NodeFacts node) {
  const auto has = [&](const auto& label) {
    return FindLabel(node.node.labels, label.first) == label.second;
  };
  outcome_.added = true;
  if (!node_labels_.empty() && std::none_of(node_labels_.begin(), node_labels_.end(), has)) {
    live_.RemoveNode(node.node.name);
    return true;
  }
  return live_.AddNode(std::move(node));
}

void LayOver(const AssumedMark& mark, StringPool& strings, PersistentVolume& volume) {
  if (mark.what != AssumedMark::What::kReserved) return;
  const std::string_view claim = mark.to;
  const size_t name = std::min(claim.find('/'), claim.size());
  const size_t uid = std::min(claim.rfind('/'), claim.size());
  volume.claim_ns = strings.Intern(claim.substr(0, name));
  volume.claim_name =
      strings.Intern(name == uid ? std::string_view() : claim.substr(name + 1, uid - name - 1));
  volume.claim_uid =
      strings.Intern(uid == claim.size() ? std::string_view() : claim.substr(uid + 1));
}

void LayOver(const AssumedMark& mark, StringPool& strings, PersistentVolumeClaim& claim) {
  if (mark.what == AssumedMark::What::kSelected) claim.selected_node = strings.Intern(mark.to);
}

bool OverlaySink::AddClaim(PersistentVolumeClaim claim) {
  outcome_.mark = MarkOf(claim);
  LayOver(outcome_.mark, strings(), claim);
  return Note(live_.AddClaim(std::move(claim)));
}

bool OverlaySink::AddVolume(PersistentVolume volume) {
  outcome_.mark = MarkOf(volume);
  LayOver(outcome_.mark, strings(), volume);
  return Note(live_.AddVolume(std::move(volume)));
}

void OverlaySink::MakeGroupOfOne(PodFacts& pod) {
  const bool wanted = pod.ours && pod.group == kEmptyStr && !IsTerminated(pod.task.status);
  if (!wanted || pod.task.node_name != kEmptyStr) NeedsNoGroup(pod.task);
  if (!wanted) {
    live_.RemovePodGroup(pod.task.ns, strings().Find(GroupName(pod.task.name)));
    return;
  }
  pod.group = strings().Intern(GroupName(pod.task.name));
  // Without the PodGroup that it names then, no cycle looks at it.
  if (pod.task.status == TaskStatus::kPending && pod.task.node_name == kEmptyStr)
    if (const GroupWait wait = WaitForGroup(pod.task); wait != GroupWait::kNone) {
      outcome_.mark = {AssumedMark::What::kAwaitsGroup, std::string(WordOf(wait))};
      live_.RemovePodGroup(pod.task.ns, pod.group);
      return;
    }
  const PodGroupFacts* there = live_.FindPodGroup(pod.task.ns, pod.group);
  PodGroupFacts group = SingletonOf(pod, spec(pod.task.spec).request);
  const std::optional<JobPhase> phase = PhaseOfOne(pod.task);
  if (there != nullptr && there->job.uid == pod.task.uid) {
    // It follows its pod, and keeps its phase.
    group.job.phase = phase.value_or(there->job.phase);
    outcome_.phase = group.job.phase;
    if (SameGroupOfOne(*there, group)) return;
    live_.AddPodGroup(std::move(group), Origin::kExpanded);
    return;
  }
  // One that has its place already is past the gate.
  if (pod.task.node_name != kEmptyStr) group.job.phase = JobPhase::kRunning;
  if (phase) group.job.phase = *phase;
  outcome_.phase = group.job.phase;
  live_.AddPodGroup(std::move(group), Origin::kExpanded);
}

bool OverlaySink::SetAwaitsGroup(const std::string& pod, bool awaits) {
  const size_t slash = pod.find('/');
  const StrId ns = strings().Find(std::string_view(pod).substr(0, slash));
  const StrId name = strings().Find(std::string_view(pod).substr(slash + 1));
  if (!ns.valid() || !name.valid()) return false;
  const PodFacts* const facts = live_.FindPod(ns, name);
  if (facts == nullptr || facts->group != strings().Find(GroupName(name)) ||
      facts->task.status != TaskStatus::kPending || facts->task.node_name != kEmptyStr)
    return false;
  if (awaits) {
    live_.RemovePodGroup(ns, facts->group);
    return true;
  }
  if (live_.FindPodGroup(ns, facts->group) != nullptr) return false;
  live_.AddPodGroup(SingletonOf(*facts, spec(facts->task.spec).request), Origin::kExpanded);
  return true;
}

void OverlaySink::Remove(std::string_view kind, const std::string& key) {
  const bool namespaced = kind == "Pod" || kind == "PodGroup" || kind == "PodDisruptionBudget" ||
                          kind == "PersistentVolumeClaim";
  const size_t slash = namespaced ? key.find('/') : std::string::npos;
  const std::string_view text = key;
  const StrId ns = slash == std::string::npos ? kEmptyStr : strings().Find(text.substr(0, slash));
  const StrId name = strings().Find(slash == std::string::npos ? text : text.substr(slash + 1));
  if (!ns.valid() || !name.valid()) return;  // no object that is there has such a name
  if (kind == "Pod") {
    live_.RemovePod(ns, name);
    live_.RemovePodGroup(ns, strings().Find(GroupName(name)));
  } else if (kind == "PodGroup") {
    live_.RemovePodGroup(ns, name);
  } else if (kind == "Node") {
    live_.RemoveNode(name);
  } else if (kind == "Queue") {
    live_.RemoveQueue(name);
  } else if (kind == "PriorityClass") {
    live_.RemovePriorityClass(name);
  } else if (kind == "Namespace") {
    live_.RemoveNamespace(name);
  } else if (kind == "PodDisruptionBudget") {
    live_.RemoveBudget(ns, name);
  } else if (kind == "PersistentVolumeClaim") {
    live_.RemoveClaim(ns, name);
  } else if (kind == "PersistentVolume") {
    live_.RemoveVolume(name);
  } else if (kind == "StorageClass") {
    live_.RemoveStorageClass(name);
  } else if (kind == "CSINode") {
    live_.RemoveCsiNode(name);
  }
}

}  // namespace krafla
