// A list that grows in pieces. What is in it stays where it is, so nothing is copied, and no large
// block of memory is needed at once: pieces fit where something smaller was freed. Memory that
// nobody has touched yet is dear.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

namespace krafla {

// kPiece: a power of two.
template <class T, size_t kPiece>
class PieceList {
  static_assert((kPiece & (kPiece - 1)) == 0);
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const PieceList* list, size_t at) : list_(list), at_(at) {}
    reference operator*() const { return (*list_)[at_]; }
    pointer operator->() const { return &(*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const PieceList* list_ = nullptr;
    size_t at_ = 0;
  };

  PieceList() = default;
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;

  size_t size() const { return (used_ * kPiece) - static_cast<size_t>(end_ - next_); }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t at) const { return pieces_[at / kPiece]->items()[at % kPiece]; }
  const T& back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  void push_back(const T& item) {
    if (next_ == end_) [[unlikely]]
      BeginPiece();
    std::construct_at(next_++, item);
  }
  // The memory is kept.
  void clear() {
    used_ = 0;
    next_ = end_ = nullptr;
  }

 private:
  // Only memory: an item is made when it is added.
  struct Piece {
    alignas(T) std::byte memory[kPiece * sizeof(T)];
    T* items() { return reinterpret_cast<T*>(memory); }
  };

  void BeginPiece() {
    if (used_ == pieces_.size()) pieces_.push_back(std::make_unique_for_overwrite<Piece>());
    next_ = pieces_[used_++]->items();
    end_ = next_ + kPiece;
  }

  std::vector<std::unique_ptr<Piece>> pieces_;
  size_t used_ = 0;    // pieces, the last of them up to:
  T* next_ = nullptr;  // where the next item comes
  T* end_ = nullptr;   // of its piece
};

}  // namespace krafla
