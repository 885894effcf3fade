#include "base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

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
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most it takes
  mallopt(M_TOP_PAD, static_cast<int>(bytes + kPage));
  // More than is left at the end of the heap, so that it grows by that much.
  void* first = std::malloc(mallinfo2().keepcost + kFirst);
  mallopt(M_TOP_PAD, 1 << 20);
  const auto begin = reinterpret_cast<uintptr_t>(first);
  const auto end = reinterpret_cast<uintptr_t>(::sbrk(0));
  const bool has_grown = first != nullptr && begin < end && end - begin >= bytes;
  if (has_grown) UseLargePages(first, end - begin);
  std::free(first);
  if (!has_grown) return;
  // Up to where a large page begins there are up to 511 small ones. They are passed over: a block
  // that nobody touches stands there.
  constexpr size_t kSmallPage = 4096;
  const size_t up_to_page = (begin + kPage - 1) / kPage * kPage - begin;
  static void* passed_over;
  if (passed_over == nullptr && up_to_page > 2 * kSmallPage)
    passed_over = std::malloc(up_to_page - kSmallPage);
#else
  (void)bytes;
#endif
}

}  // namespace krafla
