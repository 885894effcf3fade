#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace krafla {

void CheckFailed(const char* file, int line, const char* condition, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s %s\n", file, line, condition,
               detail.c_str());
  std::abort();
}

}  // namespace krafla
