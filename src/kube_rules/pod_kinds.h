// Pods that no pod selector can tell apart: same namespace, same labels, and both terminating or
// not. There are far fewer kinds than pods, so whether a selector takes a pod is asked once per
// kind.
#pragma once

#include <bit>
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
  // Made before the session's first change: a pod that is terminating now is not one that the
  // session evicts.
  explicit PodKinds(const Cluster& cluster);

  size_t size() const { return kinds_.size(); }
  const PodKind& operator[](KindId kind) const { return kinds_[kind]; }
  // Of a pod on a node.
  KindId Of(TaskId task) const { return of_task_[task]; }
  // Of a pod that is to be placed.
  KindId Of(ClassId cls) const { return of_class_[cls]; }

  // Calls `visit` for every kind the selector may take: those with a label it insists on, or, when
  // it insists on none, all.
  template <class Visit>
  void ForEachCandidate(const LabelSelector& selector, Visit&& visit) const {
    for (const SelectorRequirement& r : selector.requirements) {
      if (r.op != SelectorOp::kIn) continue;
      for (const StrId value : r.values)
        if (const auto it = by_label_.find(LabelKey(r.key, value)); it != by_label_.end())
          for (const KindId kind : it->second) visit(kind);
      return;
    }
    for (uint32_t k = 0; k < kinds_.size(); ++k) visit(KindId(k));
  }

  static uint64_t LabelKey(StrId key, StrId value) {
    return uint64_t{key.value} << 32 | value.value;
  }

 private:
  Table<KindId, PodKind> kinds_;
  std::unordered_map<uint64_t, std::vector<KindId>> by_label_;
  Table<ClassId, KindId> of_class_;
  Table<TaskId, KindId> of_task_;
};

// A set of kinds, made when it is first looked into.
class KindSet {
 public:
  bool made() const { return !bits_.empty(); }
  void Make(size_t kinds) { bits_.assign(kinds / 64 + 1, 0); }
  void Add(KindId kind) { bits_[kind.value / 64] |= uint64_t{1} << kind.value % 64; }
  bool Has(KindId kind) const { return bits_[kind.value / 64] >> kind.value % 64 & 1; }
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (size_t word = 0; word < bits_.size(); ++word)
      for (uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1)
        visit(KindId(static_cast<uint32_t>(word * 64) +
                     static_cast<uint32_t>(std::countr_zero(rest))));
  }
  // Of sets that are made.
  void Join(const KindSet& other) {
    for (size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  }
  void Intersect(const KindSet& other) {
    for (size_t i = 0; i < bits_.size(); ++i) bits_[i] &= other.bits_[i];
  }

 private:
  std::vector<uint64_t> bits_;
};

}  // namespace krafla
