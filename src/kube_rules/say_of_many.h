// What a rule says of whole domains, told to whoever asked about many nodes.
#pragma once

#include <cstdint>
#include <span>

#include "session/hooks.h"
#include "session/rows_of_bits.h"

namespace krafla {

// Those of `nodes` that are in `refused` are refused for this reason, and for no later one.
inline void SayAndTakeOff(std::span<uint64_t> nodes, std::span<uint64_t> refused, Refusal refusal,
                          const PredicateHook::Say& say) {
  KeepThese(refused, nodes);
  if (!AnyBit(refused)) return;
  TakeOff(nodes, refused);
  say(refusal, refused);
}

}  // namespace krafla
