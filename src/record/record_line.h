// The lines of a record: a head, the state as it was then, and what followed. Each is one JSON
// object; docs/record.md describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "record/recorded_change.h"
#include "record/replay_world.h"

namespace krafla {

inline constexpr int kRecordFormat = 1;

// What holds for all that follows, and cannot change while a scheduler runs.
struct RecordHead {
  std::string version;  // of the program
  Timestamp begun;
  std::string why;   // "start", "the last segment was full", "a gap"
  std::string zone;  // of the process: a name of the tz database, or any text
  int offset_seconds = 0;
  WorldOptions world;
  bool lenient = false;
  std::optional<std::string> profile;  // replaces the configuration's
};

std::string HeadLine(const RecordHead& head);
std::string ChangeLine(const RecordedChange& change);
std::string MemoryLine(const CycleMemory& memory);
std::string ConfigLine(std::string_view config);
// The state is complete; from here on there are changes.
std::string StateEndLine(size_t objects, uint64_t cycles);

// A cycle as it is read back.
struct CycleLine {
  uint64_t number = 0;
  Timestamp at;
  std::vector<std::string> decisions;
};
struct StateEnd {
  size_t objects = 0;
};
// kPut, kGone, kMemory and kConfig come back as changes.
using RecordLine = std::variant<RecordHead, RecordedChange, CycleLine, StateEnd>;

Result<RecordLine> ParseRecordLine(std::string_view line);

}  // namespace krafla
