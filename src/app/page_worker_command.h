// krafla page-worker: the hidden command that krafla serve starts for each page of the API that
// needs a trial cycle (kube/page_process.h). Not for users: it reads a state on standard input.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explanation.h"

namespace krafla {

inline constexpr std::string_view kPageWorkerCommand = "page-worker";

// `as`: "json", "text" or "color".
std::string RenderExplanation(const Explanation& explanation, const std::string& as);

// Reads standard input, writes standard output. Exit code 2: wrong arguments.
int PageWorkerCommand(const std::vector<std::string>& arguments, std::ostream& err);

}  // namespace krafla
