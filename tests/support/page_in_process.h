// Pages of the API without a process: what a page process does, on the caller's thread.
#pragma once

#include "kube/page_process.h"

namespace krafla::testing {

// For ApiPages::Options::run.
PageOutcome MakePageHere(const PageTask& task, PageInput input, std::chrono::milliseconds time,
                         const std::function<bool()>& given_up);

}  // namespace krafla::testing
