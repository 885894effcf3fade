// Remembers old values so that what was only tried can be taken back. Undoing restores values; it
// never runs an inverse operation, so the state after a rollback is the state before, bit for bit,
// whatever a plugin did.
//
// Whoever changes a logged value calls Save before the change. Values must stay at their address
// while a mark is open: tables do not grow during a session.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace krafla {

class UndoLog {
 public:
  using Mark = size_t;

  Mark Now() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  // A small plain value: its bytes.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
  void Save(T& value) {
    Entry entry{[](UndoLog&, const Entry& e) { std::memcpy(e.target, &e.old_bytes, sizeof(T)); },
                &value, 0, 0};
    std::memcpy(&entry.old_bytes, &value, sizeof(T));
    entries_.push_back(entry);
  }

  // Anything else that can be copied.
  template <class T>
    requires(!std::is_trivially_copyable_v<T> || (sizeof(T) > 8))
  void Save(T& value) {
    entries_.push_back({[](UndoLog& log, const Entry& e) {
                          auto* copy = static_cast<Copy<T>*>(log.copies_.back().get());
                          *static_cast<T*>(e.target) = std::move(copy->value);
                          log.copies_.pop_back();
                        },
                        &value, 0, 0});
    copies_.push_back(std::make_unique<Copy<T>>(value));
  }

  // Call after the edit: `index` is where the element went in.
  template <class T>
  void Inserted(std::vector<T>& list, size_t index) {
    entries_.push_back({[](UndoLog&, const Entry& e) {
                          auto& target = *static_cast<std::vector<T>*>(e.target);
                          target.erase(target.begin() + e.index);
                        },
                        &list, static_cast<uint32_t>(index), 0});
  }

  // Call before the edit: element `index` is about to be erased.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
  void Erasing(std::vector<T>& list, size_t index) {
    Entry entry{[](UndoLog&, const Entry& e) {
                  auto& target = *static_cast<std::vector<T>*>(e.target);
                  T value;
                  std::memcpy(static_cast<void*>(&value), &e.old_bytes, sizeof(T));
                  target.insert(target.begin() + e.index, value);
                },
                &list, static_cast<uint32_t>(index), 0};
    std::memcpy(&entry.old_bytes, &list[index], sizeof(T));
    entries_.push_back(entry);
  }

  void RollbackTo(Mark mark);

 private:
  struct Entry {
    void (*undo)(UndoLog&, const Entry&);
    void* target;
    uint32_t index;
    uint64_t old_bytes;
  };
  struct CopyBase {
    virtual ~CopyBase() = default;
  };
  template <class T>
  struct Copy final : CopyBase {
    explicit Copy(const T& v) : value(v) {}
    T value;
  };

  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<CopyBase>> copies_;
};

}  // namespace krafla
