#include "app/version.h"

namespace krafla {

std::string_view Version() {
  return "krafla " KRAFLA_VERSION;
}

}  // namespace krafla
