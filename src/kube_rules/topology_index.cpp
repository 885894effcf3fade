#include "kube_rules/topology_index.h"

namespace krafla {

const TopologyKey& TopologyIndex::Of(StrId label) {
  for (const auto& key : keys_)
    if (key->label == label) return *key;
  auto key = std::make_unique<TopologyKey>();
  key->label = label;
  key->domain_of.Reset(cluster_.nodes.size(), TopologyKey::kNoDomain);
  for (const NodeId node : cluster_.nodes_by_name) {
    const StrId value = FindLabel(cluster_.nodes[node].labels, label);
    if (!value.valid()) continue;
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
