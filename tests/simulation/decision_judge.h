// Judges each decision of a simulated scheduler on the state it had seen, by means of its own: it
// counts pods and amounts from the tasks of the tables, before the cycle, and looks at the plan.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/simulation.h"

namespace krafla::testing {

class DecisionJudge final : public CycleWitness {
 public:
  // Which promises the configuration makes.
  struct Promises {
    bool gangs = true;
    bool cooldowns = true;
    bool budgets = true;
  };
  explicit DecisionJudge(const Promises& promises) : promises_(promises) {}

  void BeforeCycle(const Cluster& cluster, Timestamp scheduler_now) override;
  void AfterCycle(const Session& session) override;

  // The first thing that was wrong, empty when nothing was.
  const std::string& complaint() const { return complaint_; }
  int64_t binds() const { return binds_; }
  int64_t evictions() const { return evictions_; }

 private:
  struct SeenPod {
    TaskStatus status = TaskStatus::kPending;
    std::string node;
    std::string job;
    Resource request;
    Timestamp scheduled;
    int64_t cooldown_ns = -1;
    bool best_effort = false;
  };
  struct SeenJob {
    int32_t minimum = 0;
    int64_t total = 0;
    int64_t running = 0;
    int64_t finished = 0;
    int64_t has_place = 0;  // or has succeeded
    int64_t best_effort = 0;
    std::string min_available;
    std::string max_unavailable;
  };
  struct SeenNode {
    Resource allocatable;
    Resource used;
    int64_t pods = 0;
    int64_t max_pods = 0;
  };

  void JudgeRoom(const Session& session);
  void JudgeGangs(const Session& session);
  void JudgeEvictions(const Session& session);
  void JudgeBeneficiary(const Session& session, const Eviction& eviction);
  void JudgeCooldown(const std::string& key, const SeenPod& pod);
  void JudgeBudget(const std::string& key, SeenJob& job);
  void Complain(std::string text);

  const Promises promises_;
  Timestamp now_;
  std::map<std::string, SeenPod> pods_;
  std::map<std::string, SeenJob> jobs_;
  std::map<std::string, SeenNode> nodes_;
  std::string complaint_;
  int64_t binds_ = 0;
  int64_t evictions_ = 0;
};

}  // namespace krafla::testing
