// The name of a place inside a JSON text: what a message about a wrong value calls the field.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krafla {

// The field whose value stands at byte `offset`:
// `spec.containers[0].resources.requests["nvidia.com/gpu"]`. Empty for the object itself. Readers
// thus need not keep track of where they are: a message is rare, and its path is found again by
// reading the text once more.
std::string JsonPathAt(std::string_view json, size_t offset);

}  // namespace krafla
