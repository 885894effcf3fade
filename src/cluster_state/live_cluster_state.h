// What a LiveCluster keeps, and how its tables follow. For live_cluster.cpp and the sources beside
// it only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster_state/assemble.h"
#include "cluster_state/crowding.h"
#include "cluster_state/fact_store.h"
#include "cluster_state/live_cluster.h"
#include "cluster_state/task_classes.h"

namespace krafla {

struct PodEntry {
  PodFacts facts;
  TaskId task;  // invalid: the scheduler does not see it
};

struct GroupEntry {
  PodGroupFacts facts;
  JobId job;  // invalid: its queue does not exist
};

struct LiveCluster::State {
  explicit State(BuildOptions options) { draft.options = std::move(options); }

  ClusterDraft draft;  // its cluster is the one; its lists of facts are only filled while building
  ValueIndexes indexes;
  Diagnostics warnings;

  // Node-based: tables point at entries.
  std::unordered_map<uint64_t, PodEntry> pods;
  std::unordered_map<uint64_t, GroupEntry> groups;
  FactStore<NodeFacts> nodes;
  FactStore<QueueFacts> queues;
  FactStore<PriorityClassFacts> priority_classes;
  FactStore<Namespace> namespaces;
  FactStore<PodDisruptionBudget> budgets;
  FactStore<PersistentVolumeClaim> claims;
  FactStore<PersistentVolume> volumes;
  FactStore<StorageClass> storage_classes;
  FactStore<CsiNode> csi_nodes;

  std::unordered_set<StrId> whole_keys;  // of labels, as for LookedAtLabels

  Crowding crowding;
  bool compacted = false;  // since the tables were last built

  // Of the tables as they are built now.
  bool stale = true;        // they are rebuilt before the next use
  bool distrusted = false;  // stale, because a check failed
  std::unique_ptr<TaskClasses> classes;
  PriorityIndex priorities;
  int kinds_known = 0;
  std::unordered_set<StrId> namespaces_known;  // that have a row
  Table<TaskId, PodEntry*> pod_of_task;
  Table<JobId, GroupEntry*> group_of_job;
  std::unordered_map<StrId, NodeId> node_ids;
  std::unordered_multimap<uint64_t, PodEntry*> without_group;  // by the PodGroup they name
  std::unordered_set<const GroupEntry*> without_queue;
  std::unordered_set<const GroupEntry*> without_class;  // that they name
  std::unordered_set<const PodEntry*> without_claims;   // ours, that are left out for it
  uint64_t node_sizes_version = 0;
  std::vector<NodeId> touched_nodes;
  std::vector<JobId> touched_jobs;
  std::vector<uint8_t> node_is_touched;
  // Every amount a node has is whole: then what all have together is the same in whatever order it
  // is added up, as long as it is below 2^53.
  bool has_whole_amounts = false;
  ClusterChanges changes;  // since they were last taken
  std::vector<uint8_t> node_has_changed;

  Cluster& cluster() { return draft.cluster; }

  void Build(std::span<const ObjectName> left_out = {});
  size_t Objects() const;
  void Compact();
  void DeriveTouched();
  void TouchNode(NodeId node);
  void TouchJob(JobId job);

  // Nodes: live_nodes.cpp.
  void InsertNode(const NodeFacts& facts);
  void ReplaceNode(const NodeFacts& before, const NodeFacts& after);
  // False: drivers come or go with it, and every claim may count otherwise.
  bool ReplaceCsiNode(const CsiNode* before, const CsiNode& after);
  Resource AmountsOf(const NodeFacts& facts) const;
  void ReplaceAllocatable(NodeId node, const Resource& allocatable);
  void RecountImages(const Node& before, const Node& after);
  void TouchFacts(NodeId node);

  void InsertTask(PodEntry& entry);
  void RemoveTask(PodEntry& entry);
  void SetUnready(PodEntry& entry, bool unready);
  void JoinJob(TaskId id, JobId job);
  void InsertJob(GroupEntry& entry, Job job);
  void RemoveJob(GroupEntry& entry);
  void NoteClassOf(const GroupEntry& entry);
  bool Visible(const PodEntry& entry) const;
  // Whether the tables can take the pod without being built anew.
  bool CanTake(const PodFacts& pod);
  // Nothing is derived from these but by sessions, when they open.
  void SetNamespace(Namespace ns);
  void AddNamespaceOf(StrId name);  // of a pod or PodGroup: it may have no object
  void SetBudget(PodDisruptionBudget budget);
  void RemoveBudget(StrId ns, StrId name);
};

// Nowhere a fraction, or so much that one might be lost.
bool IsWhole(const Resource& amounts);

}  // namespace krafla
