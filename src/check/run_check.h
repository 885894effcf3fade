// The linter: reads what there is to read, asks every rule that can be asked.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "check/finding.h"
#include "session/session.h"

namespace krafla {

struct CheckRequest {
  std::string config_file;  // for messages
  std::string config_text;
  std::optional<std::string> profile;  // replaces the one of the configuration
  std::vector<std::string> cluster;    // files, directories, "-"; empty: the configuration only
  SessionOptions time;
};

struct CheckReport {
  std::vector<Finding> findings;     // sorted by place
  size_t rules = 0;                  // that were asked
  size_t rules_without_config = 0;   // not asked: the configuration has errors
  size_t rules_without_cluster = 0;  // not asked: no cluster was given, or it could not be read
  bool cluster_given = false;

  size_t CountOf(FindingLevel level) const;
};

CheckReport RunCheck(const CheckRequest& request, std::istream& standard_input);

}  // namespace krafla
