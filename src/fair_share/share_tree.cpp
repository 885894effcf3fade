#include "fair_share/share_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <system_error>
#include <utility>

#include "fair_share/dominant_share.h"

namespace krafla {

namespace {

// Takes the next word off `rest`; false when there is none. "a//b" has an empty word, "" has one.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool Next(std::string_view& word) {
    if (ended_) return false;
    const size_t slash = rest_.find('/');
    word = rest_.substr(0, slash);
    ended_ = slash == std::string_view::npos;
    if (!ended_) rest_.remove_prefix(slash + 1);
    return true;
  }

 private:
  std::string_view rest_;
  bool ended_ = false;
};

double ParseWeight(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(weight) && weight >= 1 ? weight : 1;
}

}  // namespace

ShareTree::ShareTree(Resource total) : total_(std::move(total)) {
  nodes_.emplace_back();
  nodes_[kRoot].key = "root";
  SetTotalAllocated(Resource());
  all_stale_ = true;
}

ShareTree::NodeIndex ShareTree::AddNode(NodeIndex parent, Node node) {
  const NodeIndex index = static_cast<NodeIndex>(nodes_.size());
  std::vector<NodeIndex>& siblings = nodes_[parent].children;
  const auto place = std::upper_bound(
      siblings.begin(), siblings.end(), node.key,
      [&](const std::string& key, NodeIndex sibling) { return key < nodes_[sibling].key; });
  siblings.insert(place, index);
  if (!node.is_leaf) nodes_[parent].groups.emplace(node.key, index);
  node.parent = parent;
  nodes_.push_back(std::move(node));
  MarkStale(index);
  return index;
}

ShareTree::NodeIndex ShareTree::AddLeaf(std::string_view hierarchy, std::string_view weights,
                                        std::string key, Resource request) {
  Words groups(hierarchy);
  Words group_weights(weights);
  std::string_view group;
  std::string_view weight;
  groups.Next(group);
  group_weights.Next(weight);

  NodeIndex at = kRoot;
  while (groups.Next(group)) {
    if (!group_weights.Next(weight)) weight = {};
    const auto found = nodes_[at].groups.find(group);
    if (found != nodes_[at].groups.end()) {
      at = found->second;
      continue;
    }
    Node node;
    node.key = group;
    node.weight = ParseWeight(weight);
    at = AddNode(at, std::move(node));
  }

  Node leaf;
  leaf.key = std::move(key);
  leaf.is_leaf = true;
  leaf.request = std::move(request);
  return AddNode(at, std::move(leaf));
}

void ShareTree::SetAllocated(NodeIndex leaf, const Resource& allocated) {
  Node& node = nodes_[leaf];
  KRAFLA_CHECK(node.is_leaf, node.key);
  node.allocated = allocated;
  node.share = DominantShare(allocated, total_);
  MarkStale(leaf);
}

void ShareTree::SetTotalAllocated(const Resource& total_allocated) {
  uint64_t available = 0;
  total_.ForEachNamed([&](int kind) {
    if (total_allocated.Get(kind) < total_.Get(kind)) available |= uint64_t{1} << kind;
  });
  if (available == available_kinds_) return;
  // Any leaf may become saturated by it, or cease to be.
  available_kinds_ = available;
  all_stale_ = true;
}

ShareTree::Path ShareTree::Find(std::string_view hierarchy) const {
  Path path;
  path.nodes.push_back(kRoot);
  Words groups(hierarchy);
  std::string_view group;
  groups.Next(group);
  while (groups.Next(group)) {
    const Node& node = nodes_[path.nodes.back()];
    const auto found = node.groups.find(group);
    if (found == node.groups.end()) break;
    path.nodes.push_back(found->second);
  }
  return path;
}

double ShareTree::Compare(const Path& left, const Path& right) {
  Refresh();
  const size_t depth = std::min(left.nodes.size(), right.nodes.size());
  for (size_t i = 0; i < depth; ++i) {
    if (left.nodes[i] == right.nodes[i]) continue;
    const Node& l = nodes_[left.nodes[i]];
    const Node& r = nodes_[right.nodes[i]];
    if (l.saturated != r.saturated) return l.saturated ? 1 : -1;
    const double l_share = l.share / l.weight;
    const double r_share = r.share / r.weight;
    if (l_share != r_share) return l_share - r_share;
  }
  return 0;
}

double ShareTree::Share(NodeIndex node) {
  Refresh();
  return nodes_[node].share;
}

bool ShareTree::Saturated(NodeIndex node) {
  Refresh();
  return nodes_[node].saturated;
}

void ShareTree::MarkStale(NodeIndex node) {
  // Above a stale node everything is stale already.
  while (!nodes_[node].stale) {
    nodes_[node].stale = true;
    stale_.push_back(node);
    if (node == kRoot) return;
    node = nodes_[node].parent;
  }
}

void ShareTree::Refresh() {
  if (all_stale_) {
    for (size_t i = nodes_.size(); i-- > 0;) RefreshNode(nodes_[i]);
  } else if (!stale_.empty()) {
    std::sort(stale_.begin(), stale_.end(), std::greater<>());
    for (NodeIndex node : stale_) RefreshNode(nodes_[node]);
  }
  stale_.clear();
  all_stale_ = false;
}

void ShareTree::RefreshNode(Node& node) {
  node.stale = false;
  if (node.is_leaf) {
    node.saturated = IsLeafSaturated(node);
    return;
  }
  double smallest = 1;
  node.saturated = true;
  for (NodeIndex index : node.children) {
    const Node& child = nodes_[index];
    if (child.saturated) continue;
    node.saturated = false;
    if (child.share != 0 && child.share < smallest) smallest = child.share;
  }
  node.allocated = Resource();
  for (NodeIndex index : node.children) {
    const Node& child = nodes_[index];
    if (child.share == 0) continue;
    if (child.saturated) {
      node.allocated.Add(child.allocated);
    } else {
      Resource scaled = child.allocated;
      node.allocated.Add(scaled.Scale(smallest / child.share));
    }
  }
  node.share = DominantShare(node.allocated, total_);
}

bool ShareTree::IsLeafSaturated(const Node& leaf) const {
  bool saturated = false;
  leaf.allocated.ForEachNamed([&](int kind) {
    const double wanted = leaf.request.Get(kind);
    if (wanted == 0) return;
    const bool available = (available_kinds_ >> kind) & 1;
    if (!available || leaf.allocated.Get(kind) >= wanted) saturated = true;
  });
  return saturated;
}

}  // namespace krafla
