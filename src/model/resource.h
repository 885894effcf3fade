// Amounts of resources: one double per kind (milli-CPU, bytes, milli-anything-else, whole pods) and
// which kinds were named at all. Volcano distinguishes "0 of it" from "not named", and so must we:
// a request that names a kind is compared in that kind even when it asks for 0; an unnamed one is
// not.
//
// Doubles, not integers, because queue shares are fractions of amounts and are compared with them;
// whole amounts stay exact up to 2^53. kTolerance is the one home of the comparison's slack.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace krafla {

inline constexpr double kTolerance = 0.1;

// The names of the kinds of one cluster; cpu, memory and pods come first.
class ResourceKinds {
 public:
  static constexpr int kCpu = 0;
  static constexpr int kMemory = 1;
  static constexpr int kPods = 2;
  static constexpr int kMax = 64;  // the mask is one word

  ResourceKinds();
  // The kind's index; -1 when kMax kinds exist already (the caller reports it).
  int Intern(std::string_view name);
  int Find(std::string_view name) const;  // -1 when unknown
  const std::string& Name(int kind) const { return names_[static_cast<size_t>(kind)]; }
  int size() const { return static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> names_;
};

// How a comparison reads a kind that the other side does not name.
enum class Missing { kZero, kInfinity };

// A list of amounts that is nearly always empty: then it is one word, and copied as such.
class MoreAmounts {
 public:
  MoreAmounts() = default;
  MoreAmounts(const MoreAmounts& other) : list_(Copy(other)) {}
  MoreAmounts(MoreAmounts&&) noexcept = default;
  MoreAmounts& operator=(const MoreAmounts& other) {
    if (list_ != other.list_) list_ = Copy(other);
    return *this;
  }
  MoreAmounts& operator=(MoreAmounts&&) noexcept = default;
  ~MoreAmounts() = default;

  double Get(size_t at) const { return list_ != nullptr && at < list_->size() ? (*list_)[at] : 0; }
  double& At(size_t at) {
    if (list_ == nullptr) list_ = std::make_unique<std::vector<double>>();
    if (at >= list_->size()) list_->resize(at + 1, 0);
    return (*list_)[at];
  }

 private:
  using List = std::unique_ptr<std::vector<double>>;
  static List Copy(const MoreAmounts& other) {
    return other.list_ == nullptr ? nullptr : std::make_unique<std::vector<double>>(*other.list_);
  }

  List list_;
};

// Two lines of the cache (in a Table, and where its owner sees to it). Most amounts name none but
// the first kinds: a kind that is not named amounts to 0, so the second line is then zero, and the
// list behind it empty, and neither is read.
class Resource {
 public:
  static constexpr int kInline = 13;
  static constexpr int kOnFirstLine = 6;

  Resource() {
    std::memset(inline_.data(), 0, sizeof(FirstLine));
    std::memset(inline_.data() + kOnFirstLine, 0, sizeof(SecondLine));
  }
  Resource(const Resource& other) : Resource() { *this = other; }
  Resource(Resource&& other) noexcept : Resource() { *this = std::move(other); }
  Resource& operator=(const Resource& other) {
    const bool second_line = HasSecondLine() || other.HasSecondLine();
    CopyFirstLine(other);
    if (second_line) {
      CopySecondLine(other);
      more_ = other.more_;
    }
    return *this;
  }
  Resource& operator=(Resource&& other) noexcept {
    const bool second_line = HasSecondLine() || other.HasSecondLine();
    CopyFirstLine(other);
    if (second_line) {
      CopySecondLine(other);
      more_ = std::move(other.more_);
    }
    return *this;
  }
  ~Resource() = default;

  double Get(int kind) const {
    return kind < kInline ? inline_[static_cast<size_t>(kind)] : GetMore(kind);
  }
  double cpu() const { return inline_[ResourceKinds::kCpu]; }
  double memory() const { return inline_[ResourceKinds::kMemory]; }
  // Names the kind.
  void Set(int kind, double amount);
  void AddTo(int kind, double amount) { Set(kind, Get(kind) + amount); }
  bool Has(int kind) const { return (mask_ >> kind) & 1; }
  // The named kinds beside cpu and memory.
  uint64_t scalar_mask() const { return mask_ & ~uint64_t{3}; }
  // Whether any scalar was ever named: Go's "map is nil" shows in a few comparisons.
  bool scalars_nil() const { return !scalars_made_; }
  void MakeScalars() { scalars_made_ = true; }

  // Empty in everything that counts; the number of pods does not.
  bool IsEmpty() const;
  // Volcano's ResourceNames(): kinds whose amount is at least the tolerance, cpu and memory first.
  template <class F>
  void ForEachNamed(F&& f) const;

  Resource& Add(const Resource& other);
  Resource& Sub(const Resource& other);  // may go negative
  Resource& Scale(double ratio);
  // Per kind the larger of both; kinds named by either.
  Resource& SetMax(const Resource& other);
  // Per kind the smaller of both.
  Resource& CapBy(const Resource& limit, Missing missing);

  bool LessEqual(const Resource& other, Missing missing) const;
  // Only the kinds `wanted` asks for (> 0) are compared, without tolerance; pods are never looked
  // at. Returns the first kind that is too large, or -1.
  int FirstExceeding(const Resource& limit, const Resource& wanted) const;
  // The first kind, cpu and memory first, in which *this is more than `other`; -1 when it fits.
  int FirstNotLessEqual(const Resource& other) const;
  // Same amounts and same named kinds.
  bool SameAs(const Resource& other) const;

  // The part of `left` that exceeds `right`, per kind; only kinds in which it does are named.
  static Resource Exceeding(const Resource& left, const Resource& right);
  static Resource MaxOf(const Resource& left, const Resource& right);

  uint64_t mask() const { return mask_; }

 private:
  double GetMore(int kind) const { return more_.Get(static_cast<size_t>(kind - kInline)); }
  double& At(int kind) {
    return kind < kInline ? inline_[static_cast<size_t>(kind)] : AtMore(kind);
  }
  double& AtMore(int kind) { return more_.At(static_cast<size_t>(kind - kInline)); }

  bool HasSecondLine() const { return mask_ >> kOnFirstLine != 0; }
  // Line by line, and through a copy: gcc then uses a few registers. For all at once, or where both
  // might be the same memory, it calls for a loop.
  using FirstLine = std::array<double, kOnFirstLine>;
  using SecondLine = std::array<double, kInline - kOnFirstLine>;
  void CopyFirstLine(const Resource& other) {
    mask_ = other.mask_;
    scalars_made_ = other.scalars_made_;
    Copy<FirstLine>(other.inline_.data(), inline_.data());
  }
  void CopySecondLine(const Resource& other) {
    Copy<SecondLine>(other.inline_.data() + kOnFirstLine, inline_.data() + kOnFirstLine);
  }
  template <class Line>
  static void Copy(const double* from, double* to) {
    Line line;
    std::memcpy(&line, from, sizeof(Line));
    std::memcpy(to, &line, sizeof(Line));
  }

  uint64_t mask_ = 3;
  bool scalars_made_ = false;
  std::array<double, kInline> inline_;
  MoreAmounts more_;  // of the kinds beyond
};
static_assert(sizeof(Resource) == 128 && Resource::kOnFirstLine == (64 - 2 * 8) / 8);

// Appends words that are equal for two amounts only if these are the same.
void AppendWords(const Resource& resource, std::vector<uint64_t>& words);

// "cpu 2000.00, memory 4294967296.00, pods 1.00": Volcano's way of writing an amount, kept in its
// log lines.
std::string ToString(const Resource& resource, const ResourceKinds& kinds);

template <class F>
void Resource::ForEachNamed(F&& f) const {
  if (cpu() >= kTolerance) f(ResourceKinds::kCpu);
  if (memory() >= kTolerance) f(ResourceKinds::kMemory);
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (Get(kind) >= kTolerance) f(kind);
  }
}

inline bool LessEqualAmount(double left, double right) {
  return left < right || (left - right < kTolerance && right - left < kTolerance);
}

// Every try to make room adds and compares: these are inlined.

inline Resource& Resource::Add(const Resource& other) {
  inline_[0] += other.inline_[0];
  inline_[1] += other.inline_[1];
  const uint64_t scalars = other.scalar_mask();
  for (uint64_t rest = scalars; rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    At(kind) += other.Get(kind);
  }
  mask_ |= scalars;
  scalars_made_ |= scalars != 0;
  return *this;
}

inline Resource& Resource::Sub(const Resource& other) {
  inline_[0] -= other.inline_[0];
  inline_[1] -= other.inline_[1];
  // A side that never named a scalar does not start to by a subtraction.
  if (!scalars_made_) return *this;
  const uint64_t scalars = other.scalar_mask();
  for (uint64_t rest = scalars; rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    At(kind) -= other.Get(kind);
  }
  mask_ |= scalars;
  return *this;
}

inline bool Resource::LessEqual(const Resource& other, Missing missing) const {
  if (!LessEqualAmount(cpu(), other.cpu()) || !LessEqualAmount(memory(), other.memory()))
    return false;
  if (missing == Missing::kInfinity && (other.scalar_mask() & ~mask_) != 0) return false;
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (!other.Has(kind) && missing == Missing::kInfinity) continue;
    if (!LessEqualAmount(Get(kind), other.Get(kind))) return false;
  }
  return true;
}

}  // namespace krafla
