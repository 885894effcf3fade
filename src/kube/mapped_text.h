// A text in memory of its own from the kernel, which is given back when the text ends. For answers
// that a slow client may hold for long: in the heap of the worker that made them they would keep
// the memory around them from being given back. Used by kube/http_connection.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace krafla {

class MappedText {
 public:
  MappedText() = default;
  // A short text stays as it is; a long one is copied out of the heap.
  explicit MappedText(std::string text);
  MappedText(MappedText&& other) noexcept
      : text_(std::move(other.text_)),
        mapped_(std::exchange(other.mapped_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  // By value: what it held goes with `other`, at once.
  MappedText& operator=(MappedText other) noexcept {
    std::swap(text_, other.text_);
    std::swap(mapped_, other.mapped_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedText();

  std::string_view view() const {
    return mapped_ != nullptr ? std::string_view(mapped_, size_) : std::string_view(text_);
  }
  size_t size() const { return view().size(); }

 private:
  std::string text_;
  char* mapped_ = nullptr;
  size_t size_ = 0;
};

}  // namespace krafla
