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
};

// The highest score first, of equal ones the first position. Blocks wait in a heap by their best
// score; a block's nodes are sorted when its turn comes. Whoever is content with the first node
// looks at one number per block and sorts a single one.
class BestFirst {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;

  // Goes through the allowed nodes that are in `among`, a bit per node.
  void Start(const NodeRanking& ranking, std::span<const uint64_t> among);
  uint32_t Next();

 private:
  struct Item {
    double score;
    uint32_t position;
  };
  struct Head {
    Item best;  // of a block not sorted yet: an upper bound
    uint32_t block;
    uint32_t next;  // into items_; kEnd: not sorted yet
    uint32_t end;
  };
  static bool Before(const Item& a, const Item& b) {
    return a.score != b.score ? a.score > b.score : a.position < b.position;
  }
  static bool Later(const Head& a, const Head& b) { return Before(b.best, a.best); }
  bool SortBlock(Head& head);

  NodeRanking ranking_;
  std::span<const uint64_t> among_;
  std::vector<Head> heads_;
  std::vector<Item> items_;
};

}  // namespace krafla
