// KRAFLA_SANITIZED: this is compiled with the address or the thread sanitizer, by gcc or clang. For
// code that their memory layout rules out.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KRAFLA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KRAFLA_SANITIZED 1
#endif
#endif
