#include "actions/evictable_tasks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "model/candidacy.h"
#include "session/statement.h"
#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using testing::Cycle;
using testing::NodeYaml;
using testing::PodGroupYaml;
using testing::PodYaml;
using testing::QueueYaml;

constexpr int kQueues = 3;  // and one from which nobody may reclaim

// Pods that run, are bound, wait, may not be preempted, or belong to nobody, in all queues; and one
// that waits in each.
std::string ClusterYaml() {
  std::string all = NodeYaml({.name = "n0", .has = "cpu 400, memory 640Gi, pods 500"});
  all +=
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q3}\n"
      "spec: {weight: 1, reclaimable: false}\n";
  for (int q = 0; q <= kQueues; ++q) {
    const std::string queue = "q" + std::to_string(q);
    if (q < kQueues) all += QueueYaml({.name = queue});
    const auto pod = [&](const std::string& name, const std::string& node, const std::string& phase,
                         testing::Texts annotations) {
      all += PodYaml({.name = queue + name,
                      .group = queue,
                      .node = node,
                      .phase = phase,
                      .asks = "cpu " + std::to_string(1 + q) + ", memory 1Gi",
                      .annotations = std::move(annotations)});
    };
    all += PodGroupYaml({.name = queue, .queue = queue, .phase = "Running"});
    for (int i = 0; i < 4; ++i) pod("-runs" + std::to_string(i), "n0", "Running", {});
    pod("-bound", "n0", "Pending", {});
    pod("-stays", "n0", "Running", {{"volcano.sh/preemptable", "false"}});
    pod("-done", "n0", "Succeeded", {});
    pod("-waits", "", "Pending", {});
  }
  return all + PodYaml({.name = "alone", .node = "n0"});
}

// What is said of every task is what the filters say, for a task of each queue.
void ExpectAsTheFiltersSay(const Cycle& cycle, const EvictableTasks& evictable) {
  const Cluster& cluster = cycle.cluster;
  for (int q = 0; q <= kQueues; ++q) {
    Task asks = cluster.tasks[cycle.Find("default/q" + std::to_string(q) + "-waits")];
    const QueueId queue = cluster.jobs[asks.job].queue;
    asks.best_effort = false;
    for (uint32_t i = 0; i < cluster.tasks.size(); ++i) {
      const TaskId id(i);
      // Whose job it is, is looked at later.
      const auto is = [&](VictimsFrom from) {
        const Candidacy candidacy = CandidacyOf(cluster, from, asks, cluster.tasks[id]);
        return candidacy == Candidacy::kCandidate || candidacy == Candidacy::kOwnJob;
      };
      EXPECT_EQ(evictable.Counts({Asking::kPreempt, queue}, id), is(VictimsFrom::kOtherJobsOfQueue))
          << cluster.TaskKey(id) << " for q" << q;
      EXPECT_EQ(evictable.Counts({Asking::kReclaim, queue}, id), is(VictimsFrom::kOtherQueues))
          << cluster.TaskKey(id) << " for q" << q;
      EXPECT_EQ(&evictable.RequestOf(id), &cluster.Request(id));
    }
  }
}

// Also when what has happened was taken back before anybody looked, and when Volcano takes pods
// that were only bound for running ones.
TEST(EvictableTasks, SayWhatTheFiltersSayWhateverHappens) {
  for (const char* profile : {"krafla", "volcano"}) {
    for (const int made_at : {-1, 0, 5}) {
      const Cycle cycle({.cluster = ClusterYaml(),
                         .config = testing::ConfigYaml({.tiers = {"gang"}}),
                         .profile = profile});
      Session& session = *cycle.session;
      EvictableTasks evictable(session);
      std::mt19937 random(4);
      const auto expect_as_the_filters_say = [&] {
        evictable.CatchUp();
        ExpectAsTheFiltersSay(cycle, evictable);
      };
      for (int step = 0; step < 30; ++step) {
        if (step == made_at) evictable.MakeAll();
        Statement statement(session);
        for (int i = 0; i < 3; ++i) {
          const std::string queue = "default/q" + std::to_string(random() % 4);
          const TaskId task = cycle.Find(
              queue + (random() % 4 == 0 ? "-bound" : "-runs" + std::to_string(random() % 4)));
          if (IsPreemptableStatus(cycle.cluster.tasks[task].status))
            statement.Evict(task, cycle.Find("default/q0-waits"), EvictionReason::kPreempt, 0);
          if (random() % 3 == 0) expect_as_the_filters_say();
        }
        if (random() % 8 == 0) {
          statement.Commit();
        } else {
          statement.Discard();
        }
        if (random() % 2 == 0) expect_as_the_filters_say();
      }
    }
  }
}

}  // namespace
}  // namespace krafla
