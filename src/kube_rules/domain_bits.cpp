#include "kube_rules/domain_bits.h"

#include "base/words_of_bits.h"

namespace krafla {

DomainBits::DomainBits(const Cluster& cluster, const TopologyKey& key)
    : words_((cluster.nodes_by_name.size() + 63) / 64), domains_(key.domains()) {
  uint32_t listed = 0;
  for (uint32_t d = 0; d < domains_.size(); ++d) {
    if (key.nodes_in[d].size() > words_) {
      domains_[d].row = static_cast<uint32_t>(rows_.size());
      rows_.resize(rows_.size() + words_, 0);
    } else {
      domains_[d].begin = domains_[d].end = listed;
      listed += static_cast<uint32_t>(key.nodes_in[d].size());
    }
  }
  positions_.resize(listed);
  if (!key.on_all_nodes) unlabeled_.assign(words_, 0);
  for (uint32_t p = 0; p < cluster.nodes_by_name.size(); ++p) {
    const uint32_t d = key.Of(cluster.nodes_by_name[p]);
    if (d == TopologyKey::kNoDomain) {
      SetBit(unlabeled_, p, true);
    } else if (domains_[d].row != kNoRow) {
      SetBit(std::span(rows_).subspan(domains_[d].row, words_), p, true);
    } else {
      positions_[domains_[d].end++] = p;
    }
  }
}

void DomainBits::Add(uint32_t domain, std::span<uint64_t> nodes) const {
  const Domain& d = domains_[domain];
  if (d.row != kNoRow) AddThese(nodes, std::span(rows_).subspan(d.row, words_));
  for (uint32_t i = d.begin; i < d.end; ++i) SetBit(nodes, positions_[i], true);
}

}  // namespace krafla
