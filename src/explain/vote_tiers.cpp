#include "explain/vote_tiers.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

VoteTiers::VoteTiers(const Session& session, const CycleProbe& probe, EvictingAction action)
    : session_(session), probe_(probe) {
  const bool reclaims = action == EvictingAction::kReclaim;
  const Switch needs = reclaims ? Switch::kReclaimable : Switch::kPreemptable;
  for (const Tier& tier : session.config.tiers) {
    voters_.emplace_back();
    for (const PluginOption& option : tier.plugins)
      if (option.Enabled(needs) && probe.VotesOnVictims(option.name, reclaims))
        voters_.back().push_back(option.name);
  }
}

bool VoteTiers::Votes(size_t tier, std::string_view plugin) const {
  return std::find(voters_[tier].begin(), voters_[tier].end(), plugin) != voters_[tier].end();
}

std::optional<size_t> VoteTiers::TierOf(std::string_view plugin) const {
  for (size_t t = 0; t < voters_.size(); ++t)
    if (Votes(t, plugin)) return t;
  return std::nullopt;
}

std::optional<size_t> VoteTiers::TierOfAll(uint64_t plugins) const {
  const std::vector<std::string>& names = session_.plugin_names();
  for (size_t t = 0; t < voters_.size(); ++t) {
    bool all = plugins != 0;
    for (size_t i = 0; i < names.size(); ++i)
      if ((plugins >> i & 1) != 0) all &= Votes(t, names[i]);
    if (all) return t;
  }
  return std::nullopt;
}

bool VoteTiers::several() const {
  return std::count_if(voters_.begin(), voters_.end(), [](const auto& t) { return !t.empty(); }) >
         1;
}

bool VoteTiers::HoldsEverywhere(std::string_view plugin) const {
  return session_.compat.guards && probe_.IsGuard(plugin);
}

std::vector<size_t> VoteTiers::MayOverrule(std::string_view plugin) const {
  std::vector<size_t> others;
  if (!TierOf(plugin) || HoldsEverywhere(plugin)) return others;
  for (size_t t = 0; t < voters_.size(); ++t)
    if (!voters_[t].empty() && !Votes(t, plugin)) others.push_back(t);
  return others;
}

std::string VoteTiers::HowFarItHolds(std::string_view plugin) const {
  if (HoldsEverywhere(plugin)) return "in every tier";
  const std::optional<size_t> own = TierOf(plugin);
  if (!own) return "not at all: it has no vote";
  std::vector<size_t> earlier;
  std::vector<size_t> later;
  for (size_t tier : MayOverrule(plugin)) (tier < *own ? earlier : later).push_back(tier);
  if (earlier.empty() && later.empty()) return "no other tier votes";
  std::string text = fmt::format("in tier {}", *own + 1);
  if (!earlier.empty()) text += fmt::format("; {} may name it before", Texts(earlier, "or"));
  if (!later.empty())
    text += fmt::format("; {} may still name it, where tier {} names nobody", Texts(later, "or"),
                        *own + 1);
  return text;
}

std::vector<size_t> VoteTiers::Before(size_t tier) const {
  std::vector<size_t> before;
  for (size_t t = 0; t < tier && t < voters_.size(); ++t)
    if (!voters_[t].empty()) before.push_back(t);
  return before;
}

std::string VoteTiers::Text(size_t tier) const {
  return fmt::format("tier {} ({})", tier + 1, fmt::join(voters_[tier], ", "));
}

std::string VoteTiers::Texts(const std::vector<size_t>& tiers, std::string_view conjunction) const {
  std::string text;
  for (size_t i = 0; i < tiers.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == tiers.size() ? fmt::format(" {} ", conjunction)
                                     : ", ") +
            Text(tiers[i]);
  return text;
}

}  // namespace krafla
