// What a page process is asked to make, and what it answers: plain values, and their form on the
// pipes between krafla serve (kube/page_process.h) and the process (kube/page_maker.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "kube/cluster_view.h"
#include "record/record_line.h"
#include "record/state_keeper.h"

namespace krafla {

struct PageTask {
  enum class What : uint8_t { kExplain, kView };
  What what = What::kView;
  Timestamp now;

  // Of kExplain.
  std::string kind;  // job, pod, queue, zone
  std::string name;
  std::string as = "json";                        // json, text, color
  std::chrono::milliseconds search_time{20'000};  // for changes that would help
  std::string evicted = {};                       // the last eviction of a pod of that name

  // Of kView.
  std::vector<PastLoss> losses = {};
};

// For messages: "explain job team-a/train".
std::string TitleOf(const PageTask& task);

// One line.
std::string TaskLine(const PageTask& task);
Result<PageTask> ParseTaskLine(std::string_view line);

// What is written to a page process: the task, then the state in the lines of a record up to its
// StateEndLine. Made piece by piece, so that no copy of the state is held in memory.
class PageInput {
 public:
  PageInput(const PageTask& task, const RecordHead& head, StateKeeper::Snapshot state);
  // The next piece, of about 64 KiB; valid until the next call. Empty: that was all.
  std::string_view Next();

 private:
  std::string piece_;
  RecordHead head_;
  StateKeeper::Snapshot state_;
  size_t next_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

struct PageResult {
  enum class What : uint8_t { kJson, kText, kView, kNotFound, kFailed };
  What what = What::kFailed;
  std::string body;  // of kNotFound and kFailed a message; of kView see WriteView
};

// A line with the length of the body, and the body.
std::string WriteResult(const PageResult& result);
// `text`: what was received so far. Nothing: more is needed. An error: it is no result, or one of
// more than `most` bytes.
Result<std::optional<PageResult>> ReadResult(std::string_view text, size_t most);

std::string WriteView(const ClusterView& view);
Result<ClusterView> ReadView(std::string_view text);

}  // namespace krafla
