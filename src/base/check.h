// CHECK: for our own mistakes. Always on; prints the condition and what the caller adds, then
// aborts.
#pragma once

#include <string>

namespace krafla {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& detail);

}  // namespace krafla

#define KRAFLA_CHECK(condition, ...)                                                   \
  do {                                                                                 \
    if (!(condition)) [[unlikely]]                                                     \
      ::krafla::CheckFailed(__FILE__, __LINE__, #condition, std::string{__VA_ARGS__}); \
  } while (false)
