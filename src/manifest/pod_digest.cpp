#include "manifest/pod_digest.h"

#include <algorithm>
#include <array>

namespace krafla {

namespace {

using Names = std::span<const std::string_view>;

// Copied as they are.
constexpr std::array<std::string_view, 9> kWholeFields = {
    "affinity",      "nodeSelector", "tolerations",     "topologySpreadConstraints",
    "overhead",      "resources",    "schedulingGates", "hostNetwork",
    "resourceClaims"};
constexpr std::array<std::string_view, 5> kContainerFields = {"name", "image", "resources", "ports",
                                                              "restartPolicy"};
// Most volumes (secrets, tokens with random names, …) have no say in where a pod runs.
constexpr std::array<std::string_view, 4> kVolumeFields = {"name", "persistentVolumeClaim",
                                                           "ephemeral", "image"};
constexpr std::array<std::string_view, 3> kDecisiveVolumes = {"persistentVolumeClaim", "ephemeral",
                                                              "image"};
constexpr std::array<std::string_view, 3> kStatusFields = {"name", "resources",
                                                           "allocatedResources"};
constexpr std::array<std::string_view, 1> kDecisiveStatus = {"resources"};

bool Contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void PodDigest::Clear() {
  text_.assign(1, '{');
  sources_.Clear();
}

void PodDigest::AddKey(std::string_view key) {
  const size_t start = text_.size();
  text_.resize(start + key.size() + 3);
  char* to = text_.data() + start;
  *to++ = '"';
  to = std::copy(key.begin(), key.end(), to);
  *to++ = '"';
  *to = ':';
}

void PodDigest::AddRaw(std::string_view raw) {
  sources_.Add(text_.size(), raw.data());
  text_ += raw;
}

void PodDigest::CutTo(size_t size) {
  text_.resize(size);
  sources_.Cut(size);
}

void PodDigest::AddItems(ObjectReader& reader, std::string_view key, JsonValue& list, Names fields,
                         Names decisive) {
  const size_t start = text_.size();
  AddKey(key);
  sources_.Add(text_.size(), ObjectReader::At(list));
  text_ += '[';
  bool any = false;
  reader.ForEachItem(list, [&](JsonValue& item) {
    const size_t item_start = text_.size();
    sources_.Add(item_start, ObjectReader::At(item));
    text_ += '{';
    bool wanted = decisive.empty();
    copied_.clear();
    reader.ForEachField(item, [&](std::string_view field, JsonValue& value) {
      if (!Contains(fields, field)) return reader.PassOver(value);
      if (ObjectReader::IsNull(value)) return;
      wanted = wanted || Contains(decisive, field);
      AddKey(field);
      const std::string_view raw = reader.Raw(value);
      if (!decisive.empty()) copied_.push_back(raw);
      AddRaw(raw);
      text_ += ',';
    });
    if (!wanted) {
      for (const std::string_view raw : copied_) reader.PassOver(raw);
      CutTo(item_start);
      return;
    }
    if (text_.back() == ',') text_.pop_back();
    text_ += "},";
    any = true;
  });
  if (!any) {
    CutTo(start);
    return;
  }
  text_.back() = ']';
  text_ += ',';
}

bool PodDigest::AddSpecField(ObjectReader& reader, JsonKey key, JsonValue& value) {
  if (key == "containers" || key == "initContainers") {
    AddItems(reader, key, value, kContainerFields, {});
  } else if (key == "volumes") {
    AddItems(reader, key, value, kVolumeFields, kDecisiveVolumes);
  } else if (Contains(kWholeFields, key)) {
    if (ObjectReader::IsNull(value)) return true;
    AddKey(key);
    AddRaw(reader.Raw(value));
    text_ += ',';
  } else {
    return false;
  }
  return true;
}

bool PodDigest::AddStatusField(ObjectReader& reader, JsonKey key, JsonValue& value) {
  if (key == "containerStatuses" || key == "initContainerStatuses") {
    AddItems(reader, key, value, kStatusFields, kDecisiveStatus);
  } else if (key == "resources" || key == "allocatedResources") {
    if (ObjectReader::IsNull(value)) return true;
    AddKey(key == "resources" ? "statusResources" : "statusAllocatedResources");
    AddRaw(reader.Raw(value));
    text_ += ',';
  } else {
    return false;
  }
  return true;
}

void PodDigest::AddFlag(std::string_view key) {
  AddKey(key);
  text_ += "true,";
}

std::string_view PodDigest::Finish() {
  if (text_.back() == ',') text_.pop_back();
  text_ += '}';
  text_.reserve(text_.size() + simdjson::SIMDJSON_PADDING);
  return text_;
}

}  // namespace krafla
