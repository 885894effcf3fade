// Nodes in the tables of a LiveCluster. Most of what a node says is its own. Counted over all nodes
// are its images; what its CSI drivers can attach is said by another object.
#include <algorithm>
#include <utility>
#include <vector>

#include "cluster_state/csi_claims.h"
#include "cluster_state/derive_sums.h"
#include "cluster_state/live_cluster_state.h"
#include "cluster_state/sorted_ids.h"

namespace krafla {

namespace {

// In a list by name; null when it is not there.
template <class Images>
auto FindImage(Images& images, StrId name) -> decltype(images.data()) {
  const auto at =
      std::lower_bound(images.begin(), images.end(), name,
                       [](const NodeImage& image, StrId wanted) { return image.name < wanted; });
  return at != images.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

void LiveCluster::State::ReplaceAllocatable(NodeId node, const Resource& allocatable) {
  ++node_sizes_version;
  Cluster& c = cluster();
  const Resource before = std::exchange(c.allocatable[node], allocatable);
  has_whole_amounts = has_whole_amounts && IsWhole(allocatable);
  Resource total = c.total;
  total.Sub(before).Add(allocatable);
  if (has_whole_amounts && before.mask() == allocatable.mask() && IsWhole(total)) {
    c.total = total;
  } else {
    DeriveTotal(c);
  }
}

void LiveCluster::State::TouchFacts(NodeId node) {
  TouchNode(node);
  changes.node_facts.push_back(node);
}

Resource LiveCluster::State::AmountsOf(const NodeFacts& facts) const {
  Resource amounts = facts.allocatable;
  if (const CsiNode* csi_node = csi_nodes.Find(facts.node.name.value))
    AddAttachLimits(*csi_node, draft.cluster, amounts);
  return amounts;
}

void LiveCluster::State::ReplaceNode(const NodeFacts& before, const NodeFacts& after) {
  Cluster& c = cluster();
  const NodeId id = node_ids.at(after.node.name);
  Node fresh = after.node;
  Node& row = c.nodes[id];
  fresh.tasks = std::move(row.tasks);
  for (NodeImage& image : fresh.images)
    if (const NodeImage* counted = FindImage(row.images, image.name)) image = *counted;
  row = std::move(fresh);
  ReplaceAllocatable(id, AmountsOf(after));
  TouchFacts(id);
  RecountImages(before.node, after.node);
}

void LiveCluster::State::InsertNode(const NodeFacts& facts) {
  ++node_sizes_version;
  Cluster& c = cluster();
  const NodeId id = c.nodes.Add(facts.node);
  c.allocatable.Add(AmountsOf(facts));
  for (Table<NodeId, Resource>* sums : {&c.idle, &c.used, &c.releasing, &c.pipelined})
    sums->Add({});
  Insert(c.nodes_by_name, PlaceOf(c.nodes_by_name, id, ByNodeName{c}), id);
  node_ids.emplace(facts.node.name, id);
  node_is_touched.push_back(0);
  node_has_changed.push_back(0);
  has_whole_amounts = has_whole_amounts && IsWhole(c.allocatable[id]);
  DeriveTotal(c);
  // Pods may be known before their node is.
  std::vector<TaskId>& tasks = c.nodes[id].tasks;
  for (TaskId t{0}; t.value < c.tasks.size(); ++t.value) {
    Task& task = c.tasks[t];
    if (task.node_name != facts.node.name || IsTerminated(task.status)) continue;
    task.node = id;
    tasks.push_back(t);
    if (task.job.valid()) TouchJob(task.job);
  }
  std::sort(tasks.begin(), tasks.end(), ByTaskName{c});
  TouchFacts(id);
  RecountImages({}, facts.node);
  // Nodes have other places in the order of names, and scores depend on how many there are.
  changes.rebuilt = true;
}

// An image has one size, that of the first node by name, wherever it lies, and knows how many nodes
// have it (assemble_nodes.cpp). Looks at the images that only one of both lists has; `nodes` holds
// `after` already.
void LiveCluster::State::RecountImages(const Node& before, const Node& after) {
  std::vector<StrId> changed;
  for (const NodeImage& image : before.images)
    if (const NodeImage* now = FindImage(after.images, image.name);
        now == nullptr || now->size_bytes != image.size_bytes)
      changed.push_back(image.name);
  for (const NodeImage& image : after.images)
    if (FindImage(before.images, image.name) == nullptr) changed.push_back(image.name);
  if (changed.empty()) return;

  Cluster& c = cluster();
  struct Holder {
    NodeId node;
    StrId image;
  };
  std::vector<NodeImage> counted;
  for (const StrId name : changed) counted.push_back({.name = name});
  std::vector<Holder> holders;
  for (const NodeId id : c.nodes_by_name) {
    const Node& as_said = nodes.Find(c.nodes[id].name.value)->node;
    for (NodeImage& image : counted) {
      const NodeImage* here = FindImage(as_said.images, image.name);
      if (here == nullptr) continue;
      if (image.nodes_with_it++ == 0) image.size_bytes = here->size_bytes;
      holders.push_back({id, image.name});
    }
  }
  std::sort(counted.begin(), counted.end(),
            [](const NodeImage& a, const NodeImage& b) { return a.name < b.name; });
  for (const Holder& holder : holders) {
    const NodeImage& now = *FindImage(counted, holder.image);
    NodeImage& row = *FindImage(c.nodes[holder.node].images, holder.image);
    if (row.size_bytes == now.size_bytes && row.nodes_with_it == now.nodes_with_it) continue;
    row = now;
    TouchFacts(holder.node);
  }
}

bool LiveCluster::State::ReplaceCsiNode(const CsiNode* before, const CsiNode& after) {
  const auto has = [](const CsiNode& node, StrId driver) {
    return std::ranges::any_of(node.drivers,
                               [&](const CsiNodeDriver& d) { return d.driver == driver; });
  };
  const auto declared_elsewhere = [&](StrId driver) {
    return std::ranges::any_of(csi_nodes.items(), [&](const CsiNode& other) {
      return other.node != after.node && has(other, driver);
    });
  };
  for (const CsiNodeDriver& driver : after.drivers)
    if (!(before != nullptr && has(*before, driver.driver)) && !declared_elsewhere(driver.driver))
      return false;
  if (before != nullptr)
    for (const CsiNodeDriver& driver : before->drivers)
      if (!has(after, driver.driver) && !declared_elsewhere(driver.driver)) return false;

  Cluster& c = cluster();
  std::vector<CsiNode>& rows = c.volumes.csi_nodes;
  const auto row = std::lower_bound(
      rows.begin(), rows.end(), c.Text(after.node),
      [&](const CsiNode& other, std::string_view name) { return c.Text(other.node) < name; });
  if (before != nullptr) {
    *row = after;
  } else {
    rows.insert(row, after);
  }
  return true;
}

}  // namespace krafla
