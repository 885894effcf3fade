// Lists that are sorted by number are sorted anew, by the rule of whoever made them, so that a
// value that was moved and one that is read afterwards are equal.
#include "cluster_state/fact_mover.h"

#include <algorithm>
#include <tuple>

namespace krafla {

// A field that is added may hold a number of a string; its size gives it away.
static_assert(sizeof(Task) == 152 && sizeof(PodFacts) == 168 && sizeof(Node) == 136,
              "move the new field below");
static_assert(sizeof(PodSpec) == sizeof(Resource) + 6 * sizeof(double) +
                                     13 * sizeof(std::vector<int>) + 2 * sizeof(int64_t),
              "move the new field below");

FactMover::FactMover(const Cluster& from, Cluster& to, ValueIndexes& indexes)
    : from_(from),
      to_(to),
      indexes_(indexes),
      strings_(from.strings.size()),
      label_sets_(from.label_sets.size()),
      specs_(from.specs.size()) {
  to_.kinds = from_.kinds;
}

void FactMover::Move(StrId& id) {
  if (!id.valid()) return;
  StrId& moved = strings_[id.value];
  if (!moved.valid()) moved = to_.strings.Intern(from_.Text(id));
  id = moved;
}

void FactMover::Move(std::vector<StrId>& ids) {
  for (StrId& id : ids) Move(id);
}

void FactMover::Move(LabelSet& labels) {
  for (auto& [key, value] : labels) {
    Move(key);
    Move(value);
  }
  std::sort(labels.begin(), labels.end());
}

void FactMover::Move(SelectorRequirement& requirement) {
  Move(requirement.key);
  Move(requirement.values);
  std::sort(requirement.values.begin(), requirement.values.end());
}

void FactMover::Move(std::vector<SelectorRequirement>& requirements) {
  for (SelectorRequirement& requirement : requirements) Move(requirement);
  std::sort(requirements.begin(), requirements.end(),
            [](const SelectorRequirement& a, const SelectorRequirement& b) {
              return std::tie(a.key, a.op, a.number, a.values) <
                     std::tie(b.key, b.op, b.number, b.values);
            });
}

void FactMover::Move(LabelSelector& selector) {
  Move(selector.requirements);
}

void FactMover::Move(NodeSelectorTerm& term) {
  Move(term.expressions);
  Move(term.name_fields);
}

void FactMover::Move(PodAffinityTerm& term) {
  Move(term.selector);
  Move(term.namespaces);
  std::sort(term.namespaces.begin(), term.namespaces.end());
  Move(term.namespace_selector);
  Move(term.topology_key);
}

void FactMover::Move(ZoneAccess& zones) {
  Move(zones.names);
  std::sort(zones.names.begin(), zones.names.end());
}

void FactMover::Move(PodSpec& spec) {
  Move(spec.node_selector);
  for (NodeSelectorTerm& term : spec.required_node_terms) Move(term);
  for (PreferredNodeTerm& preferred : spec.preferred_node_terms) Move(preferred.term);
  for (Toleration& toleration : spec.tolerations) {
    Move(toleration.key);
    Move(toleration.value);
  }
  for (HostPort& port : spec.host_ports) Move(port.host_ip);
  for (auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                      &spec.preferred_affinity, &spec.preferred_anti_affinity})
    for (PodAffinityTerm& term : *terms) Move(term);
  for (SpreadConstraint& constraint : spec.spread) {
    Move(constraint.topology_key);
    Move(constraint.selector);
  }
  for (ClaimVolume& volume : spec.claims) Move(volume.claim);
  Move(spec.images);
  Move(spec.scheduling_gates);
}

void FactMover::Move(PodSpecId& id) {
  if (!id.valid()) return;
  PodSpecId& moved = specs_[id.value];
  if (!moved.valid()) {
    PodSpec spec = from_.specs[id];
    Move(spec);
    moved = indexes_.specs.Intern(std::move(spec), to_.specs);
  }
  id = moved;
}

void FactMover::Move(LabelSetId& id) {
  if (!id.valid()) return;
  LabelSetId& moved = label_sets_[id.value];
  if (!moved.valid()) {
    LabelSet labels = from_.label_sets[id];
    Move(labels);
    moved = indexes_.labels.Intern(std::move(labels), to_.label_sets);
  }
  id = moved;
}

void FactMover::Move(PodFacts& pod) {
  Task& task = pod.task;
  for (StrId* id : {&task.ns, &task.name, &task.uid, &task.role, &task.node_name,
                    &task.nominated_node, &task.priority_class, &pod.group})
    Move(*id);
  Move(task.spec);
  Move(task.labels);
  Move(task.zones);
}

void FactMover::Move(PodGroupFacts& group) {
  Job& job = group.job;
  for (StrId* id : {&job.ns, &job.name, &job.uid, &job.priority_class, &group.queue}) Move(*id);
  Move(job.zones);
  for (JobRole& role : job.roles) Move(role.name);
  for (auto& [role, minimum] : group.min_task_member) Move(role);
}

void FactMover::Move(QueueFacts& queue) {
  Move(queue.queue.name);
  Move(queue.queue.parent);
}

void FactMover::Move(NodeFacts& facts) {
  Node& node = facts.node;
  Move(node.name);
  Move(node.zone);
  Move(node.labels);
  for (Taint& taint : node.taints) {
    Move(taint.key);
    Move(taint.value);
  }
  for (NodeImage& image : node.images) Move(image.name);
  std::sort(node.images.begin(), node.images.end(),
            [](const NodeImage& a, const NodeImage& b) { return a.name < b.name; });
}

void FactMover::Move(PriorityClassFacts& priority_class) {
  Move(priority_class.name);
}

void FactMover::Move(Namespace& ns) {
  Move(ns.name);
  Move(ns.labels);
}

void FactMover::Move(PodDisruptionBudget& budget) {
  Move(budget.ns);
  Move(budget.name);
  Move(budget.selector);
  Move(budget.disrupted_pods);
}

void FactMover::Move(PersistentVolumeClaim& claim) {
  for (StrId* id : {&claim.ns, &claim.name, &claim.uid, &claim.volume_name, &claim.selected_node,
                    &claim.owner_pod_uid, &claim.volume_attributes_class})
    Move(*id);
  if (claim.storage_class) Move(*claim.storage_class);
  Move(claim.selector);
}

void FactMover::Move(PersistentVolume& volume) {
  for (StrId* id : {&volume.name, &volume.storage_class, &volume.claim_ns, &volume.claim_name,
                    &volume.claim_uid, &volume.csi_driver, &volume.csi_handle, &volume.phase,
                    &volume.volume_attributes_class})
    Move(*id);
  Move(volume.labels);
  for (NodeSelectorTerm& term : volume.node_terms) Move(term);
}

void FactMover::Move(StorageClass& storage_class) {
  for (StrId* id :
       {&storage_class.name, &storage_class.provisioner, &storage_class.csi_driver_parameter})
    Move(*id);
  // These stay in the order in which they were written.
  for (NodeSelectorTerm& term : storage_class.allowed_topologies)
    for (SelectorRequirement& requirement : term.expressions) Move(requirement);
}

void FactMover::Move(CsiNode& node) {
  Move(node.node);
  for (CsiNodeDriver& driver : node.drivers) {
    Move(driver.driver);
    Move(driver.topology_keys);
  }
}

}  // namespace krafla
