#include "fair_share/water_filling.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/amounts.h"

namespace krafla {
namespace {

class WaterFillingTest : public testing::Test {
 protected:
  // A queue without limits of its own.
  void AddQueue(int32_t weight, std::string_view request, std::string_view ceiling = "",
                std::string_view guarantee = "") {
    FillQueue queue;
    queue.weight = weight;
    queue.request = amounts_(request);
    queue.ceiling = amounts_(ceiling.empty() ? "cpu 1e300, memory 1e300" : ceiling);
    queue.guarantee = amounts_(guarantee);
    queues_.push_back(queue);
  }

  std::vector<std::string> Fill(std::string_view total) {
    FillDeserved(amounts_(total), queues_);
    std::vector<std::string> deserved;
    for (const FillQueue& queue : queues_)
      deserved.push_back(ToString(queue.deserved, amounts_.kinds));
    return deserved;
  }

  using Texts = std::vector<std::string>;

  Amounts amounts_;
  std::vector<FillQueue> queues_;
};

TEST_F(WaterFillingTest, SharesByWeight) {
  AddQueue(1, "cpu 8000, memory 80");
  AddQueue(3, "cpu 8000, memory 80");
  EXPECT_EQ(Fill("cpu 8000, memory 80"),
            (Texts{"cpu 2000.00, memory 20.00", "cpu 6000.00, memory 60.00"}));
}

TEST_F(WaterFillingTest, WhatOneDoesNotWantGoesToTheOthers) {
  AddQueue(1, "cpu 1000");
  AddQueue(1, "cpu 8000");
  EXPECT_EQ(Fill("cpu 8000"), (Texts{"cpu 1000.00, memory 0.00", "cpu 7000.00, memory 0.00"}));
}

TEST_F(WaterFillingTest, WhatACeilingForbidsGoesToTheOthers) {
  AddQueue(1, "cpu 8000", "cpu 2000, memory 1e300");
  AddQueue(1, "cpu 8000");
  EXPECT_EQ(Fill("cpu 8000"), (Texts{"cpu 2000.00, memory 0.00", "cpu 6000.00, memory 0.00"}));
}

TEST_F(WaterFillingTest, AGuaranteeIsDeservedEvenWhenNothingIsRequested) {
  AddQueue(1, "", "", "cpu 3000, a 2");
  AddQueue(1, "cpu 8000, a 4");
  EXPECT_EQ(Fill("cpu 8000, a 4"),
            (Texts{"cpu 3000.00, memory 0.00, a 2.00", "cpu 5000.00, memory 0.00, a 2.00"}));
}

TEST_F(WaterFillingTest, NothingIsTakenBackForAGuaranteeThatComesLate) {
  // Both take half in the first round; the guarantee comes on top of it.
  AddQueue(1, "cpu 10000");
  AddQueue(1, "", "", "cpu 6000");
  EXPECT_EQ(Fill("cpu 10000"), (Texts{"cpu 5000.00, memory 0.00", "cpu 6000.00, memory 0.00"}));
}

TEST_F(WaterFillingTest, KindsAreFilledIndependently) {
  AddQueue(1, "cpu 9000, a 1");
  AddQueue(1, "cpu 1000, a 8");
  AddQueue(2, "memory 10");
  EXPECT_EQ(
      Fill("cpu 8000, memory 40, a 8, b 5"),
      (Texts{"cpu 7000.00, memory 0.00, a 1.00, b 0.00", "cpu 1000.00, memory 0.00, a 7.00, b 0.00",
             "cpu 0.00, memory 10.00, a 0.00, b 0.00"}));
}

TEST_F(WaterFillingTest, WithoutWeightThereIsNothing) {
  AddQueue(0, "cpu 8000");
  AddQueue(-5, "cpu 8000");
  EXPECT_EQ(Fill("cpu 8000"), (Texts{"cpu 0.00, memory 0.00", "cpu 0.00, memory 0.00"}));
  AddQueue(1, "cpu 2000");
  EXPECT_EQ(Fill("cpu 8000")[2], "cpu 2000.00, memory 0.00");
  EXPECT_EQ(Fill("cpu 8000")[1], "cpu 0.00, memory 0.00");
}

TEST_F(WaterFillingTest, NoQueuesAndNoClusterAreFine) {
  EXPECT_EQ(Fill("cpu 8000"), Texts{});
  AddQueue(1, "cpu 8000");
  EXPECT_EQ(Fill(""), (Texts{"cpu 0.00, memory 0.00"}));
}

// The same game, played naively: one map per amount, an absent kind is absent.
class NaiveFilling {
 public:
  using Amount = std::map<int, double>;

  struct Queue {
    int32_t weight;
    Amount request, ceiling, guarantee, deserved;
  };

  static Amount From(const Resource& resource) {
    Amount amount;
    for (int kind = 0; kind < ResourceKinds::kMax; ++kind)
      if (resource.Has(kind)) amount[kind] = resource.Get(kind);
    return amount;
  }

  static double Of(const Amount& amount, int kind) {
    const auto found = amount.find(kind);
    return found == amount.end() ? 0 : found->second;
  }

  static void Fill(Amount left, std::vector<Queue>& queues) {
    for (Queue& queue : queues) queue.deserved = {{0, 0}, {1, 0}};
    std::set<const Queue*> content;
    while (true) {
      double weights = 0;
      for (const Queue& queue : queues) weights += content.contains(&queue) ? 0 : queue.weight;
      if (weights == 0) return;
      const Amount offered = left;
      Amount taken;
      for (Queue& queue : queues) {
        if (content.contains(&queue)) continue;
        const Amount before = queue.deserved;
        Offer(queue, offered, queue.weight / weights);
        bool met = true;
        for (const auto& [kind, amount] : queue.request)
          met = met && LessEqualAmount(amount, Of(queue.deserved, kind));
        if (met || queue.deserved == before) content.insert(&queue);
        for (const auto& [kind, amount] : queue.deserved)
          if (amount > Of(before, kind)) taken[kind] += amount - Of(before, kind);
      }
      bool nothing_left = true;
      for (auto& [kind, amount] : left) {
        amount = std::max(amount - Of(taken, kind), 0.0);
        if (kind != ResourceKinds::kPods && amount >= kTolerance) nothing_left = false;
      }
      // What is used up is no longer on the table, and counts as a difference.
      std::erase_if(left, [](const auto& item) { return item.first > 1 && item.second == 0; });
      if (nothing_left || left == offered) return;
    }
  }

 private:
  static void Offer(Queue& queue, const Amount& offered, double fraction) {
    for (const auto& [kind, amount] : offered) queue.deserved[kind] += amount * fraction;
    for (auto& [kind, amount] : queue.deserved) {
      if (queue.ceiling.contains(kind)) amount = std::min(amount, queue.ceiling[kind]);
      amount = std::min(amount, Of(queue.request, kind));
    }
    for (const auto& [kind, amount] : queue.guarantee)
      queue.deserved[kind] = std::max(queue.deserved[kind], amount);
  }
};

class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {}

  int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  Resource Amount(int limit) {
    Resource amount;
    amount.Set(ResourceKinds::kCpu, Below(limit) * 100);
    amount.Set(ResourceKinds::kMemory, Below(limit) * 1048576.0);
    for (int kind = ResourceKinds::kPods; kind < 6; ++kind)
      if (Below(2) == 0) amount.Set(kind, Below(limit) * 10);
    return amount;
  }

 private:
  std::mt19937 random_;
};

TEST(WaterFilling, AgreesWithTheNaiveGameToTheLastBit) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomWorld world(seed);
    const Resource total = world.Amount(1000);
    std::vector<FillQueue> queues(1 + world.Below(6));
    std::vector<NaiveFilling::Queue> naive;
    for (FillQueue& queue : queues) {
      queue.weight = world.Below(5);
      if (world.Below(8) != 0) queue.request = world.Amount(700);
      queue.ceiling = world.Amount(1200);
      if (world.Below(3) == 0) queue.guarantee = world.Amount(100);
      naive.push_back({queue.weight,
                       NaiveFilling::From(queue.request),
                       NaiveFilling::From(queue.ceiling),
                       NaiveFilling::From(queue.guarantee),
                       {}});
    }
    FillDeserved(total, queues);
    NaiveFilling::Fill(NaiveFilling::From(total), naive);
    for (size_t i = 0; i < queues.size(); ++i)
      ASSERT_EQ(NaiveFilling::From(queues[i].deserved), naive[i].deserved)
          << "seed " << seed << " queue " << i;
  }
}

TEST(WaterFilling, GivesNobodyMoreThanItWantsAndAllNoMoreThanThereIs) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomWorld world(seed);
    const Resource total = world.Amount(1000);
    std::vector<FillQueue> queues(1 + world.Below(6));
    Resource sum;
    for (FillQueue& queue : queues) {
      queue.weight = 1 + world.Below(5);
      queue.request = world.Amount(700);
      queue.ceiling = world.Amount(1200);
    }
    FillDeserved(total, queues);
    for (const FillQueue& queue : queues) {
      ASSERT_TRUE(queue.deserved.LessEqual(queue.request, Missing::kZero)) << seed;
      ASSERT_LE(queue.deserved.cpu(), queue.ceiling.cpu()) << seed;
      sum.Add(queue.deserved);
    }
    ASSERT_TRUE(sum.LessEqual(total, Missing::kZero)) << seed;
  }
}

}  // namespace
}  // namespace krafla
