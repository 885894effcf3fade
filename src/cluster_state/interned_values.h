// Label sets and pod specs, each stored once: equal values have equal ids.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "model/ids.h"
#include "model/pod_spec.h"
#include "model/selectors.h"

namespace krafla {

uint64_t HashOf(const LabelSet& labels);
uint64_t HashOf(const PodSpec& spec);
inline bool SameValue(const LabelSet& a, const LabelSet& b) {
  return a == b;
}
bool SameValue(const PodSpec& a, const PodSpec& b);

// An index over a table of values. The table may move: it is named at each call.
template <class Id, class T>
class InternedValues {
 public:
  Id Intern(T value, Table<Id, T>& table) {
    const uint64_t hash = HashOf(value);
    const auto [begin, end] = ids_.equal_range(Entry{hash, Id{}});
    for (auto entry = begin; entry != end; ++entry)
      if (SameValue(table[entry->id], value)) return entry->id;
    const Id id = table.Add(std::move(value));
    ids_.insert({hash, id});
    return id;
  }

 private:
  struct Entry {
    uint64_t hash = 0;
    Id id;
    friend bool operator==(const Entry& a, const Entry& b) { return a.hash == b.hash; }
  };
  struct Hash {
    size_t operator()(const Entry& entry) const { return entry.hash; }
  };
  std::unordered_multiset<Entry, Hash> ids_;
};

}  // namespace krafla
