#include "cluster_state/looked_at_labels.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "cluster_state/cluster_builder.h"
#include "cluster_state/live_cluster.h"

namespace krafla {
namespace {

// Pods with a label that names their job, and maybe with a selector over it.
struct Pod {
  std::string name;
  std::string job;
  std::optional<SelectorOp> op = {};
  std::vector<std::string> values = {};
};

void AddTo(FactSink& sink, const Pod& pod) {
  const auto str = [&](const std::string& text) { return sink.strings().Intern(text); };
  PodFacts facts;
  facts.task.ns = str("default");
  facts.task.name = str(pod.name);
  facts.task.uid = str("uid-" + pod.name);
  facts.ours = true;
  PodSpec spec;
  spec.request.Set(ResourceKinds::kCpu, 100);
  if (pod.op) {
    SelectorRequirement requirement{.key = str("job"), .op = *pod.op, .values = {}};
    for (const std::string& value : pod.values) requirement.values.push_back(str(value));
    std::sort(requirement.values.begin(), requirement.values.end());
    spec.required_anti_affinity = {
        {.selector = {.given = true, .requirements = {requirement}}, .topology_key = str("zone")}};
  }
  facts.task.spec = sink.InternSpec(std::move(spec));
  LabelSet labels{{str("color"), str("red")}};
  if (!pod.job.empty()) labels.emplace_back(str("job"), str(pod.job));
  std::sort(labels.begin(), labels.end());
  facts.task.labels = sink.InternLabels(std::move(labels));
  sink.AddPod(std::move(facts), Origin::kWritten);
}

Cluster Built(const std::vector<Pod>& pods) {
  ClusterBuilder builder{BuildOptions{}};
  for (const Pod& pod : pods) AddTo(builder, pod);
  Diagnostics diagnostics;
  return std::move(builder).Build(diagnostics);
}

ClassId ClassOf(const Cluster& cluster, std::string_view name) {
  for (const Task& task : cluster.tasks)
    if (cluster.Text(task.name) == name) return task.cls;
  ADD_FAILURE() << "there is no " << name;
  return {};
}

// Every selector takes a pod by the labels of its class if it takes it by all its labels.
void ExpectSelectorsSeeTheSame(const Cluster& cluster, const std::string& when) {
  for (const Task& by : cluster.tasks)
    for (const PodAffinityTerm& term : cluster.specs[by.spec].required_anti_affinity)
      for (const Task& task : cluster.tasks)
        ASSERT_EQ(Matches(term.selector, cluster.label_sets[task.labels]),
                  Matches(term.selector, cluster.label_sets[cluster.classes[task.cls].labels]))
            << when << ": " << cluster.Text(by.name) << " selects " << cluster.Text(task.name);
}

TEST(LookedAtLabels, JobsThatNoSelectorNamesAreTheSameToAll) {
  const Cluster cluster = Built({{"a", "one"},
                                 {"b", "two"},
                                 {"c", ""},
                                 {"d", "three", SelectorOp::kIn, {"three"}},
                                 {"e", "four"},
                                 {"f", "five", SelectorOp::kNotIn, {"four"}}});
  EXPECT_EQ(ClassOf(cluster, "a"), ClassOf(cluster, "b"));
  EXPECT_EQ(ClassOf(cluster, "a"), ClassOf(cluster, "c"));
  EXPECT_NE(ClassOf(cluster, "a"), ClassOf(cluster, "e"));
  ExpectSelectorsSeeTheSame(cluster, "built");
}

TEST(LookedAtLabels, WhereOneAsksWhetherThereIsALabelEveryValueCounts) {
  for (const SelectorOp op : {SelectorOp::kExists, SelectorOp::kDoesNotExist}) {
    const Cluster cluster = Built({{"a", "one"}, {"b", "two"}, {"c", ""}, {"d", "three", op}});
    EXPECT_NE(ClassOf(cluster, "a"), ClassOf(cluster, "c"));
    EXPECT_NE(ClassOf(cluster, "a"), ClassOf(cluster, "b"));
    ExpectSelectorsSeeTheSame(cluster, "built");
  }
}

// A gang whose pods keep apart from each other names a job that nobody has heard of.
TEST(LookedAtLabels, ASelectorOverNewPodsCostsNothing) {
  LiveCluster live{BuildOptions{}};
  AddTo(live, {"a", "one"});
  AddTo(live, {"b", "two", SelectorOp::kIn, {"two"}});
  (void)live.cluster();
  const uint64_t before = live.rebuilds();
  for (int i = 0; i < 5; ++i) {
    const std::string job = "new" + std::to_string(i);
    AddTo(live, {job + "-0", job, SelectorOp::kIn, {job}});
    AddTo(live, {job + "-1", job, SelectorOp::kIn, {job}});
    AddTo(live, {job + "-2", "plain" + std::to_string(i)});
    ExpectSelectorsSeeTheSame(live.cluster(), job);
    EXPECT_NE(ClassOf(live.cluster(), job + "-0"), ClassOf(live.cluster(), "b"));
    EXPECT_EQ(ClassOf(live.cluster(), job + "-2"), ClassOf(live.cluster(), "a"));
  }
  EXPECT_EQ(live.rebuilds(), before);
}

// The pods of a job come first, and then those that want to be near them: job after job.
TEST(LookedAtLabels, ASelectorOverPodsThatWereThereFirstHasTheTablesBuiltAnewOnce) {
  LiveCluster live{BuildOptions{}};
  AddTo(live, {"a", "one", SelectorOp::kIn, {"one"}});
  (void)live.cluster();
  const uint64_t before = live.rebuilds();
  for (int i = 0; i < 5; ++i) {
    const std::string job = "new" + std::to_string(i);
    AddTo(live, {job + "-0", job});
    (void)live.cluster();
    AddTo(live, {job + "-1", "", SelectorOp::kIn, {job}});
    ExpectSelectorsSeeTheSame(live.cluster(), job);
  }
  EXPECT_EQ(live.rebuilds(), before + 1);
}

// So does the selector of a budget.
TEST(LookedAtLabels, ABudgetOverPodsThatWereThereFirstTellsThemApart) {
  LiveCluster live{BuildOptions{}};
  const auto str = [&](const std::string& text) { return live.strings().Intern(text); };
  AddTo(live, {"a", "one", SelectorOp::kIn, {"one"}});
  AddTo(live, {"b", "two"});
  AddTo(live, {"c", "three"});
  EXPECT_EQ(ClassOf(live.cluster(), "b"), ClassOf(live.cluster(), "c"));
  PodDisruptionBudget budget;
  budget.ns = str("default");
  budget.name = str("keep");
  budget.selector = {
      .given = true,
      .requirements = {{.key = str("job"), .op = SelectorOp::kIn, .values = {str("two")}}}};
  live.AddBudget(budget);
  EXPECT_NE(ClassOf(live.cluster(), "b"), ClassOf(live.cluster(), "c"));
}

TEST(LookedAtLabels, ClassesFollowWhateverComesAndGoes) {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 60; ++round) {
    LiveCluster live{BuildOptions{}};
    for (int step = 0; step < 60; ++step) {
      const auto job = [&] { return "job" + std::to_string(pick(6)); };
      Pod pod{"p" + std::to_string(pick(12)), pick(4) == 0 ? "" : job()};
      if (pick(4) == 0)
        pod.op = pick(12) == 0   ? SelectorOp::kExists
                 : pick(12) == 0 ? SelectorOp::kDoesNotExist
                 : pick(2) == 0  ? SelectorOp::kIn
                                 : SelectorOp::kNotIn;
      if (pod.op == SelectorOp::kIn || pod.op == SelectorOp::kNotIn) pod.values = {job(), job()};
      if (pick(5) == 0) {
        (void)live.RemovePod(live.strings().Intern("default"), live.strings().Intern(pod.name));
      } else {
        AddTo(live, pod);
      }
      if (pick(20) == 0) live.Compact();
      if (pick(3) == 0)
        ExpectSelectorsSeeTheSame(
            live.cluster(), "round " + std::to_string(round) + " step " + std::to_string(step));
    }
  }
}

}  // namespace
}  // namespace krafla
