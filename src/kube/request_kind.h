// What a request asks of the API server, in the words of Kubernetes' authorizers: verb and
// resource. For metrics and for the log.
#pragma once

#include <string_view>

namespace krafla {

struct RequestKind {
  std::string_view verb;      // "get", "list", "watch", "create", "update", "patch", "delete"
  std::string_view resource;  // "pods/binding"; "other": none that the scheduler asks for
};

// Both are of a fixed set, so that they can be labels of metrics.
RequestKind KindOf(std::string_view method, std::string_view target);

}  // namespace krafla
