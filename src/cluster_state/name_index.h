// Which names are taken: from (namespace, name) to a small number. Names come by the hundred
// thousand and are only ever added.
//
// Strings are numbered as they are met, so an object with a new name has a higher one than all
// before it: it cannot be there yet, and is put at the end of a sorted list. Names that were met
// before, as those of other namespaces or other kinds, go into a hash table, one flat array.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/string_pool.h"

namespace krafla {

inline uint64_t NameKey(StrId ns, StrId name) {
  return (uint64_t{ns.value} << 32) | name.value;
}

class NameIndex {
 public:
  // The number that stands for `key`, which may be changed, and whether the key is new: then it is
  // `number`. Good until the next call.
  std::pair<uint32_t*, bool> Add(uint64_t key, uint32_t number = 0) {
    if (rising_.empty() || NameOf(rising_.back().key) < NameOf(key)) {
      rising_.push_back({key, number});
      return {&rising_.back().number, true};
    }
    const auto same_name = std::lower_bound(
        rising_.begin(), rising_.end(), key,
        [](const Slot& slot, uint64_t wanted) { return NameOf(slot.key) < NameOf(wanted); });
    if (same_name->key == key) return {&same_name->number, false};
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = Find(key);
    if (slot.key == key) return {&slot.number, false};
    slot = {key, number};
    ++size_;
    return {&slot.number, true};
  }
  // False: it was there before.
  bool AddName(uint64_t key) { return Add(key).second; }

 private:
  // No name has it: a namespace is a string that exists.
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Slot {
    uint64_t key = kFree;
    uint32_t number = 0;
  };

  static uint32_t NameOf(uint64_t key) { return static_cast<uint32_t>(key); }

  Slot& Find(uint64_t key) {
    size_t at = (key * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void Grow() {
    const size_t size = slots_.empty() ? 16 : 2 * slots_.size();
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
    shift_ = 64 - std::countr_zero(size);
    for (const Slot& slot : old)
      if (slot.key != kFree) Find(slot.key) = slot;
  }

  std::vector<Slot> rising_;  // by name, each name once
  std::vector<Slot> slots_;   // a power of two of them, at most half in use
  size_t size_ = 0;           // of those in use
  int shift_ = 0;
};

}  // namespace krafla
