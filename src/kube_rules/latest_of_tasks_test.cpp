#include "kube_rules/latest_of_tasks.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace krafla {
namespace {

TEST(LatestOfTasks, KeepsWhatAPlainListWouldKeep) {
  std::mt19937 random(3);
  for (const uint32_t tasks : {3U, 5U, 40U, 5000U}) {
    LatestOfTasks<int, 5> latest;
    std::map<uint32_t, int> known;
    std::deque<uint32_t> order;
    for (int step = 0; step < 3000; ++step) {
      // Some that share a list.
      const uint32_t number =
          static_cast<uint32_t>(random() % tasks) * (random() % 2 == 0 ? 1 : 1024);
      const TaskId task(number);
      int* found = latest.Find(task);
      ASSERT_EQ(found != nullptr, known.contains(number));
      if (found != nullptr) {
        ASSERT_EQ(*found, known[number]);
      }
      if (random() % 2 == 0) continue;
      ASSERT_EQ(latest.Set(task, step), step);
      if (known.insert_or_assign(number, step).second) order.push_back(number);
      if (order.size() > 5) {
        known.erase(order.front());
        order.pop_front();
      }
      if (random() % 500 == 0) {
        latest.Clear();
        known.clear();
        order.clear();
      }
    }
  }
}

TEST(LatestOfTasks, WhatWasFoundStaysWhereItIs) {
  LatestOfTasks<int, 4> latest;
  int& first = latest.Set(TaskId(7), 70);
  for (uint32_t i = 0; i < 3; ++i) latest.Set(TaskId(i), 1);
  EXPECT_EQ(&first, latest.Find(TaskId(7)));
  EXPECT_EQ(first, 70);
  latest.Set(TaskId(3), 1);
  EXPECT_EQ(latest.Find(TaskId(7)), nullptr);
}

}  // namespace
}  // namespace krafla
