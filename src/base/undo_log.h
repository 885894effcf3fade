// Remembers old values so that what was only tried can be taken back. Undoing restores values; it
// never runs an inverse operation, so the state after a rollback is the state before, bit for bit,
// whatever a plugin did.
//
// Whoever changes a logged value calls Save before the change. Values must stay at their address
// while a mark is open: tables do not grow during a session.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace krafla {

class UndoLog {
 public:
  using Mark = size_t;

  UndoLog() = default;
  ~UndoLog();
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;

  Mark Now() const {
    last_mark_ = entries_.size();
    return last_mark_;
  }
  bool empty() const { return entries_.empty(); }

  // A small plain value: its bytes.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
  void Save(T& value) {
    Undo* const undo = [](const Entry& e, bool) { std::memcpy(e.target, &e.old_bytes, sizeof(T)); };
    if (IsSaved(undo, &value)) return;
    Entry entry{undo, &value, 0, false, 0};
    std::memcpy(&entry.old_bytes, &value, sizeof(T));
    entries_.push_back(entry);
  }

  // Anything else that can be copied. Copies lie in a stack of their own (memory_): amounts of
  // nodes, jobs and queues are saved with every eviction that is tried.
  template <class T>
    requires(!std::is_trivially_copyable_v<T> || (sizeof(T) > 8))
  void Save(T& value) {
    static_assert(sizeof(T) <= kChunkBytes && alignof(T) <= kAlignment);
    Undo* const undo = [](const Entry& e, bool restore) {
      T* old = nullptr;
      std::memcpy(&old, &e.old_bytes, sizeof(old));
      if (restore) *static_cast<T*>(e.target) = std::move(*old);
      old->~T();
    };
    if (IsSaved(undo, &value)) return;
    T* copy = new (Allocate(sizeof(T))) T(value);
    Entry entry{undo, &value, sizeof(T), true, 0};
    std::memcpy(&entry.old_bytes, &copy, sizeof(copy));
    entries_.push_back(entry);
  }

  // Call after the edit: `index` is where the element went in.
  template <class T>
  void Inserted(std::vector<T>& list, size_t index) {
    entries_.push_back({[](const Entry& e, bool) {
                          auto& target = *static_cast<std::vector<T>*>(e.target);
                          target.erase(target.begin() + e.index);
                        },
                        &list, static_cast<uint32_t>(index), false, 0});
  }

  // Call before the edit: element `index` is about to be erased.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
  void Erasing(std::vector<T>& list, size_t index) {
    Entry entry{[](const Entry& e, bool) {
                  auto& target = *static_cast<std::vector<T>*>(e.target);
                  T value;
                  std::memcpy(static_cast<void*>(&value), &e.old_bytes, sizeof(T));
                  target.insert(target.begin() + e.index, value);
                },
                &list, static_cast<uint32_t>(index), false, 0};
    std::memcpy(&entry.old_bytes, &list[index], sizeof(T));
    entries_.push_back(entry);
  }

  void RollbackTo(Mark mark);

 private:
  struct Entry;
  // Puts the old value back and frees its copy; or, for copies only, just frees it.
  using Undo = void(const Entry&, bool restore);
  struct Entry {
    Undo* undo;
    void* target;
    uint32_t index;  // of an element; or the size of a copy
    bool copied = false;
    uint64_t old_bytes;  // or where the copy is
  };

  // A value saved since the last mark need not be saved again: nobody can come back to what it was
  // in between. Looked up where it would have been noted lately; if it is not there it is saved
  // once more, which does no harm. Else it notes where the next entry
  // goes.
  bool IsSaved(Undo* undo, const void* target) {
    size_t& noted = lately_[(reinterpret_cast<uintptr_t>(target) >> 3) % lately_.size()];
    if (noted >= last_mark_ && noted < entries_.size() && entries_[noted].target == target &&
        entries_[noted].undo == undo)
      return true;
    noted = entries_.size();
    return false;
  }

  static constexpr size_t kAlignment = alignof(std::max_align_t);
  static constexpr size_t kChunkBytes = 64 << 10;

  // Memory for copies: taken and given back in the order of a stack. A chunk once made is kept.
  static constexpr size_t Rounded(size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  void* Allocate(size_t size) {
    if (used_.empty() || used_.back() + Rounded(size) > kChunkBytes) NextChunk();
    void* at = memory_[used_.size() - 1].get() + used_.back();
    used_.back() += Rounded(size);
    return at;
  }
  void NextChunk();
  void Free(size_t size) {
    used_.back() -= Rounded(size);
    if (used_.back() == 0) used_.pop_back();
  }

  std::vector<Entry> entries_;
  mutable Mark last_mark_ = 0;
  std::array<size_t, 512> lately_{};
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<size_t> used_;  // bytes of each chunk in use
};

}  // namespace krafla
