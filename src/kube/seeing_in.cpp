#include "kube/seeing_in.h"

#include "config/skipped_actions.h"
#include "scheduler/vocabulary.h"

namespace krafla {

namespace {

// The text was taken before; only another program could find something wrong with it.
std::optional<SchedulerConfig> ReadAgain(const std::string& text, bool lenient,
                                         const std::optional<std::string>& profile) {
  Diagnostics problems;
  SchedulerConfig config = ReadSchedulerConfig(
      text, BuiltInVocabulary(),
      {.file_name = "configuration", .lenient = lenient, .profile = profile}, problems);
  if (problems.HasErrors()) return std::nullopt;
  LeaveOutActions(config, SkippedActionsOf(text));
  return config;
}

}  // namespace

Result<std::unique_ptr<SeeingIn>> SeeingIn::Start(SeeingInOptions options) {
  StateKeeper::Options keeping;
  if (!options.record_folder.empty()) {
    Result<std::unique_ptr<RecordWriter>> writer =
        RecordWriter::Start({.folder = options.record_folder,
                             .most_bytes = options.record_bytes,
                             .head = options.head,
                             .now = options.now,
                             .log = options.log});
    if (!writer) return Fail(writer.error().message);
    keeping.writer = std::move(*writer);
  }
  std::unique_ptr<SeeingIn> seeing(new SeeingIn());
  seeing->keeper_ = std::make_unique<StateKeeper>(seeing->feed_, std::move(keeping));
  seeing->pages_ = std::make_unique<ApiPages>(
      *seeing->keeper_,
      ApiPages::Options{
          .world = options.head.world,
          .zone = options.zone,
          .default_queue = options.head.world.build.default_queue,
          .read_config = [lenient = options.head.lenient, profile = options.head.profile](
                             const std::string& text) { return ReadAgain(text, lenient, profile); },
          .now = std::move(options.now),
          .ready = [raw = seeing.get()] { return raw->ready(); },
          .render = std::move(options.render)});
  return seeing;
}

}  // namespace krafla
