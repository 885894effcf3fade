#include "record/replay.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "config/skipped_actions.h"
#include "record/gzip_file.h"
#include "record/record_cycle.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"

namespace krafla {

namespace {

TimeZone ZoneOf(const RecordHead& head) {
  const Result<TimeZone> zone = FindTimeZone(head.zone);
  return zone ? *zone : FixedOffset(head.offset_seconds);
}

class Replay final : public DecisionSink {
 public:
  explicit Replay(const ReplayListener& listener) : listener_(listener) { log_.CaptureTo(&muted_); }

  // The error's sentence; empty: all is well.
  std::string Take(RecordLine line) {
    if (auto* head = std::get_if<RecordHead>(&line)) {
      if (world_ != nullptr) return "has a second head";
      head_ = std::move(*head);
      world_ = std::make_unique<ReplayWorld>(head_.world);
      return {};
    }
    if (world_ == nullptr) return "has no head";
    if (const auto* end = std::get_if<StateEnd>(&line)) {
      if (loop_ == nullptr) return "has a state without configuration";
      result_.objects = end->objects;
      complete_ = true;
      return {};
    }
    if (auto* change = std::get_if<RecordedChange>(&line)) return Apply(*change);
    if (!complete_) return "has a cycle before its state is complete";
    RunCycle(std::get<CycleLine>(line));
    return {};
  }

  bool complete() const { return complete_; }
  // Of the state, while it is not complete.
  std::string_view ExpectedNext() const {
    if (world_ == nullptr) return "the head {\"krafla\":1,…}";
    if (loop_ == nullptr) return "the configuration {\"config\":\"…\"}";
    return "the rest of the state up to {\"state\":\"complete\",…}";
  }
  ReplayResult& result() { return result_; }

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
    memory_ = session.memory;
    decisions_ = DecisionLines(RecordCycle(session, phases, 0));
  }

 private:
  std::string Apply(const RecordedChange& change) {
    if (complete_) ++result_.changes;
    switch (change.what) {
      case RecordedChange::What::kConfig:
        return SetConfig(change.object);
      case RecordedChange::What::kMemory:
        memory_ = *change.memory;
        return {};
      default:
        world_->Apply(change);
        return {};
    }
  }

  std::string SetConfig(const std::string& text) {
    Diagnostics problems;
    SchedulerConfig config = ReadSchedulerConfig(
        text, BuiltInVocabulary(),
        {.file_name = "recorded configuration", .lenient = head_.lenient, .profile = head_.profile},
        problems);
    if (problems.HasErrors())
      return fmt::format("has a configuration that this program does not take: {}",
                         ToString(problems.items().front()));
    LeaveOutActions(config, SkippedActionsOf(text));
    world_->SetConfig(config);
    if (loop_ == nullptr) {
      loop_ =
          std::make_unique<SchedulingLoop>(world_->live(), std::move(config), ZoneOf(head_), log_);
      // A session remembers what it remembered then, whoever else had a hand in it.
      loop_->SetBeforeSession([this](CycleMemory& memory) { memory = memory_; });
    } else {
      loop_->SetConfig(std::move(config));
    }
    return {};
  }

  void RunCycle(const CycleLine& recorded) {
    world_->CompactWhenCrowded();
    loop_->RunCycle(recorded.at, *this);
    ++result_.cycles;
    result_.decisions += decisions_.size();
    if (listener_) listener_(recorded.number, recorded.at, decisions_);
    for (size_t i = 0; i < std::max(decisions_.size(), recorded.decisions.size()); ++i) {
      const std::string was = i < recorded.decisions.size() ? recorded.decisions[i] : "";
      const std::string is = i < decisions_.size() ? decisions_[i] : "";
      if (SameDecision(was, is)) continue;
      result_.difference = {recorded.number, recorded.at, i, was, is};
      return;
    }
  }

  const ReplayListener& listener_;
  std::string muted_;
  Log log_;
  RecordHead head_;
  std::unique_ptr<ReplayWorld> world_;
  std::unique_ptr<SchedulingLoop> loop_;
  bool complete_ = false;
  CycleMemory memory_;  // for the next session
  std::vector<std::string> decisions_;
  ReplayResult result_;
};

}  // namespace

bool SameDecision(std::string_view line, std::string_view other) {
  // Names have neither blanks nor brackets: the first bracket begins the reasons of an eviction.
  const auto without_reasons = [](std::string_view text) {
    return text.starts_with("evict ") ? text.substr(0, text.find(" (")) : text;
  };
  return without_reasons(line) == without_reasons(other);
}

Result<ReplayResult> ReplaySegment(const std::string& path, const ReplayListener& listener) {
  Result<std::unique_ptr<GzipLines>> lines = GzipLines::Open(path);
  if (!lines) return Fail(fmt::format("{}: {}", path, lines.error().message));
  Replay replay(listener);
  size_t number = 0;
  while (const std::optional<std::string> text = (*lines)->Next()) {
    ++number;
    Result<RecordLine> line = ParseRecordLine(*text);
    if (!line) return Fail(fmt::format("{}: line {} {}", path, number, line.error().message));
    const std::string problem = replay.Take(std::move(*line));
    if (!problem.empty()) return Fail(fmt::format("{}: line {} {}", path, number, problem));
    if (replay.result().difference) return std::move(replay.result());
  }
  if (!(*lines)->problem().empty())
    return Fail(fmt::format("{}: {} behind line {}", path, (*lines)->problem(), number));
  replay.result().torn = (*lines)->torn();
  if (!replay.complete()) {
    std::string missing = fmt::format(
        "{}: holds no complete state: it ends before the end of line {}, where {} was expected",
        path, number + 1, replay.ExpectedNext());
    // A writer ends a file properly only behind its state.
    if (!replay.result().torn) return Fail(std::move(missing));
    replay.result().missing_state = std::move(missing);
  }
  return std::move(replay.result());
}

}  // namespace krafla
