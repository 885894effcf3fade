// Remembers old values so that what was only tried can be taken back. Undoing restores values, so
// the state after a rollback is the state before, bit for bit, whatever a plugin did. Only what
// several whole numbers count together may be reversed instead (Reversible): one entry for all of
// them.
//
// Whoever changes a logged value calls Save before the change. Values must stay at their address
// while a mark is open: tables do not grow during a session.
//
// A log keeps everything, until ForgetWhatIsDone: then it keeps only what happens while somebody
// holds it, and what was done when the last one lets go is done for good. A cycle of which nothing
// but its statements is ever taken back so writes over the same few lines of memory again and
// again, and what is done outside of statements is not written down at all.
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

#include "base/check.h"

namespace krafla {

class UndoLog {
 public:
  using Mark = size_t;  // how many changes came before

  // While one exists, marks made since can be come back to.
  class Hold {
   public:
    explicit Hold(UndoLog& log) : log_(log) {
      ++log_.holds_;
      (void)log_.Now();
    }
    ~Hold() {
      if (--log_.holds_ == 0) log_.Forget();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    UndoLog& log_;
  };

  UndoLog() = default;
  ~UndoLog();
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;

  // From now on what nobody holds is forgotten.
  void ForgetWhatIsDone() {
    KRAFLA_CHECK(keeps_all_);
    keeps_all_ = false;
    if (--holds_ == 0) Forget();
  }

  Mark Now() const {
    last_mark_ = End();
    return last_mark_;
  }
  bool empty() const { return entries_.empty(); }

  // A small plain value: its bytes.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
  void Save(T& value) {
    Undo* const undo = [](const Entry& e, bool) { std::memcpy(e.target, &e.old_bytes, sizeof(T)); };
    if (!Keeps() || IsSaved(undo, &value)) return;
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
    if (!Keeps() || IsSaved(undo, &value)) return;
    T* copy = new (Allocate(sizeof(T))) T(value);
    Entry entry{undo, &value, sizeof(T), true, 0};
    std::memcpy(&entry.old_bytes, &copy, sizeof(copy));
    entries_.push_back(entry);
  }

  // Call after the edit: `index` is where the element went in.
  template <class T>
  void Inserted(std::vector<T>& list, size_t index) {
    if (!Keeps()) return;
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
    if (!Keeps()) return;
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

  // Call beside a change of counts: `reverse` makes it undone, to the last bit, from `word`.
  template <auto reverse, class T>
  void Reversible(T& target, uint64_t word) {
    if (!Keeps()) return;
    entries_.push_back(
        {[](const Entry& e, bool) { reverse(*static_cast<T*>(e.target), e.old_bytes); }, &target, 0,
         false, word});
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
    bool copied;
    uint64_t old_bytes;  // or where the copy is
  };

  // A vector that is quick to append to: its test for room is inlined, growing is not.
  class Entries {
   public:
    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    const Entry* begin() const { return entries_.get(); }
    const Entry* end() const { return entries_.get() + size_; }
    const Entry& operator[](size_t i) const { return entries_[i]; }
    const Entry& back() const { return entries_[size_ - 1]; }
    void push_back(const Entry& entry) {
      if (size_ == capacity_) [[unlikely]]
        Grow();
      entries_[size_++] = entry;
    }
    void pop_back() { --size_; }
    void clear() { size_ = 0; }

   private:
    void Grow();

    std::unique_ptr<Entry[]> entries_;
    size_t size_ = 0;
    size_t capacity_ = 0;
  };

  // A value saved since the last mark need not be saved again: nobody can come back to what it was
  // in between. Looked up where it would have been noted lately; if it is not there it is saved
  // once more, which does no harm. Else it notes where the next entry goes.
  bool IsSaved(Undo* undo, const void* target) {
    Mark& noted = lately_[SlotOf(target)];
    if (noted >= last_mark_ && noted < End()) {
      const Entry& entry = entries_[noted - forgotten_];
      if (entry.target == target && entry.undo == undo) return true;
    }
    noted = End();
    return false;
  }

  static constexpr int kSlotBits = 9;
  // Values mostly lie at a line's beginning: the lower bits alone would tell few of them apart.
  static size_t SlotOf(const void* target) {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(target) * 0x9E3779B97F4A7C15U >>
                               (64 - kSlotBits));
  }

  Mark End() const { return forgotten_ + entries_.size(); }
  // Whether a change that is about to be made has to be noted. One that is not still counts: who
  // compares marks sees that something has changed.
  bool Keeps() {
    if (holds_ > 0) return true;
    ++forgotten_;
    return false;
  }
  void Forget();

  static constexpr size_t kAlignment = 64;  // copies of amounts lie on lines of the cache, too
  static constexpr size_t kChunkBytes = 64 << 10;
  struct alignas(kAlignment) Chunk {
    std::byte bytes[kChunkBytes];
  };

  // Memory for copies: taken and given back in the order of a stack. A chunk once made is kept.
  static constexpr size_t Rounded(size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  void* Allocate(size_t size) {
    if (used_.empty() || used_.back() + Rounded(size) > kChunkBytes) NextChunk();
    void* at = memory_[used_.size() - 1]->bytes + used_.back();
    used_.back() += Rounded(size);
    return at;
  }
  void NextChunk();
  void Free(size_t size) {
    used_.back() -= Rounded(size);
    if (used_.back() == 0) used_.pop_back();
  }

  bool keeps_all_ = true;
  int holds_ = 1;       // keeps_all_ is one of them
  Mark forgotten_ = 0;  // changes before the first entry
  Entries entries_;
  mutable Mark last_mark_ = 0;
  std::array<Mark, size_t{1} << kSlotBits> lately_{};  // SlotOf
  std::vector<std::unique_ptr<Chunk>> memory_;
  std::vector<size_t> used_;  // bytes of each chunk in use
};

}  // namespace krafla
