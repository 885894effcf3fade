// How much of the cluster each queue deserves: weighted water filling.
//
// 1. What is left is offered to all queues that can take more, in proportion to their weights.
// 2. A queue takes, per kind, no more than its ceiling and its request allow, and never has less
//    than its guarantee.
// 3. A queue whose request is met, or that could take nothing of the offer, drops out.
// 4. What nobody took is offered again, until nothing is left, nobody takes anything or nobody is
//    in the game.
//
// Queues are served in the order given, which matters for nothing but the rounding of sums.
#pragma once

#include <cstdint>
#include <span>

#include "model/resource.h"

namespace krafla {

struct FillQueue {
  int32_t weight = 1;  // below 0 counts as 0: the queue is offered nothing
  Resource request;    // a kind that is not named here is not wanted
  Resource ceiling;    // a kind that is not named here is not limited
  Resource guarantee;
  Resource deserved;  // the answer
};

void FillDeserved(const Resource& total, std::span<FillQueue> queues);

}  // namespace krafla
