#include <algorithm>
#include <unordered_set>

#include "cluster_state/assemble.h"
#include "cluster_state/name_order.h"

namespace krafla {

namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

// Every namespace that is used exists, and bears its name as a label.
void CompleteNamespaces(Cluster& cluster) {
  std::unordered_set<StrId> known;
  for (const Namespace& entry : cluster.namespaces) known.insert(entry.name);
  StrId last;
  const auto add = [&](StrId name) {
    if (name == last) return;
    last = name;
    if (known.insert(name).second) cluster.namespaces.push_back({.name = name});
  };
  for (const Task& task : cluster.tasks) add(task.ns);
  for (const Job& job : cluster.jobs) add(job.ns);
  for (Namespace& entry : cluster.namespaces)
    entry = WithOwnName(std::move(entry), cluster.strings);
}

template <class List>
void SortByName(List& list, const Cluster& cluster) {
  std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return cluster.Text(a.name) < cluster.Text(b.name);
  });
}

template <class List>
void SortByNamespacedName(List& list, const Cluster& cluster) {
  std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return NamespacedLess(cluster.Text(a.ns), cluster.Text(a.name), cluster.Text(b.ns),
                          cluster.Text(b.name));
  });
}

}  // namespace

Namespace WithOwnName(Namespace entry, StringPool& strings) {
  const StrId label = strings.Intern(kNamespaceNameLabel);
  if (FindLabel(entry.labels, label).valid()) return entry;
  const auto at = std::lower_bound(entry.labels.begin(), entry.labels.end(), label,
                                   [](const auto& pair, StrId key) { return pair.first < key; });
  entry.labels.insert(at, {label, entry.name});
  return entry;
}

void AssembleOthers(ClusterDraft& draft) {
  Cluster& cluster = draft.cluster;
  CompleteNamespaces(cluster);
  SortByName(cluster.namespaces, cluster);
  SortByNamespacedName(cluster.budgets, cluster);
  SortByNamespacedName(cluster.volumes.claims, cluster);
  SortByName(cluster.volumes.volumes, cluster);
  SortByName(cluster.volumes.classes, cluster);
  std::vector<CsiNode>& csi_nodes = cluster.volumes.csi_nodes;
  std::sort(csi_nodes.begin(), csi_nodes.end(), [&](const CsiNode& a, const CsiNode& b) {
    return cluster.Text(a.node) < cluster.Text(b.node);
  });
}

}  // namespace krafla
