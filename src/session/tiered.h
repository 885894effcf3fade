// Hooks of one kind, in tier order.
#pragma once

#include <cstdint>
#include <vector>

namespace krafla {

template <class Fn>
struct TieredEntry {
  uint8_t plugin;  // index into Session::plugin_names()
  const Fn* call;  // owned by the session's PluginHooks
};

// tiers[i] are the answers of tier i, in the order of the configuration; empty tiers are kept.
template <class Fn>
using Tiered = std::vector<std::vector<TieredEntry<Fn>>>;

}  // namespace krafla
