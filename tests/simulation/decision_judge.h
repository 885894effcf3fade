// Judges each decision of a simulated scheduler on the state it had seen, by means of its own: it
// counts pods and amounts from the tasks of the tables, before the cycle, and looks at the plan.
// What became of evictions it hears from the events of the run; what the configuration promises it
// reads from the configuration, not from the plugins.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/simulation.h"

namespace krafla::testing {

class DecisionJudge final : public CycleWitness, public SimObserver {
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
  void ClockWasSet(int64_t by_ns) override;
  void On(const SimEvent& event) override;

  // The first thing that was wrong, empty when nothing was.
  const std::string& complaint() const { return complaint_; }
  int64_t binds() const { return binds_; }
  int64_t evictions() const { return evictions_; }
  int64_t refused() const { return refused_count_; }

 private:
  // Arguments of cdp and tdm.
  struct Settings {
    int64_t default_cooldown_ns = -1;
    int64_t max_evictions = 0;
    int64_t eviction_period_ns = 3'600 * Timestamp::kNsPerSecond;
    double backoff = 1;
    int64_t max_cooldown_ns = 0;
    int64_t evict_period_ns = 60 * Timestamp::kNsPerSecond;
    bool has_cdp = false;
    bool has_tdm = false;
  };
  struct SeenPod {
    TaskStatus status = TaskStatus::kPending;
    std::string node;
    std::string job;
    Resource request;
    Timestamp scheduled;
    int64_t cooldown_ns = -1;  // its own, its PodGroup's or its Queue's
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
    int64_t evicted = 0;  // so far in this cycle

    bool HasBudget() const { return !min_available.empty() || !max_unavailable.empty(); }
  };
  // An eviction that was decided, and for whom it counts.
  struct Decided {
    Timestamp at;
    std::string job;
    std::string for_job;  // another one
    std::string zone;     // that is being emptied
  };
  // When somebody lost pods, and which evictions of that instant were refused.
  struct History {
    std::vector<Timestamp> taken;
    std::vector<std::pair<Timestamp, std::string>> refused;  // with the pod
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
  void JudgeEvictionsOf(const std::string& key, const SeenPod& pod);
  void JudgeBudget(const std::string& key, const std::string& job_key, SeenJob& job);
  void JudgeWithoutBudget(const Session& session, const std::string& key,
                          const std::string& job_key, const SeenJob& job);
  void JudgeMemory(const CycleMemory& memory);
  void ExpectTrue(std::string_view what, const std::string& name, const History& history,
                  Timestamp at);
  void ReadSettings(const SchedulerConfig& config);
  bool IsWithin(Timestamp at, int64_t period_ns) const;
  int64_t EvictionsOf(const std::string& job) const;
  int64_t GoneOf(const std::string& job) const;
  void Complain(std::string text);

  const Promises promises_;
  Timestamp now_;
  std::map<std::string, SeenPod> pods_;
  std::map<std::string, SeenJob> jobs_;
  std::map<std::string, SeenNode> nodes_;
  std::string complaint_;
  int64_t binds_ = 0;
  int64_t evictions_ = 0;
  int64_t refused_count_ = 0;

  Settings settings_;
  std::map<std::string, Decided> decided_;        // in the last cycle, by pod
  std::map<std::string, History> losses_;         // by job, whoever evicted
  std::map<std::string, History> room_;           // by job: made room for another one
  std::map<std::string, History> zones_emptied_;  // by zone
  // Evicted pods that are gone and not made anew yet, by job: when the scheduler's clock showed
  // what.
  std::map<std::string, std::map<std::string, Timestamp>> gone_;
};

}  // namespace krafla::testing
