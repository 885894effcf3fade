#include "manifest/metadata.h"

#include <algorithm>

namespace krafla {

void Metadata::Clear() {
  name = {};
  has_name = false;
  ns = {};
  uid = {};
  owner_pod_uid = {};
  created = {};
  created_written = {};
  deleting = false;
  labels.Clear();
  annotations.Clear();
}

void DecodeTextMap(ObjectReader& reader, JsonValue& value, TextMap& map) {
  reader.ForEachField(value, [&](JsonKey key, JsonValue& entry) {
    const char* at = ObjectReader::At(entry);
    map.Set(key, reader.Text(entry), at);
  });
}

namespace {

void DecodeOwners(ObjectReader& reader, JsonValue& value, Metadata& meta) {
  reader.ForEachItem(value, [&](JsonValue& owner) {
    std::string_view kind;
    std::string_view uid;
    bool controller = false;
    reader.ForEachField(owner, [&](JsonKey key, JsonValue& field) {
      if (key == "kind") kind = reader.Text(field);
      if (key == "uid") uid = reader.Text(field);
      if (key == "controller") controller = reader.Bool(field);
    });
    if (controller && kind == "Pod") meta.owner_pod_uid = uid;
  });
}

}  // namespace

void DecodeMetadata(ObjectReader& reader, JsonValue& value, Metadata& meta, bool with_owner) {
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (key == "name") {
      meta.has_name = true;
      meta.name = reader.Text(field);
    } else if (key == "namespace") {
      meta.ns = reader.Text(field);
    } else if (key == "uid") {
      meta.uid = reader.Text(field);
    } else if (key == "labels") {
      DecodeTextMap(reader, field, meta.labels);
    } else if (key == "annotations") {
      DecodeTextMap(reader, field, meta.annotations);
    } else if (key == "creationTimestamp") {
      meta.created = reader.Time(field, &meta.created_written);
    } else if (key == "deletionTimestamp") {
      meta.deleting = !ObjectReader::IsNull(field);
      std::string_view written;
      reader.Time(field, &written);
      reader.NoteText(ObjectLikeness::Part::kTime, written);
    } else if (with_owner && key == "ownerReferences") {
      DecodeOwners(reader, field, meta);
    } else {
      reader.PassOver(field);
    }
  });
}

LabelSet InternLabelSet(const TextMap& map, StringPool& strings) {
  LabelSet labels;
  labels.reserve(map.entries().size());
  for (const TextMap::Entry& entry : map.entries())
    labels.emplace_back(strings.Intern(entry.key), strings.Intern(entry.value));
  // The last of equal keys stands, as in Kubernetes.
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (kept > 0 && labels[kept - 1].first == labels[i].first) --kept;
    labels[kept++] = labels[i];
  }
  labels.resize(kept);
  return labels;
}

}  // namespace krafla
