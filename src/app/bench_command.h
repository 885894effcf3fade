// krafla bench --warm: what a change costs in the long-running loop, from the change to the
// decision, on a large cluster made in memory.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace krafla {

struct BenchCommandOptions {
  std::string warm;    // the kind of change
  std::string config;  // empty: one with all the usual actions and plugins
  std::optional<std::string> compatibility;
  int nodes = 5000;
  int pods_per_node = 5;
  int waiting_gangs = 1000;  // for the kinds that have gangs wait
  int rounds = 1000;
};

struct WarmKindInfo {
  std::string_view name;
  std::string_view help;
};
std::span<const WarmKindInfo> WarmKinds();

// Exit code: 0 done, 1 the figures could not be written or a decision was not the expected one,
// 2 the command line or the configuration is wrong.
int BenchCommand(const BenchCommandOptions& options, std::ostream& out, std::ostream& err);

}  // namespace krafla
