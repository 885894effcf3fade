// Claims and the nodes their volumes can be used on.
//
// A bound claim leads to one volume with a rule about nodes. A claim that waits for its first
// consumer takes, on a node, the smallest free volume that fits it, or else is provisioned there.
// What an allocated pod takes is taken for the rest of the session; Reserve notes it in the undo
// log.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/undo_log.h"
#include "kube_rules/volume_tables.h"
#include "session/refusal.h"

namespace krafla {

class VolumeBindingRule {
 public:
  VolumeBindingRule(const Cluster& cluster, VolumeTables& tables, ReasonTable& reasons);

  // Claims that keep the pod from every node.
  Refusal Prepare(TaskId task);
  // Bound claims.
  Refusal CheckBound(ClassId cls, NodeId node);
  // Claims that are bound when the pod is placed.
  bool HasUnbound(ClassId cls);
  Refusal CheckUnbound(ClassId cls, NodeId node);
  // Both, with the reason Kubernetes names first.
  Refusal CheckAll(ClassId cls, NodeId node);
  // The task was allocated there: its volumes are chosen. And given back.
  void Reserve(TaskId task, NodeId node, UndoLog& undo);
  void Unreserve(TaskId task, UndoLog& undo);

  // What was reserved for a task, by index into Volumes.
  struct ChosenVolume {
    uint32_t claim;
    uint32_t volume;  // VolumeTables::kNone: is to be provisioned
  };
  std::vector<ChosenVolume> ReservedBy(TaskId task);

 private:
  static constexpr uint32_t kNone = VolumeTables::kNone;
  struct Claims {
    std::vector<uint32_t> bound;
    std::vector<uint32_t> unbound;  // by size
    bool immediate = false;         // some claim should have been bound without us
  };
  struct Choice {
    uint32_t claim;
    uint32_t volume;  // kNone: to be provisioned
  };
  const Claims& Of(ClassId cls);
  Refusal Unresolvable(std::string_view reason);
  // Fills choices_; false when the node cannot serve all claims.
  bool Choose(const Claims& claims, NodeId node);
  bool CanProvision(uint32_t claim, NodeId node) const;
  uint32_t FindVolume(uint32_t claim, NodeId node);
  bool Suits(const PersistentVolume& volume, const PersistentVolumeClaim& claim) const;
  bool IsChosen(uint32_t volume) const;

  const Cluster& cluster_;
  const Volumes& volumes_;
  VolumeTables& tables_;
  ReasonTable& reasons_;
  StrId no_provisioner_;
  Refusal wrong_node_;
  Refusal nothing_to_bind_;
  Refusal volume_gone_;
  Table<ClassId, std::unique_ptr<Claims>> claims_;
  std::vector<Choice> choices_;
  std::vector<uint32_t> to_provision_;
  // What this session has decided so far; logged.
  std::vector<StrId> selected_node_;  // by claim
  std::vector<TaskId> decided_by_;    // by claim
  std::vector<uint32_t> volume_of_;   // by claim: taken for it
  std::vector<uint32_t> claim_of_;    // by volume: what it was taken for
};

}  // namespace krafla
