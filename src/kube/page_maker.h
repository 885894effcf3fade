// Makes one page of the API: reads a task and a state (kube/page_task.h), brings a cluster in
// memory to that state, runs trial cycles on it. Runs in a page process, which krafla serve starts
// for each page (kube/page_process.h): a check that fails here ends that process alone.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "explain/explanation.h"
#include "kube/page_task.h"

namespace krafla {

// `as`: "json", "text" or "color".
using ExplanationRenderer =
    std::function<std::string(const Explanation& explanation, const std::string& as)>;

// `next_line`: the lines of a PageInput without their ends, then nothing.
PageResult MakePage(const std::function<std::optional<std::string>()>& next_line,
                    const ExplanationRenderer& render);

}  // namespace krafla
