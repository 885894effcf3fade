#include "kube_rules/pod_affinity.h"

#include <algorithm>
#include <utility>

#include "kube_rules/domain_bits.h"
#include "kube_rules/say_of_many.h"

namespace krafla {

namespace {

DomainCounts& CountsOf(std::vector<DomainCounts>& list, const TopologyKey& key) {
  for (DomainCounts& counts : list)
    if (counts.key == &key) return counts;
  return list.emplace_back(key);
}

bool AnyAt(const std::vector<DomainCounts>& list, NodeId node) {
  for (const DomainCounts& counts : list) {
    const uint32_t domain = counts.key->Of(node);
    if (domain != TopologyKey::kNoDomain && counts.At(domain) > 0) return true;
  }
  return false;
}

}  // namespace

PodAffinityRule::PodAffinityRule(KubeFacts& facts, ReasonTable& reasons)
    : facts_(facts),
      terms_(*facts.terms),
      kinds_(*facts.kinds),
      not_wanted_{Refusal::kUnschedulableAndUnresolvable,
                  reasons.Intern("node(s) didn't match pod affinity rules")},
      unwanted_{Refusal::kUnschedulable,
                reasons.Intern("node(s) didn't match pod anti-affinity rules")},
      unwelcome_{Refusal::kUnschedulable,
                 reasons.Intern("node(s) didn't satisfy existing pods anti-affinity rules")} {
  sought_.Resize(facts.cluster.classes.size());
}

bool PodAffinityRule::HasOwnTerms(ClassId cls) const {
  const AffinityTerms::OfSpec& own = terms_.Of(facts_.cluster.classes[cls].spec);
  return !own.required.empty() || !own.required_anti.empty();
}

bool PodAffinityRule::LooksAround(ClassId cls) {
  return HasOwnTerms(cls) ||
         (facts_.any_had_required_anti && terms_.SomeRequiredAntiSelects(kinds_.Of(cls)));
}

const PodAffinityRule::Sought& PodAffinityRule::SoughtBy(ClassId cls) {
  auto& slot = sought_[cls];
  if (slot) return *slot;
  slot = std::make_unique<Sought>();
  const AffinityTerms::OfSpec& own = terms_.Of(facts_.cluster.classes[cls].spec);
  slot->wanted.Make(kinds_.size());
  if (!own.required.empty()) slot->wanted = terms_.SelectedExisting(own.required[0]);
  for (const Use& use : own.required) slot->wanted.Intersect(terms_.SelectedExisting(use));
  slot->any = slot->wanted;
  for (const Use& use : own.required_anti) slot->any.Join(terms_.SelectedExisting(use));
  return *slot;
}

void PodAffinityRule::CountPod(ClassId cls, KindId existing, NodeId node, int32_t step,
                               PodAffinityCounts& counts) {
  const AffinityTerms::OfSpec& own = terms_.Of(facts_.cluster.classes[cls].spec);
  if (SoughtBy(cls).wanted.Has(existing)) {
    for (DomainCounts& wanted : counts.wanted) {
      const uint32_t domain = wanted.key->Of(node);
      if (domain == TopologyKey::kNoDomain) continue;
      counts.wanted_domains -= wanted.At(domain) != 0 ? 1 : 0;
      wanted.Add(domain, step);
      counts.wanted_domains += wanted.At(domain) != 0 ? 1 : 0;
    }
  }
  for (const Use& use : own.required_anti) {
    if (!terms_.SelectsExisting(use, existing)) continue;
    const uint32_t domain = use.key->Of(node);
    if (domain != TopologyKey::kNoDomain) CountsOf(counts.unwanted, *use.key).Add(domain, step);
  }
}

void PodAffinityRule::CountTermsOf(TaskId existing, ClassId incoming, NodeId node, int32_t step,
                                   PodAffinityCounts& counts) {
  for (const Use& use : terms_.Of(facts_.cluster.tasks[existing].spec).required_anti) {
    const uint32_t domain = use.key->Of(node);
    if (domain == TopologyKey::kNoDomain) continue;
    if (terms_.SelectsIncoming(use, kinds_.Of(incoming)))
      CountsOf(counts.unwelcoming, *use.key).Add(domain, step);
  }
}

void PodAffinityRule::CountOwn(ClassId cls, PodAffinityCounts& counts) {
  const AffinityTerms::OfSpec& own = terms_.Of(facts_.cluster.classes[cls].spec);
  for (const Use& use : own.required) CountsOf(counts.wanted, *use.key);
  for (const Use& use : own.required_anti) CountsOf(counts.unwanted, *use.key);
  const Sought& sought = SoughtBy(cls);
  counts.wants_itself = sought.wanted.Has(kinds_.Of(cls));
  facts_.nodes_by_kind->ForEach(sought.any, [&](NodeId node) {
    for (const TaskId task : facts_.view.PodsOn(node)) {
      const KindId existing = kinds_.Of(task);
      if (sought.any.Has(existing)) CountPod(cls, existing, node, 1, counts);
    }
  });
}

void PodAffinityRule::CountOthers(ClassId cls, PodAffinityCounts& counts) {
  if (!facts_.any_had_required_anti || !terms_.SomeRequiredAntiSelects(kinds_.Of(cls))) return;
  for (const TaskId task : facts_.view.with_required_anti_affinity()) {
    const NodeId node = facts_.cluster.tasks[task].node;
    if (facts_.had_required_anti[node]) CountTermsOf(task, cls, node, 1, counts);
  }
}

PodAffinityCounts PodAffinityRule::Prepare(ClassId cls) {
  PodAffinityCounts counts;
  CountOthers(cls, counts);
  if (HasOwnTerms(cls)) CountOwn(cls, counts);
  return counts;
}

Refusal PodAffinityRule::Check(const PodAffinityCounts& counts, NodeId node) const {
  bool there = true;
  for (const DomainCounts& wanted : counts.wanted) {
    const uint32_t domain = wanted.key->Of(node);
    if (domain == TopologyKey::kNoDomain) return not_wanted_;
    there = there && wanted.At(domain) > 0;
  }
  // The first of pods that want to be together has nobody to go to, and may go anywhere.
  if (!there && !(counts.wanted_domains == 0 && counts.wants_itself)) return not_wanted_;
  if (AnyAt(counts.unwanted, node)) return unwanted_;
  if (AnyAt(counts.unwelcoming, node)) return unwelcome_;
  return {};
}

// The nodes of every domain with a count.
void PodAffinityRule::AddNodes(const std::vector<DomainCounts>& list, std::span<uint64_t> nodes) {
  for (const DomainCounts& counts : list) {
    const DomainBits& bits = facts_.topology.BitsOf(*counts.key);
    counts.ForEachAboveZero([&](uint32_t domain) { bits.Add(domain, nodes); });
  }
}

// Where those are not whom the pod has to be with.
void PodAffinityRule::AddNotWanted(const PodAffinityCounts& counts, std::span<uint64_t> nodes) {
  const bool anywhere = counts.wanted_domains == 0 && counts.wants_itself;
  for (const DomainCounts& wanted : counts.wanted) {
    const DomainBits& bits = facts_.topology.BitsOf(*wanted.key);
    if (anywhere) {
      bits.AddUnlabeled(nodes);
      continue;
    }
    there_.assign(nodes.size(), 0);
    wanted.ForEachAboveZero([&](uint32_t domain) { bits.Add(domain, there_); });
    for (size_t i = 0; i < nodes.size(); ++i) nodes[i] |= ~there_[i];
  }
}

void PodAffinityRule::AddRefusing(const PodAffinityCounts& counts, std::span<uint64_t> nodes) {
  AddNotWanted(counts, nodes);
  AddNodes(counts.unwanted, nodes);
  AddNodes(counts.unwelcoming, nodes);
}

void PodAffinityRule::SayOfMany(const PodAffinityCounts& counts, std::span<uint64_t> nodes,
                                const PredicateHook::Say& say) {
  if (!counts.wanted.empty()) {
    refused_.assign(nodes.size(), 0);
    AddNotWanted(counts, refused_);
    SayAndTakeOff(nodes, refused_, not_wanted_, say);
  }
  for (const auto& [list, refusal] :
       {std::pair(&counts.unwanted, unwanted_), std::pair(&counts.unwelcoming, unwelcome_)}) {
    if (list->empty()) continue;
    refused_.assign(nodes.size(), 0);
    AddNodes(*list, refused_);
    SayAndTakeOff(nodes, refused_, refusal, say);
  }
}

Refusal PodAffinityRule::CheckAfter(const PodAffinityCounts& counts, TaskId task,
                                    std::span<const PodMove> moves, NodeId node) {
  PodAffinityCounts after = counts;
  const ClassId cls = facts_.cluster.tasks[task].cls;
  for (const PodMove& move : moves) {
    if (move.for_task != task) continue;
    CountTermsOf(move.moved, cls, move.node, move.step, after);
    if (HasOwnTerms(cls)) CountPod(cls, kinds_.Of(move.moved), move.node, move.step, after);
  }
  return Check(after, node);
}

}  // namespace krafla
