// Hierarchical dominant resource fairness: a tree of weighted groups with the jobs as its leaves.
//
// 1. A leaf holds what its job holds; its share is its dominant share of the cluster.
// 2. A leaf is saturated when more would not help it: it has all it asked for in some kind, or it
//    holds a kind it asked for of which the cluster has nothing more to give.
// 3. An inner node holds the sum of its children that hold anything. Children that are not
//    saturated are scaled down to the smallest share among them first, so that a child that has
//    grown on one kind does not use up its siblings' claim to the others. It is saturated when all
//    its children are.
// 4. Two queues are compared where their paths part: unsaturated before saturated, then the smaller
//    share per weight.
//
// What a node says depends on its leaves alone. A change marks the way to the root, and the next
// question brings the marked nodes up to date: as good as building the tree anew, to the last bit,
// because a node always adds up its children in the order of their keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource.h"

namespace krafla {

class ShareTree {
 public:
  using NodeIndex = uint32_t;
  static constexpr NodeIndex kRoot = 0;

  explicit ShareTree(Resource total);

  // `hierarchy` "root/a/b" puts the leaf below node b below node a; the first word is the root,
  // whatever it says. `weights` "1/2/3" belongs to it word by word and counts where a node is made:
  // the first leaf on a path decides. A weight that is missing or no number of at least 1 is 1.
  // `key` names the leaf among its siblings; it has a '/' in it, so that it is no group's name.
  NodeIndex AddLeaf(std::string_view hierarchy, std::string_view weights, std::string key,
                    Resource request);

  void SetAllocated(NodeIndex leaf, const Resource& allocated);
  // What everybody together holds: kinds that are used up are not to be had.
  void SetTotalAllocated(const Resource& total_allocated);

  // Where a hierarchy leads, resolved once. Nodes that no leaf has made are missing at the end.
  struct Path {
    std::vector<NodeIndex> nodes;  // from the root on
  };
  Path Find(std::string_view hierarchy) const;

  // Less than 0: the left one is served first. Paths are compared as far as both go.
  double Compare(const Path& left, const Path& right);

  double Share(NodeIndex node);
  bool Saturated(NodeIndex node);

 private:
  struct Node {
    std::string key;
    NodeIndex parent = kRoot;
    double weight = 1;
    double share = 0;
    bool is_leaf = false;
    bool saturated = false;
    bool stale = false;
    Resource allocated;                                    // of an inner node: scaled
    Resource request;                                      // of a leaf
    std::vector<NodeIndex> children;                       // by key
    std::map<std::string, NodeIndex, std::less<>> groups;  // those of them that are inner nodes
  };

  NodeIndex AddNode(NodeIndex parent, Node node);
  void MarkStale(NodeIndex node);
  void Refresh();
  void RefreshNode(Node& node);
  bool IsLeafSaturated(const Node& leaf) const;

  Resource total_;
  uint64_t available_kinds_ = 0;  // bit set: the cluster has more of it to give
  // Parents come before their children, so going backwards meets children first. No recursion: a
  // hierarchy is as deep as an annotation is long.
  std::vector<Node> nodes_;
  std::vector<NodeIndex> stale_;
  bool all_stale_ = false;
};

}  // namespace krafla
