#include "manifest/decode_storage.h"

#include <algorithm>
#include <array>
#include <limits>

#include "manifest/decode_resources.h"
#include "manifest/decode_selectors.h"

namespace krafla {

namespace {

using AccessWord = std::pair<std::string_view, AccessMode>;
constexpr std::array kAccessModes = {AccessWord{"ReadWriteOnce", AccessMode::kReadWriteOnce},
                                     AccessWord{"ReadOnlyMany", AccessMode::kReadOnlyMany},
                                     AccessWord{"ReadWriteMany", AccessMode::kReadWriteMany},
                                     AccessWord{"ReadWriteOncePod", AccessMode::kReadWriteOncePod}};
using ModeWord = std::pair<std::string_view, VolumeMode>;
constexpr std::array kVolumeModes = {ModeWord{"Filesystem", VolumeMode::kFilesystem},
                                     ModeWord{"Block", VolumeMode::kBlock}};
using WaitWord = std::pair<std::string_view, bool>;
constexpr std::array kBindingModes = {WaitWord{"Immediate", false},
                                      WaitWord{"WaitForFirstConsumer", true}};

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kDriverParameter = "csi.storage.k8s.io/csi-driver-name";

uint8_t DecodeAccessModes(ObjectReader& reader, JsonValue& value) {
  uint8_t modes = 0;
  reader.ForEachItem(value, [&](JsonValue& item) {
    const auto mode = reader.Word<AccessMode>(item, kAccessModes, AccessMode::kReadWriteOnce);
    modes = static_cast<uint8_t>(modes | static_cast<uint8_t>(mode));
  });
  return modes;
}

int64_t DecodeStorageAmount(ObjectReader& reader, JsonValue& value) {
  const ResourceList list = DecodeResourceList(reader, value);
  const Quantity* storage = FindAmount(list, "storage");
  return storage != nullptr ? storage->Value() : 0;
}

void DecodeClaimSpec(DecodeContext& context, JsonValue& value, PersistentVolumeClaim& claim) {
  ObjectReader& reader = context.reader;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (ObjectReader::IsNull(field)) return;
    if (key == "volumeName") {
      claim.volume_name = context.Intern(reader.Text(field));
    } else if (key == "storageClassName") {
      claim.storage_class = context.Intern(reader.Text(field));
    } else if (key == "accessModes") {
      claim.access_modes = DecodeAccessModes(reader, field);
    } else if (key == "volumeMode") {
      claim.mode = reader.Word<VolumeMode>(field, kVolumeModes, VolumeMode::kFilesystem);
    } else if (key == "selector") {
      claim.selector = DecodeLabelSelector(reader, field, context.strings());
    } else if (key == "volumeAttributesClassName") {
      claim.volume_attributes_class = context.Intern(reader.Text(field));
    } else if (key == "resources") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& list) {
        if (part == "requests") claim.request_bytes = DecodeStorageAmount(reader, list);
      });
    }
  });
}

void DecodeVolumeSpec(DecodeContext& context, JsonValue& value, PersistentVolume& volume) {
  ObjectReader& reader = context.reader;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (ObjectReader::IsNull(field)) return;
    if (key == "storageClassName") {
      volume.storage_class = context.Intern(reader.Text(field));
    } else if (key == "capacity") {
      volume.capacity_bytes = DecodeStorageAmount(reader, field);
    } else if (key == "accessModes") {
      volume.access_modes = DecodeAccessModes(reader, field);
    } else if (key == "volumeMode") {
      volume.mode = reader.Word<VolumeMode>(field, kVolumeModes, VolumeMode::kFilesystem);
    } else if (key == "volumeAttributesClassName") {
      volume.volume_attributes_class = context.Intern(reader.Text(field));
    } else if (key == "nodeAffinity") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& selector) {
        if (part != "required" || ObjectReader::IsNull(selector)) return;
        volume.has_node_affinity = true;
        volume.node_terms = DecodeNodeSelector(reader, selector, context.strings());
      });
    } else if (key == "claimRef") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& text) {
        if (part == "namespace") volume.claim_ns = context.Intern(reader.Text(text));
        if (part == "name") volume.claim_name = context.Intern(reader.Text(text));
        if (part == "uid") volume.claim_uid = context.Intern(reader.Text(text));
      });
    } else if (key == "csi") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& text) {
        if (part == "driver") volume.csi_driver = context.Intern(reader.Text(text));
        if (part == "volumeHandle") volume.csi_handle = context.Intern(reader.Text(text));
      });
    }
  });
}

// {matchLabelExpressions: [{key, values}]}
NodeSelectorTerm DecodeTopologyTerm(DecodeContext& context, JsonValue& value) {
  ObjectReader& reader = context.reader;
  NodeSelectorTerm term;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& list) {
    if (key != "matchLabelExpressions") return;
    reader.ForEachItem(list, [&](JsonValue& item) {
      SelectorRequirement requirement;
      requirement.key = kEmptyStr;
      reader.ForEachField(item, [&](std::string_view part, JsonValue& field) {
        if (part == "key") requirement.key = context.Intern(reader.TextNotEmpty(field));
        if (part == "values")
          reader.ForEachItem(field, [&](JsonValue& text) {
            requirement.values.push_back(context.Intern(reader.Text(text)));
          });
      });
      std::sort(requirement.values.begin(), requirement.values.end());
      term.expressions.push_back(std::move(requirement));
    });
  });
  return term;
}

CsiNodeDriver DecodeDriver(DecodeContext& context, JsonValue& value) {
  ObjectReader& reader = context.reader;
  CsiNodeDriver driver;
  driver.driver = kEmptyStr;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "name") {
      driver.driver = context.Intern(reader.TextNotEmpty(field));
    } else if (key == "allocatable") {
      reader.ForEachField(field, [&](std::string_view part, JsonValue& count) {
        if (part == "count")
          driver.limit = reader.WholeNumber(count, 0, std::numeric_limits<int32_t>::max());
      });
    } else if (key == "topologyKeys") {
      reader.ForEachItem(field, [&](JsonValue& text) {
        driver.topology_keys.push_back(context.Intern(reader.Text(text)));
      });
    }
  });
  return driver;
}

}  // namespace

void DecodePersistentVolumeClaim(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  const Metadata& meta = context.meta;
  PersistentVolumeClaim claim;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta, /*with_owner=*/true);
    } else if (key == "spec") {
      DecodeClaimSpec(context, value, claim);
    } else if (key == "status") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "phase") claim.lost = reader.Text(field) == "Lost";
      });
    }
  });
  if (!context.Sound()) return;
  claim.ns = context.InternNamespace();
  claim.name = context.Intern(meta.name);
  claim.uid = context.Intern(meta.uid);
  claim.deleting = meta.deleting;
  claim.owner_pod_uid = context.Intern(meta.owner_pod_uid);
  claim.fully_bound = meta.annotations.Find(kBindCompleted) != nullptr;
  if (const TextMap::Entry* storage_class = meta.annotations.Find(kClassAnnotation))
    claim.storage_class = context.Intern(storage_class->value);
  if (const TextMap::Entry* node = meta.annotations.Find(kSelectedNode))
    claim.selected_node = context.Intern(node->value);
  context.AddedOrDuplicate(context.builder.AddClaim(std::move(claim)));
}

void DecodePersistentVolume(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  const Metadata& meta = context.meta;
  PersistentVolume volume;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      DecodeVolumeSpec(context, value, volume);
    } else if (key == "status") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "phase") volume.phase = context.Intern(reader.Text(field));
      });
    }
  });
  if (!context.Sound()) return;
  volume.name = context.Intern(meta.name);
  volume.deleting = meta.deleting;
  volume.labels = InternLabelSet(meta.labels, context.strings());
  if (const TextMap::Entry* storage_class = meta.annotations.Find(kClassAnnotation))
    volume.storage_class = context.Intern(storage_class->value);
  context.AddedOrDuplicate(context.builder.AddVolume(std::move(volume)));
}

void DecodeStorageClass(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  StorageClass storage_class;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "provisioner") {
      storage_class.provisioner = context.Intern(reader.Text(value));
    } else if (key == "volumeBindingMode") {
      storage_class.wait_for_first_consumer = reader.Word<bool>(value, kBindingModes, false);
    } else if (key == "parameters") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == kDriverParameter)
          storage_class.csi_driver_parameter = context.Intern(reader.Text(field));
      });
    } else if (key == "allowedTopologies") {
      reader.ForEachItem(value, [&](JsonValue& item) {
        storage_class.has_allowed_topologies = true;
        storage_class.allowed_topologies.push_back(DecodeTopologyTerm(context, item));
      });
    }
  });
  if (!context.Sound()) return;
  storage_class.name = context.Intern(context.meta.name);
  context.AddedOrDuplicate(context.builder.AddStorageClass(std::move(storage_class)));
}

void DecodeCsiNode(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  CsiNode node;
  reader.ForEachField(root, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "drivers")
          reader.ForEachItem(
              field, [&](JsonValue& item) { node.drivers.push_back(DecodeDriver(context, item)); });
      });
    }
  });
  if (!context.Sound()) return;
  node.node = context.Intern(context.meta.name);
  context.AddedOrDuplicate(context.builder.AddCsiNode(std::move(node)));
}

}  // namespace krafla
