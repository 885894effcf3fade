// krafla explain --server: asks a running scheduler, over HTTP or HTTPS, and prints what it
// answers.
#pragma once

#include <iosfwd>

#include "app/explain_command.h"

namespace krafla {

// Exit codes as ExplainCommand: 2 also when the server cannot be reached, is no krafla, is not
// ready or is busy.
int ExplainFromServer(const ExplainCommandOptions& options, std::ostream& out, std::ostream& err);

}  // namespace krafla
