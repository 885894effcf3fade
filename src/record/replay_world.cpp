#include "record/replay_world.h"

#include <simdjson.h>

#include <fmt/format.h>

namespace krafla {

class ReplayWorld::Sink final : public OverlaySink {
 public:
  using OverlaySink::OverlaySink;
  AssumedMark mark;
  std::optional<JobPhase> phase;

 private:
  AssumedMark MarkOf(const Task&) override { return mark; }
  AssumedMark MarkOf(const PersistentVolume&) override { return mark; }
  AssumedMark MarkOf(const PersistentVolumeClaim&) override { return mark; }
  std::optional<JobPhase> PhaseOf(const Job&) override { return phase; }
  std::optional<JobPhase> PhaseOfOne(const Task&) override { return phase; }
  GroupWait WaitForGroup(const Task&) override {
    if (mark.what != AssumedMark::What::kAwaitsGroup) return GroupWait::kNone;
    return GroupWaitOf(mark.to).value_or(GroupWait::kNone);
  }
};

ReplayWorld::ReplayWorld(const WorldOptions& options, const Front& front)
    : options_(options),
      live_(options.build),
      sink_(std::make_unique<Sink>(live_, options.node_labels)) {
  if (front) front_ = front(*sink_);
  MakeDecoder();
}

void ReplayWorld::MakeDecoder() {
  decoder_ = std::make_unique<ObjectDecoder>(
      front_ != nullptr ? *front_ : static_cast<FactSink&>(*sink_),
      DecodeOptions{
          .lenient = true, .scheduler_names = options_.scheduler_names, .finds_odd_words = false},
      problems_, facts_);
}

void ReplayWorld::CompactWhenCrowded() {
  if (front_ != nullptr || !live_.IsCrowded()) return;
  live_.Compact();
  // Both have kept numbers of strings.
  sink_ = std::make_unique<Sink>(live_, options_.node_labels);
  MakeDecoder();
}

ReplayWorld::~ReplayWorld() = default;

BuildOptions BuildOptionsFor(BuildOptions fixed, const SchedulerConfig& config) {
  fixed.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  fixed.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  return fixed;
}

void ReplayWorld::Put(std::string_view kind, const std::string& key, std::string_view object,
                      const AssumedMark& mark, std::optional<JobPhase> phase) {
  padded_.reserve(object.size() + simdjson::SIMDJSON_PADDING);
  padded_ = object;
  sink_->Begin();
  sink_->mark = mark;
  sink_->phase = phase;
  const std::string file = fmt::format("{} {}", kind, key);
  decoder_->Decode({padded_, file, {}}, Origin::kWritten);
}

void ReplayWorld::Apply(const RecordedChange& change) {
  if (change.what == RecordedChange::What::kPut)
    Put(change.kind, change.key, change.object, change.mark, change.phase);
  if (change.what == RecordedChange::What::kGone) sink_->Remove(change.kind, change.key);
}

void ReplayWorld::Fill(const std::vector<KeptState::Entry>& entries) {
  for (const KeptState::Entry& entry : entries)
    Put(entry.kind, entry.key, *entry.object.text, entry.object.mark, entry.object.phase);
}

}  // namespace krafla
