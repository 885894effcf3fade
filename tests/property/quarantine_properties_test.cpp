// Random clusters with one job at which an internal check fails: once it is left out, everything
// else is decided as in the same cluster without it. The check fails in the middle of a statement,
// while a job is compared, or while a plugin opens; cycles follow each other, so that what a failed
// one leaves behind would show.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/recovery.h"
#include "manifest/read_cluster.h"
#include "property/for_all.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {
namespace {

struct AllDecided final : DecisionSink {
  std::vector<std::string> lines;
  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
    const Cluster& c = session.cluster;
    for (const JobPhaseChange& change : phases)
      lines.push_back(fmt::format("{} becomes {}", c.JobKey(change.job), ToString(change.after)));
    for (const Bind& bind : session.plan.binds)
      lines.push_back(fmt::format("{} on {}", c.TaskKey(bind.task), c.NodeName(bind.node)));
    for (const Eviction& e : session.plan.evictions)
      lines.push_back(fmt::format("{} goes", c.TaskKey(e.task)));
  }
};

class OneLoop {
 public:
  explicit OneLoop(const RandomCluster& random) {
    Diagnostics diagnostics;
    SchedulerConfig config = ReadSchedulerConfig(random.config, BuiltInVocabulary(),
                                                 {.profile = random.profile}, diagnostics);
    live_.emplace(
        BuildOptions{.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit});
    const Result<ZonedTimestamp> now = ParseRfc3339(random.now);
    KRAFLA_CHECK(now.has_value());
    now_ = now->time;
    loop_.emplace(*live_, std::move(config), FixedOffset(now->offset_seconds), silent_);
    loop_->SearchAlways();
    ReadTextInto(*live_, random.Text(), "cluster", {}, diagnostics);
  }
  // One of several ways in which a check fails as soon as this job matters.
  void Break(const std::string& job, int how) {
    const auto is_broken = [this, job](JobId id) {
      const Cluster& c = live_->TablesAsTheyAre();
      return id.valid() && c.JobKey(id) == job;
    };
    loop_->SetWrapHooks([this, is_broken, how](std::string_view, PluginHooks& hooks) {
      if (how == 0) {
        hooks.on_allocate = [this, is_broken, next = std::move(hooks.on_allocate)](TaskId task) {
          KRAFLA_CHECK(!is_broken(live_->TablesAsTheyAre().tasks[task].job), "placed");
          if (next) next(task);
        };
      } else if (how == 1 && hooks.job_order) {
        hooks.job_order = [is_broken, next = std::move(hooks.job_order)](JobId l, JobId r) {
          KRAFLA_CHECK(!is_broken(l) && !is_broken(r), "compared");
          return next(l, r);
        };
      } else if (how == 2) {
        const Cluster& c = live_->TablesAsTheyAre();
        for (const JobId id : c.jobs_by_name) KRAFLA_CHECK(!is_broken(id), "opened");
      }
    });
    loop_->RecoverFromFailedChecks({.quarantine =
                                        [this](const SchedulingLoop::BrokenObject& object) {
                                          left_out.push_back(object);
                                          return Remove(object);
                                        },
                                    .on_skip = {},
                                    .on_trial = {}});
  }
  bool Remove(const SchedulingLoop::BrokenObject& object) {
    const StrId ns = live_->strings().Find(object.ns);
    const StrId name = live_->strings().Find(object.name);
    using Kind = LiveCluster::ObjectName::Kind;
    switch (object.kind) {
      case Kind::kPodGroup:
        return live_->RemovePodGroup(ns, name);
      case Kind::kPod:
        return live_->RemovePod(ns, name);
      case Kind::kNode:
        return live_->RemoveNode(name);
      case Kind::kQueue:
        return live_->RemoveQueue(name);
    }
    return false;
  }
  std::vector<std::string> Cycle() {
    now_.ns += Timestamp::kNsPerSecond;
    loop_->RunCycle(now_, decided_);
    return std::exchange(decided_.lines, {});
  }
  const SchedulingLoop& loop() const { return *loop_; }

  std::vector<SchedulingLoop::BrokenObject> left_out;

 private:
  std::optional<LiveCluster> live_;
  krafla::Log silent_{0};
  std::optional<SchedulingLoop> loop_;
  AllDecided decided_;
  Timestamp now_;
};

TEST(Quarantine, EverythingElseIsDecidedAsWithoutTheBrokenJob) {
  const bool before = RecoveryScope::Enabled();
  RecoveryScope::Enable(true);
  size_t found = 0;
  size_t mistaken = 0;
  size_t decisions = 0;
  ForAll(200, {.contest = true}, [&](const RandomCluster& random) -> std::string {
    if (random.jobs.empty()) return {};
    Dice dice(random.shape.seed, "broken", 0);
    auto job = random.jobs.begin();
    std::advance(job, static_cast<ptrdiff_t>(dice.Next() % random.jobs.size()));
    const int how = static_cast<int>(dice.Next() % 3);
    OneLoop broken(random);
    OneLoop without(random);
    broken.Break(job->first, how);
    for (int cycle = 0; cycle < 4; ++cycle) {
      const size_t known = broken.left_out.size();
      const std::vector<std::string> decided = broken.Cycle();
      for (size_t i = known; i < broken.left_out.size(); ++i) without.Remove(broken.left_out[i]);
      const std::vector<std::string> expected = without.Cycle();
      if (decided != expected)
        return fmt::format("cycle {}, way {}, broken {}:\n  {}\nand without it:\n  {}", cycle, how,
                           job->first, fmt::join(decided, "\n  "), fmt::join(expected, "\n  "));
      if (broken.loop().trouble().suspended_since)
        return fmt::format("suspended: {}", broken.loop().trouble().check);
      decisions += decided.size();
    }
    for (const auto& object : broken.left_out)
      ++(object.ns + "/" + object.name == job->first ? found : mistaken);
    return {};
  });
  EXPECT_GT(found, 60u) << "too few jobs broke anything";
  // A preemptor whose turn it is may be taken for its victim, and a job for the one it is compared
  // with. Leaving it out helps as well.
  EXPECT_LT(mistaken, found / 2);
  EXPECT_GT(decisions, 200u);
  RecoveryScope::Enable(before);
}

}  // namespace
}  // namespace krafla::testing
