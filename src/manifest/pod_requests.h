// How much a pod asks for, in Volcano's and in Kubernetes' reckoning.
#pragma once

#include <vector>

#include "manifest/decode_resources.h"
#include "model/pod_spec.h"
#include "model/resource.h"

namespace krafla {

// What was asked for, what the node has granted and what is in force. They differ while a pod is
// resized in place.
struct RequestState {
  ResourceList asked;
  ResourceList granted;   // allocatedResources
  ResourceList in_force;  // status resources.requests
  bool has_status = false;
};

struct ContainerRequests {
  RequestState requests;
  bool sidecar = false;  // an init container that keeps running
};

struct PodRequests {
  std::vector<ContainerRequests> containers;
  std::vector<ContainerRequests> init_containers;
  RequestState pod_level;
  ResourceList overhead;
  bool resize_infeasible = false;  // what is asked for will never be granted and does not count
};

// Fills the amounts of `spec`.
void SetRequests(const PodRequests& pod, ResourceKinds& kinds, ObjectReader& reader, PodSpec& spec);

}  // namespace krafla
