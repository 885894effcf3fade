#include "kube_rules/resource_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace krafla {

namespace {

constexpr int64_t kMaxScore = 100;

int64_t Whole(double amount) {
  return static_cast<int64_t>(amount);
}

// Of cpu and memory.
using Both = double __attribute__((vector_size(16)));

Both AtMost(Both a, Both limit) {
  return a < limit ? a : limit;
}

// Used shares of a node's cpu, memory and GPUs. 100: all the same.
int64_t Percentage(double deviation) {
  return static_cast<int64_t>((1 - deviation) * static_cast<double>(kMaxScore));
}
int64_t EvennessOfBoth(Both shares) {
  return Percentage(std::fabs((shares[0] - shares[1]) / 2));
}
// … of those that count, in this order.
class Shares {
 public:
  void Add(double used, double room) {
    if (room != 0) shares_[count_++] = std::min(used / room, 1.0);
  }

  int64_t Evenness() const {
    if (count_ < 2) return Percentage(0);
    if (count_ == 2) return EvennessOfBoth(Both{shares_[0], shares_[1]});
    double total = 0;
    for (int i = 0; i < count_; ++i) total += shares_[i];
    const double mean = total / count_;
    double sum = 0;
    for (int i = 0; i < count_; ++i) sum += (shares_[i] - mean) * (shares_[i] - mean);
    return Percentage(std::sqrt(sum / count_));
  }

 private:
  double shares_[3] = {};
  int count_ = 0;
};

// The average of part * 100 / room, which are whole numbers, part not above room; a resource
// without room does not count.
//
// Dividing whole numbers takes several times as long. Below this a rounded quotient cannot reach a
// whole number that the exact one does not: it is off by 2^-47 at most, and two whole numbers'
// quotient is at least 2^-44 away from the next whole number.
constexpr double kExactBelow = 0x1p44;
int64_t AveragePercent(Both part, Both room) {
  if (room[0] > 0 && room[1] > 0 && room[0] < kExactBelow && room[1] < kExactBelow) {
    const Both percent = part * static_cast<double>(kMaxScore) / room;
    return (Whole(percent[0]) + Whole(percent[1])) / 2;
  }
  int64_t sum = 0;
  int64_t count = 0;
  for (int i = 0; i < 2; ++i) {
    if (room[i] == 0) continue;
    sum += Whole(part[i]) * kMaxScore / Whole(room[i]);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

// In whole numbers.
Both UsedWith(const KubeView::Sums& sums, const ResourceScores::Asked& asked) {
  return Both{static_cast<double>(Whole(sums.nonzero_cpu + asked.placing_cpu)),
              static_cast<double>(Whole(sums.nonzero_memory + asked.placing_memory))};
}

}  // namespace

ResourceScores::ResourceScores(const Cluster& cluster, const KubeView& view)
    : cluster_(cluster),
      view_(view),
      gpu_kind_(cluster.kinds.Find("nvidia.com/gpu")),
      room_(cluster.nodes.size()) {
  for (uint32_t n = 0; n < cluster.nodes.size(); ++n) room_[NodeId(n)] = RoomOf(NodeId(n));
}

ResourceScores::Room ResourceScores::RoomOf(NodeId id) const {
  const Node& node = cluster_.nodes[id];
  return {std::trunc(node.scored_cpu), std::trunc(node.scored_memory),
          gpu_kind_ >= 0 ? cluster_.allocatable[id].Get(gpu_kind_) : 0};
}

ResourceScores::Asked ResourceScores::AskedBy(ClassId cls) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  return {.placing_cpu = spec.placing_cpu,
          .placing_memory = spec.placing_memory,
          .cpu = spec.scored_cpu,
          .memory = spec.scored_memory,
          .gpus = gpu_kind_ >= 0 ? spec.request.Get(gpu_kind_) : 0};
}

int64_t ResourceScores::LeastAllocated(const Asked& asked, NodeId node) const {
  const Both room{room_[node].cpu, room_[node].memory};
  const Both used = UsedWith(view_.SumsOf(node), asked);
  return AveragePercent(room - AtMost(used, room), room);
}

int64_t ResourceScores::MostAllocated(const Asked& asked, NodeId node) const {
  const Both room{room_[node].cpu, room_[node].memory};
  return AveragePercent(AtMost(UsedWith(view_.SumsOf(node), asked), room), room);
}

bool ResourceScores::HasBalanced(ClassId cls) const {
  const Asked asked = AskedBy(cls);
  return asked.cpu != 0 || asked.memory != 0 || asked.gpus != 0;
}

void ResourceScores::DependsOn(ClassId cls, std::vector<uint64_t>& words) const {
  const Asked asked = AskedBy(cls);
  for (const double amount :
       {asked.placing_cpu, asked.placing_memory, asked.cpu, asked.memory, asked.gpus})
    words.push_back(std::bit_cast<uint64_t>(amount));
}

int64_t ResourceScores::Balanced(const Asked& asked, NodeId node) const {
  constexpr int64_t kHalf = kMaxScore / 2;
  const auto score = [](int64_t before, int64_t after) {
    return kHalf + (kHalf + after - before) / 2;
  };
  const KubeView::Sums& sums = view_.SumsOf(node);
  const Room& room = room_[node];
  if (asked.gpus == 0 && room.cpu != 0 && room.memory != 0) {
    const Both used{sums.cpu, sums.memory};
    const Both with = used + Both{asked.cpu, asked.memory};
    const Both capacity{room.cpu, room.memory};
    constexpr Both kAll{1, 1};
    return score(EvennessOfBoth(AtMost(used / capacity, kAll)),
                 EvennessOfBoth(AtMost(with / capacity, kAll)));
  }
  Shares before;
  Shares after;
  auto add = [&](double used, double more, double capacity) {
    before.Add(used, capacity);
    after.Add(used + more, capacity);
  };
  add(sums.cpu, asked.cpu, room.cpu);
  add(sums.memory, asked.memory, room.memory);
  if (asked.gpus != 0) add(sums.gpu, asked.gpus, room.gpu);
  return score(before.Evenness(), after.Evenness());
}

void ResourceScores::AddAll(const Asked& asked, const Weights& weights, int64_t more,
                            std::span<const NodeId> nodes, std::span<double> scores) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    int64_t sum = more;
    if (weights.least_allocated != 0)
      sum += weights.least_allocated * LeastAllocated(asked, nodes[i]);
    if (weights.most_allocated != 0) sum += weights.most_allocated * MostAllocated(asked, nodes[i]);
    if (weights.balanced != 0) sum += weights.balanced * Balanced(asked, nodes[i]);
    scores[i] += static_cast<double>(sum);
  }
}

}  // namespace krafla
