// YAML manifests to JSON, one document at a time, as kubectl converts them (see yaml_scalar.h for
// the words), with the place of every key and value kept. Nothing of a document stays in memory
// when the next one begins.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/yaml_node.h"
#include "manifest/positioned_json.h"

namespace krafla {

struct YamlToJsonLimits {
  size_t max_depth = 200;
  // What anchors, aliases and merge keys may copy in one text: so much, and so much per byte of the
  // text.
  size_t max_copied_bytes = 32u << 20;
  size_t max_copied_per_byte = 8;
};

struct YamlToJsonSink {
  // The JSON may be read simdjson::SIMDJSON_PADDING bytes beyond its end, and is good during the
  // call only.
  std::function<void(const PositionedJson&)> document;
  // At most one for each document. Behind a syntax error nothing more is read.
  std::function<void(const YamlProblem&)> problem;
};

// Returns the number of documents, wrong ones too; empty ones do not count.
size_t YamlToJson(std::string_view text, const YamlToJsonSink& sink,
                  const YamlToJsonLimits& limits = {});

}  // namespace krafla
