// The JSON we send: bodies of bindings, evictions, patches, events, queues and leases, and the
// paths they go to. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"
#include "model/group_memory.h"
#include "model/resource.h"

namespace krafla {

// An object of the cluster, as events and requests name it.
struct ObjectRef {
  std::string kind;         // "Pod"
  std::string api_version;  // "v1"
  std::string ns;           // empty: of the cluster
  std::string name;
  std::string uid;

  std::string Key() const { return ns.empty() ? name : ns + "/" + name; }
  bool operator==(const ObjectRef&) const = default;
};

inline constexpr std::string_view kSchedulingApi = "scheduling.volcano.sh/v1beta1";

ObjectRef PodRef(std::string_view ns, std::string_view name, std::string_view uid);
ObjectRef PodGroupRef(std::string_view ns, std::string_view name, std::string_view uid);

std::string PodPath(const ObjectRef& pod);
std::string PodGroupPath(const ObjectRef& group);

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
// Lists of conditions are merged by type; only for built-in kinds.
inline constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";

std::string BindingBody(const ObjectRef& pod, std::string_view node);
// A claim's node, and a volume's claim. Refused when the object has changed since that version.
std::string SelectedNodePatch(std::string_view node, std::string_view version);
std::string ClaimRefPatch(std::string_view ns, std::string_view name, std::string_view uid,
                          std::string_view version);
// Refused by the server when the pod is another one of that name by now.
std::string DisruptionPatch(const ObjectRef& pod, std::string_view message, Timestamp now);
std::string DeleteBody(const ObjectRef& pod);
std::string EvictionBody(const ObjectRef& pod);
// A pod that waits: why, and for which node (empty: none, and an older nomination is taken back).
// `since`: when it began to; absent when that is on the server already.
std::string WaitingPatch(const ObjectRef& pod, std::string_view message,
                         std::string_view nominated_node, Timestamp since);

struct GroupCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};
struct GroupStatus {
  std::string phase;
  std::vector<GroupCondition> conditions;  // that are set; others are left as they are
  int running = 0;
  int succeeded = 0;
  int failed = 0;
  // It has nodes that others have to leave first; the event is another one then.
  bool room_is_made = false;
};
// The patch that makes `current` (the PodGroup's status as JSON, may be empty) say what `wanted`
// does; nothing when it does already. Refused by the server when the group is another one of that
// name by now. A condition keeps its lastTransitionTime while its status and reason stay.
std::optional<std::string> GroupStatusPatch(const ObjectRef& group, std::string_view current,
                                            const GroupStatus& wanted,
                                            std::string_view transition_id, Timestamp now);

// What must outlive a restart; where there is nothing to say nothing is changed, or, when this is
// the whole of it, what was said before is removed.
// For this UID only, as above.
std::string GroupMemoryPatch(const ObjectRef& group, const GroupMemory& memory, bool whole = false);

// The patch that makes status.allocated of `current` (a Queue's status as JSON, may be empty) say
// what the queue holds; nothing when it does already. Resources that are no longer held are removed
// by name. Only the amounts: state and counts are the matter of the queue's controller.
std::optional<std::string> QueueStatusPatch(std::string_view current, const Resource& allocated,
                                            const ResourceKinds& kinds);
// The status says of some resource that the queue holds it, be it 0.
bool HasAllocated(std::string_view queue_status);
std::string QueueBody(std::string_view name, bool reclaimable);

struct EventText {
  ObjectRef about;
  bool warning = false;
  std::string reason;
  std::string message;
  bool operator==(const EventText&) const = default;
};
std::string EventBody(const EventText& event, std::string_view name, std::string_view component,
                      std::string_view instance, Timestamp now);
std::string EventCountPatch(int count, Timestamp now);
// Where events about an object are kept.
std::string EventsPath(const ObjectRef& about);

}  // namespace krafla
