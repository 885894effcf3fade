// The text files of tests/check/cases: one per code, with blocks in which it fires and neighbours
// in which it does not.
//
//   A sentence about the rule.
//   === a name of the block
//   --- now 2026-03-10T12:00:00Z     (optional, this is the default)
//   --- profile volcano              (optional)
//   --- config                       (optional; tests/check/default.yaml)
//   actions: …
//   --- cluster                      (optional; read as standard input, "-")
//   apiVersion: …
//   --- expect                       (the findings of this code, in order; may be empty)
//   config:5:11 warning: plugin gang: what is there
//     a line of its details
#pragma once

#include <string>
#include <vector>

#include "check/run_check.h"

namespace krafla::testing {

struct CheckBlock {
  std::string name;
  std::string now = "2026-03-10T12:00:00Z";
  std::string profile;
  std::string config;
  std::string cluster;
  bool has_cluster = false;
  std::string expect;
};

// Fails the running test when the file cannot be read.
std::vector<CheckBlock> ReadCaseFile(const std::string& path);

// The configuration of a block that gives none.
std::string DefaultConfig();

CheckReport RunBlock(const CheckBlock& block);

// The findings of `code` as a case file writes them.
std::string FindingsOf(const CheckReport& report, std::string_view code);

}  // namespace krafla::testing
