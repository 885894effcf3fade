// The order of namespaced names: by the bytes of "namespace/name".
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace krafla {

// '/' sorts after '-' and '.', so "team-a/x" comes before "team/x": the namespaces alone do not
// decide.
inline bool NamespacedLess(std::string_view ns_a, std::string_view name_a, std::string_view ns_b,
                           std::string_view name_b) {
  if (ns_a == ns_b) return name_a < name_b;
  std::string a(ns_a);
  std::string b(ns_b);
  return a.append("/").append(name_a) < b.append("/").append(name_b);
}

// The numbers of the items in order of less(item, item). Items that are large are thus not moved
// around, and what is sorted already, as everything kubectl prints, costs one look.
template <class List, class Less>
std::vector<uint32_t> SortedOrder(const List& list, Less&& less) {
  std::vector<uint32_t> order(list.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto less_at = [&](uint32_t a, uint32_t b) { return less(list[a], list[b]); };
  if (!std::is_sorted(order.begin(), order.end(), less_at))
    std::sort(order.begin(), order.end(), less_at);
  return order;
}

}  // namespace krafla
