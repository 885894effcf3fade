// Lists that are sorted by number are sorted anew, by the rule of whoever made them, so that a
// value that was moved and one that is read afterwards are equal.
#include "cluster_state/fact_mover.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "cluster_state/assemble.h"

namespace krafla {

// A field that is added may hold a number of a string; its size gives it away.
static_assert(sizeof(Task) == 128 && sizeof(PodFacts) == 192 && sizeof(Node) == 136,
              "move the new field below");
static_assert(sizeof(PodSpec) == sizeof(Resource) + 6 * sizeof(double) +
                                     13 * sizeof(std::vector<int>) + 2 * sizeof(int64_t),
              "move the new field below");

void FactMover::Renumber(StrId& id) {
  if (!id.valid()) return;
  if (id.value >= strings_.size()) strings_.resize(from_.strings.size());
  StrId& moved = strings_[id.value];
  if (!moved.valid()) moved = to_.strings().Intern(from_.Text(id));
  id = moved;
}

void FactMover::Renumber(std::vector<StrId>& ids) {
  for (StrId& id : ids) Renumber(id);
}

void FactMover::Renumber(LabelSet& labels) {
  for (auto& [key, value] : labels) {
    Renumber(key);
    Renumber(value);
  }
  std::sort(labels.begin(), labels.end());
}

void FactMover::Renumber(SelectorRequirement& requirement) {
  Renumber(requirement.key);
  Renumber(requirement.values);
  std::sort(requirement.values.begin(), requirement.values.end());
}

void FactMover::Renumber(std::vector<SelectorRequirement>& requirements) {
  for (SelectorRequirement& requirement : requirements) Renumber(requirement);
  std::sort(requirements.begin(), requirements.end(),
            [](const SelectorRequirement& a, const SelectorRequirement& b) {
              return std::tie(a.key, a.op, a.number, a.values) <
                     std::tie(b.key, b.op, b.number, b.values);
            });
}

void FactMover::Renumber(LabelSelector& selector) {
  Renumber(selector.requirements);
}

void FactMover::Renumber(NodeSelectorTerm& term) {
  Renumber(term.expressions);
  Renumber(term.name_fields);
}

void FactMover::Renumber(PodAffinityTerm& term) {
  Renumber(term.selector);
  Renumber(term.namespaces);
  std::sort(term.namespaces.begin(), term.namespaces.end());
  Renumber(term.namespace_selector);
  Renumber(term.topology_key);
}

void FactMover::Renumber(ZoneAccess& zones) {
  Renumber(zones.names);
}

void FactMover::Renumber(PodSpec& spec) {
  Renumber(spec.request);
  Renumber(spec.node_selector);
  for (NodeSelectorTerm& term : spec.required_node_terms) Renumber(term);
  for (PreferredNodeTerm& preferred : spec.preferred_node_terms) Renumber(preferred.term);
  for (Toleration& toleration : spec.tolerations) {
    Renumber(toleration.key);
    Renumber(toleration.value);
  }
  for (HostPort& port : spec.host_ports) Renumber(port.host_ip);
  for (auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                      &spec.preferred_affinity, &spec.preferred_anti_affinity})
    for (PodAffinityTerm& term : *terms) Renumber(term);
  for (SpreadConstraint& constraint : spec.spread) {
    Renumber(constraint.topology_key);
    Renumber(constraint.selector);
  }
  for (ClaimVolume& volume : spec.claims) Renumber(volume.claim);
  Renumber(spec.images);
  Renumber(spec.scheduling_gates);
}

void FactMover::Renumber(PodSpecId& id) {
  if (!id.valid()) return;
  if (id.value >= specs_.size()) specs_.resize(from_.specs.size());
  if (!specs_[id.value].valid()) {
    PodSpec spec = from_.specs[id];
    Renumber(spec);
    if (too_many_kinds_) return;
    specs_[id.value] = to_.InternSpec(std::move(spec));
  }
  id = specs_[id.value];
}

void FactMover::Renumber(LabelSetId& id) {
  if (!id.valid()) return;
  if (id.value >= label_sets_.size()) label_sets_.resize(from_.label_sets.size());
  if (!label_sets_[id.value].valid()) {
    LabelSet labels = from_.label_sets[id];
    Renumber(labels);
    label_sets_[id.value] = to_.InternLabels(std::move(labels));
  }
  id = label_sets_[id.value];
}

// By name: kinds get other numbers whenever a cluster's tables are built with a new one among them.
void FactMover::Renumber(Resource& amounts) {
  Renumbering to;
  bool same = true;
  for (uint64_t rest = amounts.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    to.resize(static_cast<size_t>(kind) + 1);
    const int moved = to_.kinds().Intern(from_.kinds.Name(kind));
    to[static_cast<size_t>(kind)] = moved;
    same = same && moved == kind;
    too_many_kinds_ = too_many_kinds_ || moved < 0;
  }
  if (!same && !too_many_kinds_) amounts = Renumbered(amounts, to);
}

void FactMover::Renumber(std::optional<Resource>& amounts) {
  if (amounts) Renumber(*amounts);
}

void FactMover::MoveFacts(PodFacts& pod) {
  Task& task = pod.task;
  for (StrId* id : {&task.ns, &task.name, &task.uid, &task.role, &task.node_name,
                    &task.nominated_node, &task.priority_class, &pod.group, &pod.queue})
    Renumber(*id);
  Renumber(task.spec);
  Renumber(task.labels);
  Renumber(task.zones);
}

void FactMover::MoveFacts(PodGroupFacts& group) {
  Job& job = group.job;
  for (StrId* id : {&job.ns, &job.name, &job.uid, &job.priority_class, &group.queue}) Renumber(*id);
  Renumber(job.zones);
  Renumber(job.min_resources);
  for (JobRole& role : job.roles) Renumber(role.name);
  for (auto& [role, minimum] : group.min_task_member) Renumber(role);
}

void FactMover::MoveFacts(QueueFacts& queue) {
  Renumber(queue.queue.name);
  Renumber(queue.queue.parent);
  Renumber(queue.queue.capability);
  Renumber(queue.queue.guarantee);
  Renumber(queue.queue.deserved);
}

void FactMover::MoveFacts(NodeFacts& facts) {
  Node& node = facts.node;
  Renumber(facts.allocatable);
  Renumber(node.name);
  Renumber(node.zone);
  Renumber(node.labels);
  for (Taint& taint : node.taints) {
    Renumber(taint.key);
    Renumber(taint.value);
  }
  for (NodeImage& image : node.images) Renumber(image.name);
  std::sort(node.images.begin(), node.images.end(),
            [](const NodeImage& a, const NodeImage& b) { return a.name < b.name; });
}

void FactMover::MoveFacts(PriorityClassFacts& priority_class) {
  Renumber(priority_class.name);
}

void FactMover::MoveFacts(Namespace& ns) {
  Renumber(ns.name);
  Renumber(ns.labels);
}

void FactMover::MoveFacts(PodDisruptionBudget& budget) {
  Renumber(budget.ns);
  Renumber(budget.name);
  Renumber(budget.selector);
  Renumber(budget.disrupted_pods);
}

void FactMover::MoveFacts(PersistentVolumeClaim& claim) {
  for (StrId* id : {&claim.ns, &claim.name, &claim.uid, &claim.volume_name, &claim.selected_node,
                    &claim.owner_pod_uid, &claim.volume_attributes_class})
    Renumber(*id);
  if (claim.storage_class) Renumber(*claim.storage_class);
  Renumber(claim.selector);
}

void FactMover::MoveFacts(PersistentVolume& volume) {
  for (StrId* id : {&volume.name, &volume.storage_class, &volume.claim_ns, &volume.claim_name,
                    &volume.claim_uid, &volume.csi_driver, &volume.csi_handle, &volume.phase,
                    &volume.volume_attributes_class})
    Renumber(*id);
  Renumber(volume.labels);
  for (NodeSelectorTerm& term : volume.node_terms) Renumber(term);
}

void FactMover::MoveFacts(StorageClass& storage_class) {
  for (StrId* id :
       {&storage_class.name, &storage_class.provisioner, &storage_class.csi_driver_parameter})
    Renumber(*id);
  // These stay in the order in which they were written.
  for (NodeSelectorTerm& term : storage_class.allowed_topologies)
    for (SelectorRequirement& requirement : term.expressions) Renumber(requirement);
}

void FactMover::MoveFacts(CsiNode& node) {
  Renumber(node.node);
  for (CsiNodeDriver& driver : node.drivers) {
    Renumber(driver.driver);
    Renumber(driver.topology_keys);
  }
}

}  // namespace krafla
