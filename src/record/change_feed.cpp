#include "record/change_feed.h"

#include "record/kept_state.h"

namespace krafla {

namespace {

size_t SizeOf(const RecordedChange& change) {
  size_t size =
      sizeof(RecordedChange) + change.key.size() + change.object.size() + change.mark.to.size();
  if (change.cycle != nullptr)
    size += sizeof(RecordedCycle) +
            200 * (change.cycle->binds.size() + change.cycle->phases.size()) +
            600 * change.cycle->evictions.size();
  return size;
}

}  // namespace

void ChangeFeed::Put(RecordedChange change) {
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (folding_) {
      FoldOne(std::move(change));
      return;
    }
    wake = changes_.empty();
    bytes_ += SizeOf(change);
    changes_.push_back(std::move(change));
    if (bytes_ > most_bytes_) Fold();
  }
  if (wake) filled_.notify_one();
}

void ChangeFeed::Fold() {
  folding_ = true;
  ++gaps_;
  for (RecordedChange& change : std::exchange(changes_, {})) FoldOne(std::move(change));
  bytes_ = 0;
}

RecordedChange& ChangeFeed::FoldedObject(std::string_view kind, const std::string& key) {
  const auto [it, is_new] = folded_.try_emplace({kind, key});
  if (is_new)
    it->second = {.what = RecordedChange::What::kMark,
                  .kind = kind,
                  .key = key,
                  .mark = {AssumedMark::What::kUnchanged, {}},
                  .cycle = {}};
  return it->second;
}

void ChangeFeed::FoldOne(RecordedChange change) {
  switch (change.what) {
    case RecordedChange::What::kPut: {
      // Small while it waits. What cannot be reduced would not be kept either.
      if (!Reduce(change)) return;
      RecordedChange& object = FoldedObject(change.kind, change.key);
      object = std::move(change);
      return;
    }
    case RecordedChange::What::kGone: {
      RecordedChange& object = FoldedObject(change.kind, change.key);
      object = std::move(change);
      return;
    }
    case RecordedChange::What::kMark: {
      RecordedChange& object = FoldedObject(change.kind, change.key);
      if (change.mark.what != AssumedMark::What::kUnchanged) object.mark = change.mark;
      if (change.phase) object.phase = change.phase;
      return;
    }
    case RecordedChange::What::kMemory:
      folded_memory_ = std::move(change.memory);
      return;
    case RecordedChange::What::kConfig:
      folded_config_ = std::move(change.object);
      return;
    case RecordedChange::What::kCycle:
      break;
  }
  if (change.memory != nullptr) folded_memory_ = std::move(change.memory);
  for (const RecordedPhase& phase : change.cycle->phases) {
    const MarkedObject holder = HolderOfPhase(phase.group);
    FoldedObject(holder.kind, holder.key).phase = phase.after;
  }
  for (const RecordedEviction& eviction : change.cycle->evictions)
    FoldedObject("Pod", eviction.pod).mark = {AssumedMark::What::kReleasing, {}};
  for (const RecordedBind& bind : change.cycle->binds)
    FoldedObject("Pod", bind.pod).mark = {AssumedMark::What::kBinding, bind.node};
}

ChangeFeed::Batch ChangeFeed::Take(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, until, [&] { return closed_ || folding_ || !changes_.empty(); });
  Batch batch{.changes = std::exchange(changes_, {}), .gap = folding_, .closed = closed_};
  bytes_ = 0;
  if (!folding_) return batch;
  folding_ = false;
  for (auto& [key, change] : folded_) batch.changes.push_back(std::move(change));
  folded_.clear();
  if (auto memory = std::exchange(folded_memory_, nullptr))
    batch.changes.push_back({.what = RecordedChange::What::kMemory, .memory = memory, .cycle = {}});
  if (folded_config_)
    batch.changes.push_back(
        {.what = RecordedChange::What::kConfig, .object = std::move(*folded_config_), .cycle = {}});
  folded_config_.reset();
  return batch;
}

void ChangeFeed::Close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  filled_.notify_all();
}

uint64_t ChangeFeed::gaps() const {
  const std::scoped_lock lock(mutex_);
  return gaps_;
}

size_t ChangeFeed::waiting() const {
  const std::scoped_lock lock(mutex_);
  return changes_.size() + folded_.size();
}

}  // namespace krafla
