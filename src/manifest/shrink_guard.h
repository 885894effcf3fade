// A file that is cut off while it is mapped takes its pages with it, and whoever touches them gets
// SIGBUS. While a guard stands over the mapping, a page that is gone is a page of zeros, and the
// guard knows.
//
// Zeros are no text: whoever reads them finds a mistake, and says what the guard knows instead.
#pragma once

#include <cstddef>
#include <optional>

namespace krafla {

class ShrinkGuard {
 public:
  // Whole pages. Nothing: there are too many guards, or signals cannot be taken.
  static std::optional<ShrinkGuard> Over(const char* begin, size_t bytes);
  ~ShrinkGuard();
  ShrinkGuard(ShrinkGuard&& other) noexcept;
  ShrinkGuard& operator=(ShrinkGuard&& other) noexcept;

  // A page was missing.
  bool Struck() const;

 private:
  explicit ShrinkGuard(size_t place) : place_(place) {}

  std::optional<size_t> place_;
};

}  // namespace krafla
