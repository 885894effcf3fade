// Why a pod that names no PodGroup is not scheduled as a singleton PodGroup: decided by
// kube/lone_pods.h, kept in records, put into words by explain/missing_words.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace krafla {

enum class GroupWait : uint8_t {
  kNone,         // it is scheduled
  kControllers,  // Volcano's controllers create a PodGroup for it
  kNever,        // --group-of-one=never
  kDelay,        // --group-of-one=after=…, or auto and the pod has an owner: for a while
};

inline constexpr std::pair<GroupWait, std::string_view> kGroupWaitWords[] = {
    {GroupWait::kControllers, "controllers"},
    {GroupWait::kNever, "never"},
    {GroupWait::kDelay, "delay"}};

// The word of it in a record; empty for kNone.
constexpr std::string_view WordOf(GroupWait wait) {
  for (const auto& [value, word] : kGroupWaitWords)
    if (value == wait) return word;
  return {};
}

// Nothing for an unknown word.
constexpr std::optional<GroupWait> GroupWaitOf(std::string_view word) {
  for (const auto& [value, known] : kGroupWaitWords)
    if (known == word) return value;
  return std::nullopt;
}

}  // namespace krafla
