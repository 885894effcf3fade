#include "session/amount_steps.h"

#include <algorithm>

namespace krafla {

AmountSteps AmountSteps::Of(const Cluster& cluster, double slack) {
  AmountSteps steps;
  steps.by_kind.resize(static_cast<size_t>(cluster.kinds.size()));
  // Steps only have to be telling: of very many classes some will do. Not too few: of a hundred
  // amounts that are asked for alike often, one in twelve would be missed by 256, and nodes between
  // two steps are compared one by one.
  constexpr size_t kLookedAt = 2048;
  const size_t classes = cluster.classes.size();
  const size_t stride = classes / kLookedAt + 1;
  for (size_t c = 0; c < classes; c += stride) {
    const Resource& request = cluster.classes[ClassId(static_cast<uint32_t>(c))].request;
    for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
      const int kind = __builtin_ctzll(rest);
      steps.by_kind[static_cast<size_t>(kind)].push_back(request.Get(kind) - slack);
    }
  }
  for (std::vector<double>& amounts : steps.by_kind) {
    std::sort(amounts.begin(), amounts.end());
    amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
    const size_t n = amounts.size();
    if (n <= kMost) continue;
    // Evenly, the largest among them.
    for (size_t i = 0; i < kMost; ++i) amounts[i] = amounts[(i + 1) * n / kMost - 1];
    amounts.resize(kMost);
  }
  return steps;
}

}  // namespace krafla
