// Strings are stored once and compared as numbers. Ids are given in order of first appearance and
// say nothing about alphabetical order; Text() gives the bytes back.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
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
  // Nothing when the text was never interned.
  StrId Find(std::string_view text) const;
  std::string_view Text(StrId id) const { return texts_[id.value]; }
  size_t size() const { return texts_.size(); }

 private:
  // Bytes live in blocks that never move, so a string_view of them stays good.
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, StrId> index_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
};

inline constexpr StrId kEmptyStr{0};

}  // namespace krafla
