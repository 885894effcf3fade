// Strings are stored once and compared as numbers. Ids are given in order of first appearance and
// say nothing about alphabetical order; Text() gives the bytes back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strong_id.h"

namespace krafla {

using StrId = StrongId<struct StrTag>;

class StringPool {
 public:
  StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // Always succeeds; the same bytes give the same id. The empty string is kEmptyStr.
  StrId Intern(std::string_view text);
  // So many more texts may come.
  void Expect(size_t more);
  // Fetches the text's place in the table, which is larger than a cache: to be called some time
  // before the text is interned.
  void Prefetch(std::string_view text) const;
  // Nothing when the text was never interned.
  StrId Find(std::string_view text) const;
  std::string_view Text(StrId id) const { return texts_[id.value]; }
  size_t size() const { return texts_.size(); }

 private:
  // Bytes live in blocks that never move, so a string_view of them stays good.
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> texts_;
  // Open addressing: reading a large input is mostly looking up words that are known.
  struct Slot {
    uint32_t id = kFree;
    uint32_t hash = 0;  // its upper half, so that few wrong texts are looked at
  };
  static constexpr uint32_t kFree = UINT32_MAX;
  Slot& FindSlot(std::string_view text, uint64_t hash) {
    return const_cast<Slot&>(std::as_const(*this).FindSlot(text, hash));
  }
  const Slot& FindSlot(std::string_view text, uint64_t hash) const;
  void Grow(size_t size);

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
};

inline constexpr StrId kEmptyStr{0};

}  // namespace krafla
