// The findings for a person, for a program, and for tools that show them in a review.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "check/run_check.h"

namespace krafla {

std::string CheckAsText(const CheckReport& report, bool color);
std::string CheckAsJson(const CheckReport& report);
// SARIF 2.1.0, with a table of all rules.
std::string CheckAsSarif(const CheckReport& report, std::string_view version);
// Of a check that could not be made: SARIF without results that says why.
std::string FailureAsSarif(const Diagnostics& diagnostics, std::string_view version);

}  // namespace krafla
