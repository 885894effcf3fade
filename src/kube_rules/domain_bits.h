// The nodes of each domain of a key as bits, by position in nodes_by_name: what is said of a domain
// is then said of its nodes 64 at a time.
//
// A domain of many nodes (a zone) has a row of words, one of few (a host, a rack) a list. Adding
// either costs no more than going through all words once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kube_rules/topology_index.h"
#include "session/rows_of_bits.h"

namespace krafla {

class DomainBits {
 public:
  DomainBits(const Cluster& cluster, const TopologyKey& key);

  void Add(uint32_t domain, std::span<uint64_t> nodes) const;
  // The nodes that lack the label.
  void AddUnlabeled(std::span<uint64_t> nodes) const {
    if (!unlabeled_.empty()) AddThese(nodes, unlabeled_);
  }

 private:
  static constexpr uint32_t kNoRow = 0xffffffffU;

  struct Domain {
    uint32_t begin = 0;  // in positions_
    uint32_t end = 0;
    uint32_t row = kNoRow;  // where it begins in rows_
  };

  size_t words_;
  std::vector<Domain> domains_;
  std::vector<uint32_t> positions_;  // of nodes in domains of few
  std::vector<uint64_t> rows_;
  std::vector<uint64_t> unlabeled_;  // empty: there are none
};

}  // namespace krafla
