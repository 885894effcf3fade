// One API object after the other, as JSON text: each is checked and its facts go to a sink.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/fact_sink.h"
#include "manifest/object_stream.h"

namespace krafla {

struct DecodeOptions {
  bool lenient = false;  // wrong objects are skipped and named instead of being errors
  std::vector<std::string> scheduler_names = {"volcano"};
  // Unknown keys of specs and unknown phases are errors, or warnings when lenient. False for what
  // an API server has accepted: a newer one knows more than we do.
  bool finds_odd_words = true;
};

struct ClusterFacts {
  std::map<std::string, int> ignored_kinds;  // kind -> objects that were not used
  size_t bytes = 0;
  size_t alike = 0;  // pods that were compared with the one before them, not decoded
};

class ObjectDecoder {
 public:
  ObjectDecoder(FactSink& sink, const DecodeOptions& options, Diagnostics& diagnostics,
                ClusterFacts& facts);
  ~ObjectDecoder();

  // The text must be followed by simdjson's padding, as ObjectText promises. A Volcano Job becomes
  // a PodGroup and pods.
  void Decode(const ObjectText& text, Origin origin);
  // Says how many problems were left unsaid.
  void Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace krafla
