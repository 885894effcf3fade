// What a batch.volcano.sh Job says, with the defaults that Volcano's webhook fills in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/object_reader.h"
#include "manifest/pod_usage.h"

namespace krafla {

using TextPairs = std::map<std::string, std::string, std::less<>>;

struct VolcanoPartitions {
  int32_t size = 0;
  int32_t min_partitions = 0;
  std::string_view network_topology;  // JSON, empty when absent
};

struct VolcanoTask {
  std::string name;
  int32_t replicas = 0;
  int32_t min_available = 0;
  std::string topology_policy;
  std::optional<VolcanoPartitions> partitions;
  std::vector<size_t> depends_on;  // indices of tasks
  bool any_dependency_will_do = false;
  int64_t started = 0;  // pods that run or have succeeded, by the job's status

  // The template:
  TextPairs labels;
  TextPairs annotations;
  std::string scheduler_name;
  std::string priority_class;
  // The rest of its spec, as JSON.
  std::vector<std::pair<std::string, std::string_view>> pod_fields;
  PodUsage usage;  // of one pod

  const char* at = nullptr;  // for messages
};

struct VolcanoJob {
  std::string name;
  std::string ns = "default";
  std::string uid;
  std::string_view created;  // JSON, empty when absent
  bool deleting = false;
  TextPairs labels;
  TextPairs annotations;

  std::string scheduler_name = "volcano";
  std::string queue = "default";
  std::string priority_class;
  std::string_view network_topology;  // JSON, empty when absent
  std::vector<std::string> claims;    // PersistentVolumeClaims that every pod mounts
  int32_t min_available = 0;
  std::vector<VolcanoTask> tasks;

  std::string phase;
  int32_t version = 0;
  int32_t retry_count = 0;
  // Its pods are gone or on their way out, and no new ones are made.
  bool IsOver() const;
};

// Views in the answer point into the reader's text. Meaningless when the reader has errors.
VolcanoJob DecodeVolcanoJob(ObjectReader& reader);

}  // namespace krafla
