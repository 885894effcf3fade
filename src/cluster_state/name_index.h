// Which names are taken: a hash table from (namespace, name) to a small number. Names come by the
// hundred thousand and are only ever added, so it is one flat array.
#pragma once

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

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace krafla
