// A sink that hands everything on to another: whoever wants to see some of the objects on their way
// overrides what it looks at.
#pragma once

#include <utility>

#include "cluster_state/fact_sink.h"

namespace krafla {

class ForwardingSink : public FactSink {
 public:
  explicit ForwardingSink(FactSink& next) : FactSink(next), next_(next) {}

  void Expect(size_t objects) override { next_.Expect(objects); }
  Added AddPod(PodFacts pod, Origin origin) override {
    return next_.AddPod(std::move(pod), origin);
  }
  Added AddPodGroup(PodGroupFacts group, Origin origin) override {
    return next_.AddPodGroup(std::move(group), origin);
  }
  bool AddQueue(QueueFacts queue) override { return next_.AddQueue(std::move(queue)); }
  bool AddNode(NodeFacts node) override { return next_.AddNode(std::move(node)); }
  bool AddPriorityClass(PriorityClassFacts cls) override { return next_.AddPriorityClass(cls); }
  bool AddNamespace(Namespace ns) override { return next_.AddNamespace(std::move(ns)); }
  bool AddBudget(PodDisruptionBudget budget) override { return next_.AddBudget(std::move(budget)); }
  bool AddClaim(PersistentVolumeClaim claim) override { return next_.AddClaim(std::move(claim)); }
  bool AddVolume(PersistentVolume volume) override { return next_.AddVolume(std::move(volume)); }
  bool AddStorageClass(StorageClass cls) override { return next_.AddStorageClass(std::move(cls)); }
  bool AddCsiNode(CsiNode node) override { return next_.AddCsiNode(std::move(node)); }
  bool AddResourceQuotaName(StrId ns, StrId name) override {
    return next_.AddResourceQuotaName(ns, name);
  }

 private:
  FactSink& next_;
};

}  // namespace krafla
