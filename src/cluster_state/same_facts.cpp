#include "cluster_state/same_facts.h"

#include <algorithm>
#include <optional>

namespace krafla {

// A field that is added belongs into the comparison; its size gives it away.
static_assert(sizeof(Task) == 128 && sizeof(PodFacts) == 192, "compare the new field below");
static_assert(sizeof(NodeFacts) == sizeof(Node) + sizeof(Resource) && sizeof(Node) == 136,
              "compare the new field below");

namespace {

bool SameTask(const Task& a, const Task& b) {
  return a.ns == b.ns && a.name == b.name && a.uid == b.uid && a.role == b.role &&
         a.node_name == b.node_name && a.nominated_node == b.nominated_node &&
         a.priority_class == b.priority_class && a.job == b.job && a.node == b.node &&
         a.cls == b.cls && a.spec == b.spec && a.labels == b.labels && a.priority == b.priority &&
         a.pod_priority == b.pod_priority && a.name_index == b.name_index &&
         a.role_index == b.role_index && a.status == b.status &&
         a.preemption_policy == b.preemption_policy && a.preemptable == b.preemptable &&
         a.says_preemptable == b.says_preemptable &&
         a.annotation_preemptable == b.annotation_preemptable && a.best_effort == b.best_effort &&
         a.gated == b.gated && a.only_queue_gate == b.only_queue_gate &&
         a.pod_running == b.pod_running &&
         a.terminating_by_preemption == b.terminating_by_preemption &&
         a.eviction_occurred == b.eviction_occurred && a.unready == b.unready &&
         a.needs_claims == b.needs_claims && a.zones == b.zones && a.created == b.created &&
         a.started == b.started && a.scheduled_at == b.scheduled_at &&
         a.cooldown_ns == b.cooldown_ns && a.run_time_ns == b.run_time_ns;
}

bool SameAmounts(const std::optional<Resource>& a, const std::optional<Resource>& b) {
  return a.has_value() == b.has_value() && (!a || a->SameAs(*b));
}

}  // namespace

bool SameFacts(const PodFacts& a, const PodFacts& b) {
  return a.group == b.group && a.queue == b.queue && a.ours == b.ours && a.admitted == b.admitted &&
         a.has_priority == b.has_priority && a.has_policy == b.has_policy &&
         a.has_task_priority == b.has_task_priority && SameTask(a.task, b.task);
}

bool SameFacts(const NodeFacts& a, const NodeFacts& b) {
  const Node& l = a.node;
  const Node& r = b.node;
  return l.name == r.name && l.zone == r.zone && l.labels == r.labels && l.taints == r.taints &&
         l.unschedulable == r.unschedulable && l.max_pods == r.max_pods &&
         l.scored_cpu == r.scored_cpu && l.scored_memory == r.scored_memory &&
         std::equal(l.images.begin(), l.images.end(), r.images.begin(), r.images.end(),
                    [](const NodeImage& x, const NodeImage& y) {
                      return x.name == y.name && x.size_bytes == y.size_bytes;
                    }) &&
         a.allocatable.SameAs(b.allocatable);
}

// Where it was written down is no news.
bool SameFacts(const QueueFacts& a, const QueueFacts& b) {
  // All of them: one that is added does not compile until it is compared.
  const auto& [name, parent, hierarchy, weights, weight, priority, reclaimable, state, capability,
               guarantee, deserved, cooldown_ns, created] = a.queue;
  const Queue& r = b.queue;
  return name == r.name && parent == r.parent && hierarchy == r.hierarchy &&
         weights == r.hierarchy_weights && weight == r.weight && priority == r.priority &&
         reclaimable == r.reclaimable && state == r.state &&
         SameAmounts(capability, r.capability) && SameAmounts(guarantee, r.guarantee) &&
         SameAmounts(deserved, r.deserved) && cooldown_ns == r.cooldown_ns && created == r.created;
}

// As above: each names all members.
bool SameFacts(const PriorityClassFacts& a, const PriorityClassFacts& b) {
  const auto& [name, value, global_default, policy] = a;
  return name == b.name && value == b.value && global_default == b.global_default &&
         policy == b.preemption_policy;
}

bool SameFacts(const Namespace& a, const Namespace& b) {
  const auto& [name, labels] = a;
  return name == b.name && labels == b.labels;
}

bool SameFacts(const PodDisruptionBudget& a, const PodDisruptionBudget& b) {
  const auto& [ns, name, selector, allowed, healthy, disrupted] = a;
  return ns == b.ns && name == b.name && selector == b.selector &&
         allowed == b.disruptions_allowed && healthy == b.current_healthy &&
         disrupted == b.disrupted_pods;
}

bool SameFacts(const PersistentVolumeClaim& a, const PersistentVolumeClaim& b) {
  const auto& [ns, name, uid, volume, fully_bound, storage_class, selected_node, request, modes,
               mode, selector, owner, attributes, deleting, lost] = a;
  return ns == b.ns && name == b.name && uid == b.uid && volume == b.volume_name &&
         fully_bound == b.fully_bound && storage_class == b.storage_class &&
         selected_node == b.selected_node && request == b.request_bytes &&
         modes == b.access_modes && mode == b.mode && selector == b.selector &&
         owner == b.owner_pod_uid && attributes == b.volume_attributes_class &&
         deleting == b.deleting && lost == b.lost;
}

bool SameFacts(const PersistentVolume& a, const PersistentVolume& b) {
  const auto& [name, labels, storage_class, capacity, modes, mode, has_affinity, node_terms,
               claim_ns, claim_name, claim_uid, driver, handle, phase, attributes, deleting] = a;
  return name == b.name && labels == b.labels && storage_class == b.storage_class &&
         capacity == b.capacity_bytes && modes == b.access_modes && mode == b.mode &&
         has_affinity == b.has_node_affinity && node_terms == b.node_terms &&
         claim_ns == b.claim_ns && claim_name == b.claim_name && claim_uid == b.claim_uid &&
         driver == b.csi_driver && handle == b.csi_handle && phase == b.phase &&
         attributes == b.volume_attributes_class && deleting == b.deleting;
}

bool SameFacts(const StorageClass& a, const StorageClass& b) {
  const auto& [name, provisioner, waits, driver, has_topologies, topologies] = a;
  return name == b.name && provisioner == b.provisioner && waits == b.wait_for_first_consumer &&
         driver == b.csi_driver_parameter && has_topologies == b.has_allowed_topologies &&
         topologies == b.allowed_topologies;
}

bool SameFacts(const CsiNode& a, const CsiNode& b) {
  const auto& [node, drivers] = a;
  return node == b.node &&
         std::equal(drivers.begin(), drivers.end(), b.drivers.begin(), b.drivers.end(),
                    [](const CsiNodeDriver& l, const CsiNodeDriver& r) {
                      const auto& [driver, limit, topology_keys] = l;
                      return driver == r.driver && limit == r.limit &&
                             topology_keys == r.topology_keys;
                    });
}

}  // namespace krafla
