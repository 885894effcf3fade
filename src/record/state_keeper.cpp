#include "record/state_keeper.h"

#include <simdjson.h>

#include <utility>

namespace krafla {

namespace {

// Whether it is the pod of this UID, and neither ends nor has ended.
bool Stays(const std::string& object, std::string_view uid) {
  simdjson::dom::parser parser;
  simdjson::dom::element pod;
  std::string_view text;
  if (parser.parse(object).get(pod) || pod["metadata"]["uid"].get(text) || text != uid)
    return false;
  if (!pod["metadata"]["deletionTimestamp"].get(text)) return false;
  return pod["status"]["phase"].get(text) || (text != "Succeeded" && text != "Failed");
}

}  // namespace

StateKeeper::StateKeeper(ChangeFeed& feed, Options options)
    : feed_(feed), options_(std::move(options)), thread_([this] { Run(); }) {}

StateKeeper::~StateKeeper() {
  feed_.Close();
  thread_.join();
}

void StateKeeper::Run() {
  RecordWriter* writer = options_.writer.get();
  while (true) {
    // What was written down is in its file after a second at most.
    const auto due = writer != nullptr ? writer->FlushDue() : std::nullopt;
    ChangeFeed::Batch batch =
        feed_.Take(due.value_or(ChangeFeed::Clock::now() + std::chrono::hours(1)));
    if (batch.gap && writer != nullptr) writer->Gap();
    for (RecordedChange& change : batch.changes) {
      // Behind a gap the folded changes together make the state; a segment begins after them.
      const bool record = writer != nullptr && !batch.gap;
      if (record) writer->Prepare(state_);
      bool changed = false;
      {
        const std::scoped_lock lock(mutex_);
        changed = state_.Apply(change);
      }
      if (record && changed) writer->Write(change);
      Take(std::move(change));
    }
    if (writer != nullptr) {
      writer->EndBatch();
      const std::scoped_lock lock(mutex_);
      record_ = writer->counts();
    }
    if (batch.closed && batch.changes.empty()) break;
  }
  options_.writer.reset();
}

void StateKeeper::Take(RecordedChange change) {
  const std::scoped_lock lock(mutex_);
  if (change.what == RecordedChange::What::kCycle) {
    TakeCycle(*change.cycle);
  } else if (change.kind == "Pod") {
    Settle(change);
  }
}

void StateKeeper::TakeCycle(RecordedCycle& cycle) {
  cycles_.push_back({.number = cycle.number,
                     .at = cycle.at,
                     .wall_ms = cycle.wall_ms,
                     .steps_ms = std::move(cycle.steps_ms),
                     .binds = cycle.binds.size(),
                     .evictions = cycle.evictions.size(),
                     .phases = cycle.phases.size(),
                     .waiting_pods = cycle.waiting_pods});
  if (cycles_.size() > options_.most_cycles) cycles_.pop_front();
  for (RecordedEviction& eviction : cycle.evictions) {
    open_evictions_[eviction.pod] = evictions_before_ + evictions_.size();
    evictions_.push_back({cycle.number, cycle.at, std::move(eviction)});
    if (evictions_.size() <= options_.most_evictions) continue;
    const auto open = open_evictions_.find(evictions_.front().what.pod);
    if (open != open_evictions_.end() && open->second == evictions_before_)
      open_evictions_.erase(open);
    evictions_.pop_front();
    ++evictions_before_;
  }
}

void StateKeeper::Settle(const RecordedChange& change) {
  const auto open = open_evictions_.find(change.key);
  if (open == open_evictions_.end()) return;
  if (change.what != RecordedChange::What::kGone) {
    // It counts as leaving for as long as nobody knows better.
    if (change.mark.what == AssumedMark::What::kReleasing) return;
    PastEviction& eviction = evictions_[open->second - evictions_before_];
    eviction.refused = Stays(change.object, eviction.what.uid);
  }
  open_evictions_.erase(open);
}

StateKeeper::Snapshot StateKeeper::Copy() const {
  const std::scoped_lock lock(mutex_);
  return {.entries = state_.Entries(),
          .memory = state_.memory(),
          .config = state_.config(),
          .version = state_.version(),
          .cycles = state_.cycles(),
          .last_cycle = state_.last_cycle(),
          .evictions = {evictions_.rbegin(), evictions_.rend()}};
}

uint64_t StateKeeper::version() const {
  const std::scoped_lock lock(mutex_);
  return state_.version();
}

std::vector<StateKeeper::CycleSummary> StateKeeper::Cycles() const {
  const std::scoped_lock lock(mutex_);
  return {cycles_.rbegin(), cycles_.rend()};
}

std::vector<StateKeeper::PastEviction> StateKeeper::Evictions() const {
  const std::scoped_lock lock(mutex_);
  return {evictions_.rbegin(), evictions_.rend()};
}

StateKeeper::Figures StateKeeper::figures() const {
  const std::scoped_lock lock(mutex_);
  return {.objects_bytes = state_.bytes(), .gaps = feed_.gaps(), .record = record_};
}

}  // namespace krafla
