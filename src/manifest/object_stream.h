// Files, directories and standard input, taken apart into single API objects.
// Reads multi-document YAML, JSON objects, Lists (of any depth), JSON lines: what kubectl prints.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostics.h"

namespace krafla {

// One API object as JSON text. Good only while the sink that received it runs.
struct ObjectText {
  // simdjson::SIMDJSON_PADDING bytes behind the end may be read.
  std::string_view json;
  std::string_view file;
  // Where in the file the byte `offset` of `json` stands: the JSON file itself, or the YAML it was
  // made from.
  std::function<Location(size_t offset)> locate;
  // How many objects its document has, as far as that is known; lists count as one more.
  size_t in_document = 1;
};

using ObjectSink = std::function<void(const ObjectText&)>;

// Calls `sink` for every object, in order. `inputs` are files, directories (their .yaml, .yml and
// .json files, by name, recursively, hidden ones aside) or "-". What cannot be read is reported;
// the rest is read all the same. A document (a YAML document, one JSON value) with a mistake in it
// gives nothing, and behind a syntax error the file is not read on.
//
// Every object is well-formed JSON of one object with a "kind". Items of a PodList that have none
// get it, and the list's apiVersion, in front.
void ReadObjects(std::span<const std::string> inputs, std::istream& standard_input,
                 const ObjectSink& sink, Diagnostics& diagnostics);

// The same for text that is already in memory (tests, fuzzing).
void ReadObjectsFromText(std::string_view text, std::string_view file_name, const ObjectSink& sink,
                         Diagnostics& diagnostics);

}  // namespace krafla
