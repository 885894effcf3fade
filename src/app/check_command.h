// krafla check: a linter for the scheduler configuration and, beside it, the cluster.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace krafla {

struct CheckCommandOptions {
  std::string config;                // empty: Volcano's default configuration
  std::vector<std::string> cluster;  // empty: rules about the configuration alone
  std::string now;                   // empty: the clock
  std::optional<std::string> compatibility;
  bool strict = false;
  std::string output = "text";  // or "json", "sarif"
  bool color = false;
};

// Exit code: 0 no errors (and, when strict, no warnings), 1 warnings when strict, or the findings
// could not be written, 2 errors, or the command line is wrong.
int CheckCommand(const CheckCommandOptions& options, std::istream& in, std::ostream& out,
                 std::ostream& err);

}  // namespace krafla
