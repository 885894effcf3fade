// The machine-readable answer of `krafla run`: a contract, byte-identical for the same input.
#pragma once

#include <optional>
#include <string>

#include "session/session.h"

namespace krafla {

struct RunStats {
  double load_ms = 0;
  double peak_rss_mb = 0;
};

std::string PlanAsJson(const Session& session, const std::optional<RunStats>& stats);

}  // namespace krafla
