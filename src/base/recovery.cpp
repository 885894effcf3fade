#include "base/recovery.h"

#include <atomic>

namespace krafla {

namespace {

#ifdef KRAFLA_VERIFY
constexpr bool kEnabledAtFirst = false;
#else
constexpr bool kEnabledAtFirst = true;
#endif

constinit std::atomic<bool> enabled_now = kEnabledAtFirst;
constinit thread_local int depth = 0;

}  // namespace

RecoveryScope::RecoveryScope() {
  ++depth;
}

RecoveryScope::~RecoveryScope() {
  --depth;
}

bool RecoveryScope::Active() {
  // A check that fails while another one is being thrown cannot be caught.
  return depth > 0 && Enabled() && std::uncaught_exceptions() == 0;
}

void RecoveryScope::Enable(bool enabled) {
  enabled_now = enabled;
}

bool RecoveryScope::Enabled() {
  return enabled_now;
}

}  // namespace krafla
