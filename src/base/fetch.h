// Asking for memory before its turn comes. In a cluster that is larger than the cache each task,
// node or job that a list leads to is a miss of a tenth of a microsecond; asked for some steps
// ahead, it is there when it is needed. Nothing depends on it but time.
#pragma once

namespace krafla {

// Inlined by force, as are the functions that call nothing else: gcc takes a function that only
// fetches for one without effect, and leaves the call out.
#define KRAFLA_FETCHES [[gnu::always_inline]] inline

KRAFLA_FETCHES void Fetch(const void* memory) {
  __builtin_prefetch(memory);
}

}  // namespace krafla
