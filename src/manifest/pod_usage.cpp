// The sums are those of Kubernetes' PodRequests and PodLimits, which differ from how Volcano's
// scheduler counts a pod (pod_requests.h): amounts are added exactly, and limits count as well.
#include "manifest/pod_usage.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "manifest/decode_resources.h"
#include "manifest/json_slice.h"

namespace krafla {

namespace {

struct Resources {
  PodUsage requests;
  PodUsage limits;
};

struct Container {
  Resources resources;
  bool sidecar = false;  // an init container that keeps running
};

struct PodResources {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  Resources pod_level;
  PodUsage overhead;
};

MilliAmount ToMilli(const Quantity& amount) {
  // MilliValue saturates; Value does so a thousand times later.
  const int64_t milli = amount.MilliValue();
  return milli == std::numeric_limits<int64_t>::max() ? MilliAmount{amount.Value()} * 1000 : milli;
}

PodUsage DecodeAmounts(ObjectReader& reader, JsonValue& value) {
  PodUsage amounts;
  for (const NamedQuantity& entry : DecodeResourceList(reader, value)) {
    amounts.insert_or_assign(std::string(entry.name), ToMilli(entry.amount));
  }
  return amounts;
}

Resources DecodeResources(ObjectReader& reader, JsonValue& value) {
  Resources resources;
  reader.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "requests") resources.requests = DecodeAmounts(reader, field);
    if (key == "limits") resources.limits = DecodeAmounts(reader, field);
  });
  return resources;
}

std::vector<Container> DecodeContainers(ObjectReader& reader, JsonValue& value) {
  std::vector<Container> containers;
  reader.ForEachItem(value, [&](JsonValue& item) {
    Container& container = containers.emplace_back();
    reader.ForEachField(item, [&](std::string_view key, JsonValue& field) {
      if (key == "resources") container.resources = DecodeResources(reader, field);
      if (key == "restartPolicy") container.sidecar = reader.Text(field) == "Always";
    });
  });
  return containers;
}

PodResources DecodePodResources(ObjectReader& reader, std::string_view pod_spec) {
  PodResources pod;
  ForEachFieldOf(pod_spec, reader, [&](std::string_view key, JsonValue& field) {
    if (key == "containers") pod.containers = DecodeContainers(reader, field);
    if (key == "initContainers") pod.init_containers = DecodeContainers(reader, field);
    if (key == "resources") pod.pod_level = DecodeResources(reader, field);
    if (key == "overhead") pod.overhead = DecodeAmounts(reader, field);
  });
  return pod;
}

void SetMax(PodUsage& usage, const PodUsage& other) {
  for (const auto& [name, amount] : other) {
    const auto [own, added] = usage.emplace(name, amount);
    if (!added) own->second = std::max(own->second, amount);
  }
}

// Containers and sidecars in sum, but no less than any moment of the start: an init container
// beside the sidecars that were started before it.
PodUsage SumContainers(const PodResources& pod, PodUsage Resources::* which) {
  PodUsage total;
  for (const Container& container : pod.containers) AddTimes(total, container.resources.*which, 1);
  PodUsage sidecars;
  PodUsage start;
  for (const Container& container : pod.init_containers) {
    const PodUsage& own = container.resources.*which;
    PodUsage moment = sidecars;
    AddTimes(moment, own, 1);
    if (container.sidecar) {
      AddTimes(total, own, 1);
      sidecars = moment;
    }
    SetMax(start, moment);
  }
  SetMax(total, start);
  return total;
}

void ReplaceByPodLevel(PodUsage& total, const PodUsage& pod_level) {
  for (const auto& [name, amount] : pod_level) {
    const bool allowed = name == "cpu" || name == "memory" || name.starts_with("hugepages-");
    if (allowed) total.insert_or_assign(name, amount);
  }
}

bool IsExtended(std::string_view name) {
  return name.find('/') != std::string_view::npos && !name.starts_with("requests.") &&
         name.find("kubernetes.io/") == std::string_view::npos;
}

}  // namespace

PodUsage DecodePodUsage(ObjectReader& reader, std::string_view pod_spec) {
  const PodResources pod = DecodePodResources(reader, pod_spec);

  PodUsage requests = SumContainers(pod, &Resources::requests);
  ReplaceByPodLevel(requests, pod.pod_level.requests);
  AddTimes(requests, pod.overhead, 1);

  PodUsage limits = SumContainers(pod, &Resources::limits);
  ReplaceByPodLevel(limits, pod.pod_level.limits);
  for (const auto& [name, amount] : pod.overhead) {
    const auto limit = limits.find(name);
    if (limit != limits.end() && limit->second != 0) limit->second += amount;
  }

  PodUsage usage = {{"count/pods", 1000}, {"pods", 1000}};
  for (const auto& [name, amount] : requests) {
    const bool native = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (!native && !name.starts_with("hugepages-") && !IsExtended(name)) continue;
    usage[name] = amount;
    usage["requests." + name] = amount;
  }
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    const auto limit = limits.find(name);
    if (limit != limits.end()) usage["limits." + std::string(name)] = limit->second;
  }
  return usage;
}

void AddTimes(PodUsage& usage, const PodUsage& more, int64_t times) {
  for (const auto& [name, amount] : more) usage[name] += amount * times;
}

std::string ToQuantityText(MilliAmount milli) {
  return milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli);
}

}  // namespace krafla
