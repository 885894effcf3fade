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

// Used shares of a node's cpu, memory and GPUs; those that count, in this order.
class Shares {
 public:
  void Add(double used, double room) {
    if (room != 0) shares_[count_++] = std::min(used / room, 1.0);
  }

  // 100: all the same.
  int64_t Evenness() const {
    double deviation = 0;
    if (count_ == 2) {
      deviation = std::fabs((shares_[0] - shares_[1]) / 2);
    } else if (count_ > 2) {
      double total = 0;
      for (int i = 0; i < count_; ++i) total += shares_[i];
      const double mean = total / count_;
      double sum = 0;
      for (int i = 0; i < count_; ++i) sum += (shares_[i] - mean) * (shares_[i] - mean);
      deviation = std::sqrt(sum / count_);
    }
    return static_cast<int64_t>((1 - deviation) * static_cast<double>(kMaxScore));
  }

 private:
  double shares_[3] = {};
  int count_ = 0;
};

template <class Score>
int64_t Average(int64_t cpu, int64_t cpu_room, int64_t memory, int64_t memory_room, Score&& score) {
  int64_t sum = 0;
  int64_t count = 0;
  if (cpu_room != 0) {
    sum += score(cpu, cpu_room);
    ++count;
  }
  if (memory_room != 0) {
    sum += score(memory, memory_room);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

int64_t LeastAllocatedScore(int64_t cpu, int64_t cpu_room, int64_t memory, int64_t memory_room) {
  return Average(cpu, cpu_room, memory, memory_room, [](int64_t used, int64_t room) {
    return used > room ? 0 : (room - used) * kMaxScore / room;
  });
}

int64_t MostAllocatedScore(int64_t cpu, int64_t cpu_room, int64_t memory, int64_t memory_room) {
  return Average(cpu, cpu_room, memory, memory_room, [](int64_t used, int64_t room) {
    return std::min(used, room) * kMaxScore / room;
  });
}

ResourceScores::ResourceScores(const Cluster& cluster, const KubeView& view)
    : cluster_(cluster),
      view_(view),
      gpu_kind_(cluster.kinds.Find("nvidia.com/gpu")),
      room_(cluster.nodes.size()) {
  for (uint32_t n = 0; n < cluster.nodes.size(); ++n) room_[NodeId(n)] = RoomOf(NodeId(n));
}

ResourceScores::Room ResourceScores::RoomOf(NodeId id) const {
  const Node& node = cluster_.nodes[id];
  return {Whole(node.scored_cpu), Whole(node.scored_memory),
          gpu_kind_ >= 0 ? cluster_.allocatable[id].Get(gpu_kind_) : 0};
}

int64_t ResourceScores::LeastAllocated(ClassId cls, NodeId node) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  const KubeView::Sums& sums = view_.SumsOf(node);
  return LeastAllocatedScore(Whole(sums.nonzero_cpu + spec.placing_cpu), room_[node].cpu,
                             Whole(sums.nonzero_memory + spec.placing_memory), room_[node].memory);
}

int64_t ResourceScores::MostAllocated(ClassId cls, NodeId node) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  const KubeView::Sums& sums = view_.SumsOf(node);
  return MostAllocatedScore(Whole(sums.nonzero_cpu + spec.placing_cpu), room_[node].cpu,
                            Whole(sums.nonzero_memory + spec.placing_memory), room_[node].memory);
}

bool ResourceScores::HasBalanced(ClassId cls) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  return spec.scored_cpu != 0 || spec.scored_memory != 0 ||
         (gpu_kind_ >= 0 && spec.request.Get(gpu_kind_) != 0);
}

void ResourceScores::DependsOn(ClassId cls, std::vector<uint64_t>& words) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  for (const double amount : {spec.placing_cpu, spec.placing_memory, spec.scored_cpu,
                              spec.scored_memory, gpu_kind_ >= 0 ? spec.request.Get(gpu_kind_) : 0})
    words.push_back(std::bit_cast<uint64_t>(amount));
}

int64_t ResourceScores::Balanced(ClassId cls, NodeId node) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  const KubeView::Sums& sums = view_.SumsOf(node);
  const Room& room = room_[node];
  Shares before;
  Shares after;
  auto add = [&](double used, double asked, double capacity) {
    before.Add(used, capacity);
    after.Add(used + asked, capacity);
  };
  add(sums.cpu, spec.scored_cpu, static_cast<double>(room.cpu));
  add(sums.memory, spec.scored_memory, static_cast<double>(room.memory));
  const double gpus = gpu_kind_ >= 0 ? spec.request.Get(gpu_kind_) : 0;
  if (gpus != 0) add(sums.gpu, gpus, room.gpu);
  constexpr int64_t kHalf = kMaxScore / 2;
  return kHalf + (kHalf + after.Evenness() - before.Evenness()) / 2;
}

}  // namespace krafla
