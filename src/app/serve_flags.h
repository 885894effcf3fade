// The command line of `krafla serve`: every flag of vc-scheduler, in the notation of Kubernetes'
// programs (--flag=value, --flag value, --flag for true), so that its Deployment's arguments need
// not change, and a few of our own.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "config/eviction_limits.h"
#include "kube/serve.h"

namespace krafla {

struct ServeFlags {
  ServeOptions options;  // without what the caller adds: log, version, reading of configurations
  std::string compatibility;  // profile, empty: as the configuration says
  bool lenient = false;
  EvictionLimits eviction_limits;  // over those of the configuration; 0 and false: as it says
  bool show_help = false;
  bool show_version = false;
  std::vector<std::string> without_meaning;  // flags that were given and do nothing here
};

ServeFlags ParseServeFlags(const std::vector<std::string>& arguments, Diagnostics& diagnostics);

// What --help prints.
std::string ServeHelp();

}  // namespace krafla
