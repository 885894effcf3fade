// krafla serve: the scheduler itself, on a Kubernetes API server.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace krafla {

// Exit code: 0 told to stop, 1 leadership lost or writes left undone, 2 wrong input.
int ServeCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace krafla
