#include "sim/sim_event.h"

namespace krafla {

std::string_view ToString(SimEventKind kind) {
  static constexpr std::string_view kNames[kSimEventKindCount] = {
      "run-begins",    "run-ends",    "node-added",    "node-lost",    "node-cordoned",
      "zone-opened",   "zone-closed", "drain-held",    "zone-drained", "job-submitted",
      "job-phase",     "job-waiting", "job-completed", "pod-created",  "pod-bound",
      "pod-pipelined", "pod-started", "pod-succeeded", "pod-failed",   "pod-evicted",
      "pod-gone",      "bind-failed", "evict-failed",  "queue-share",  "eviction-loop",
      "fault",
  };
  static_assert(static_cast<size_t>(SimEventKind::kFault) + 1 == kSimEventKindCount);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace krafla
