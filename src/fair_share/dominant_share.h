// The dominant share: the largest fraction of a whole that somebody holds in any one kind.
#pragma once

#include "model/resource.h"

namespace krafla {

// Kinds of which the whole has nothing do not count; holding nothing, or less, is a share of 0.
inline double DominantShare(const Resource& held, const Resource& whole) {
  double largest = 0;
  whole.ForEachNamed([&](int kind) {
    // A division per kind, not a product with a kept reciprocal: shares are compared for equality,
    // and two jobs that hold the same must come out equal to the last bit.
    const double share = held.Get(kind) / whole.Get(kind);
    if (share > largest) largest = share;
  });
  return largest;
}

// The same, had somebody `less` of what is held; as Resource::Sub would leave it.
inline double DominantShareWithout(const Resource& held, const Resource& less,
                                   const Resource& whole) {
  double largest = 0;
  whole.ForEachNamed([&](int kind) {
    const bool taken_off = kind <= ResourceKinds::kMemory || !held.scalars_nil();
    const double left = taken_off ? held.Get(kind) - less.Get(kind) : held.Get(kind);
    const double share = left / whole.Get(kind);
    if (share > largest) largest = share;
  });
  return largest;
}

}  // namespace krafla
