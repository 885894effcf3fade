// An API object cut down to the fields that decoders look at: for whoever has to keep many objects,
// or to write them down. Environment variables, commands, mounts and foreign annotations, where
// secrets are, are no part of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krafla {

// `kind` is the object's own ("Pod"); the text is compact JSON, fields in the order they were in.
// Decoding it gives the same facts as decoding the object. Nothing for a kind that is not known and
// for a text that is no JSON object.
std::optional<std::string> ReduceObject(std::string_view kind, const std::string& json);

}  // namespace krafla
