// Facts of one kind, each name once, in no particular order; an index from name to place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace krafla {

template <class T>
class FactStore {
 public:
  // True: it is new.
  bool Set(uint64_t key, T value) {
    const auto [it, is_new] = index_.try_emplace(key, items_.size());
    if (is_new) {
      items_.push_back(std::move(value));
      keys_.push_back(key);
    } else {
      items_[it->second] = std::move(value);
    }
    return is_new;
  }
  bool Remove(uint64_t key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return false;
    const size_t place = it->second;
    index_.erase(it);
    if (place + 1 != items_.size()) {
      items_[place] = std::move(items_.back());
      keys_[place] = keys_.back();
      index_[keys_[place]] = place;
    }
    items_.pop_back();
    keys_.pop_back();
    return true;
  }
  const T* Find(uint64_t key) const {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second];
  }
  // Every item may be changed, its name too: key_of(item) says what it is called then.
  template <class Change, class KeyOf>
  void ChangeAll(Change&& change, KeyOf&& key_of) {
    index_.clear();
    for (size_t place = 0; place < items_.size(); ++place) {
      change(items_[place]);
      keys_[place] = key_of(items_[place]);
      index_.emplace(keys_[place], place);
    }
  }
  size_t size() const { return items_.size(); }
  const std::vector<T>& items() const { return items_; }
  std::vector<T>& items() { return items_; }

 private:
  std::vector<T> items_;
  std::vector<uint64_t> keys_;  // by place
  std::unordered_map<uint64_t, size_t> index_;
};

}  // namespace krafla
