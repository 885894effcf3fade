#include "kube/seeing_in.h"

namespace krafla {

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
  seeing->processes_ = std::make_unique<PageProcesses>(
      PageProcesses::Options{.memory_bytes = options.page_memory_bytes, .log = options.log});
  seeing->pages_ = std::make_unique<ApiPages>(
      *seeing->keeper_,
      ApiPages::Options{
          .head = std::move(options.head),
          .now = std::move(options.now),
          .ready = [raw = seeing.get()] { return raw->ready(); },
          .run =
              [processes = seeing->processes_.get()](const PageTask& task, PageInput input,
                                                     std::chrono::milliseconds time,
                                                     const std::function<bool()>& given_up) {
                return processes->Run(task, std::move(input), time, given_up);
              }});
  return seeing;
}

}  // namespace krafla
