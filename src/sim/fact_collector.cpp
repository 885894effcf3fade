#include "sim/fact_collector.h"

#include <utility>

#include "cluster_state/name_index.h"

namespace krafla {

// What somebody wrote stands before what was made of a Volcano Job, whichever comes first.
template <class T>
FactSink::Added FactCollector::Put(std::unordered_map<uint64_t, Known>& known, std::vector<T>& list,
                                   uint64_t key, T facts, Origin origin) {
  const auto [it, is_new] = known.try_emplace(key, Known{list.size(), origin});
  if (is_new) {
    list.push_back(std::move(facts));
    return Added::kYes;
  }
  if (origin == Origin::kExpanded) return Added::kSuperseded;
  if (std::exchange(it->second.origin, origin) == Origin::kWritten) return Added::kDuplicate;
  list[it->second.place] = std::move(facts);
  return Added::kSuperseded;
}

bool FactCollector::IsNew(char kind, uint64_t key) {
  return known_others_[kind].insert(key).second;
}

FactSink::Added FactCollector::AddPod(PodFacts pod, Origin origin) {
  const uint64_t key = NameKey(pod.task.ns, pod.task.name);
  return Put(known_pods_, pods, key, std::move(pod), origin);
}

FactSink::Added FactCollector::AddPodGroup(PodGroupFacts group, Origin origin) {
  const uint64_t key = NameKey(group.job.ns, group.job.name);
  return Put(known_groups_, groups, key, std::move(group), origin);
}

bool FactCollector::AddQueue(QueueFacts queue) {
  if (!IsNew('q', queue.queue.name.value)) return false;
  queues.push_back(std::move(queue));
  return true;
}

bool FactCollector::AddNode(NodeFacts node) {
  if (!IsNew('n', node.node.name.value)) return false;
  nodes.push_back(std::move(node));
  return true;
}

bool FactCollector::AddPriorityClass(PriorityClassFacts priority_class) {
  if (!IsNew('p', priority_class.name.value)) return false;
  priority_classes.push_back(priority_class);
  return true;
}

bool FactCollector::AddNamespace(Namespace ns) {
  if (!IsNew('s', ns.name.value)) return false;
  others.push_back([ns = std::move(ns)](LiveCluster& live) { live.AddNamespace(ns); });
  return true;
}

bool FactCollector::AddBudget(PodDisruptionBudget budget) {
  if (!IsNew('b', NameKey(budget.ns, budget.name))) return false;
  others.push_back([budget = std::move(budget)](LiveCluster& live) { live.AddBudget(budget); });
  return true;
}

bool FactCollector::AddClaim(PersistentVolumeClaim claim) {
  if (!IsNew('c', NameKey(claim.ns, claim.name))) return false;
  others.push_back([claim = std::move(claim)](LiveCluster& live) { live.AddClaim(claim); });
  return true;
}

bool FactCollector::AddVolume(PersistentVolume volume) {
  if (!IsNew('v', volume.name.value)) return false;
  others.push_back([volume = std::move(volume)](LiveCluster& live) { live.AddVolume(volume); });
  return true;
}

bool FactCollector::AddStorageClass(StorageClass storage_class) {
  if (!IsNew('t', storage_class.name.value)) return false;
  others.push_back([storage_class = std::move(storage_class)](LiveCluster& live) {
    live.AddStorageClass(storage_class);
  });
  return true;
}

bool FactCollector::AddCsiNode(CsiNode node) {
  if (!IsNew('d', node.node.value)) return false;
  others.push_back([node = std::move(node)](LiveCluster& live) { live.AddCsiNode(node); });
  return true;
}

bool FactCollector::AddResourceQuotaName(StrId ns, StrId name) {
  return IsNew('r', NameKey(ns, name));
}

}  // namespace krafla
