// What every API object says about itself: name, labels, annotations.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "base/timestamp.h"
#include "manifest/object_reader.h"
#include "model/selectors.h"

namespace krafla {

// Pairs of texts in the order of the object; a few dozen at most, so looking through all of them is
// quick.
class TextMap {
 public:
  void Clear() { entries_.clear(); }
  void Set(std::string_view key, std::string_view value, const char* at) {
    entries_.push_back({key, value, at});
  }
  bool empty() const { return entries_.empty(); }
  struct Entry {
    std::string_view key;
    std::string_view value;
    const char* at = nullptr;  // of the value, for messages
  };
  // The last one of that name, null when there is none.
  const Entry* Find(std::string_view key) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
      if (entry->key == key) return &*entry;
    return nullptr;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Made once and filled anew for each object, so that reading allocates nothing.
struct Metadata {
  std::string_view name;
  bool has_name = false;  // the field is there, whatever it holds
  std::string_view ns;
  std::string_view uid;
  Timestamp created;
  std::string_view created_written;  // the text of that
  bool deleting = false;
  std::string_view owner_pod_uid;  // of the controller, when that is a pod
  TextMap labels;
  TextMap annotations;

  void Clear();
  std::string_view NamespaceOrDefault() const { return ns.empty() ? "default" : ns; }
};

// The value of "metadata". Owner references are rarely needed and are read only when asked for.
void DecodeMetadata(ObjectReader& reader, JsonValue& value, Metadata& meta,
                    bool with_owner = false);

void DecodeTextMap(ObjectReader& reader, JsonValue& value, TextMap& map);

LabelSet InternLabelSet(const TextMap& map, StringPool& strings);

}  // namespace krafla
