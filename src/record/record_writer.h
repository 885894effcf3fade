// Writes a record into a folder: segments that each begin with the whole state and go on with
// changes and cycles. When a segment is full the next one is begun; when the folder holds more than
// it may, the oldest go. Whatever goes wrong with the disk is logged once and costs a gap, nothing
// else: after a while a new segment is tried.
//
// One thread, which is not the scheduler's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "record/folder_lock.h"
#include "record/gzip_file.h"
#include "record/kept_state.h"
#include "record/record_line.h"

namespace krafla {

class RecordWriter {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string folder;
    size_t most_bytes = size_t{1} << 30;  // of all segments together
    size_t segment_bytes = 0;             // 0: an eighth of the above, 64 MiB at most
    RecordHead head;                      // `begun` and `why` are set here
    std::function<Timestamp()> now;
    std::function<void(const std::string& line)> log;
  };

  // Makes the folder if there is none, locks it, and makes a first file to see whether that is
  // possible.
  static Result<std::unique_ptr<RecordWriter>> Start(Options options);
  ~RecordWriter();

  // In this order for every change: a new segment is begun, if there has to be one, with the state
  // before the change; then the change is written. The first change is a configuration: before it
  // there is nothing to write.
  void Prepare(const KeptState& before);
  void Write(const RecordedChange& change);
  // Something was lost before it came here: what follows needs the state anew.
  void Gap();
  // At the end of a batch: puts it into the file, at most once a second.
  void EndBatch();
  void Flush();
  // When the next EndBatch has something to do; nothing: not before something is written.
  std::optional<Clock::time_point> FlushDue() const;

  struct Counts {
    uint64_t segments = 0;
    uint64_t bytes = 0;  // in the folder now
    uint64_t gaps = 0;
    uint64_t failures = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  explicit RecordWriter(Options options) : options_(std::move(options)) {}
  void Begin(const KeptState& state);
  void Line(const std::string& line);
  void Failed(const std::string& why);
  // Removes the oldest segments until `room` more bytes fit.
  void MakeRoom(size_t room);

  Options options_;
  std::unique_ptr<FolderLock> lock_;  // null: the file system has none
  std::unique_ptr<GzipWriter> file_;
  std::string path_;
  uint64_t next_number_ = 1;
  size_t state_bytes_ = 0;  // of the segment's state, compressed
  size_t older_bytes_ = 0;  // of the other segments
  std::string why_ = "start";
  bool unflushed_ = false;
  bool said_ = false;
  Clock::time_point last_flush_;
  Clock::time_point not_before_;  // after a failure
  Counts counts_;
};

// The segments of a folder, the oldest first.
Result<std::vector<std::string>> RecordSegments(const std::string& folder);

}  // namespace krafla
