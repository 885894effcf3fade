// Decodes API objects for a cluster that another thread owns: what comes out are parcels of facts
// (cluster_state/fact_parcel.h) that need no more than to be looked up there.
//
// One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cluster_state/fact_parcel.h"
#include "manifest/object_decoder.h"

namespace krafla {

class ParcelDecoder {
 public:
  explicit ParcelDecoder(DecodeOptions options);
  ~ParcelDecoder();

  // The text must be followed by simdjson's padding; `name` is the object's, for problems.
  std::unique_ptr<FactParcel> Decode(std::string_view json, std::string_view name);
  // After a failed check: what was decoded so far means nothing any more.
  void BeginAnew() { Begin(); }
  // The last parcel is on its way to the receiver.
  void NoteSent() { sender_->NoteSent(); }

 private:
  void Begin();

  const DecodeOptions options_;
  std::unique_ptr<FactSender> sender_;
  Diagnostics problems_;
  ClusterFacts facts_;
  std::unique_ptr<ObjectDecoder> decoder_;
};

// What is wrong, one sentence each, without the object's name.
std::vector<std::string> ProblemLines(const Diagnostics& problems);

}  // namespace krafla
