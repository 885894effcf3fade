#include "manifest/shrink_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace krafla {

namespace {

// What the handler looks at: no locks, no memory of its own.
struct Place {
  std::atomic<bool> taken = false;
  std::atomic<uintptr_t> begin = 0;  // written last when it begins to stand: 0, nothing stands here
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> struck = false;
};
constinit std::array<Place, 16> places{};
constinit std::atomic<uintptr_t> page_bytes = 0;
struct sigaction before_us{};

void OnBusError(int number, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Place& place : places) {
    const uintptr_t begin = place.begin;
    if (begin == 0 || at < begin || at >= place.end) continue;
    place.struck = true;
    void* const page = reinterpret_cast<void*>(at & ~(page_bytes - 1));
    if (mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
      return;
  }
  // None of ours: what would have happened happens when the instruction is tried again.
  sigaction(number, &before_us, nullptr);
}

bool TakeSignal() {
  struct sigaction ours{};
  ours.sa_sigaction = &OnBusError;
  ours.sa_flags = SA_SIGINFO;
  sigemptyset(&ours.sa_mask);
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return sigaction(SIGBUS, &ours, &before_us) == 0;
}

}  // namespace

std::optional<ShrinkGuard> ShrinkGuard::Over(const char* begin, size_t bytes) {
  static const bool taken = TakeSignal();
  if (!taken) return std::nullopt;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].taken.exchange(true)) continue;
    places[i].struck = false;
    places[i].end = reinterpret_cast<uintptr_t>(begin) + bytes;
    places[i].begin = reinterpret_cast<uintptr_t>(begin);
    return ShrinkGuard(i);
  }
  return std::nullopt;
}

ShrinkGuard::~ShrinkGuard() {
  if (!place_) return;
  places[*place_].begin = 0;
  places[*place_].taken = false;
}

ShrinkGuard::ShrinkGuard(ShrinkGuard&& other) noexcept
    : place_(std::exchange(other.place_, std::nullopt)) {}

ShrinkGuard& ShrinkGuard::operator=(ShrinkGuard&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

bool ShrinkGuard::Struck() const {
  return place_ && places[*place_].struck;
}

}  // namespace krafla
