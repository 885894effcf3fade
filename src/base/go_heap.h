// A binary heap with exactly the pushes and pops of Go's container/heap: the order in which equal
// items come out, and what happens when keys change while items wait, are part of what users see,
// so the steps are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace krafla {

template <class T, class Less>
class GoHeap {
 public:
  explicit GoHeap(Less less) : less_(std::move(less)) {}

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  void Reserve(size_t n) { items_.reserve(n); }

  void Push(T item) {
    items_.push_back(item);
    Up(items_.size() - 1);
  }

  T Pop() {
    const size_t last = items_.size() - 1;
    std::swap(items_[0], items_[last]);
    Down(0, last);
    T item = items_.back();
    items_.pop_back();
    return item;
  }

 private:
  void Up(size_t j) {
    while (true) {
      if (j == 0) break;
      const size_t parent = (j - 1) / 2;
      if (!less_(items_[j], items_[parent])) break;
      std::swap(items_[parent], items_[j]);
      j = parent;
    }
  }

  // What comes up two levels below is asked for, if the order can: with many items none is in the
  // cache.
  void FetchBelow(size_t i, size_t n) const {
    if constexpr (requires { less_.FetchAhead(items_[i]); }) {
      const size_t end = std::min(n, 4 * i + 7);
      for (size_t k = 4 * i + 3; k < end; ++k) less_.FetchAhead(items_[k]);
    }
  }

  void Down(size_t start, size_t n) {
    size_t i = start;
    while (true) {
      const size_t left = 2 * i + 1;
      if (left >= n) break;
      FetchBelow(i, n);
      size_t child = left;
      const size_t right = left + 1;
      if (right < n && less_(items_[right], items_[left])) child = right;
      if (!less_(items_[child], items_[i])) break;
      std::swap(items_[i], items_[child]);
      i = child;
    }
  }

  Less less_;
  std::vector<T> items_;
};

}  // namespace krafla
