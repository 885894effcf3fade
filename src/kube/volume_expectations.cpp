#include "kube/volume_expectations.h"

#include <utility>

#include <fmt/format.h>

#include "record/overlay_sink.h"

namespace krafla {

namespace {

constexpr std::string_view kVolumeKind = "PersistentVolume";
constexpr std::string_view kClaimKind = "PersistentVolumeClaim";

// "namespace/name" of "namespace/name/uid".
std::string KeyOfClaim(const std::string& claim) {
  return claim.substr(0, claim.rfind('/'));
}

std::string UidOfClaim(const std::string& claim) {
  return claim.substr(claim.rfind('/') + 1);
}

}  // namespace

std::string VolumeExpectations::ClaimText(const PersistentVolume& volume) const {
  if (volume.claim_name == kEmptyStr) return {};
  return fmt::format("{}/{}/{}", strings().Text(volume.claim_ns), strings().Text(volume.claim_name),
                     strings().Text(volume.claim_uid));
}

const PersistentVolumeClaim* VolumeExpectations::FindClaim(const std::string& key) const {
  const std::string_view text = key;
  const size_t slash = text.find('/');
  return live_.FindClaim(strings().Intern(text.substr(0, slash)),
                         strings().Intern(text.substr(slash + 1)));
}

void VolumeExpectations::Reserve(const std::string& name, const std::string& claim,
                                 const std::string& pod) {
  const PersistentVolume* volume = live_.FindVolume(strings().Intern(name));
  if (volume == nullptr) return;
  const auto known = volumes_.find(name);
  if (known != volumes_.end()) {
    if (known->second.wanted == claim) known->second.pods.insert(pod);
    return;
  }
  std::string seen = ClaimText(*volume);
  // Another one's, or the claim's already: there is nothing to expect.
  if (volume->claim_uid != kEmptyStr || (!seen.empty() && seen != KeyOfClaim(claim) + "/")) return;
  volumes_.emplace(name, Expectation{claim, std::move(seen), {}, {pod}});
  const AssumedMark mark{AssumedMark::What::kReserved, claim};
  PersistentVolume assumed = *volume;
  LayOver(mark, strings(), assumed);
  live_.AddVolume(std::move(assumed));
  on_mark_(kVolumeKind, name, mark);
}

void VolumeExpectations::GiveUpVolume(const std::string& name, const std::string& claim,
                                      const std::string& pod) {
  const auto known = volumes_.find(name);
  if (known == volumes_.end() || known->second.wanted != claim) return;
  known->second.pods.erase(pod);
  if (!known->second.pods.empty()) return;
  const AssumedMark as_seen{AssumedMark::What::kReserved, known->second.seen};
  volumes_.erase(known);
  const PersistentVolume* volume = live_.FindVolume(strings().Intern(name));
  if (volume == nullptr) return;
  PersistentVolume restored = *volume;
  LayOver(as_seen, strings(), restored);
  live_.AddVolume(std::move(restored));
  on_mark_(kVolumeKind, name, {});
}

void VolumeExpectations::Select(const std::string& claim_text, const std::string& node,
                                const std::string& pod) {
  const std::string key = KeyOfClaim(claim_text);
  const PersistentVolumeClaim* claim = FindClaim(key);
  if (claim == nullptr || strings().Text(claim->uid) != UidOfClaim(claim_text)) return;
  const auto known = claims_.find(key);
  if (known != claims_.end()) {
    if (known->second.wanted == node) known->second.pods.insert(pod);
    return;
  }
  if (claim->selected_node != kEmptyStr || claim->volume_name != kEmptyStr) return;
  claims_.emplace(key, Expectation{node, {}, UidOfClaim(claim_text), {pod}});
  const AssumedMark mark{AssumedMark::What::kSelected, node};
  PersistentVolumeClaim assumed = *claim;
  LayOver(mark, strings(), assumed);
  live_.AddClaim(std::move(assumed));
  on_mark_(kClaimKind, key, mark);
}

void VolumeExpectations::GiveUpNode(const std::string& claim_text, const std::string& pod) {
  const std::string key = KeyOfClaim(claim_text);
  const auto known = claims_.find(key);
  if (known == claims_.end() || known->second.uid != UidOfClaim(claim_text)) return;
  known->second.pods.erase(pod);
  if (!known->second.pods.empty()) return;
  claims_.erase(known);
  const PersistentVolumeClaim* claim = FindClaim(key);
  if (claim == nullptr) return;
  PersistentVolumeClaim restored = *claim;
  restored.selected_node = kEmptyStr;  // else nothing would have been expected
  live_.AddClaim(std::move(restored));
  on_mark_(kClaimKind, key, {});
}

std::string VolumeExpectations::ClaimOf(const PersistentVolume& volume) const {
  const auto known = volumes_.find(std::string(strings().Text(volume.name)));
  return known == volumes_.end() ? ClaimText(volume) : known->second.seen;
}

std::string VolumeExpectations::NodeOf(const PersistentVolumeClaim& claim) const {
  const std::string key =
      fmt::format("{}/{}", strings().Text(claim.ns), strings().Text(claim.name));
  return claims_.contains(key) ? std::string() : std::string(strings().Text(claim.selected_node));
}

AssumedMark VolumeExpectations::Seen(const PersistentVolume& volume) {
  if (volumes_.empty()) return {};
  const auto known = volumes_.find(std::string(strings().Text(volume.name)));
  if (known == volumes_.end()) return {};
  Expectation& expected = known->second;
  expected.seen = ClaimText(volume);
  if (volume.claim_uid != kEmptyStr ||
      (!expected.seen.empty() && expected.seen != KeyOfClaim(expected.wanted) + "/")) {
    volumes_.erase(known);
    return {};
  }
  return {AssumedMark::What::kReserved, expected.wanted};
}

AssumedMark VolumeExpectations::Seen(const PersistentVolumeClaim& claim) {
  if (claims_.empty()) return {};
  const auto known =
      claims_.find(fmt::format("{}/{}", strings().Text(claim.ns), strings().Text(claim.name)));
  if (known == claims_.end()) return {};
  if (strings().Text(claim.uid) != known->second.uid || claim.selected_node != kEmptyStr ||
      claim.volume_name != kEmptyStr) {
    claims_.erase(known);
    return {};
  }
  return {AssumedMark::What::kSelected, known->second.wanted};
}

}  // namespace krafla
