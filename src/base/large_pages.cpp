#include "base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace krafla {

namespace {

constexpr uintptr_t kPage = uintptr_t{2} << 20;

}  // namespace

void UseLargePages(void* block, size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto begin = (reinterpret_cast<uintptr_t>(block) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(block) + bytes) / kPage * kPage;
  // Only advice: where the kernel does not take it, everything works as before.
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

void PrepareHeap(size_t bytes) {
#ifdef __GLIBC__
  constexpr size_t kMost = size_t{1} << 30;
  constexpr size_t kFirst = size_t{64} << 10;
  bytes = std::min(bytes, kMost);
  // What is freed is used again, not given back and faulted in anew.
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(kMost));
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most it takes
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  void* first = std::malloc(kFirst);  // makes the heap grow by that much
  mallopt(M_TOP_PAD, 1 << 20);
  const char* end = static_cast<const char*>(::sbrk(0));
  const char* begin = static_cast<const char*>(first);
  if (begin != nullptr && begin < end && static_cast<size_t>(end - begin) <= kMost + kFirst * 2)
    UseLargePages(first, static_cast<size_t>(end - begin));
  std::free(first);
#else
  (void)bytes;
#endif
}

}  // namespace krafla
