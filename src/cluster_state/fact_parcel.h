// Facts on their way from the thread that decodes objects to the thread that owns a cluster.
//
//   decoder ──► FactSender ──► FactParcel ──► (a queue) ──► FactReceiver ──► FactSink of the
//   cluster
//
// Strings, label sets, specs and kinds of resources have numbers of the sender's own. A parcel says
// what those numbers mean that no parcel before it has used; the receiver keeps what it was told,
// and which numbers of the cluster they are. So what most objects share goes over once, and the
// cluster's thread looks up only what is new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster_state/fact_mover.h"
#include "cluster_state/fact_sink.h"
#include "cluster_state/facts.h"

namespace krafla {

struct FactParcel {
  // Nothing: the object could not be read.
  std::variant<std::monostate, PodFacts, PodGroupFacts, NodeFacts, QueueFacts, PriorityClassFacts,
               Namespace, PodDisruptionBudget, PersistentVolumeClaim, PersistentVolume,
               StorageClass, CsiNode>
      facts;
  // What is wrong with it, a sentence each: "spec.priority: expected a whole number …".
  std::vector<std::string> problems;

  bool first = false;  // of a new sender's: what was told before means nothing any more
  // The next strings, one behind the other; kinds, label sets and specs that follow on those told.
  std::string texts;
  std::vector<uint32_t> text_sizes;
  std::vector<std::string> kinds;
  std::vector<LabelSet> label_sets;
  std::vector<PodSpec> specs;

  size_t Bytes() const;
};

// Where decoders put facts, one object at a time. One thread.
class FactSender final : public FactSink {
 public:
  FactSender();
  ~FactSender() override;

  // The facts that were added since the last call, with what their numbers mean.
  FactParcel Pack();
  // The last parcel is on its way. One that is not will be packed again, with the same words.
  void NoteSent();
  // So much has been said that another sender should begin anew: what it says is kept on both
  // sides.
  bool HasSaidMuch() const;

  Added AddPod(PodFacts pod, Origin origin) override;
  Added AddPodGroup(PodGroupFacts group, Origin origin) override;
  bool AddQueue(QueueFacts queue) override;
  bool AddNode(NodeFacts node) override;
  bool AddPriorityClass(PriorityClassFacts priority_class) override;
  bool AddNamespace(Namespace ns) override;
  bool AddBudget(PodDisruptionBudget budget) override;
  bool AddClaim(PersistentVolumeClaim claim) override;
  bool AddVolume(PersistentVolume volume) override;
  bool AddStorageClass(StorageClass storage_class) override;
  bool AddCsiNode(CsiNode node) override;
  bool AddResourceQuotaName(StrId ns, StrId name) override;

 private:
  struct Values;
  explicit FactSender(std::unique_ptr<Values> values);

  std::unique_ptr<Values> values_;
  decltype(FactParcel::facts) facts_;
  // How much of the values was told.
  struct Told {
    bool any = false;
    size_t strings = 1;  // the empty one is known to everybody
    int kinds = ResourceKinds::kPods + 1;
    size_t label_sets = 0;
    size_t specs = 0;
  };
  Told told_;
  Told packed_;
};

// One for each sender. One thread, that of the cluster.
class FactReceiver {
 public:
  // What the numbers mean. For every parcel, in the order of sending, used or not.
  void Learn(const FactParcel& parcel);
  // Adds the facts to the sink, in its numbers. False: nothing was added, there are more kinds of
  // resources than can be numbered.
  bool Deliver(FactParcel& parcel, FactSink& sink);
  // The sink's numbers are others from now on.
  void ForgetNumbers() { mover_.reset(); }

 private:
  Cluster values_;  // of the sender: strings, kinds, label sets, specs
  std::optional<FactMover> mover_;
};

}  // namespace krafla
