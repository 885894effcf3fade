// Runs what was recorded once more: the state of a segment, then its changes, each cycle at its
// instant, and compares what is decided with what was.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/record_line.h"

namespace krafla {

struct ReplayDifference {
  uint64_t cycle = 0;
  Timestamp at;
  size_t index = 0;      // of the decision within the cycle
  std::string recorded;  // empty: there was none
  std::string replayed;
};

struct ReplayResult {
  uint64_t cycles = 0;
  uint64_t decisions = 0;
  uint64_t changes = 0;
  std::optional<size_t> objects;  // in the state it began with; none: see missing_state
  bool torn = false;              // the end of the segment is missing; all before it was replayed
  // Torn before its state was complete, so that nothing could be replayed: the file, where it ends
  // and what was expected there.
  std::string missing_state;
  std::optional<ReplayDifference> difference;  // the first; nothing is replayed behind it
};

// A cycle as it was replayed; called for each, in order.
using ReplayListener =
    std::function<void(uint64_t number, Timestamp at, const std::vector<std::string>& decisions)>;

// Whether two lines of DecisionLines() tell the same decision: of an eviction the pod, its node,
// the action and for whom. The reasons behind that are words, which another version may choose
// differently.
bool SameDecision(std::string_view line, std::string_view other);

// An error: the segment is none, or is damaged. A missing end is neither: the writer was killed,
// or still writes.
Result<ReplayResult> ReplaySegment(const std::string& path, const ReplayListener& listener);

}  // namespace krafla
