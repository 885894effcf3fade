// Which tiers have a say about victims, and what one tier's word is worth: the first tier that
// names somebody decides; a tier that names nobody hands on to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/candidates.h"
#include "explain/cycle_probe.h"
#include "session/session.h"

namespace krafla {

class VoteTiers {
 public:
  VoteTiers(const Session& session, const CycleProbe& probe, EvictingAction action);

  // Where the plugin is first asked, from 0; none: it has no vote.
  std::optional<size_t> TierOf(std::string_view plugin) const;
  // The first tier in which all these plugins (bits as in Eviction::permitted_by) vote.
  std::optional<size_t> TierOfAll(uint64_t plugins) const;
  // Whether more than one tier votes: else there is no need to speak of tiers.
  bool several() const;
  // The plugin's veto holds in every tier (a guard's does).
  bool HoldsEverywhere(std::string_view plugin) const;
  // Tiers that may name a pod that the plugin spares: those that are asked before it, and those
  // that are asked when its own names nobody.
  std::vector<size_t> MayOverrule(std::string_view plugin) const;

  // "in tier 1; tier 2 (drf) may still name it, where tier 1 names nobody"
  std::string HowFarItHolds(std::string_view plugin) const;

  // "tier 2 (drf, tdm)"
  std::string Text(size_t tier) const;
  // "tier 2 (drf) or tier 3 (tdm)"
  std::string Texts(const std::vector<size_t>& tiers, std::string_view conjunction) const;
  // Those before `tier` that vote.
  std::vector<size_t> Before(size_t tier) const;

 private:
  bool Votes(size_t tier, std::string_view plugin) const;

  const Session& session_;
  const CycleProbe& probe_;
  std::vector<std::vector<std::string>> voters_;  // by tier
};

}  // namespace krafla
