// What was found out for the tasks that came last; of so many, the one that came first is forgotten
// for the next. A task that comes again keeps its place. Nothing is allocated once all places are
// taken: a task may come for every pod that waits, and each asks about itself at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "model/ids.h"

namespace krafla {

template <class T, size_t kMost>
class LatestOfTasks {
 public:
  // Null: nothing is known. Good until so many others have been set.
  T* Find(TaskId task) {
    for (uint16_t at = first_[ListOf(task)]; at != 0; at = places_[at - 1].next)
      if (places_[at - 1].task == task) return &places_[at - 1].value;
    return nullptr;
  }
  T& Set(TaskId task, T value) {
    if (T* known = Find(task); known != nullptr) return *known = std::move(value);
    if (places_.size() < kMost) {
      places_.push_back({task, 0, std::move(value)});
      return Enlist(static_cast<uint16_t>(places_.size()));
    }
    const size_t at = std::exchange(oldest_, (oldest_ + 1) % kMost);
    Place& place = places_[at];
    Strike(static_cast<uint16_t>(at + 1));
    place.task = task;
    place.value = std::move(value);
    return Enlist(static_cast<uint16_t>(at + 1));
  }
  void Clear() {
    places_.clear();
    first_.fill(0);
    oldest_ = 0;
  }

 private:
  static constexpr size_t kLists = 1024;
  static_assert(kMost < UINT16_MAX);
  struct Place {
    TaskId task;
    uint16_t next;  // of its list, one more than its index; 0: there is none
    T value;
  };

  static size_t ListOf(TaskId task) { return task.value % kLists; }
  T& Enlist(uint16_t at) {
    Place& place = places_[at - 1];
    place.next = std::exchange(first_[ListOf(place.task)], at);
    return place.value;
  }
  void Strike(uint16_t at) {
    uint16_t* link = &first_[ListOf(places_[at - 1].task)];
    while (*link != at) link = &places_[*link - 1].next;
    *link = places_[at - 1].next;
  }

  std::deque<Place> places_;  // in the order they came, from `oldest_` on in a circle
  std::array<uint16_t, kLists> first_ = {};  // of each list, one more than its index
  size_t oldest_ = 0;
};

}  // namespace krafla
