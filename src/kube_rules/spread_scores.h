// Topology spread constraints that are only wished for (ScheduleAnyway): nodes in domains with
// fewer of the selected pods score higher.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kube_rules/kube_facts.h"
#include "kube_rules/topology_spread.h"

namespace krafla {

class SpreadScores {
 public:
  explicit SpreadScores(KubeFacts& facts);

  bool HasConstraints(ClassId cls) const;
  // One score of 0 to 100 per node; the class has constraints.
  void Score(ClassId cls, std::span<const NodeId> nodes, std::span<int64_t> scores);

 private:
  struct DomainPods {
    std::vector<int64_t> pods;  // by domain
    std::vector<bool> seen;     // a candidate is there
    double weight = 0;          // small topologies shall not drown in large ones
  };

  SpreadClass& Of(ClassId cls);
  bool IsHostname(const SpreadConstraintView& constraint) const {
    return constraint.key().label == hostname_;
  }
  void Count(SpreadClass& spread, std::span<const NodeId> nodes, const std::vector<bool>& ignored);

  KubeFacts& facts_;
  StrId hostname_;
  Table<ClassId, std::unique_ptr<SpreadClass>> classes_;
  std::vector<DomainPods> counts_;  // of the current call, by constraint
};

}  // namespace krafla
