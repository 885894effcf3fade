#include "model/pod_budgets.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr PodBudgets::Rules kOurs;
constexpr PodBudgets::Rules kVolcano{
    .charge_only_the_allowed = false, .unlabelled_may_go = false, .charge_the_leaving = false};

// A cluster of nothing but labelled pods and budgets.
class BudgetWorld {
 public:
  TaskId Pod(std::string_view name, std::string_view app, std::string_view ns = "ns1") {
    Task task;
    task.ns = Id(ns);
    task.name = Id(name);
    LabelSet labels;
    if (!app.empty()) labels.emplace_back(Id("app"), Id(app));
    task.labels = cluster.label_sets.Add(std::move(labels));
    return cluster.tasks.Add(std::move(task));
  }

  PodDisruptionBudget& Budget(std::string_view app, int32_t allowed, std::string_view ns = "ns1") {
    PodDisruptionBudget budget;
    budget.ns = Id(ns);
    budget.disruptions_allowed = allowed;
    budget.selector.given = true;
    if (!app.empty())
      budget.selector.requirements.push_back(
          {.key = Id("app"), .op = SelectorOp::kIn, .values = {Id(app)}});
    cluster.budgets.push_back(std::move(budget));
    return cluster.budgets.back();
  }

  StrId Id(std::string_view text) { return cluster.strings.Intern(text); }

  Cluster cluster;
};

std::vector<TaskId> LetGo(PodBudgets& budgets, const std::vector<TaskId>& tasks) {
  std::vector<TaskId> let_go;
  std::vector<TaskId> held;
  budgets.Judge(tasks, let_go, held);
  EXPECT_EQ(let_go.size() + held.size(), tasks.size());
  return let_go;
}

using List = std::vector<TaskId>;

TEST(PodBudgets, TheFirstSoManyMayGo) {
  BudgetWorld world;
  world.Budget("web", 2);
  const TaskId a = world.Pod("a", "web");
  const TaskId b = world.Pod("b", "web");
  const TaskId c = world.Pod("c", "web");
  const TaskId other = world.Pod("d", "db");
  for (const PodBudgets::Rules& rules : {kOurs, kVolcano}) {
    PodBudgets budgets(world.cluster, rules);
    EXPECT_EQ(LetGo(budgets, {a, b, c, other}), (List{a, b, other}));
    EXPECT_EQ(LetGo(budgets, {c, b, a}), (List{c, b})) << "each question starts anew";
  }
}

// One pod of three leaves; the budget's status is of before or of after that.
TEST(PodBudgets, APodThatLeavesIsChargedUntilTheStatusCountsIt) {
  struct {
    int32_t allowed, current_healthy;
    size_t may_go;
  } const cases[] = {{1, 3, 0}, {2, 3, 1}, {1, 2, 1}, {1, -1, 1}, {0, 2, 0}};
  for (const auto& [allowed, current_healthy, may_go] : cases) {
    BudgetWorld world;
    world.Budget("web", allowed).current_healthy = current_healthy;
    const JobId job = world.cluster.jobs.Add({});
    List tasks;
    for (const char* name : {"a", "b", "c"}) {
      tasks.push_back(world.Pod(name, "web"));
      world.cluster.tasks[tasks.back()].status = TaskStatus::kRunning;
      world.cluster.jobs[job].tasks.push_back(tasks.back());
    }
    world.cluster.tasks[tasks[0]].status = TaskStatus::kReleasing;
    world.cluster.jobs[job].count[static_cast<size_t>(TaskStatus::kReleasing)] = 1;
    PodBudgets ours(world.cluster, kOurs);
    EXPECT_EQ(LetGo(ours, {tasks[1], tasks[2]}).size(), may_go)
        << allowed << " of " << current_healthy;
    PodBudgets volcanos(world.cluster, kVolcano);
    EXPECT_EQ(LetGo(volcanos, {tasks[1], tasks[2]}).size(), static_cast<size_t>(allowed));
    // The same when it is gone altogether.
    world.cluster.tasks[tasks[0]].status = TaskStatus::kSucceeded;
    PodBudgets later(world.cluster, kOurs);
    EXPECT_EQ(LetGo(later, {tasks[1], tasks[2]}).size(), may_go);
  }
}

// Two of four run and are not ready. Kubernetes has counted so, or the status is of before.
TEST(PodBudgets, APodThatIsNotReadyDoesNotCountAsHealthy) {
  struct {
    int32_t current_healthy;
    size_t may_go;
  } const cases[] = {{2, 2}, {3, 1}, {4, 0}};
  for (const auto& [current_healthy, may_go] : cases) {
    BudgetWorld world;
    world.Budget("web", 2).current_healthy = current_healthy;
    List tasks;
    for (const char* name : {"a", "b", "c", "d"}) {
      tasks.push_back(world.Pod(name, "web"));
      world.cluster.tasks[tasks.back()].status = TaskStatus::kRunning;
      world.cluster.tasks[tasks.back()].unready = tasks.size() > 2;
    }
    PodBudgets budgets(world.cluster, kOurs);
    EXPECT_EQ(LetGo(budgets, tasks).size(), may_go) << current_healthy;
    // One of the ready ones leaves, and the status counts it still: the other two do not stand in
    // for it.
    world.cluster.tasks[tasks[0]].status = TaskStatus::kReleasing;
    PodBudgets later(world.cluster, kOurs);
    EXPECT_EQ(LetGo(later, tasks).size(), may_go == 0 ? 0 : may_go - 1) << current_healthy;
  }
}

TEST(PodBudgets, ABudgetCountsInItsNamespaceOnly) {
  BudgetWorld world;
  world.Budget("web", 0, "ns1");
  const TaskId here = world.Pod("a", "web", "ns1");
  const TaskId there = world.Pod("a", "web", "ns2");
  PodBudgets budgets(world.cluster, kOurs);
  EXPECT_EQ(LetGo(budgets, {here, there}), (List{there}));
}

TEST(PodBudgets, AnEmptySelectorSelectsNobody) {
  BudgetWorld world;
  world.Budget("", 0);
  world.Budget("web", 5).selector = {};
  const TaskId pod = world.Pod("a", "web");
  PodBudgets budgets(world.cluster, kOurs);
  EXPECT_EQ(LetGo(budgets, {pod}), (List{pod}));
}

TEST(PodBudgets, AllBudgetsOfAPodMustAllowIt) {
  BudgetWorld world;
  world.Budget("web", 1);
  world.Budget("web", 0);
  const TaskId pod = world.Pod("a", "web");
  PodBudgets budgets(world.cluster, kOurs);
  EXPECT_EQ(LetGo(budgets, {pod}), (List{}));
}

// D14
TEST(PodBudgets, WhoIsHeldCostsNothing) {
  BudgetWorld world;
  world.Budget("web", 1);
  PodDisruptionBudget& frozen = world.Budget("web", 0);
  const TaskId a = world.Pod("a", "web");
  const TaskId b = world.Pod("b", "web");
  frozen.disrupted_pods = {world.Id("b")};
  PodBudgets ours(world.cluster, kOurs);
  EXPECT_EQ(LetGo(ours, {a, b}), (List{b}));
  PodBudgets volcano(world.cluster, kVolcano);
  EXPECT_EQ(LetGo(volcano, {a, b}), (List{}));
}

TEST(PodBudgets, APodTheApiServerHasCountedIsNotCountedAgain) {
  BudgetWorld world;
  world.Budget("web", 0).disrupted_pods = {world.Id("b")};
  const TaskId a = world.Pod("a", "web");
  const TaskId b = world.Pod("b", "web");
  PodBudgets budgets(world.cluster, kOurs);
  EXPECT_EQ(LetGo(budgets, {a, b}), (List{b}));
  EXPECT_TRUE(budgets.BudgetsOf(b).empty());
  EXPECT_EQ(budgets.BudgetsOf(a).size(), 1U);
}

// D21
TEST(PodBudgets, APodWithoutLabelsIsAVictimLikeAnyOther) {
  BudgetWorld world;
  world.Budget("web", 0);
  world.cluster.budgets[0].selector.requirements = {
      {.key = world.Id("app"), .op = SelectorOp::kDoesNotExist, .values = {}}};
  const TaskId bare = world.Pod("a", "");
  PodBudgets ours(world.cluster, kOurs);
  EXPECT_EQ(LetGo(ours, {bare}), (List{bare}));
  PodBudgets volcano(world.cluster, kVolcano);
  EXPECT_EQ(LetGo(volcano, {bare}), (List{}));
}

// D21
TEST(PodBudgets, VolcanoSparesPodsWithoutLabelsEvenWithoutBudgets) {
  BudgetWorld world;
  const TaskId bare = world.Pod("a", "");
  const TaskId labelled = world.Pod("b", "web");
  PodBudgets ours(world.cluster, kOurs);
  EXPECT_EQ(LetGo(ours, {bare, labelled}), (List{bare, labelled}));
  PodBudgets volcano(world.cluster, kVolcano);
  EXPECT_EQ(LetGo(volcano, {bare, labelled}), (List{labelled}));
}

// D14
TEST(PodBudgets, EvictionsAreChargedAndRefundedByARollback) {
  BudgetWorld world;
  world.Budget("web", 2);
  const TaskId a = world.Pod("a", "web");
  const TaskId b = world.Pod("b", "web");
  const TaskId c = world.Pod("c", "web");
  PodBudgets budgets(world.cluster, kOurs);
  UndoLog undo;
  budgets.Charge(a, undo);
  const UndoLog::Mark mark = undo.Now();
  EXPECT_EQ(LetGo(budgets, {b, c}), (List{b}));
  budgets.Charge(b, undo);
  EXPECT_EQ(LetGo(budgets, {c}), (List{}));
  undo.RollbackTo(mark);
  EXPECT_EQ(LetGo(budgets, {b, c}), (List{b}));
  budgets.Refund(a, undo);
  EXPECT_EQ(LetGo(budgets, {a, b, c}), (List{a, b}));
  undo.RollbackTo(0);
  EXPECT_EQ(budgets.Left(0), 2);
}

TEST(PodBudgets, AnOverdrawnBudgetAllowsNobody) {
  BudgetWorld world;
  world.Budget("web", 0);
  const TaskId a = world.Pod("a", "web");
  const TaskId b = world.Pod("b", "web");
  PodBudgets budgets(world.cluster, kOurs);
  UndoLog undo;
  budgets.Charge(a, undo);  // zone closing or another action took it all the same
  EXPECT_EQ(LetGo(budgets, {b}), (List{}));
}

}  // namespace
}  // namespace krafla
