// The order of namespaced names: by the bytes of "namespace/name".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace krafla {

// '/' sorts after '-' and '.', so "team-a/x" comes before "team/x": the namespaces alone do not decide.
inline bool NamespacedLess(std::string_view ns_a, std::string_view name_a, std::string_view ns_b,
                           std::string_view name_b) {
  if (ns_a == ns_b) return name_a < name_b;
  std::string a(ns_a);
  std::string b(ns_b);
  return a.append("/").append(name_a) < b.append("/").append(name_b);
}

}  // namespace krafla
