// A loop that keeps its session from cycle to cycle decides what a session decides that is opened
// afresh on the same cluster, whatever comes, changes and goes in between: all plugins, both
// profiles. The loop itself compares (SchedulingLoop::CompareWithFreshSessions) and aborts with the
// first difference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "manifest/read_cluster.h"
#include "property/for_all.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {
namespace {

// The last decisions, by name.
struct Decided final : DecisionSink {
  struct Placed {
    StrId ns, name, node;
  };
  std::vector<Placed> binds;
  std::vector<Placed> evictions;
  size_t decisions = 0;
  size_t pipelined = 0;

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
    const Cluster& c = session.cluster;
    for (const Bind& bind : session.plan.binds)
      binds.push_back({c.tasks[bind.task].ns, c.tasks[bind.task].name, c.nodes[bind.node].name});
    for (const Eviction& e : session.plan.evictions)
      evictions.push_back({c.tasks[e.task].ns, c.tasks[e.task].name, kEmptyStr});
    decisions += session.plan.binds.size() + session.plan.evictions.size() + phases.size();
    for (const Job& job : c.jobs) pipelined += static_cast<size_t>(job.Waiting());
  }
};

class ChangingCluster {
 public:
  explicit ChangingCluster(const RandomCluster& random)
      : random_(random), dice_(static_cast<uint32_t>(random.shape.seed * 7 + 1)) {
    Diagnostics diagnostics;
    SchedulerConfig config = ReadSchedulerConfig(random.config, BuiltInVocabulary(),
                                                 {.profile = random.profile}, diagnostics);
    live_.emplace(
        BuildOptions{.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit});
    const Result<ZonedTimestamp> now = ParseRfc3339(random.now);
    KRAFLA_CHECK(now.has_value());
    now_ = now->time;
    loop_.emplace(*live_, std::move(config), FixedOffset(now->offset_seconds), silent_);
    loop_->CompareWithFreshSessions();
    loop_->SetSchedulePeriod(10 * Timestamp::kNsPerSecond);
    loop_->SetFollowsChanges(random.shape.seed % 2 == 0);
    loop_->SearchAlways();
    Read(random.Text());
  }

  void Step() {
    const int changes = Pick(4);
    for (int i = 0; i < changes; ++i) Change();
    now_.ns += Pick(4) * 7 * Timestamp::kNsPerSecond;
    if (Pick(30) == 0) now_.ns += 3600 * Timestamp::kNsPerSecond;
    loop_->RunCycle(now_, decided);
  }

  Decided decided;
  const SchedulingLoop& loop() const { return *loop_; }

 private:
  int Pick(int n) { return static_cast<int>(dice_() % static_cast<uint32_t>(n)); }

  void Read(const std::string& text) {
    Diagnostics diagnostics;
    ReadTextInto(*live_, text, "cluster", {}, diagnostics);
  }

  // An object of the random cluster comes (again), a bound pod starts or its bind fails, an evicted
  // one ends, a pod or a PodGroup goes, one becomes ready or unready, a node changes.
  void Change() {
    Cluster& c = live_->cluster();
    switch (Pick(10)) {
      case 0:
      case 1: {
        const std::string& object =
            random_.objects[static_cast<size_t>(Pick(static_cast<int>(random_.objects.size())))];
        Read(object);
        break;
      }
      case 2:
      case 3:
      case 4:
        if (!decided.binds.empty()) {
          const Decided::Placed placed = Take(decided.binds);
          const auto* known = live_->FindPod(placed.ns, placed.name);
          if (known == nullptr || known->task.status != TaskStatus::kBinding) break;
          krafla::PodFacts pod = *known;
          const bool starts = Pick(4) != 0;
          pod.task.status = starts ? TaskStatus::kRunning : TaskStatus::kPending;
          pod.task.node_name = starts ? placed.node : kEmptyStr;
          pod.task.pod_running = starts;
          pod.task.scheduled_at = starts ? now_ : Timestamp{};
          live_->AddPod(std::move(pod), Origin::kWritten);
        }
        break;
      case 5:
        if (!decided.evictions.empty()) {
          const Decided::Placed placed = Take(decided.evictions);
          live_->RemovePod(placed.ns, placed.name);
        }
        break;
      case 6:
        if (c.tasks.size() > 0) {
          const Task& task =
              c.tasks[TaskId(static_cast<uint32_t>(Pick(static_cast<int>(c.tasks.size()))))];
          krafla::PodFacts pod = *live_->FindPod(task.ns, task.name);
          const int how = Pick(4);
          if (how == 0) {
            live_->RemovePod(pod.task.ns, pod.task.name);
          } else if (pod.task.status == TaskStatus::kRunning && how == 3) {
            pod.task.unready = !pod.task.unready;
            live_->AddPod(std::move(pod), Origin::kWritten);
          } else if (pod.task.status == TaskStatus::kRunning) {
            pod.task.status = how == 1 ? TaskStatus::kSucceeded : TaskStatus::kReleasing;
            live_->AddPod(std::move(pod), Origin::kWritten);
          }
        }
        break;
      case 7:
        if (c.jobs.size() > 0) {
          const Job& job =
              c.jobs[JobId(static_cast<uint32_t>(Pick(static_cast<int>(c.jobs.size()))))];
          PodGroupFacts group = *live_->FindPodGroup(job.ns, job.name);
          if (Pick(2) == 0) {
            live_->RemovePodGroup(group.job.ns, group.job.name);
          } else {
            group.job.min_available = Pick(4);
            live_->AddPodGroup(std::move(group), Origin::kWritten);
          }
        }
        break;
      default: {
        if (!c.budgets.empty() && Pick(4) == 0) {
          PodDisruptionBudget budget =
              c.budgets[static_cast<size_t>(Pick(static_cast<int>(c.budgets.size())))];
          budget.disruptions_allowed = Pick(3);
          budget.current_healthy = Pick(4);
          live_->AddBudget(std::move(budget));
          break;
        }
        if (c.nodes.empty()) break;
        const NodeId id(static_cast<uint32_t>(Pick(static_cast<int>(c.nodes.size()))));
        NodeFacts node = *live_->FindNode(c.nodes[id].name);
        switch (Pick(5)) {
          case 0:
            node.node.unschedulable = !node.node.unschedulable;
            break;
          case 1:
            node.allocatable.Set(ResourceKinds::kCpu, 1000 * (1 + Pick(4)));
            node.node.scored_cpu = node.allocatable.cpu();
            break;
          case 2:
            node.node.max_pods = 2 + Pick(6);
            break;
          case 3: {
            // An image that some pod needs is pulled, or removed; it is counted on other nodes too.
            const PodSpec* spec = c.specs.empty() ? nullptr : &c.specs.raw().back();
            if (!node.node.images.empty()) {
              node.node.images.clear();
            } else if (spec != nullptr && !spec->images.empty()) {
              node.node.images.push_back(
                  {.name = spec->images[0], .size_bytes = int64_t{400 + 100 * Pick(3)} << 20});
            }
            break;
          }
          default:
            if (node.node.taints.empty()) {
              node.node.taints.push_back(
                  {live_->strings().Intern("dedicated"), live_->strings().Intern("batch"),
                   Pick(2) == 0 ? TaintEffect::kNoSchedule : TaintEffect::kPreferNoSchedule});
            } else {
              node.node.taints.clear();
            }
        }
        live_->AddNode(std::move(node));
      }
    }
  }

  Decided::Placed Take(std::vector<Decided::Placed>& list) {
    const auto at = list.begin() + Pick(static_cast<int>(list.size()));
    const Decided::Placed taken = *at;
    list.erase(at);
    return taken;
  }

  const RandomCluster& random_;
  std::mt19937 dice_;
  std::optional<LiveCluster> live_;
  krafla::Log silent_{0};
  std::optional<SchedulingLoop> loop_;
  Timestamp now_;
};

void CompareCycles(int cases, const Wanted& wanted) {
  size_t decisions = 0;
  uint64_t cycles = 0;
  uint64_t kept = 0;
  ForAll(cases, wanted, [&](const RandomCluster& random) -> std::string {
    ChangingCluster cluster(random);
    for (int step = 0; step < 40; ++step) cluster.Step();
    decisions += cluster.decided.decisions;
    cycles += cluster.loop().cycles();
    kept += cluster.loop().cycles_with_kept_session();
    return {};
  });
  EXPECT_GT(decisions, static_cast<size_t>(cases));
  EXPECT_GT(kept, cycles / 2) << "that is what is compared";
}

TEST(KeptSession, DecidesWhatAFreshOneDecides) {
  CompareCycles(120, {});
}

TEST(KeptSession, AlsoAsVolcano) {
  CompareCycles(60, {.profile = "volcano"});
}

TEST(KeptSession, AlsoWhereJobsContend) {
  CompareCycles(60, {.features = {Feature::kPriorities, Feature::kGangs, Feature::kMinResources},
                     .contest = true});
}

TEST(KeptSession, AlsoInZones) {
  CompareCycles(60, {.features = {Feature::kZones, Feature::kPreemptableMarks, Feature::kBudgets,
                                  Feature::kCooldowns}});
}

TEST(KeptSession, AlsoWherePodsEnd) {
  CompareCycles(30, {.features = {Feature::kBound, Feature::kFinished, Feature::kTerminating}});
}

}  // namespace
}  // namespace krafla::testing
