// krafla serve: the scheduler itself, on a Kubernetes API server.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace krafla {

// Exit code: 0 stopped by a signal, 1 lost the leader lease or left writes undone, 2 wrong input.
int ServeCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace krafla
