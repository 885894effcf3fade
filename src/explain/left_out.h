// Objects that were read and yet are in no table of the cluster, or belong to no job of it:
// PodGroups whose queue does not exist with their pods, pods without PodGroup, PodGroups that only
// pods know of, and pods that another scheduler has to place. Whoever asks about one of them is
// told so, and not that there is no such object.
//
// Stands between a reader and the builder of the cluster; lives as long as its owner wants to ask.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster_state/forwarding_sink.h"
#include "cluster_state/group_wait.h"
#include "explain/explanation.h"

namespace krafla {

class LeftOutObjects final : public ForwardingSink {
 public:
  struct Names {
    // "namespace/name" of the object that will be explained. A pod without PodGroup is a job too,
    // by its own name or by that of the group it is, "namespace/pod:name".
    std::string asked_for;
    std::string default_queue;
    std::vector<std::string> schedulers;  // ours
  };
  LeftOutObjects(FactSink& builder, Names names);

  // Of the object that is asked for, if the cluster has no table entry that could tell it. `kind`
  // is job or pod; others are never left out.
  std::optional<Explanation> Explain(std::string_view kind, const Cluster& cluster) const;
  // Why the pod that is asked for waits for its PodGroup, as a running scheduler has decided.
  void SetGroupWait(GroupWait wait) { group_wait_ = wait; }
  // The pod that is asked for, if it names no PodGroup: "namespace/name".
  const std::string& pod_name() const { return pod_name_; }
  // What a job's own explanation cannot know: pods of it that wait for another scheduler, and that
  // the PriorityClass it names does not exist.
  void AddTo(Explanation& explanation) const;

  Added AddPod(PodFacts pod, Origin origin) override;
  Added AddPodGroup(PodGroupFacts group, Origin origin) override;
  bool AddPriorityClass(PriorityClassFacts priority_class) override;

 private:
  struct Pod {
    StrId ns;
    StrId group;
    StrId queue;          // that it names; empty: none
    bool others = false;  // waits for another scheduler
    bool waits = false;   // for this one
  };

  std::string Key(StrId ns, StrId name);
  std::optional<Explanation> ExplainJob(const Cluster& cluster) const;
  std::optional<Explanation> ExplainPod(const Cluster& cluster) const;
  // Of a pod that names no PodGroup.
  std::optional<Explanation> ExplainPodOfNoGroup(std::string_view kind,
                                                 const Cluster& cluster) const;
  std::optional<Explanation> ExplainMissingGroup(const Cluster& cluster) const;
  // What to do about a PodGroup that is not there.
  void AddHowToCreate(const std::string& group, const Cluster& cluster, Explanation& e) const;
  void AddMissingClass(Explanation& e) const;
  TaskId FindTask(const Cluster& cluster) const;
  // The name of a PodGroup's queue if there is no such queue.
  std::optional<std::string> MissingQueue(StrId queue, const Cluster& cluster) const;

  Names names_;
  GroupWait group_wait_ = GroupWait::kNone;
  std::string pod_name_;                                // that asked_for may be the group of
  std::unordered_map<uint64_t, StrId> queue_of_group_;  // by namespace and name
  std::optional<StrId> group_queue_;                    // of the PodGroup that is asked for
  std::string group_class_;                             // that it names; empty: none
  std::vector<std::string> classes_;                    // PriorityClasses there are
  std::optional<int32_t> default_priority_;             // the largest one of those for all
  std::optional<Pod> pod_;                              // that is asked for
  std::map<std::string, Pod> pods_of_group_;            // of the PodGroup that is asked for
};

}  // namespace krafla
