// The steps from single facts to tables, in the order in which ClusterBuilder takes them. Each uses
// the results of the steps before it.
#pragma once

#include <cstdint>
#include <string>

#include "base/diagnostics.h"
#include "cluster_state/cluster_builder.h"
#include "cluster_state/name_index.h"

namespace krafla {

// A warning about many objects that names one of them.
struct Several {
  int count = 0;
  std::string first;
  void Add(std::string name) {
    if (count++ == 0) first = std::move(name);
  }
};

// The class of those who name none; null when there is none. Two are a mistake of the input: the
// larger one counts, whichever came first.
const PriorityClassFacts* FindDefaultClass(const ClusterDraft& draft);

// 1. Resource kinds that volumes bring are known, and kinds are numbered by name.
void NumberKinds(ClusterDraft& draft, Diagnostics& diagnostics);
// 2. Queues by name; their parents form no circle.
void AssembleQueues(ClusterDraft& draft, Diagnostics& diagnostics);
// 3. Jobs by namespace and name, with queue, priority and the roles of minTaskMember.
void AssembleJobs(ClusterDraft& draft, Diagnostics& diagnostics);
// 4. Nodes by name, with what CSI drivers can attach and how common their images are.
void AssembleNodes(ClusterDraft& draft);
// 5. Tasks by namespace and name, with job, role and node.
void AssembleTasks(ClusterDraft& draft, Diagnostics& diagnostics);
// 6. Task classes.
void AssembleClasses(ClusterDraft& draft, InternedValues<LabelSetId, LabelSet>& label_index);
// 7. Namespaces, budgets and volumes by name.
void AssembleOthers(ClusterDraft& draft);

}  // namespace krafla
