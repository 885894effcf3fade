#include "model/resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace krafla {

ResourceKinds::ResourceKinds() : names_{"cpu", "memory", "pods"} {}

int ResourceKinds::Find(std::string_view name) const {
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return static_cast<int>(i);
  return -1;
}

int ResourceKinds::Intern(std::string_view name) {
  if (const int found = Find(name); found >= 0) return found;
  if (size() == kMax) return -1;
  names_.emplace_back(name);
  return size() - 1;
}

void Resource::Set(int kind, double amount) {
  At(kind) = amount;
  mask_ |= uint64_t{1} << kind;
  if (kind > ResourceKinds::kMemory) scalars_made_ = true;
}

bool Resource::IsEmpty() const {
  if (!(cpu() < kTolerance && memory() < kTolerance)) return false;
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (kind != ResourceKinds::kPods && Get(kind) >= kTolerance) return false;
  }
  return true;
}

Resource& Resource::Scale(double ratio) {
  inline_[0] *= ratio;
  inline_[1] *= ratio;
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1)
    At(__builtin_ctzll(rest)) *= ratio;
  return *this;
}

Resource& Resource::SetMax(const Resource& other) {
  inline_[0] = std::max(inline_[0], other.inline_[0]);
  inline_[1] = std::max(inline_[1], other.inline_[1]);
  for (uint64_t rest = other.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (!Has(kind) || other.Get(kind) > Get(kind)) Set(kind, other.Get(kind));
  }
  return *this;
}

Resource& Resource::CapBy(const Resource& limit, Missing missing) {
  inline_[0] = std::min(inline_[0], limit.inline_[0]);
  inline_[1] = std::min(inline_[1], limit.inline_[1]);
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (limit.Has(kind)) {
      At(kind) = std::min(Get(kind), limit.Get(kind));
    } else if (missing == Missing::kZero) {
      At(kind) = 0;
    }
  }
  return *this;
}

int Resource::FirstExceeding(const Resource& limit, const Resource& wanted) const {
  if (wanted.cpu() > 0 && cpu() > limit.cpu()) return ResourceKinds::kCpu;
  if (wanted.memory() > 0 && memory() > limit.memory()) return ResourceKinds::kMemory;
  if (!scalars_made_) return -1;
  for (uint64_t rest = wanted.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (kind == ResourceKinds::kPods) continue;
    if (wanted.Get(kind) > 0 && Get(kind) > limit.Get(kind)) return kind;
  }
  return -1;
}

int Resource::FirstNotLessEqual(const Resource& other) const {
  if (!LessEqualAmount(cpu(), other.cpu())) return ResourceKinds::kCpu;
  if (!LessEqualAmount(memory(), other.memory())) return ResourceKinds::kMemory;
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (!LessEqualAmount(Get(kind), other.Get(kind))) return kind;
  }
  return -1;
}

bool Resource::SameAs(const Resource& other) const {
  if (cpu() != other.cpu() || memory() != other.memory()) return false;
  if (scalar_mask() != other.scalar_mask()) return false;
  for (uint64_t rest = scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (Get(kind) != other.Get(kind)) return false;
  }
  return true;
}

Resource Resource::Exceeding(const Resource& left, const Resource& right) {
  Resource answer;
  answer.MakeScalars();
  answer.inline_[0] = std::max(left.cpu() - right.cpu(), 0.0);
  answer.inline_[1] = std::max(left.memory() - right.memory(), 0.0);
  // Only kinds in which left is more are named, as with two maps of differences.
  for (uint64_t rest = left.scalar_mask() | right.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (left.Get(kind) > right.Get(kind)) answer.Set(kind, left.Get(kind) - right.Get(kind));
  }
  return answer;
}

Resource Resource::MaxOf(const Resource& left, const Resource& right) {
  Resource answer;
  answer.inline_[0] = std::max(left.cpu(), right.cpu());
  answer.inline_[1] = std::max(left.memory(), right.memory());
  if (left.scalars_nil() && right.scalars_nil()) return answer;
  answer.MakeScalars();
  for (uint64_t rest = left.scalar_mask() | right.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    const bool from_left = left.Has(kind) && left.Get(kind) >= 0;
    const bool from_right = right.Has(kind) && right.Get(kind) >= 0;
    if (!from_left && !from_right) continue;
    double amount = from_left ? left.Get(kind) : 0;
    if (from_right) amount = std::max(amount, right.Get(kind));
    answer.Set(kind, amount);
  }
  return answer;
}

void AppendWords(const Resource& resource, std::vector<uint64_t>& words) {
  words.push_back(resource.mask());
  for (uint64_t rest = resource.mask(); rest != 0; rest &= rest - 1)
    words.push_back(std::bit_cast<uint64_t>(resource.Get(__builtin_ctzll(rest))));
}

std::string ToString(const Resource& resource, const ResourceKinds& kinds) {
  auto amount = [](double value) {
    if (value == std::numeric_limits<double>::max()) return std::string("maxFloat");
    // 2^63: what the largest quantity becomes as a double.
    if (value == 0x1p63) return std::string("maxInt");
    return fmt::format("{:.2f}", value);
  };
  std::string text =
      fmt::format("cpu {}, memory {}", amount(resource.cpu()), amount(resource.memory()));
  std::vector<int> scalars;
  for (uint64_t rest = resource.scalar_mask(); rest != 0; rest &= rest - 1)
    scalars.push_back(__builtin_ctzll(rest));
  std::sort(scalars.begin(), scalars.end(),
            [&](int a, int b) { return kinds.Name(a) < kinds.Name(b); });
  for (int kind : scalars)
    text += fmt::format(", {} {}", kinds.Name(kind), amount(resource.Get(kind)));
  return text;
}

}  // namespace krafla
