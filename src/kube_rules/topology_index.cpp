#include "kube_rules/topology_index.h"

#include <algorithm>

#include "kube_rules/domain_bits.h"

namespace krafla {

namespace {

bool IsBefore(const std::pair<uint32_t, int32_t>& entry, uint32_t domain) {
  return entry.first < domain;
}

}  // namespace

int32_t DomainCounts::At(uint32_t domain) const {
  if (!all_.empty()) return all_[domain];
  const auto at = std::lower_bound(few_.begin(), few_.end(), domain, IsBefore);
  return at != few_.end() && at->first == domain ? at->second : 0;
}

void DomainCounts::Add(uint32_t domain, int32_t step) {
  if (all_.empty() && few_.size() == kFew) {
    all_.assign(key->domains(), 0);
    for (const auto& [listed, count] : few_) {
      all_[listed] = count;
      if (count != 0) touched_.push_back(listed);
    }
  }
  if (!all_.empty()) {
    if (all_[domain] == 0 && all_.size() > kFew) touched_.push_back(domain);
    all_[domain] += step;
    return;
  }
  const auto at = std::lower_bound(few_.begin(), few_.end(), domain, IsBefore);
  if (at != few_.end() && at->first == domain) {
    at->second += step;
  } else {
    few_.insert(at, {domain, step});
  }
}

TopologyIndex::TopologyIndex(const Cluster& cluster) : cluster_(cluster) {}

TopologyIndex::~TopologyIndex() = default;

const DomainBits& TopologyIndex::BitsOf(const TopologyKey& key) {
  for (const auto& [of, bits] : bits_)
    if (of == &key) return *bits;
  return *bits_.emplace_back(&key, std::make_unique<DomainBits>(cluster_, key)).second;
}

const TopologyKey& TopologyIndex::Of(StrId label) {
  for (const auto& key : keys_)
    if (key->label == label) return *key;
  auto key = std::make_unique<TopologyKey>();
  key->label = label;
  key->domain_of.Reset(cluster_.nodes.size(), TopologyKey::kNoDomain);
  for (const NodeId node : cluster_.nodes_by_name) {
    const StrId value = FindLabel(cluster_.nodes[node].labels, label);
    if (!value.valid()) {
      key->on_all_nodes = false;
      continue;
    }
    const uint32_t next = static_cast<uint32_t>(key->nodes_in.size());
    const uint32_t domain = key->domain_by_value.try_emplace(value, next).first->second;
    if (domain == next) key->nodes_in.emplace_back();
    key->nodes_in[domain].push_back(node);
    key->domain_of[node] = domain;
  }
  keys_.push_back(std::move(key));
  return *keys_.back();
}

}  // namespace krafla
