#include "explain/amount_words.h"

#include <fmt/format.h>

#include <cmath>

namespace krafla {

namespace {

std::string Bytes(double bytes) {
  static constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return bytes == std::floor(bytes) ? fmt::format("{}{}", bytes, kUnits[unit])
                                    : fmt::format("{:.1f}{}", bytes, kUnits[unit]);
}

std::string Plain(double milli) {
  const double whole = milli / 1000;
  return whole == std::floor(whole) ? fmt::format("{}", whole) : fmt::format("{:.2f}", whole);
}

}  // namespace

std::string AmountText(double amount, int kind) {
  if (kind == ResourceKinds::kPods) return fmt::format("{}", amount);
  return kind == ResourceKinds::kMemory ? Bytes(amount) : Plain(amount);
}

std::string AmountsText(const Resource& resource, const ResourceKinds& kinds) {
  std::string text =
      fmt::format("{} cpu, {} memory", Plain(resource.cpu()), Bytes(resource.memory()));
  for (int kind = ResourceKinds::kPods + 1; kind < kinds.size(); ++kind)
    if (resource.Get(kind) > 0)
      text += fmt::format(", {} {}", Plain(resource.Get(kind)), kinds.Name(kind));
  return text;
}

std::string NamedAmountsText(const Resource& resource, const ResourceKinds& kinds) {
  std::string text;
  for (int kind = 0; kind < kinds.size(); ++kind) {
    if (kind == ResourceKinds::kPods || resource.Get(kind) < kTolerance) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", AmountText(resource.Get(kind), kind),
                        kinds.Name(kind));
  }
  return text.empty() ? "nothing" : text;
}

std::string PodCount(size_t pods) {
  return fmt::format("{} pod{}", pods, pods == 1 ? "" : "s");
}

}  // namespace krafla
