#include "sim/event_queue.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(EventQueue, GivesTheSoonestFirstAndKeepsTheOrderOfEquals) {
  EventQueue queue;
  queue.Plan({20}, TimerKind::kPodEnds, 1);
  queue.Plan({10}, TimerKind::kPodEnds, 2);
  queue.Plan({20}, TimerKind::kPodStarts, 3);
  queue.Plan({10}, TimerKind::kPodStarts, 4);
  queue.Plan({20}, TimerKind::kPodGone, 5);
  std::vector<uint32_t> order;
  while (!queue.empty()) order.push_back(queue.Take().subject);
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 4, 1, 3, 5}));
}

}  // namespace
}  // namespace krafla
