#include "session/change_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace krafla {
namespace {

using Kind = TaskChange::Kind;

std::vector<NodeId> ItemsOf(const NodeChanges& changes) {
  return {changes.begin(), changes.end()};
}

TEST(ChangeList, WhatNobodySawIsForgottenWhenTakenBack) {
  ChangeList<NodeId> list;
  list.push_back(NodeId(1));
  (void)list.Look();
  const size_t mark = list.size();
  list.push_back(NodeId(2));
  list.TakeBack(mark);
  EXPECT_EQ(ItemsOf(list.Look()), std::vector<NodeId>{NodeId(1)});
}

TEST(ChangeList, WhatSomebodySawChangesOnceMore) {
  ChangeList<NodeId> list;
  const size_t mark = list.size();
  list.push_back(NodeId(2));
  list.push_back(NodeId(3));
  (void)list.Look();
  list.TakeBack(mark);
  EXPECT_EQ(ItemsOf(list.Look()),
            (std::vector<NodeId>{NodeId(2), NodeId(3), NodeId(3), NodeId(2)}));
}

TEST(ChangeList, ALossTakenBackIsAGain) {
  ChangeList<TaskChange> list;
  list.push_back({TaskId(4), Kind::kLost});
  list.push_back({TaskId(5), Kind::kOther});
  (void)list.Look();
  list.TakeBack(0);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list.Look()[2].kind, Kind::kOther);
  EXPECT_EQ(list.Look()[3].task, TaskId(4));
  EXPECT_EQ(list.Look()[3].kind, Kind::kGained);
}

// Lists grow in pieces of some thousands.
TEST(ChangeList, TakesBackMoreThanAPiece) {
  constexpr uint32_t kMany = 10000;
  ChangeList<NodeId> list;
  list.push_back(NodeId(7));
  for (uint32_t i = 0; i < kMany; ++i) list.push_back(NodeId(i));
  list.TakeBack(1);
  EXPECT_EQ(ItemsOf(list.Look()), std::vector<NodeId>{NodeId(7)}) << "nobody saw them";
  for (uint32_t i = 0; i < kMany; ++i) list.push_back(NodeId(i));
  (void)list.Look();
  list.TakeBack(1);
  std::vector<NodeId> expected = {NodeId(7)};
  for (uint32_t i = 0; i < kMany; ++i) expected.emplace_back(i);
  for (uint32_t i = kMany; i-- > 0;) expected.emplace_back(i);
  EXPECT_EQ(ItemsOf(list.Look()), expected);
}

}  // namespace
}  // namespace krafla
