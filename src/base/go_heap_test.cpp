#include "base/go_heap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace krafla {
namespace {

// The comparisons below were worked out by hand from the definition of container/heap: Push appends
// and sifts up, Pop swaps first and last and sifts down over the rest; a sift compares before each
// swap and stops at the first no.
struct NotedLess {
  std::string* notes;
  bool operator()(int left, int right) const {
    *notes += fmt::format("{}<{} ", left, right);
    return left < right;
  }
};

TEST(GoHeap, ComparesInTheSameStepsAsContainerHeap) {
  std::string notes;
  GoHeap<int, NotedLess> heap(NotedLess{&notes});
  auto steps = [&] { return std::exchange(notes, ""); };
  heap.Push(5);
  EXPECT_EQ(steps(), "");
  heap.Push(3);
  EXPECT_EQ(steps(), "3<5 ");
  heap.Push(8);
  EXPECT_EQ(steps(), "8<3 ");
  heap.Push(1);
  EXPECT_EQ(steps(), "1<5 1<3 ");
  EXPECT_EQ(heap.Pop(), 1);
  EXPECT_EQ(steps(), "8<3 3<5 ");
  EXPECT_EQ(heap.Pop(), 3);
  EXPECT_EQ(steps(), "5<8 ");
  EXPECT_EQ(heap.Pop(), 5);
  EXPECT_EQ(steps(), "");
  EXPECT_EQ(heap.Pop(), 8);
  EXPECT_EQ(steps(), "");
  EXPECT_TRUE(heap.empty());
}

struct KeyLess {
  const std::map<char, int>* keys;
  bool operator()(char left, char right) const { return keys->at(left) < keys->at(right); }
};

class KeyedHeap {
 public:
  explicit KeyedHeap(const std::map<char, int>& keys) : heap_(KeyLess{&keys}) {}
  void Push(std::string_view items) {
    for (char item : items) heap_.Push(item);
  }
  char Pop() { return heap_.Pop(); }
  std::string PopAll() {
    std::string order;
    while (!heap_.empty()) order += heap_.Pop();
    return order;
  }

 private:
  GoHeap<char, KeyLess> heap_;
};

TEST(GoHeap, EqualItemsComeOutInTheOrderOfTheSwaps) {
  const std::map<char, int> keys{{'a', 0}, {'b', 0}, {'c', 0}, {'d', 0}};
  KeyedHeap heap(keys);
  heap.Push("abcd");
  EXPECT_EQ(heap.PopAll(), "adcb");
}

TEST(GoHeap, AnItemWhoseKeyFellWaitsWhereItIs) {
  std::map<char, int> keys{{'a', 1}, {'b', 2}, {'c', 3}};
  KeyedHeap heap(keys);
  heap.Push("abc");
  keys['c'] = 0;
  // a is first because it was; c has come to the top by the swap, and b does not beat it there.
  EXPECT_EQ(heap.PopAll(), "acb");
}

TEST(GoHeap, TheFirstItemIsTakenEvenWhenItsKeyRose) {
  std::map<char, int> keys{{'a', 1}, {'b', 2}, {'c', 3}};
  KeyedHeap heap(keys);
  heap.Push("abc");
  keys['a'] = 10;
  EXPECT_EQ(heap.PopAll(), "abc");
}

TEST(GoHeap, PushesAfterAKeyChangedSiftAgainstWhatTheyMeet) {
  std::map<char, int> keys{{'a', 1}, {'b', 2}, {'c', 3}, {'d', 5}, {'e', 0}};
  KeyedHeap heap(keys);
  heap.Push("abc");
  keys['a'] = 10;
  heap.Push("de");
  EXPECT_EQ(heap.PopAll(), "ebcda");
}

// As queues do in a cycle: taken out, key changed, put back.
TEST(GoHeap, PoppedItemsReturnWithNewKeys) {
  std::map<char, int> keys{{'p', 0}, {'q', 1}, {'r', 2}};
  KeyedHeap heap(keys);
  heap.Push("pqr");
  std::string order;
  for (int turn = 0; turn < 6; ++turn) {
    const char item = heap.Pop();
    order += item;
    keys[item] += 2;
    heap.Push(std::string_view(&item, 1));
  }
  // The heap before each turn: p0 q1 r2, q1 r2 p2, p2 r2 q3, r2 q3 p4, q3 p4 r4, r4 p4 q5. In the
  // third and in the last one the item on top only ties with the next.
  EXPECT_EQ(order, "pqprqr");
}

TEST(GoHeap, KeysThatStayComeOutSorted) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    auto less = [](int l, int r) { return l < r; };
    GoHeap<int, decltype(less)> heap(less);
    std::vector<int> items;
    const size_t count = random() % 50;
    heap.Reserve(count);
    for (size_t i = 0; i < count; ++i) {
      items.push_back(static_cast<int>(random() % 20));
      heap.Push(items.back());
    }
    EXPECT_EQ(heap.size(), count);
    std::sort(items.begin(), items.end());
    for (int item : items) EXPECT_EQ(heap.Pop(), item);
    EXPECT_TRUE(heap.empty());
  }
}

}  // namespace
}  // namespace krafla
