#include "manifest/decode_node.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "manifest/decode_affinity.h"
#include "manifest/decode_resources.h"
#include "model/well_known.h"

namespace krafla {

namespace {

constexpr std::string_view kOversubscriptionCpu = "volcano.sh/oversubscription-cpu";
constexpr std::string_view kOversubscriptionMemory = "volcano.sh/oversubscription-memory";

void DecodeTaints(DecodeContext& context, JsonValue& value, Node& node) {
  ObjectReader& reader = context.reader;
  reader.ForEachItem(value, [&](JsonValue& item) {
    const char* at = ObjectReader::At(item);
    Taint taint;
    bool has_effect = false;
    std::string_view key;
    reader.ForEachField(item, [&](std::string_view name, JsonValue& field) {
      if (name == "key") {
        key = reader.Text(field);
      } else if (name == "value") {
        taint.value = context.Intern(reader.Text(field));
      } else if (name == "effect") {
        has_effect = !reader.Text(field).empty();
        taint.effect = DecodeTaintEffect(reader, field);
      }
    });
    if (!has_effect) reader.Wrong(at, "a taint needs an effect");
    taint.key = context.Intern(key);
    node.taints.push_back(taint);
  });
}

void DecodeImages(DecodeContext& context, JsonValue& value, Node& node) {
  ObjectReader& reader = context.reader;
  constexpr int64_t kMaxSize = std::numeric_limits<int64_t>::max();
  reader.ForEachItem(value, [&](JsonValue& item) {
    const size_t first = node.images.size();
    int64_t size_bytes = 0;
    reader.ForEachField(item, [&](JsonKey key, JsonValue& field) {
      if (key == "names") {
        reader.ForEachItem(field, [&](JsonValue& name) {
          node.images.push_back({.name = context.Intern(reader.Text(name))});
        });
      } else if (key == "sizeBytes") {
        size_bytes = reader.WholeNumber(field, 0, kMaxSize).value_or(0);
      }
    });
    for (size_t i = first; i < node.images.size(); ++i) node.images[i].size_bytes = size_bytes;
  });
}

// Of entries with one name the first counts.
void SortImages(Node& node) {
  const auto less = [](const NodeImage& a, const NodeImage& b) { return a.name < b.name; };
  const auto same = [](const NodeImage& a, const NodeImage& b) { return a.name == b.name; };
  std::stable_sort(node.images.begin(), node.images.end(), less);
  node.images.erase(std::unique(node.images.begin(), node.images.end(), same), node.images.end());
  node.images.shrink_to_fit();
}

struct NodeStatus {
  std::optional<ResourceList> allocatable;
  std::optional<ResourceList> capacity;
};

void DecodeStatus(DecodeContext& context, JsonValue& value, NodeStatus& status, Node& node) {
  ObjectReader& reader = context.reader;
  reader.ForEachField(value, [&](JsonKey key, JsonValue& field) {
    if (ObjectReader::IsNull(field)) return;
    if (key == "allocatable") {
      status.allocatable = DecodeResourceList(reader, field);
    } else if (key == "capacity") {
      status.capacity = DecodeResourceList(reader, field);
    } else if (key == "images") {
      DecodeImages(context, field, node);
    }
  });
}

// What a node agent reports as usable beyond the allocatable amounts: plain numbers (milli-CPU,
// bytes).
void AddOversubscription(DecodeContext& context, std::string_view annotation, int kind,
                         Resource& allocatable) {
  const TextMap::Entry* entry = context.meta.annotations.Find(annotation);
  if (entry == nullptr) return;
  double amount = 0;
  const char* end = entry->value.data() + entry->value.size();
  const auto [rest, error] = std::from_chars(entry->value.data(), end, amount);
  if (error != std::errc{} || rest != end || !std::isfinite(amount) || amount < 0) {
    context.reader.Warn(entry->at, fmt::format("expected a number that is not negative, got {}; "
                                               "taken for 0",
                                               Quoted(entry->value)));
    return;
  }
  allocatable.AddTo(kind, amount);
}

}  // namespace

void DecodeNode(DecodeContext& context, JsonObject root) {
  ObjectReader& reader = context.reader;
  NodeFacts facts;
  Node& node = facts.node;
  NodeStatus status;
  reader.ForEachField(root, [&](JsonKey key, JsonValue& value) {
    if (key == "metadata") {
      DecodeMetadata(reader, value, context.meta);
    } else if (key == "spec") {
      reader.ForEachField(value, [&](std::string_view name, JsonValue& field) {
        if (name == "unschedulable") node.unschedulable = reader.Bool(field);
        if (name == "taints") DecodeTaints(context, field, node);
      });
    } else if (key == "status") {
      DecodeStatus(context, value, status, node);
    }
  });
  const ResourceList amounts =
      status.allocatable ? *status.allocatable : status.capacity.value_or(ResourceList{});
  facts.allocatable = ToResource(amounts, context.kinds(), reader);
  if (!context.Sound()) return;

  node.name = context.Intern(context.meta.name);
  node.labels = InternLabelSet(context.meta.labels, context.strings());
  const TextMap::Entry* zone = context.meta.labels.Find(keys::kRevocableZone);
  if (zone != nullptr) node.zone = context.Intern(zone->value);
  if (const Quantity* pods = FindAmount(amounts, "pods")) node.max_pods = pods->Value();
  node.scored_cpu = facts.allocatable.cpu();
  node.scored_memory = facts.allocatable.memory();
  AddOversubscription(context, kOversubscriptionCpu, ResourceKinds::kCpu, facts.allocatable);
  AddOversubscription(context, kOversubscriptionMemory, ResourceKinds::kMemory, facts.allocatable);
  SortImages(node);
  context.AddedOrDuplicate(context.builder.AddNode(std::move(facts)));
}

void DecodeNamespace(DecodeContext& context, JsonObject root) {
  context.reader.ForEachField(root, [&](JsonKey key, JsonValue& value) {
    if (key == "metadata") DecodeMetadata(context.reader, value, context.meta);
  });
  if (!context.Sound()) return;
  context.AddedOrDuplicate(context.builder.AddNamespace(
      {.name = context.Intern(context.meta.name),
       .labels = InternLabelSet(context.meta.labels, context.strings())}));
}

}  // namespace krafla
