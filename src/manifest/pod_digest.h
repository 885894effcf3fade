// The parts of a pod that decide what it asks for, copied out of its JSON into one short JSON text.
//
// Pods of one template differ in names, mounts, environment and status, but their digests are equal
// byte for byte: what was decoded for one of them holds for all. A digest is
//   {"containers":[{"name":…,"image":…,"resources":…,"ports":…}],"affinity":…,…} with each value as
//   the pod had it, so that a problem found in it can be shown at its place in the pod.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/object_reader.h"

namespace krafla {

class PodDigest {
 public:
  void Clear();
  // Takes what matters of one field of "spec"; false when it is none of the digest's fields.
  bool AddSpecField(ObjectReader& reader, JsonKey key, JsonValue& value);
  // … of "status": what a running pod was granted.
  bool AddStatusField(ObjectReader& reader, JsonKey key, JsonValue& value);
  // A fact that comes from elsewhere.
  void AddFlag(std::string_view key);
  // Closes the text; nothing may be added afterwards. simdjson's padding may be read behind it.
  std::string_view Finish();
  const SourceMap& sources() const { return sources_; }

 private:
  void AddKey(std::string_view key);
  void AddRaw(std::string_view raw);
  void CutTo(size_t size);
  // Of each item of a list the fields that matter; items that have none of `decisive` are left out.
  void AddItems(ObjectReader& reader, std::string_view key, JsonValue& list,
                std::span<const std::string_view> fields,
                std::span<const std::string_view> decisive);

  std::string text_ = "{";
  SourceMap sources_;
  std::vector<std::string_view> copied_;  // of one item, kept for its memory
};

}  // namespace krafla
