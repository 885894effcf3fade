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

// The highest score first, of equal ones the first position.
//
// One number per block says how good its nodes can be, and one per region how good its blocks. The
// few blocks with the highest wait in a heap, and within a block the best that is left is looked
// for each time; most are content before any other block can have the next node. Then all the
// others join the heap.
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
    Item best;  // unless it is known, no node that is left comes before
    uint32_t block;
    uint64_t left;  // its nodes that are still to come
    bool known = false;
  };
  static bool Before(const Item& a, const Item& b) {
    return a.score != b.score ? a.score > b.score : a.position < b.position;
  }
  void FindLeaders();
  void AddOthers();
  Item BoundOf(uint32_t block) const {
    return {ranking_.block_best[block], block * NodeRanking::kBlock};
  }
  uint64_t NodesOf(uint32_t block) const { return among_[block] & ranking_.allowed[block]; }
  bool IsLeftOut(uint32_t position) const {
    return ranking_.left_out != nullptr && (*ranking_.left_out)[position];
  }
  Item BestOf(uint32_t block, uint64_t nodes) const;
  // The first block has come further back in the order.
  void SinkFirst();
  void DropFirst();

  NodeRanking ranking_;
  std::span<const uint64_t> among_;
  static constexpr size_t kLeaders = 8;
  bool has_leaders_ = false;
  std::vector<Item> leaders_;  // bounds of the blocks that came first
  Item others_{};              // no node of another block comes before; kEnd: there is none
  std::vector<Head> heads_;    // a heap
};

}  // namespace krafla
