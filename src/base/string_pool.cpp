#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace krafla {

namespace {
constexpr size_t kBlockBytes = 64 * 1024;
}

StringPool::StringPool() {
  Intern("");
}

StrId StringPool::Intern(std::string_view text) {
  if (auto it = index_.find(text); it != index_.end()) return it->second;
  const std::string_view stored = Store(text);
  const StrId id(static_cast<uint32_t>(texts_.size()));
  texts_.push_back(stored);
  index_.emplace(stored, id);
  return id;
}

StrId StringPool::Find(std::string_view text) const {
  auto it = index_.find(text);
  return it == index_.end() ? StrId{} : it->second;
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
