// The memory of cycles as JSON, for records.
#pragma once

#include <string>

#include "base/result.h"
#include "session/cycle_memory.h"

namespace krafla {

std::string MemoryAsJson(const CycleMemory& memory);
// `json` must be followed by simdjson's padding, or be part of a text that is.
Result<CycleMemory> MemoryFromJson(std::string_view json);

bool SameMemory(const CycleMemory& a, const CycleMemory& b);

}  // namespace krafla
