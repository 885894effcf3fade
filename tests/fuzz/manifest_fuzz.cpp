// Any bytes at all into the manifest reader. What must hold: no object reaches the sink that
// simdjson would not read in full, every place in it has a line, and what a Job expands to is JSON
// again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/check.h"
#include "manifest/object_stream.h"
#include "manifest/volcano_job.h"

namespace {

using namespace krafla;

// Reads every token. Numbers may be too large for any type; that is for the decoders to say.
void Walk(const simdjson::dom::element& value) {
  simdjson::dom::object object;
  simdjson::dom::array list;
  if (!value.get(object)) {
    for (const auto& field : object) Walk(field.value);
  } else if (!value.get(list)) {
    for (const auto& item : list) Walk(item);
  }
}

// The kind; empty when the text has a number that does not fit.
std::string ReadWhole(std::string_view json, simdjson::dom::parser& parser) {
  simdjson::dom::element root;
  const auto error = parser.parse(json.data(), json.size(), false).get(root);
  if (error == simdjson::NUMBER_ERROR) return {};
  KRAFLA_CHECK(!error, std::string(simdjson::error_message(error)));
  Walk(root);
  std::string_view kind;
  if (root["kind"].get(kind)) return {};
  return std::string(kind);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Diagnostics diagnostics;
  simdjson::dom::parser parser;
  const auto sink = [&](const ObjectText& object) {
    const std::string kind = ReadWhole(object.json, parser);
    for (const size_t offset : {size_t{0}, object.json.size() / 2, object.json.size()}) {
      KRAFLA_CHECK(object.locate(offset).line > 0);
    }
    if (kind != "Job") return;
    for (const std::string& text : ExpandVolcanoJob(object, diagnostics)) ReadWhole(text, parser);
  };
  ReadObjectsFromText({reinterpret_cast<const char*>(data), size}, "fuzz", sink, diagnostics);
  for (const Diagnostic& item : diagnostics.items()) ToString(item);
  return 0;
}
