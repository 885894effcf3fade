#include "session/fitting_nodes.h"

#include "base/check.h"
#include "session/rows_of_bits.h"

namespace krafla {

namespace {

constexpr uint32_t kBlock = BlockMaxima::kBlock;

}  // namespace

void FittingNodes::Begin(size_t blocks) {
  begun = true;
  for (auto* bits : {&refuses, &passes}) bits->assign(blocks, 0);
}

void FittingNodes::ForgetAnswers(uint32_t position) {
  for (auto* bits : {&refuses, &passes}) (*bits)[position / kBlock] &= ~BitOf(position);
}

void FittingNodes::Forget(uint32_t position) {
  ForgetAnswers(position);
  for (auto* bits : {&later, &now}) (*bits)[position / kBlock] &= ~BitOf(position);
}

bool FittingNodes::IsBetterAsked(size_t changes) const {
  constexpr size_t kFew = 4;
  const size_t few = kFew + later.size() / 2;
  if (changes <= few) return false;
  return changes > few + CountBits(later) / 32;
}

bool FittingNodes::IsBetterBegun(size_t changes, std::span<const uint64_t> open) const {
  constexpr size_t kWorthAnAnswer = 32;
  if (changes <= open.size()) return false;
  size_t answers = 0;
  for (size_t block = 0; block < open.size(); ++block)
    answers += static_cast<size_t>(std::popcount((passes[block] | refuses[block]) & open[block]));
  return changes > kWorthAnAnswer * answers;
}

void FittingNodes::FollowAll(const ScoreColumn& scores) {
  best_.Reset(now.size());
  holders_.assign(now.size(), kUnknown);
  // Kept for their memory.
  static thread_local std::vector<uint64_t> nodes;
  static thread_local std::vector<uint32_t> blocks;
  static thread_local std::vector<double> highest;
  nodes.assign(now.begin(), now.end());
  TakeOff(nodes, refuses);
  blocks.clear();
  for (uint32_t block = 0; block < nodes.size(); ++block)
    if (nodes[block] != 0) blocks.push_back(block);
  scores.HighestOfEach(blocks, nodes, highest);
  for (size_t i = 0; i < blocks.size(); ++i) best_.Set(blocks[i], highest[i]);
}

void FittingNodes::Follow(uint32_t position, const ScoreColumn& scores) {
  const size_t block = position / kBlock;
  if ((Now(block) & BitOf(position)) != 0 && scores[position] >= best_.Of(block)) {
    best_.Raise(position, scores[position]);
    holders_[block] = static_cast<uint8_t>(position % kBlock);
  } else if (holders_[block] == position % kBlock || holders_[block] == kUnknown) {
    FindAnew(block, scores);
  }
}

void FittingNodes::FindAnew(size_t block, const ScoreColumn& scores) {
  const uint64_t nodes = Now(block);
  const double best = scores.HighestOf(block, nodes);
  best_.Set(block, best);
  holders_[block] = nodes == 0
                        ? kUnknown
                        : static_cast<uint8_t>(scores.FirstThatHas(block, nodes, best) % kBlock);
}

// A number per region, then per block of one.
uint32_t FittingNodes::Best(const ScoreColumn& scores) const {
  if (best_.size() == 0) return kNowhere;
  const size_t block = best_.First();
  const double best = best_.Of(block);
  if (best == BlockMaxima::kNone) return kNowhere;
  return scores.FirstThatHas(block, Now(block), best);
}

void FittingNodes::VerifyBest(const ScoreColumn& scores) const {
  for (size_t block = 0; block < best_.size(); ++block) {
    KRAFLA_CHECK(scores.HighestOf(block, Now(block)) == best_.Of(block),
                 "the best of a block has followed");
    KRAFLA_CHECK(best_.Of(block) <= best_.regions()[block / kBlock],
                 "no block is better than its region");
  }
}

}  // namespace krafla
