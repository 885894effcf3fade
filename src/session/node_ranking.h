// A class's kept scores of nodes, and going through nodes best first without sorting all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "session/score_column.h"

namespace krafla {

// All by position in nodes_by_name. Good until the class, or another that has the same scores, is
// asked about again.
struct NodeRanking {
  static constexpr uint32_t kBlock = 64;  // nodes per kept maximum, and per word of bits

  const ScoreColumn* scores = nullptr;
  // Of each block: no score of an allowed node there is higher.
  std::span<const double> block_best;
  // Of kBlock blocks: none of their maxima is higher.
  std::span<const double> region_best;
  // A bit per node: no refusal that evictions cannot lift.
  std::span<const uint64_t> allowed;
  // Nodes an earlier search found beyond help; null: none.
  const std::vector<bool>* left_out = nullptr;
  // Whether a node is allowed depends on that node alone.
  bool by_node = false;

  bool IsAllowed(uint32_t position) const {
    return ((allowed[position / kBlock] >> (position % kBlock)) & 1) != 0 &&
           (left_out == nullptr || !(*left_out)[position]);
  }
  // Whether it is about the same class, and nothing of it has been made anew since.
  bool IsSameTable(const NodeRanking& other) const {
    return scores == other.scores && allowed.data() == other.allowed.data() &&
           left_out == other.left_out;
  }
  // How many nodes are allowed.
  size_t Count() const;
  bool AnyAllowed() const;
};

// The highest score first, of equal ones the first position.
//
// One number per region says how good its blocks can be, and one per block how good its nodes. They
// are looked at from above: only the region that has the highest is opened, only in the block that
// has the highest the best nodes are looked for. Most are content with one of the first nodes.
class BestFirst {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;

  // Goes through the allowed nodes that are in `among`, a bit per node, which must stay as it is
  // but for nodes that are removed.
  void Start(const NodeRanking& ranking, std::span<const uint64_t> among);
  uint32_t Next();
  // A node, which is no longer in `among`, is not to come any more. Its score may be another now.
  void Remove(uint32_t position);
  // From now on `keep` is asked about a block's nodes before the first of them comes, and gives
  // back which of them still may.
  using Keep = std::function<uint64_t(size_t block, uint64_t nodes)>;
  void Filter(Keep keep);

 private:
  static constexpr size_t kGroup = 8;  // blocks
  struct Region {
    static constexpr size_t kBlocks = NodeRanking::kBlock;

    uint64_t known;    // a bit per block: `best` is
    uint64_t unasked;  // a bit per block: `keep_` has not been asked about it yet
    // By block. No node that is left has a higher score; when the best is known, its score.
    std::array<double, kBlocks> bound;
    std::array<double, kBlocks / kGroup> of_group;  // the highest of each kGroup blocks
    // By block: positions of the best, and of the second best or kEnd.
    std::array<uint32_t, kBlocks> best;
    std::array<uint32_t, kBlocks> second;
    std::array<uint64_t, kBlocks> left;  // nodes that are still to come

    double Highest() const;
    size_t FirstThatHas(double highest) const;
  };
  void ChooseRegion();
  bool IsAhead() const;
  bool Ask(Region& region, size_t block);
  void Open(size_t region);
  void FindBest(Region& region, size_t block) const;
  void SetBound(size_t region, size_t block, double bound);

  NodeRanking ranking_;
  std::span<const uint64_t> among_;
  Keep keep_;                   // null: all of them
  std::vector<double> bounds_;  // by region
  std::vector<bool> is_open_;   // by region
  std::vector<Region> regions_;
  size_t current_ = 0;  // the region that has the highest bound, of equal ones the first
  size_t rival_ = 0;    // … if it were not for that one
  double rivals_ = 0;   // its bound
};

}  // namespace krafla
