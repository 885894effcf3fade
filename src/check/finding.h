// What the linter has to say: one finding per trap, each with its place, its consequence and a way
// out of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace krafla {

enum class FindingLevel : uint8_t { kNote, kWarning, kError };
std::string_view ToString(FindingLevel level);  // "note", "warning", "error"

// Where a finding is. All of it may be unknown: a matter of the whole input has no place.
struct Place {
  std::string file;  // as the user named it, "-" for standard input
  Location location;
};

struct Finding {
  std::string_view code;  // "K201", of the rule
  std::string_view slug;  // "never-consulted"
  FindingLevel level = FindingLevel::kWarning;
  Place place;
  std::string object;                // "plugin gang", "PodGroup ml/train"; may be empty
  std::string message;               // what is there
  std::string consequence;           // what will happen
  std::string fix;                   // what to do about it
  std::vector<std::string> details;  // lines to look at: the hours of a zone, say
};

// By file, line, column, then code, object and message: an order that depends on nothing else.
// Findings without a place come last.
void SortFindings(std::vector<Finding>& findings);

}  // namespace krafla
