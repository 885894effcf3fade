// A column that is empty again at the start of each call, without touching all of it: scratch for
// votes, which are asked for every node of every task that looks for room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/strong_id.h"

namespace krafla {

template <class Id, class T>
class CallColumn {
 public:
  // `size`: of the table the ids belong to.
  void Begin(size_t size) {
    if (stamps_.size() != size) {
      stamps_.Reset(size);
      values_.Reset(size);
      call_ = 0;
    }
    if (++call_ == 0) {  // wrapped: old stamps must not look new
      std::fill(stamps_.begin(), stamps_.end(), 0U);
      call_ = 1;
    }
  }

  // The value of this call; made by `make` when asked for the first time.
  template <class Make>
  T& Get(Id id, Make&& make) {
    if (stamps_[id] != call_) {
      stamps_[id] = call_;
      values_[id] = make();
    }
    return values_[id];
  }

 private:
  uint32_t call_ = 0;
  Table<Id, uint32_t> stamps_;
  Table<Id, T> values_;
};

}  // namespace krafla
