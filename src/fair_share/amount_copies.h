// "What if": private copies of amounts, made when they are first touched, so that a question about
// many candidates can take them away one after the other without changing anything.
#pragma once

#include <cstdint>
#include <vector>

#include "base/strong_id.h"
#include "model/resource.h"

namespace krafla {

template <class Id>
class AmountCopies {
 public:
  void Reset(size_t size) {
    round_of_.Reset(size, 0);
    slot_of_.Reset(size, 0);
    round_ = 0;
  }

  // Forgets all copies. Costs nothing per id.
  void Begin() {
    ++round_;
    copies_.clear();
  }

  bool Has(Id id) const { return round_of_[id] == round_; }

  // The copy of `original` for this id; good until At is called for another one.
  Resource& At(Id id, const Resource& original) {
    if (round_of_[id] != round_) {
      round_of_[id] = round_;
      slot_of_[id] = static_cast<uint32_t>(copies_.size());
      copies_.push_back(original);
    }
    return copies_[slot_of_[id]];
  }

 private:
  Table<Id, uint64_t> round_of_;
  Table<Id, uint32_t> slot_of_;
  uint64_t round_ = 0;
  std::vector<Resource> copies_;
};

}  // namespace krafla
