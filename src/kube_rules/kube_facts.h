// What the rules of one plugin share: the cluster, the pods on nodes, and what is derived from both
// when a session opens. Each of the two plugins has its own.
#pragma once

#include <memory>

#include "kube_rules/affinity_terms.h"
#include "kube_rules/nodes_by_kind.h"
#include "kube_rules/pod_kinds.h"
#include "kube_rules/topology_index.h"
#include "model/cluster.h"
#include "session/kube_view.h"

namespace krafla {

struct KubeFacts {
  // Before the session's first change. `hears_newcomers`: terms of pods placed during the session
  // count at once.
  KubeFacts(const Cluster& c, KubeView& v, bool hears_newcomers);

  // Between two sessions: whether nothing here has to be derived anew, because nothing was or need
  // be. Pods with affinity, spread constraints or claims are looked at from the beginning.
  bool StillHold();

  const Cluster& cluster;
  KubeView& view;
  TopologyIndex topology;
  // Only when some pod of the cluster has pod affinity or spread constraints; nobody asks
  // otherwise.
  std::unique_ptr<PodKinds> kinds;
  std::unique_ptr<NodesByKind> nodes_by_kind;
  // Only when some pod of the cluster has pod affinity.
  std::unique_ptr<AffinityTerms> terms;

  // Nodes that had such pods when the session opened. Volcano lists them then and not again: a pod
  // with terms that is placed elsewhere during the session is not heard until the next one. Where
  // newcomers are heard every node may have some.
  Table<NodeId, bool> had_required_anti;
  Table<NodeId, bool> had_affinity;
  bool any_had_required_anti = false;
  bool any_had_affinity = false;
  size_t specs_seen = 0;
};

}  // namespace krafla
