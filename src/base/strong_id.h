// Dense indices that cannot be mixed up: a NodeId does not index the task table.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace krafla {

template <class Tag>
struct StrongId {
  static constexpr uint32_t kNone = 0xffffffffU;
  uint32_t value = kNone;

  constexpr StrongId() = default;
  constexpr explicit StrongId(uint32_t v) : value(v) {}
  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

// Memory that begins where a line of the cache does.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) noexcept {}
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* items, size_t count) { ::operator delete(items, count * sizeof(T), kLine); }
  bool operator==(const LineAllocator&) const = default;
};

// A vector indexed by one kind of id only. Items that fill whole lines of the cache lie on them.
template <class Id, class T>
class Table {
  static constexpr bool kFillsLines = sizeof(T) % 64 == 0 && alignof(T) < 64;
  using Items =
      std::vector<T, std::conditional_t<kFillsLines, LineAllocator<T>, std::allocator<T>>>;

 public:
  using Reference = typename Items::reference;
  using ConstReference = typename Items::const_reference;

  Table() = default;
  explicit Table(size_t size, T value = T{}) : items_(size, value) {}

  Reference operator[](Id id) { return items_[id.value]; }
  ConstReference operator[](Id id) const { return items_[id.value]; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  Id Add(T value) {
    items_.push_back(std::move(value));
    return Id(static_cast<uint32_t>(items_.size() - 1));
  }
  Id Next() const { return Id(static_cast<uint32_t>(items_.size())); }
  void Reset(size_t size, T value = T{}) { items_.assign(size, value); }
  void Resize(size_t size) { items_.resize(size); }
  void Reserve(size_t size) { items_.reserve(size); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  Items& raw() { return items_; }
  const Items& raw() const { return items_; }

 private:
  Items items_;
};

}  // namespace krafla

template <class Tag>
struct std::hash<krafla::StrongId<Tag>> {
  size_t operator()(krafla::StrongId<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};
