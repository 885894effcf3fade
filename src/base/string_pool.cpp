#include "base/string_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace krafla {

namespace {

constexpr size_t kBlockBytes = 64 * 1024;

template <class Word>
uint64_t Load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Of fewer than eight bytes, and at least one: all of them, some twice.
uint64_t LoadShort(const char* at, size_t bytes) {
  if (bytes >= 4) return Load<uint32_t>(at) | (Load<uint32_t>(at + bytes - 4) << 32);
  return Load<uint8_t>(at) | (Load<uint8_t>(at + bytes / 2) << 8) |
         (Load<uint8_t>(at + bytes - 1) << 16);
}

// Eight bytes at a time. Nothing depends on the values: ids are given in order of appearance.
uint64_t HashOf(std::string_view text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = text.size() * kOdd;
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 29;
  };
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t))
    mix(Load<uint64_t>(at));
  // The last eight once more in part, where there are as many.
  if (left > 0)
    mix(text.size() > left ? Load<uint64_t>(at + left - sizeof(uint64_t)) : LoadShort(at, left));
  return hash * kOdd;
}

uint32_t Upper(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

StringPool::StringPool() {
  Intern("");
}

const StringPool::Slot& StringPool::FindSlot(std::string_view text, uint64_t hash) const {
  size_t at = Upper(hash) & (slots_.size() - 1);
  while (slots_[at].id != kFree &&
         (slots_[at].hash != Upper(hash) || texts_[slots_[at].id] != text))
    at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void StringPool::Grow(size_t size) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    size_t at = slot.hash & (size - 1);
    while (slots_[at].id != kFree) at = (at + 1) & (size - 1);
    slots_[at] = slot;
  }
}

StrId StringPool::Intern(std::string_view text) {
  if (2 * (texts_.size() + 1) > slots_.size()) Grow(std::max<size_t>(64, 2 * slots_.size()));
  const uint64_t hash = HashOf(text);
  Slot& slot = FindSlot(text, hash);
  if (slot.id != kFree) return StrId(slot.id);
  slot = {static_cast<uint32_t>(texts_.size()), Upper(hash)};
  texts_.push_back(Store(text));
  return StrId(slot.id);
}

void StringPool::Expect(size_t more) {
  const size_t size = std::bit_ceil(2 * (texts_.size() + more));
  if (size <= slots_.size()) return;
  Grow(size);
  texts_.reserve(size / 2);
}

void StringPool::Prefetch(std::string_view text) const {
  __builtin_prefetch(&slots_[Upper(HashOf(text)) & (slots_.size() - 1)]);
}

StrId StringPool::Find(std::string_view text) const {
  if (slots_.empty()) return {};  // moved from
  const Slot& slot = FindSlot(text, HashOf(text));
  return slot.id == kFree ? StrId{} : StrId(slot.id);
}

std::string_view StringPool::Store(std::string_view text) {
  if (blocks_.empty() || block_used_ + text.size() > block_size_) {
    block_size_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  char* at = blocks_.back().get() + block_used_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  return {at, text.size()};
}

}  // namespace krafla
