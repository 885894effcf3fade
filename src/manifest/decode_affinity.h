// A pod's constraints on nodes and on other pods.
#pragma once

#include "base/string_pool.h"
#include "manifest/metadata.h"
#include "manifest/object_reader.h"
#include "model/pod_spec.h"

namespace krafla {

struct AffinityScope {
  ObjectReader& reader;
  StringPool& strings;
  const Metadata& pod;
  bool admitted = true;
  // Set when the pod's own labels went into a selector.
  bool used_labels = false;
};

// The value of spec.affinity.
void DecodeAffinity(AffinityScope& scope, JsonValue& value, PodSpec& spec);

// The value of spec.topologySpreadConstraints.
void DecodeSpread(AffinityScope& scope, JsonValue& value, PodSpec& spec);

// The value of spec.tolerations.
void DecodeTolerations(AffinityScope& scope, JsonValue& value, PodSpec& spec);

TaintEffect DecodeTaintEffect(ObjectReader& reader, JsonValue& value);

}  // namespace krafla
