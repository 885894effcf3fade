// What every command that looks at a cluster is given: a configuration, manifests, an instant.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "base/diagnostics.h"
#include "base/result.h"
#include "config/scheduler_config.h"
#include "manifest/read_cluster.h"
#include "session/session.h"

namespace krafla {

// Exit codes of all commands, beside 0.
inline constexpr int kNotWritten = 1;  // the answer could not be written
inline constexpr int kWrongInput = 2;  // all problems are on standard error, nothing on output

void Print(const Diagnostics& diagnostics, std::ostream& err);

Result<std::string> ReadFile(const std::string& path);

// Standard input can be read once: `for_cluster` says that manifests are read from it.
struct StandardInput {
  std::istream* stream = nullptr;  // null: nothing is read from it here
  bool for_cluster = false;
};
// A file, or standard input when it is called "-".
Result<std::string> ReadFileOrInput(const std::string& path, const StandardInput& input);

// An empty path is Volcano's default configuration; `profile` replaces the one of the file.
// `text`, if it is not null, becomes what was read. "-" is standard input where that is given.
SchedulerConfig ReadConfig(const std::string& path, bool lenient,
                           const std::optional<std::string>& profile, Diagnostics& diagnostics,
                           std::string* text = nullptr, const StandardInput& input = {});

// The instant to schedule at (empty: the clock), and the zone windows are read in unless the
// configuration names one.
SessionOptions TimeOf(const std::string& now_text, Diagnostics& diagnostics);

// How a cluster is read for a configuration.
ReadClusterOptions ReadOptionsFor(const SchedulerConfig& config, bool lenient);

}  // namespace krafla
