#include "session/refusal_memory.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr size_t kWord = 64;

}  // namespace

RefusalMemory::Nodes* RefusalMemory::Find(JobId job, uint16_t role) {
  auto it = by_role_.find(uint64_t{job.value} << 16 | role);
  return it == by_role_.end() ? nullptr : &it->second;
}

RefusalMemory::Nodes& RefusalMemory::FindOrMake(JobId job, uint16_t role, size_t nodes) {
  Nodes& refused = by_role_[uint64_t{job.value} << 16 | role];
  if (refused.left.empty()) refused.left.assign((nodes + kWord - 1) / kWord, ~uint64_t{0});
  return refused;
}

// Who has said that.
std::vector<uint64_t>& RefusalMemory::Nodes::Saying(Refusal refusal) {
  const auto found = std::find_if(said.begin(), said.end(), [&](const Said& s) {
    return s.refusal.codes == refusal.codes && s.refusal.reason == refusal.reason;
  });
  if (found != said.end()) return found->nodes;
  return said.emplace_back(refusal, std::vector<uint64_t>(left.size(), 0)).nodes;
}

void RefusalMemory::Nodes::Add(size_t block, uint64_t nodes, Refusal refusal) {
  Saying(refusal)[block] |= nodes;
  left[block] &= ~nodes;
}

void RefusalMemory::Nodes::Add(RowOfBits nodes, Refusal refusal) {
  AddThese(Saying(refusal), nodes);
  TakeOff(left, nodes);
}

}  // namespace krafla
