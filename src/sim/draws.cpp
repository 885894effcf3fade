#include "sim/draws.h"

#include <algorithm>
#include <cmath>

namespace krafla {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// A hundred years: what an exponential draw may not exceed, so that instants stay in range.
constexpr double kMaxNs = 100.0 * 365 * 86400 * 1e9;

uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

uint64_t Absorb(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return Mix(hash + text.size());
}

int64_t ToMs(double ns) {
  return static_cast<int64_t>(std::llround(std::clamp(ns, 0.0, kMaxNs) / kNsPerMs)) * kNsPerMs;
}

}  // namespace

double Draws::Unit(std::string_view purpose, std::string_view name, uint64_t number) const {
  uint64_t hash = Mix(seed_ + 0x9e3779b97f4a7c15ULL);
  hash = Absorb(hash, purpose);
  hash = Absorb(hash, name);
  hash = Mix(hash + (number + 1) * 0x9e3779b97f4a7c15ULL);
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

int64_t DrawRunTimeNs(const RunTime& run_time, double unit) {
  switch (run_time.kind) {
    case RunTime::Kind::kForever:
      return kForeverNs;
    case RunTime::Kind::kFixed:
      return run_time.mean_ns;
    case RunTime::Kind::kUniform:
      return ToMs(static_cast<double>(run_time.low_ns) +
                  static_cast<double>(run_time.high_ns - run_time.low_ns) * unit);
    case RunTime::Kind::kExponential:
      return ToMs(-static_cast<double>(run_time.mean_ns) * std::log1p(-unit));
  }
  return kForeverNs;
}

int64_t WithJitterNs(int64_t value_ns, double jitter, double unit) {
  if (jitter <= 0) return value_ns;
  return ToMs(static_cast<double>(value_ns) * (1 - jitter + 2 * jitter * unit));
}

int64_t DrawGapNs(int64_t mean_ns, double unit) {
  return std::max(kNsPerMs, ToMs(-static_cast<double>(mean_ns) * std::log1p(-unit)));
}

}  // namespace krafla
