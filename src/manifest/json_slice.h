// Reading a part of an object's JSON a second time, with a parser of its own.
#pragma once

#include <string_view>
#include <utility>

#include <simdjson.h>

#include "manifest/object_reader.h"

namespace krafla {

// Calls f(std::string_view key, JsonValue& value) for every field of the object `slice`, which is
// part of the reader's text (and thus padded). Nothing happens when `slice` is empty. Texts given
// out are good during the call only.
template <class F>
void ForEachFieldOf(std::string_view slice, ObjectReader& reader, F&& f) {
  if (slice.empty()) return;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto error = parser.iterate(slice.data(), slice.size(), slice.size() + simdjson::SIMDJSON_PADDING)
                   .get(document);
  if (!error) error = document.get_object().get(object);
  if (error) return reader.Malformed(error);
  reader.ForEachField(object, std::forward<F>(f));
}

}  // namespace krafla
