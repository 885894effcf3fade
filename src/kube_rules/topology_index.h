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
  // Calls `visit` at least once for every domain whose number is above 0, and for no other.
  template <class Visit>
  void ForEachAboveZero(Visit&& visit) const {
    if (all_.empty()) {
      for (const auto& [domain, count] : few_)
        if (count > 0) visit(domain);
    } else if (key->domains() <= kFew) {
      for (uint32_t domain = 0; domain < all_.size(); ++domain)
        if (all_[domain] > 0) visit(domain);
    } else {
      for (const uint32_t domain : touched_)
        if (all_[domain] > 0) visit(domain);
    }
  }

  const TopologyKey* key;

 private:
  static constexpr size_t kFew = 64;

  std::vector<int32_t> all_;                       // by domain; empty: only
  std::vector<std::pair<uint32_t, int32_t>> few_;  // these, by domain
  // Of a column of more than a few: where it was not 0 at some time, in no order; some twice.
  std::vector<uint32_t> touched_;
};

class DomainBits;

class TopologyIndex {
 public:
  explicit TopologyIndex(const Cluster& cluster);
  ~TopologyIndex();

  // Both stay at their addresses.
  const TopologyKey& Of(StrId label);
  const DomainBits& BitsOf(const TopologyKey& key);
  // Whether anything has been derived yet.
  bool any() const { return !keys_.empty(); }

 private:
  const Cluster& cluster_;
  std::vector<std::unique_ptr<TopologyKey>> keys_;  // a handful
  std::vector<std::pair<const TopologyKey*, std::unique_ptr<DomainBits>>> bits_;
};

}  // namespace krafla
