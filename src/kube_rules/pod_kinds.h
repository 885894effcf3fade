// Pods that no pod selector can tell apart: same namespace, same labels, and both terminating or not. There are far
// fewer kinds than pods, so whether a selector takes a pod is asked once per kind.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"

namespace krafla {

using KindId = StrongId<struct KindTag>;

struct PodKind {
  LabelSetId labels;
  StrId ns;
  bool terminating = false;
  bool operator==(const PodKind&) const = default;
};

class PodKinds {
 public:
  // Made before the session's first change: a pod that is terminating now is not one that the session evicts.
  explicit PodKinds(const Cluster& cluster);

  size_t size() const { return kinds_.size(); }
  const PodKind& operator[](KindId kind) const { return kinds_[kind]; }
  // Of a pod on a node.
  KindId Of(TaskId task) const { return of_task_[task]; }
  // Of a pod that is to be placed.
  KindId Of(ClassId cls) const { return of_class_[cls]; }

 private:
  Table<KindId, PodKind> kinds_;
  Table<ClassId, KindId> of_class_;
  Table<TaskId, KindId> of_task_;
};

// One yes or no per kind, found out when it is first asked for.
class KindVerdicts {
 public:
  template <class Decide>
  bool Get(KindId kind, size_t kinds, Decide&& decide) {
    if (known_.empty()) known_.resize(kinds, kUnknown);
    uint8_t& verdict = known_[kind.value];
    if (verdict == kUnknown) verdict = decide() ? kYes : kNo;
    return verdict == kYes;
  }

 private:
  enum : uint8_t { kUnknown, kNo, kYes };
  std::vector<uint8_t> known_;
};

}  // namespace krafla
