// A pod's digest (see pod_digest.h), turned into the PodSpec that pods of one template share.
#pragma once

#include <string_view>

#include "base/string_pool.h"
#include "manifest/metadata.h"
#include "manifest/object_reader.h"
#include "model/pod_spec.h"
#include "model/resource.h"

namespace krafla {

struct DecodedPodSpec {
  PodSpec spec;
  // Something of the pod itself (its name, its labels) went into the spec: an equal digest of
  // another pod of the namespace may mean something else.
  bool of_this_pod_only = false;
};

// The flag of a digest whose pod has not passed an API server, which would have filled in and
// merged a few fields.
inline constexpr std::string_view kNotAdmittedFlag = "krafla/not-admitted";
// The flag for a resize that will never be granted.
inline constexpr std::string_view kResizeInfeasibleFlag = "krafla/resize-infeasible";

class PodSpecDecoder {
 public:
  PodSpecDecoder(ObjectReader& reader, StringPool& strings, ResourceKinds& kinds)
      : reader_(reader), strings_(strings), kinds_(kinds) {}

  // What is wrong is noted in the reader, which must have been told where `digest` was copied from.
  DecodedPodSpec Decode(std::string_view digest, const Metadata& pod);

 private:
  ObjectReader& reader_;
  StringPool& strings_;
  ResourceKinds& kinds_;
  // Apart from the pod's own parser, whose texts are still in use.
  simdjson::ondemand::parser parser_;
};

}  // namespace krafla
