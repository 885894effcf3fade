// Selectors over labels, as Kubernetes writes them.
#pragma once

#include <optional>
#include <vector>

#include "base/string_pool.h"
#include "manifest/metadata.h"
#include "manifest/object_reader.h"
#include "model/selectors.h"

namespace krafla {

LabelSelector DecodeLabelSelector(ObjectReader& reader, JsonValue& value, StringPool& strings);

// Nothing for a term that Kubernetes could not evaluate (Gt with a value that is no number): where
// it is required it matches no node. The user is warned.
std::optional<NodeSelectorTerm> DecodeNodeSelectorTerm(ObjectReader& reader, JsonValue& value,
                                                       StringPool& strings);

// The value of a NodeSelector: {nodeSelectorTerms: […]}.
std::vector<NodeSelectorTerm> DecodeNodeSelector(ObjectReader& reader, JsonValue& value,
                                                 StringPool& strings);

// matchLabelKeys (kIn) and mismatchLabelKeys (kNotIn): the selector also demands the pod's own
// values of `keys`. Keys the pod does not have are passed over, and a selector that was not given
// stays so.
void AddOwnLabels(LabelSelector& selector, SelectorOp op, const std::vector<std::string_view>& keys,
                  const TextMap& own_labels, StringPool& strings);

}  // namespace krafla
