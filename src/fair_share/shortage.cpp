#include "fair_share/shortage.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace krafla {

std::string DescribeShortage(std::string_view summary, std::string_view word,
                             const Resource& amount, const Resource& limit, const Resource& wanted,
                             const ResourceKinds& kinds) {
  std::vector<int> short_of;
  for (uint64_t rest = wanted.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    if (kind == ResourceKinds::kPods) continue;
    if (wanted.Get(kind) > 0 && amount.Get(kind) > limit.Get(kind)) short_of.push_back(kind);
  }
  const auto rank = [](int kind) { return std::min<int>(kind, ResourceKinds::kPods); };
  std::sort(short_of.begin(), short_of.end(), [&](int l, int r) {
    if (rank(l) != rank(r)) return rank(l) < rank(r);
    return kinds.Name(l) < kinds.Name(r);
  });

  std::string text(summary);
  for (size_t i = 0; i < short_of.size(); ++i) {
    text.append(i == 0 ? ": " : ", ").append(word).append(" ").append(kinds.Name(short_of[i]));
  }
  return text;
}

}  // namespace krafla
