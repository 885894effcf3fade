// Preloaded into krafla serve by test_leadership.py: moves what its clocks show. The file that
// KRAFLA_SHIFTED_CLOCKS names holds two 64-bit numbers of nanoseconds, which a test changes while
// the program runs: what is added to CLOCK_REALTIME, as when the clock is set, and what is added to
// CLOCK_BOOTTIME alone, as when the machine was suspended.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t* shifts;

__attribute__((constructor)) static void Open(void) {
  const char* path = getenv("KRAFLA_SHIFTED_CLOCKS");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void* const mapped = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  shifts = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec* t) {
  const int result = (int)syscall(SYS_clock_gettime, clock, t);
  if (result != 0 || shifts == NULL) return result;
  int64_t shift = 0;
  if (clock == CLOCK_REALTIME) shift = shifts[0];
  if (clock == CLOCK_BOOTTIME) shift = shifts[1];
  const int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec + shift;
  t->tv_sec = ns / 1000000000;
  t->tv_nsec = ns % 1000000000;
  return 0;
}
