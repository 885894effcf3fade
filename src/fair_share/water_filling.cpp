#include "fair_share/water_filling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace krafla {

namespace {

int64_t WeightOf(const FillQueue& queue) {
  return std::max<int32_t>(queue.weight, 0);
}

// What the queue has after it was offered `offer` on top of what it has.
Resource Take(const FillQueue& queue, const Resource& offer) {
  Resource taken = queue.deserved;
  taken.Add(offer);
  taken.CapBy(queue.ceiling, Missing::kInfinity);
  taken.CapBy(queue.request, Missing::kZero);
  return Resource::MaxOf(taken, queue.guarantee);
}

}  // namespace

// Ends, because with weights of 0 and more no queue ever loses what it has: in every round what is
// left becomes less, or the round is the last.
void FillDeserved(const Resource& total, std::span<FillQueue> queues) {
  for (FillQueue& queue : queues) queue.deserved = Resource();
  std::vector<FillQueue*> thirsty;
  for (FillQueue& queue : queues) thirsty.push_back(&queue);

  Resource left = total;
  while (true) {
    int64_t total_weight = 0;
    for (const FillQueue* queue : thirsty) total_weight += WeightOf(*queue);
    if (total_weight == 0) return;

    Resource given;
    std::vector<FillQueue*> still_thirsty;
    for (FillQueue* queue : thirsty) {
      Resource offer = left;
      offer.Scale(static_cast<double>(WeightOf(*queue)) / static_cast<double>(total_weight));
      Resource deserved = Take(*queue, offer);
      given.Add(Resource::Exceeding(deserved, queue->deserved));
      const bool content =
          queue->request.LessEqual(deserved, Missing::kZero) || deserved.SameAs(queue->deserved);
      queue->deserved = std::move(deserved);
      if (!content) still_thirsty.push_back(queue);
    }
    thirsty = std::move(still_thirsty);

    Resource still_left = Resource::Exceeding(left, given);
    if (still_left.IsEmpty() || still_left.SameAs(left)) return;
    left = std::move(still_left);
  }
}

}  // namespace krafla
