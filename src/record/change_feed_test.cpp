#include "record/change_feed.h"

#include <gtest/gtest.h>

#include "record/kept_state.h"

namespace krafla {
namespace {

using What = RecordedChange::What;

RecordedChange Pod(const std::string& name, const std::string& more = "") {
  return {.kind = "Pod",
          .key = "a/" + name,
          .object = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                    R"(","namespace":"a","labels":{"x":")" + more + "\"}}}",
          .cycle = {}};
}

RecordedChange Cycle(uint64_t number) {
  RecordedChange change{.what = What::kCycle, .cycle = std::make_unique<RecordedCycle>()};
  change.cycle->number = number;
  return change;
}

std::string Shown(const KeptState& state) {
  std::string text;
  for (const KeptState::Entry& entry : state.Entries()) {
    text += std::string(entry.kind) + " " + entry.key + " " + *entry.object.text + " " +
            std::to_string(static_cast<int>(entry.object.mark.what)) + entry.object.mark.to;
    if (entry.object.phase) text += " " + std::string(ToString(*entry.object.phase));
    text += "\n";
  }
  return text;
}

TEST(ChangeFeed, HandsOverInOrder) {
  ChangeFeed feed;
  feed.Put(Pod("p"));
  feed.Put(Cycle(1));
  ChangeFeed::Batch batch = feed.Take(ChangeFeed::Clock::now());
  ASSERT_EQ(batch.changes.size(), 2u);
  EXPECT_EQ(batch.changes[0].key, "a/p");
  EXPECT_EQ(batch.changes[1].cycle->number, 1u);
  EXPECT_FALSE(batch.gap);
  EXPECT_TRUE(feed.Take(ChangeFeed::Clock::now()).changes.empty());
}

// Whoever does not keep up ends with the same state as one who does, without the cycles between.
TEST(ChangeFeed, WhatWaitsTooLongIsFoldedAndNothingOfTheStateIsLost) {
  ChangeFeed fast(1u << 30);
  ChangeFeed slow(4000);
  for (ChangeFeed* feed : {&fast, &slow}) {
    for (int round = 0; round < 50; ++round)
      for (int i = 0; i < 20; ++i) feed->Put(Pod("p" + std::to_string(i), std::to_string(round)));
    feed->Put({.what = What::kGone, .kind = "Pod", .key = "a/p3", .cycle = {}});
    RecordedChange cycle = Cycle(7);
    cycle.cycle->binds.push_back({"a/p4", "n1", "allocate"});
    cycle.cycle->evictions.push_back({.pod = "a/p5"});
    cycle.cycle->phases.push_back({"a/pod:p6", JobPhase::kPending, JobPhase::kInqueue});
    cycle.memory = std::make_shared<const CycleMemory>();
    feed->Put(std::move(cycle));
    feed->Put({.what = What::kConfig, .object = "second", .cycle = {}});
    // A change to a marked pod takes the mark away again.
    feed->Put(Pod("p7"));
  }
  EXPECT_EQ(fast.gaps(), 0u);
  EXPECT_EQ(slow.gaps(), 1u);
  EXPECT_LE(slow.waiting(), 20u);
  KeptState states[2];
  for (int i = 0; i < 2; ++i) {
    ChangeFeed::Batch batch = (i == 0 ? fast : slow).Take(ChangeFeed::Clock::now());
    EXPECT_EQ(batch.gap, i == 1);
    for (RecordedChange& change : batch.changes) states[i].Apply(change);
  }
  EXPECT_EQ(Shown(states[0]), Shown(states[1]));
  EXPECT_EQ(*states[1].config(), "second");
  EXPECT_EQ(states[1].Count("Pod"), 19u);
  // Then it goes on as before.
  slow.Put(Pod("q"));
  EXPECT_FALSE(slow.Take(ChangeFeed::Clock::now()).gap);
}

TEST(ChangeFeed, AMarkOfAnObjectThatWasHandedOverBeforeIsNotLost) {
  ChangeFeed feed(3000);
  KeptState state;
  feed.Put(Pod("p"));
  for (RecordedChange& change : feed.Take(ChangeFeed::Clock::now()).changes) state.Apply(change);
  RecordedChange cycle = Cycle(1);
  cycle.cycle->binds.push_back({"a/p", "n1", "allocate"});
  feed.Put(std::move(cycle));
  for (int i = 0; i < 50; ++i) feed.Put(Pod("q" + std::to_string(i)));
  ASSERT_EQ(feed.gaps(), 1u);
  for (RecordedChange& change : feed.Take(ChangeFeed::Clock::now()).changes) state.Apply(change);
  for (const KeptState::Entry& entry : state.Entries())
    if (entry.key == "a/p") {
      EXPECT_EQ(entry.object.mark, (AssumedMark{AssumedMark::What::kBinding, "n1"}));
    }
}

TEST(KeptState, SaysWhatIsNews) {
  KeptState state;
  RecordedChange pod = Pod("p");
  EXPECT_TRUE(state.Apply(pod));
  RecordedChange again = Pod("p");
  EXPECT_FALSE(state.Apply(again));
  RecordedChange marked = Pod("p");
  marked.mark = {AssumedMark::What::kReleasing, {}};
  EXPECT_TRUE(state.Apply(marked));
  RecordedChange gone{.what = What::kGone, .kind = "Pod", .key = "a/p", .cycle = {}};
  EXPECT_TRUE(state.Apply(gone));
  EXPECT_FALSE(state.Apply(gone));
  EXPECT_EQ(state.bytes(), 0u);
}

}  // namespace
}  // namespace krafla
