// A list that grows in pieces. What is in it stays where it is, so nothing is copied, and no large
// block of memory is needed at once: pieces fit where something smaller was freed. Memory that
// nobody has touched yet is dear.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace krafla {

// kPiece: a power of two.
template <class T, size_t kPiece>
class PieceList {
  static_assert(std::has_single_bit(kPiece));
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Goes from item to item; only at the end of a piece is the next one looked up. Good as long as
  // nothing is added or taken off.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const PieceList* list, size_t at) : list_(list), piece_(at / kPiece) {
      if (at < list->size()) {
        Enter(at % kPiece);
      } else {
        item_ = list->next_;
      }
    }
    reference operator*() const { return *item_; }
    pointer operator->() const { return item_; }
    Iterator& operator++() {
      if (++item_ == end_ && piece_ + 1 < list_->used_) [[unlikely]] {
        ++piece_;
        Enter(0);
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return item_ == other.item_; }

   private:
    void Enter(size_t at) {
      const T* items = list_->pieces_[piece_]->items();
      item_ = items + at;
      end_ = items + kPiece;
    }

    const PieceList* list_ = nullptr;
    size_t piece_ = 0;
    const T* item_ = nullptr;
    const T* end_ = nullptr;  // of its piece
  };

  // The items behind so many; none if there are not so many. Nothing may be added or taken off
  // while somebody goes through them.
  class Rest {
   public:
    Rest(const PieceList* list, size_t from) : list_(list), from_(std::min(from, list->size())) {}
    Iterator begin() const { return {list_, from_}; }
    Iterator end() const { return list_->end(); }
    size_t size() const { return list_->size() - from_; }
    bool empty() const { return size() == 0; }
    // The same as a loop over them, with a test less for each.
    template <class F>
    void ForEach(F&& f) const {
      const size_t size = list_->size();
      for (size_t at = from_; at < size;) {
        const size_t in_piece = std::min(kPiece - at % kPiece, size - at);
        const T* item = &(*list_)[at];
        for (const T* end = item + in_piece; item != end; ++item) f(*item);
        at += in_piece;
      }
    }

   private:
    const PieceList* list_;
    size_t from_;
  };

  PieceList() = default;
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;
  PieceList(PieceList&& other) noexcept { Swap(other); }
  PieceList& operator=(PieceList&& other) noexcept {
    PieceList taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~PieceList() = default;

  size_t size() const { return (used_ * kPiece) - static_cast<size_t>(end_ - next_); }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t at) const { return pieces_[at / kPiece]->items()[at % kPiece]; }
  const T& back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  Rest From(size_t at) const { return {this, at}; }

  void push_back(const T& item) {
    if (next_ == end_) [[unlikely]]
      BeginPiece();
    std::construct_at(next_++, item);
  }
  // Takes off what is behind so many. The memory is kept.
  void Shorten(size_t size) {
    KRAFLA_CHECK(size <= this->size());
    used_ = (size + kPiece - 1) / kPiece;
    end_ = used_ == 0 ? nullptr : pieces_[used_ - 1]->items() + kPiece;
    next_ = end_ - (used_ * kPiece - size);
  }
  void clear() { Shorten(0); }

 private:
  // Only memory: an item is made when it is added. The byte behind sees to it that no piece begins
  // where another ends: then where an iterator is says which piece it is in.
  struct Piece {
    alignas(T) std::byte memory[kPiece * sizeof(T)];
    std::byte behind;
    T* items() { return reinterpret_cast<T*>(memory); }
  };

  void Swap(PieceList& other) noexcept {
    pieces_.swap(other.pieces_);
    std::swap(used_, other.used_);
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
  }

  [[gnu::noinline]] void BeginPiece() {
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
