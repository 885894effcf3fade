// Nodes grouped by the value of a label: the key "zone" has the domains z1, z2, … Labels do not
// change within a session, so a key is looked at once; after that a node's domain is a number.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster.h"

namespace krafla {

struct TopologyKey {
  static constexpr uint32_t kNoDomain = 0xffffffffU;

  StrId label;
  Table<NodeId, uint32_t> domain_of;          // kNoDomain: the node lacks the label
  std::vector<std::vector<NodeId>> nodes_in;  // by domain
  std::unordered_map<StrId, uint32_t> domain_by_value;
  bool on_all_nodes = true;  // no node lacks the label

  uint32_t Of(NodeId node) const { return domain_of[node]; }
  size_t domains() const { return nodes_in.size(); }
};

// A number per domain of one key. Of many domains (hosts) mostly a few have one that is not 0:
// those are listed as long as they are few.
class DomainCounts {
 public:
  explicit DomainCounts(const TopologyKey& k) : key(&k) {
    if (k.domains() <= kFew) all_.assign(k.domains(), 0);
  }

  int32_t At(uint32_t domain) const;
  void Add(uint32_t domain, int32_t step);

  const TopologyKey* key;

 private:
  static constexpr size_t kFew = 64;

  std::vector<int32_t> all_;                       // by domain; empty: only
  std::vector<std::pair<uint32_t, int32_t>> few_;  // these, by domain
};

class TopologyIndex {
 public:
  explicit TopologyIndex(const Cluster& cluster) : cluster_(cluster) {}

  // Stays at its address.
  const TopologyKey& Of(StrId label);
  // Whether anything has been derived yet.
  bool any() const { return !keys_.empty(); }

 private:
  const Cluster& cluster_;
  std::vector<std::unique_ptr<TopologyKey>> keys_;  // a handful
};

}  // namespace krafla
