#include "sim/active_faults.h"

#include <fmt/format.h>

#include "sim/name_pattern.h"

namespace krafla {

std::optional<int64_t> ActiveFaults::DelayNs(Fault::Kind kind, std::string_view node) const {
  std::optional<int64_t> delay;
  for (const uint32_t index : active_) {
    const Fault& fault = faults_[index];
    if (fault.kind == kind && (fault.match.empty() || MatchesPattern(fault.match, node)))
      delay = fault.delay_ns;
  }
  return delay;
}

bool ActiveFaults::Refuses(Fault::Kind kind, std::string_view pod, std::string_view node,
                           uint64_t tries) const {
  for (const uint32_t index : active_) {
    const Fault& fault = faults_[index];
    if (fault.kind != kind) continue;
    const bool names_pods = fault.match.find('/') != std::string::npos;
    if (!fault.match.empty() && !MatchesPattern(fault.match, names_pods ? pod : node)) continue;
    const std::string purpose = fmt::format("refused by fault {}", index);
    if (draws_.Unit(purpose, pod, tries) < fault.probability) return true;
  }
  return false;
}

int64_t ActiveFaults::ClockOffsetNs() const {
  int64_t offset = 0;
  for (const uint32_t index : active_)
    if (faults_[index].kind == Fault::Kind::kClockJump) offset += faults_[index].delay_ns;
  return offset;
}

}  // namespace krafla
