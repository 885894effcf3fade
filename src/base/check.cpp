#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/recovery.h"

namespace krafla {

void CheckFailed(const char* file, int line, const char* condition, const std::string& detail) {
  if (RecoveryScope::Active())
    throw FailedCheck(std::string(file) + ":" + std::to_string(line) +
                      ": this must hold and does not: " + condition +
                      (detail.empty() ? "" : " " + detail));
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s %s\n", file, line, condition,
               detail.c_str());
  std::abort();
}

}  // namespace krafla
