// A class's kept scores of nodes, and going through nodes best first without sorting all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krafla {

// All by position in nodes_by_name. Good until the class is asked about again.
struct NodeRanking {
  static constexpr uint32_t kBlock = 64;  // nodes per kept maximum, and per word of bits

  std::span<const double> scores;
  // Of each block: no score of an allowed node there is higher.
  std::span<const double> block_best;
  // Of kBlock blocks: none of their maxima is higher.
  std::span<const double> region_best;
  // A bit per node: no refusal that evictions cannot lift.
  std::span<const uint64_t> allowed;
  // Nodes an earlier search found beyond help; null: none.
  const std::vector<bool>* left_out = nullptr;

  bool IsAllowed(uint32_t position) const {
    return ((allowed[position / kBlock] >> (position % kBlock)) & 1) != 0 &&
           (left_out == nullptr || !(*left_out)[position]);
  }
  // How many nodes are allowed.
  size_t Count() const;
  bool AnyAllowed() const;
};

// The highest score first, of equal ones the first position. Whoever is content with the first node
// looks at one number per region, at the blocks of the best ones and at the nodes of a single
// block. For those who go on, blocks wait in a heap by their best score; within a block the best
// that is left is looked for each time.
class BestFirst {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;

  // Goes through the allowed nodes that are in `among`, a bit per node, which must stay as it is.
  void Start(const NodeRanking& ranking, std::span<const uint64_t> among);
  uint32_t Next();

 private:
  struct Item {
    double score;
    uint32_t position;
  };
  struct Head {
    Item best;  // of a block not looked at yet: an upper bound
    uint32_t block;
    bool known;     // it has been looked at
    uint64_t left;  // its nodes that are still to come
  };
  static bool Before(const Item& a, const Item& b) {
    return a.score != b.score ? a.score > b.score : a.position < b.position;
  }
  static bool Later(const Head& a, const Head& b) { return Before(b.best, a.best); }
  void FindBest(Head& head) const;
  uint32_t FindFirst() const;
  void MakeHeap();

  NodeRanking ranking_;
  std::span<const uint64_t> among_;
  bool has_heap_ = false;
  uint32_t first_ = kEnd;  // given out before there was a heap
  std::vector<Head> heads_;
};

}  // namespace krafla
