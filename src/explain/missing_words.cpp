#include "explain/missing_words.h"

#include <vector>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "model/well_known.h"

namespace krafla {

namespace {

std::string DoesNotExist(std::string_view queue, bool named, std::string_view of,
                         const Cluster& cluster) {
  return fmt::format("queue {}{}{} does not exist{}", Quoted(queue), of,
                     named ? "" : ", which counts where none is named,",
                     NearestQueue(queue, cluster));
}

}  // namespace

std::string NearestQueue(std::string_view queue, const Cluster& cluster) {
  std::vector<std::string_view> known;
  for (const QueueId id : cluster.queues_by_name) known.push_back(cluster.QueueName(id));
  const auto near = DidYouMean(queue, known);
  return near ? fmt::format(" (did you mean \"{}\"?)", *near) : std::string();
}

std::string PodWithoutQueue(std::string_view queue, bool named, const Cluster& cluster) {
  return fmt::format("{}; create it or name another in {}", DoesNotExist(queue, named, "", cluster),
                     keys::kQueueName);
}

std::string GroupWithoutQueue(std::string_view queue, bool named, const Cluster& cluster) {
  return fmt::format("{}; create it or name another in spec.queue",
                     DoesNotExist(queue, named, "", cluster));
}

std::string PodOfGroupWithoutQueue(std::string_view group, std::string_view queue, bool named,
                                   const Cluster& cluster) {
  return fmt::format(
      "{}; create it or name another in spec.queue of the PodGroup",
      DoesNotExist(queue, named, fmt::format(" of PodGroup {}", Printable(group)), cluster));
}

std::string PodWithoutGroup(std::string_view group) {
  return fmt::format(
      "PodGroup {} does not exist in the pod's namespace; create it or name another in {}",
      Quoted(group), keys::kGroupName);
}

std::string PodAwaitsGroup(GroupWait wait) {
  switch (wait) {
    case GroupWait::kControllers:
      return "waits for its PodGroup: Volcano's controllers are seen; the pod names no PodGroup "
             "yet; without controllers, krafla serve --group-of-one=after=5s schedules it alone";
    case GroupWait::kNever:
      return fmt::format(
          "waits for its PodGroup: --group-of-one=never; the pod names no PodGroup yet; name one "
          "in {}",
          keys::kGroupName);
    case GroupWait::kDelay:
      return "waits for its PodGroup: the pod names none yet, and is scheduled alone when the "
             "delay of --group-of-one has passed";
    case GroupWait::kNone:
      break;
  }
  return {};
}

std::string PodWithoutClaim(std::string_view claim, bool ephemeral) {
  if (ephemeral)
    return fmt::format(
        "left out: PersistentVolumeClaim {} of an ephemeral volume is not there, or is another "
        "pod's; its controller has to make it",
        Quoted(claim));
  return fmt::format(
      "left out: PersistentVolumeClaim {} does not exist in the pod's namespace; create it",
      Quoted(claim));
}

std::string GroupWithoutPriorityClass(std::string_view name, int32_t priority,
                                      std::span<const std::string_view> known) {
  const auto near = DidYouMean(name, known);
  return fmt::format(
      "PriorityClass {} does not exist{}: the PodGroup has priority {}, as one that names none; "
      "create it or name another in spec.priorityClassName",
      Quoted(name), near ? fmt::format(" (did you mean \"{}\"?)", *near) : std::string(), priority);
}

std::string PodWithoutPriorityClass(std::string_view name, int32_t priority) {
  return fmt::format(
      "PriorityClass {} does not exist any more: the pod is ranked among others with priority {}, "
      "as one that names none; create it again",
      Quoted(name), priority);
}

}  // namespace krafla
