// The steps from single facts to tables, in the order in which ClusterBuilder takes them. Each uses
// the results of the steps before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/cluster_builder.h"
#include "cluster_state/name_index.h"
#include "cluster_state/priority_index.h"

namespace krafla {

// A warning about many objects that names one of them.
struct Several {
  int count = 0;
  std::string first;
  void Add(std::string name) {
    if (count++ == 0) first = std::move(name);
  }
};

// A PodGroup as a job without tasks: queue, priority and the roles of minTaskMember are set. Its
// queue is invalid when there is none of that name.
Job MakeJob(const PodGroupFacts& group, const Cluster& cluster, const PriorityIndex& priorities,
            std::string_view default_queue);

// 1. Resource kinds that volumes bring are known, and kinds are numbered by name; specs follow. The
// answer says where each kind went, for the facts; empty when all stay.
using Renumbering = std::vector<int>;  // old kind -> new kind
Renumbering NumberKinds(Cluster& cluster, const BuildOptions& options, Diagnostics& diagnostics);
Resource Renumbered(const Resource& resource, const Renumbering& to);
void Renumber(NodeFacts& node, const Renumbering& to);
void Renumber(PodGroupFacts& group, const Renumbering& to);
void Renumber(QueueFacts& queue, const Renumbering& to);
// 2. Queues by name; their parents form no circle.
void AssembleQueues(ClusterDraft& draft, Diagnostics& diagnostics);
// 3. Jobs by namespace and name, with queue, priority and the roles of minTaskMember.
void AssembleJobs(ClusterDraft& draft, Diagnostics& diagnostics);
// 4. Nodes by name, with what CSI drivers can attach and how common their images are.
void AssembleNodes(ClusterDraft& draft);
// 5. Tasks by namespace and name, with job, role and node.
void AssembleTasks(ClusterDraft& draft, Diagnostics& diagnostics);
// 6. Task classes: see task_classes.h.
// 7. Namespaces, budgets and volumes by name.
void AssembleOthers(ClusterDraft& draft);
// Every namespace bears its name as a label.
Namespace WithOwnName(Namespace entry, StringPool& strings);
// What a node's CSI drivers can attach, added to what it has.
void AddAttachLimits(const CsiNode& csi_node, const Cluster& cluster, Resource& allocatable);

}  // namespace krafla
