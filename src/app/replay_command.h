// krafla run --replay: the cycles of a record once more, and whether they decide the same.
#pragma once

#include <iosfwd>

#include "app/run_command.h"

namespace krafla {

// Exit code: 0 the same decisions, 1 others (the first difference is shown) or not written, 2 the
// record cannot be read.
int ReplayCommand(const RunCommandOptions& options, std::ostream& out, std::ostream& err);

}  // namespace krafla
