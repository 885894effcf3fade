// krafla run: one scheduling cycle on a snapshot of a cluster.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace krafla {

struct RunCommandOptions {
  std::vector<std::string> cluster;
  std::string replay;  // a record, instead of a cluster
  std::string config;  // empty: Volcano's default configuration
  std::string now;     // empty: the clock
  std::optional<std::string> compatibility;
  bool lenient = false;
  std::string output = "text";
  bool stats = false;
  int verbosity = 0;
  bool color = false;
};

// Exit code: 0 a plan was printed, 1 it could not be written, 2 the input is wrong (all problems
// are on `err`, nothing is on `out`).
int RunCommand(const RunCommandOptions& options, std::istream& in, std::ostream& out,
               std::ostream& err);

}  // namespace krafla
