// The faults that are at work right now, for those who suffer them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/draws.h"
#include "sim/scenario.h"

namespace krafla {

class ActiveFaults {
 public:
  ActiveFaults(const std::vector<Fault>& faults, const Draws& draws)
      : faults_(faults), draws_(draws) {}

  void Begin(uint32_t fault) { active_.push_back(fault); }
  void End(uint32_t fault) { std::erase(active_, fault); }

  // What start-up or termination takes on this node; nothing when it is as slow as usual.
  std::optional<int64_t> DelayNs(Fault::Kind kind, std::string_view node) const;
  // Whether this try to bind or evict fails. A pattern with a slash names pods, one without nodes.
  bool Refuses(Fault::Kind kind, std::string_view pod, std::string_view node, uint64_t tries) const;
  // How far the scheduler's clock is ahead.
  int64_t ClockOffsetNs() const;

 private:
  const std::vector<Fault>& faults_;
  const Draws& draws_;
  std::vector<uint32_t> active_;  // in the order in which they began
};

}  // namespace krafla
