#include "kube_rules/resource_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "base/four_doubles.h"
#include "base/four_words.h"
#include "base/two_doubles.h"

namespace krafla {

namespace {

constexpr int64_t kMaxScore = 100;

int64_t Whole(double amount) {
  return static_cast<int64_t>(amount);
}

// Of cpu and memory.
using Both = TwoDoubles;

// They are read together.
template <class T>
constexpr bool kMemoryIsNextToCpu = offsetof(T, memory) == offsetof(T, cpu) + sizeof(double);
static_assert(kMemoryIsNextToCpu<KubeView::Sums> && kMemoryIsNextToCpu<KubeView::Room> &&
              offsetof(KubeView::Sums, nonzero_memory) ==
                  offsetof(KubeView::Sums, nonzero_cpu) + sizeof(double));

// Without what is behind the point.
Both WholeOf(Both amounts) {
  return Both{static_cast<double>(Whole(amounts[0])), static_cast<double>(Whole(amounts[1]))};
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
// There is some of both, and no more than quotients are exact for: nearly all nodes.
bool IsPlain(Both room) {
  return room[0] > 0 && room[0] < kExactBelow && room[1] > 0 && room[1] < kExactBelow;
}
int64_t AveragePercent(Both part, Both room) {
  if (IsPlain(room)) {
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

Both BothOf(const KubeView::Room& room) {
  return Both{room.cpu, room.memory};
}

// In whole numbers, as `room` is; no more than that.
Both UsedWith(const KubeView::Sums& sums, const ResourceScores::Asked& asked, Both room) {
  const Both used{sums.nonzero_cpu + asked.placing_cpu, sums.nonzero_memory + asked.placing_memory};
  return WholeOf(LowerOf(used, room));
}

// By how even the shares are before the pod comes, and then.
int64_t BalancedScore(int64_t before, int64_t after) {
  constexpr int64_t kHalf = kMaxScore / 2;
  return kHalf + (kHalf + after - before) / 2;
}

// Scores of nodes are a tenth of a cycle with many shapes of pods. So those of plain nodes are made
// four at a time, with nothing to call and little to decide: as AveragePercent and Balanced have
// them, step by step. What is whole is so in an int, which a percentage fits.

// The average of two percentages.
KRAFLA_IN_PLACE FourInts PlainPercents(const FourPairs& part, const FourPairs& room) {
  const FourDoubles most = FourTimes(static_cast<double>(kMaxScore));
  return ((part.first * most / room.first).Whole() + (part.second * most / room.second).Whole())
      .Halved();
}

// From 50 to 100: shares are from 0 to 1.
KRAFLA_IN_PLACE FourInts PlainEvenness(const FourPairs& used, const FourPairs& room) {
  const FourDoubles all = FourTimes(1.0);
  const FourDoubles half =
      (LowerOf(used.first / room.first, all) - LowerOf(used.second / room.second, all)) /
      FourTimes(2.0);
  return ((all - half.Absolute()) * FourTimes(static_cast<double>(kMaxScore))).Whole();
}

KRAFLA_IN_PLACE FourInts PlainBalanced(const FourInts& before, const FourInts& after) {
  const FourInts half = FourTimes(static_cast<int32_t>(kMaxScore / 2));
  return half + (half + after - before).Halved();
}

// Whether there is nothing behind the point, and none is below zero.
KRAFLA_IN_PLACE FourAnswers AreNaturalNumbers(const FourDoubles& amounts) {
  // Beside this there is no room for what is behind the point.
  const FourDoubles whole_from = FourTimes(0x1p52);
  return (amounts + whole_from - whole_from == amounts) & (FourTimes(0.0) <= amounts);
}

// Whether quotients by them are exact enough.
KRAFLA_IN_PLACE FourAnswers ArePlain(const FourDoubles& room) {
  return (FourTimes(0.0) < room) & (room < FourTimes(kExactBelow));
}

// Weights with which sums of scores are exact as floating point.
bool ArePlain(const ResourceScores::Weights& weights, int64_t more) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto is_plain = [](int64_t number) { return number > -kMost && number < kMost; };
  return is_plain(weights.least_allocated) && is_plain(weights.most_allocated) &&
         is_plain(weights.balanced) && is_plain(more);
}

}  // namespace

ResourceScores::ResourceScores(const Cluster& cluster, const KubeView& view)
    : cluster_(cluster), view_(view), gpu_kind_(cluster.kinds.Find("nvidia.com/gpu")) {}

ResourceScores::Asked ResourceScores::AskedBy(ClassId cls) const {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  return {.placing_cpu = spec.placing_cpu,
          .placing_memory = spec.placing_memory,
          .cpu = spec.scored_cpu,
          .memory = spec.scored_memory,
          .gpus = gpu_kind_ >= 0 ? spec.request.Get(gpu_kind_) : 0};
}

int64_t ResourceScores::LeastAllocated(const Asked& asked, NodeId node) const {
  const Both room = BothOf(view_.RoomOf(node));
  const Both used = UsedWith(view_.SumsOf(node), asked, room);
  return AveragePercent(room - used, room);
}

int64_t ResourceScores::MostAllocated(const Asked& asked, NodeId node) const {
  const Both room = BothOf(view_.RoomOf(node));
  return AveragePercent(UsedWith(view_.SumsOf(node), asked, room), room);
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
  const KubeView::Sums& sums = view_.SumsOf(node);
  const KubeView::Room& room = view_.RoomOf(node);
  Shares before;
  Shares after;
  auto add = [&](double used, double more, double capacity) {
    before.Add(used, capacity);
    after.Add(used + more, capacity);
  };
  add(sums.cpu, asked.cpu, room.cpu);
  add(sums.memory, asked.memory, room.memory);
  if (asked.gpus != 0) add(sums.gpu, asked.gpus, cluster_.allocatable[node].Get(gpu_kind_));
  return BalancedScore(before.Evenness(), after.Evenness());
}

int64_t ResourceScores::Sum(const Asked& asked, const Weights& weights, NodeId node) const {
  int64_t sum = 0;
  if (weights.least_allocated != 0) sum += weights.least_allocated * LeastAllocated(asked, node);
  if (weights.most_allocated != 0) sum += weights.most_allocated * MostAllocated(asked, node);
  if (weights.balanced != 0) sum += weights.balanced * Balanced(asked, node);
  return sum;
}

KRAFLA_WIDE void ResourceScores::AddAll(const Asked& asked, const Weights& weights, int64_t more,
                                        std::span<const NodeId> nodes,
                                        std::span<double> scores) const {
  // Their memory has been asked for where they were chosen (NodeSearch::AskScores).
  const auto add_one = [&](size_t i) KRAFLA_LAMBDA_IN_PLACE {
    scores[i] += static_cast<double>(more + Sum(asked, weights, nodes[i]));
  };
  const bool is_plain = asked.gpus == 0 && ArePlain(weights, more);
  const auto weighted = [](int64_t weight, const FourInts& scores_of_four) KRAFLA_LAMBDA_IN_PLACE {
    return FourTimes(static_cast<double>(weight)) * FourDoubles::Of(scores_of_four);
  };
  constexpr size_t kFour = FourDoubles::kSize;
  size_t i = 0;
  for (; is_plain && i + kFour <= nodes.size(); i += kFour) {
    const NodeId* four = &nodes[i];
    const FourPairs room = FourPairs::Load(
        [&](size_t at) KRAFLA_LAMBDA_IN_PLACE { return &view_.RoomOf(four[at]).cpu; });
    const FourPairs nonzero = FourPairs::Load(
        [&](size_t at) KRAFLA_LAMBDA_IN_PLACE { return &view_.SumsOf(four[at]).nonzero_cpu; });
    const FourPairs used{
        .first = LowerOf(nonzero.first + FourTimes(asked.placing_cpu), room.first),
        .second = LowerOf(nonzero.second + FourTimes(asked.placing_memory), room.second)};
    const FourPairs counted = FourPairs::Load(
        [&](size_t at) KRAFLA_LAMBDA_IN_PLACE { return &view_.SumsOf(four[at]).cpu; });
    const FourAnswers all_plain = ArePlain(room.first) & ArePlain(room.second) &
                                  AreNaturalNumbers(used.first) & AreNaturalNumbers(used.second) &
                                  (FourTimes(0.0) <= counted.first) &
                                  (FourTimes(0.0) <= counted.second);
    if (!all_plain.AllYes()) [[unlikely]] {
      for (size_t at = 0; at < kFour; ++at) add_one(i + at);
      continue;
    }
    FourDoubles sum = FourTimes(static_cast<double>(more));
    if (weights.least_allocated != 0)
      sum = sum +
            weighted(weights.least_allocated, PlainPercents({.first = room.first - used.first,
                                                             .second = room.second - used.second},
                                                            room));
    if (weights.most_allocated != 0)
      sum = sum + weighted(weights.most_allocated, PlainPercents(used, room));
    if (weights.balanced != 0) {
      const FourPairs with{.first = counted.first + FourTimes(asked.cpu),
                           .second = counted.second + FourTimes(asked.memory)};
      sum = sum + weighted(weights.balanced,
                           PlainBalanced(PlainEvenness(counted, room), PlainEvenness(with, room)));
    }
    (FourDoubles::Load(&scores[i]) + sum).Store(&scores[i]);
  }
  for (; i < nodes.size(); ++i) add_one(i);
}

}  // namespace krafla
