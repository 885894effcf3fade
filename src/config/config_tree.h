// Reading a configuration that is part of another file: its tree has been made already, and its
// places are those of that file.
#pragma once

#include "base/diagnostics.h"
#include "base/yaml_node.h"
#include "config/scheduler_config.h"

namespace krafla {

// As ReadSchedulerConfig; `tree.problems` are reported too.
SchedulerConfig ReadSchedulerConfigTree(const YamlTree& tree, const Vocabulary& vocabulary,
                                        const ConfigReadOptions& options, Diagnostics& diagnostics);

}  // namespace krafla
