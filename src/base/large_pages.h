// Memory for large inputs in large pages. What is read into tables is touched once and in order, so
// the kernel's work for each page of 4 KiB is a good part of reading it.
#pragma once

#include <cstddef>

namespace krafla {

// Asks for large pages for a block of memory, as far as it holds whole ones. Without effect where
// there are none.
void UseLargePages(void* block, size_t bytes);

// The next `bytes` of small and middling blocks come from one stretch of the heap with large pages.
// Only address space is taken; pages come when they are touched, and are kept when they are freed.
void PrepareHeap(size_t bytes);

}  // namespace krafla
