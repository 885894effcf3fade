#include "cluster_state/cluster_builder.h"

#include <unordered_set>
#include <utility>

#include "cluster_state/assemble.h"
#include "cluster_state/derive_sums.h"
#include "cluster_state/task_classes.h"

namespace krafla {

ClusterBuilder::ClusterBuilder(BuildOptions options) : FactSink(draft_.cluster, indexes_) {
  draft_.options = std::move(options);
}

namespace {

void Append(DraftedPods& pods, PodFacts&& pod) {
  pods.Add(std::move(pod));
}
void Replace(DraftedPods& pods, size_t index, PodFacts&& pod) {
  pods.Replace(index, std::move(pod));
}
void Append(std::deque<PodGroupFacts>& groups, PodGroupFacts&& group) {
  groups.push_back(std::move(group));
}
void Replace(std::deque<PodGroupFacts>& groups, size_t index, PodGroupFacts&& group) {
  groups[index] = std::move(group);
}

}  // namespace

template <class List, class Facts>
ClusterBuilder::Added ClusterBuilder::AddNamed(NameIndex& index, List& list, uint64_t key,
                                               Facts&& facts, Origin origin) {
  const bool written = origin == Origin::kWritten;
  const auto place = static_cast<uint32_t>(list.size());
  const auto [number, is_new] = index.Add(key, 2 * place + (written ? 1 : 0));
  if (is_new) {
    Append(list, std::forward<Facts>(facts));
    return Added::kYes;
  }
  const bool known_written = *number % 2 == 1;
  if (known_written == written) return Added::kDuplicate;
  if (!written) return Added::kSuperseded;
  Replace(list, *number / 2, std::forward<Facts>(facts));
  *number |= 1;
  return Added::kYes;
}

template <class List, class Object>
bool ClusterBuilder::AddOnce(NameIndex& index, List& list, uint64_t key, Object object) {
  if (!index.AddName(key)) return false;
  list.push_back(std::move(object));
  return true;
}

void ClusterBuilder::Expect(size_t objects) {
  draft_.pods.Expect(objects);
  draft_.cluster.strings.Expect(2 * objects);  // a name and a UID each
}

ClusterBuilder::Added ClusterBuilder::AddPod(PodFacts pod, Origin origin) {
  const uint64_t key = NameKey(pod.task.ns, pod.task.name);
  return AddNamed(pods_, draft_.pods, key, std::move(pod), origin);
}

ClusterBuilder::Added ClusterBuilder::AddPodGroup(PodGroupFacts group, Origin origin) {
  const uint64_t key = NameKey(group.job.ns, group.job.name);
  return AddNamed(groups_, draft_.groups, key, std::move(group), origin);
}

bool ClusterBuilder::AddQueue(QueueFacts queue) {
  const uint64_t key = queue.queue.name.value;
  return AddOnce(queues_, draft_.queues, key, std::move(queue));
}

bool ClusterBuilder::AddNode(NodeFacts node) {
  const uint64_t key = node.node.name.value;
  return AddOnce(nodes_, draft_.nodes, key, std::move(node));
}

bool ClusterBuilder::AddPriorityClass(PriorityClassFacts priority_class) {
  const uint64_t key = priority_class.name.value;
  return AddOnce(priority_classes_, draft_.priority_classes, key, priority_class);
}

bool ClusterBuilder::AddNamespace(Namespace ns) {
  const uint64_t key = ns.name.value;
  return AddOnce(namespaces_, draft_.cluster.namespaces, key, std::move(ns));
}

bool ClusterBuilder::AddBudget(PodDisruptionBudget budget) {
  const uint64_t key = NameKey(budget.ns, budget.name);
  return AddOnce(budgets_, draft_.cluster.budgets, key, std::move(budget));
}

bool ClusterBuilder::AddClaim(PersistentVolumeClaim claim) {
  const uint64_t key = NameKey(claim.ns, claim.name);
  return AddOnce(claims_, draft_.cluster.volumes.claims, key, std::move(claim));
}

bool ClusterBuilder::AddVolume(PersistentVolume volume) {
  const uint64_t key = volume.name.value;
  return AddOnce(volumes_, draft_.cluster.volumes.volumes, key, std::move(volume));
}

bool ClusterBuilder::AddStorageClass(StorageClass storage_class) {
  const uint64_t key = storage_class.name.value;
  return AddOnce(storage_classes_, draft_.cluster.volumes.classes, key, std::move(storage_class));
}

bool ClusterBuilder::AddCsiNode(CsiNode node) {
  const uint64_t key = node.node.value;
  return AddOnce(csi_nodes_, draft_.cluster.volumes.csi_nodes, key, std::move(node));
}

bool ClusterBuilder::AddResourceQuotaName(StrId ns, StrId name) {
  return resource_quotas_.AddName(NameKey(ns, name));
}

Cluster ClusterBuilder::Build(Diagnostics& diagnostics) && {
  Diagnostics silent;
  Diagnostics& references = diagnostics.HasErrors() ? silent : diagnostics;
  const Renumbering renumbering = NumberKinds(draft_.cluster, draft_.options, diagnostics);
  if (!renumbering.empty()) {
    for (NodeFacts& node : draft_.nodes) Renumber(node, renumbering);
    for (PodGroupFacts& group : draft_.groups) Renumber(group, renumbering);
    for (QueueFacts& queue : draft_.queues) Renumber(queue, renumbering);
  }
  // What was read is given back as soon as it has become a table: what comes next then needs no new
  // memory, and memory that nobody has touched yet is dear.
  for (NameIndex* names : {&pods_, &groups_, &nodes_}) *names = {};
  AssembleQueues(draft_, diagnostics);
  AssembleJobs(draft_, references);
  draft_.groups = {};
  AssembleNodes(draft_);
  draft_.nodes = {};
  AssembleTasks(draft_, references);
  std::unordered_set<StrId> whole_keys;
  TaskClasses(draft_.cluster, indexes_.labels, draft_.options, whole_keys).SetAll();
  AssembleOthers(draft_);
  DeriveSums(draft_.cluster);
  return std::move(draft_.cluster);
}

}  // namespace krafla
