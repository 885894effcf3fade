#include <unordered_map>

#include "cluster_state/assemble.h"
#include "cluster_state/csi_claims.h"
#include "cluster_state/name_order.h"

namespace krafla {

namespace {

struct ImageFacts {
  int64_t size_bytes = 0;
  int32_t nodes = 0;
};

// An image has one size, that of the first node by name, wherever it lies: Kubernetes keeps what it
// hears first.
void CountImages(Cluster& cluster) {
  std::unordered_map<StrId, ImageFacts> images;
  for (const NodeId id : cluster.nodes_by_name) {
    for (const NodeImage& image : cluster.nodes[id].images) {
      ImageFacts& facts = images[image.name];
      if (facts.nodes++ == 0) facts.size_bytes = image.size_bytes;
    }
  }
  for (Node& node : cluster.nodes) {
    for (NodeImage& image : node.images) {
      const ImageFacts& facts = images[image.name];
      image.size_bytes = facts.size_bytes;
      image.nodes_with_it = facts.nodes;
    }
  }
}

// A CSINode bears the name of its node.
void SetAttachLimits(Cluster& cluster) {
  for (const CsiNode& csi_node : cluster.volumes.csi_nodes) {
    const NodeId id = cluster.FindNode(csi_node.node);
    if (id.valid()) AddAttachLimits(csi_node, cluster, cluster.allocatable[id]);
  }
}

}  // namespace

void AddAttachLimits(const CsiNode& csi_node, const Cluster& cluster, Resource& allocatable) {
  for (const CsiNodeDriver& driver : csi_node.drivers) {
    const int kind = cluster.kinds.Find(AttachLimitName(cluster.Text(driver.driver)));
    const int64_t limit = driver.limit.value_or(kNoAttachLimit);
    if (kind >= 0) allocatable.Set(kind, static_cast<double>(limit));
  }
}

void AssembleNodes(ClusterDraft& draft) {
  Cluster& cluster = draft.cluster;
  const std::vector<uint32_t> order =
      SortedOrder(draft.nodes, [&](const NodeFacts& a, const NodeFacts& b) {
        return cluster.Text(a.node.name) < cluster.Text(b.node.name);
      });
  cluster.nodes.Reserve(order.size());
  cluster.allocatable.Reserve(order.size());
  cluster.nodes_by_name.reserve(order.size());
  for (const uint32_t index : order) {
    NodeFacts& facts = draft.nodes[index];
    cluster.nodes_by_name.push_back(cluster.nodes.Add(std::move(facts.node)));
    cluster.allocatable.Add(std::move(facts.allocatable));
  }
  CountImages(cluster);
  SetAttachLimits(cluster);
}

}  // namespace krafla
