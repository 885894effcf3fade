// Kubernetes' resource lists ({cpu: 500m, memory: 1Gi}) and what Volcano makes of them.
#pragma once

#include <string_view>
#include <vector>

#include "manifest/object_reader.h"
#include "model/quantity.h"
#include "model/resource.h"

namespace krafla {

struct NamedQuantity {
  std::string_view name;
  Quantity amount;
  const char* at = nullptr;  // for messages
};

// In the order of the text. A list is short: it is searched, not indexed.
using ResourceList = std::vector<NamedQuantity>;

ResourceList DecodeResourceList(ObjectReader& reader, JsonValue& value);

// Null when the list does not name it.
const Quantity* FindAmount(const ResourceList& list, std::string_view name);

// Per name the larger of both.
void SetMax(ResourceList& list, const ResourceList& other);

// Volcano's view: cpu and everything else in thousandths, memory in bytes, pods as a count. Names
// that Kubernetes' scheduler does not count (no domain, "count/…") are left out.
Resource ToResource(const ResourceList& list, ResourceKinds& kinds, ObjectReader& reader);

// Kubernetes' rule for what is counted beside cpu, memory, pods and ephemeral-storage: names with a
// domain, hugepages-… and attachable-volumes-….
bool IsScalarResourceName(std::string_view name);

}  // namespace krafla
