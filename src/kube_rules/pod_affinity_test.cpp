#include "kube_rules/pod_affinity.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

constexpr const char* kNotWanted = "node(s) didn't match pod affinity rules";
constexpr const char* kUnwanted = "node(s) didn't match pod anti-affinity rules";
constexpr const char* kUnwelcome = "node(s) didn't satisfy existing pods anti-affinity rules";

// `kind`: podAffinity or podAntiAffinity. A required term for pods of an app, per zone.
std::string Required(std::string_view kind, std::string_view app, std::string_view more = "") {
  return "\"affinity\":{\"" + std::string(kind) +
         R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",)"
         R"("labelSelector":{"matchLabels":{"app":")" +
         std::string(app) + "\"}}" + std::string(more) + "}]}}";
}

Objects TwoZones() {
  return Objects().Node("a1", "zone: a").Node("a2", "zone: a").Node("b1", "zone: b").Node("bare");
}

TEST(PodAffinity, TheFirstOfItsKindMayGoAnywhereThatHasTheKey) {
  KubeWorld world(TwoZones()
                      .Pod("first", "app: web", "", Required("podAffinity", "web"))
                      .Pod("guest", "app: x", "", Required("podAffinity", "web")));
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "first", "a1"), "");
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "first", "bare"), kNotWanted);
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "guest", "a1"), kNotWanted);
}

TEST(PodAffinity, LaterOnesGoWhereTheFirstIs) {
  KubeWorld world(TwoZones()
                      .Pod("there", "app: web", "a1")
                      .Pod("next", "app: web", "", Required("podAffinity", "web")));
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "next", "a2"), "");
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "next", "b1"), kNotWanted);
}

TEST(PodAffinity, AntiAffinityIsHeardFromBothSides) {
  KubeWorld world(TwoZones()
                      .Pod("loner", "app: db", "a1", Required("podAntiAffinity", "web"))
                      .Pod("web", "app: web", "b1")
                      .Pod("new-web", "app: web")
                      .Pod("new-loner", "app: db", "", Required("podAntiAffinity", "web"))
                      .Pod("third", "app: x"));
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new-web", "a2"), kUnwelcome);
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new-web", "b1"), "");
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new-loner", "b1"), kUnwanted);
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new-loner", "a2"), "");
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "third", "a1"), "");
  const auto local = [&](std::string_view pod) {
    return world.filters.CurrentIsNodeLocal(world.cluster.tasks[world.Task(pod)].cls);
  };
  EXPECT_FALSE(local("new-web"));
  EXPECT_FALSE(local("new-loner"));
  EXPECT_TRUE(local("third"));
}

TEST(PodAffinity, TermsOfPodsPlacedNowAreHeardOnlyOnNodesThatHadSomeBefore) {
  Objects objects = TwoZones();
  objects.Pod("loner", "app: db", "", Required("podAntiAffinity", "web")).Pod("web", "app: web");
  KubeWorld quiet(objects);
  quiet.session.Place(quiet.Task("loner"), quiet.Node("a1"), TaskStatus::kAllocated);
  EXPECT_EQ(quiet.Asks(Filter::kInterPodAffinity, "web", "a1"), "");

  objects.Pod("other", "app: z", "a1", Required("podAntiAffinity", "nobody"));
  KubeWorld heard(objects);
  heard.session.Place(heard.Task("loner"), heard.Node("a1"), TaskStatus::kAllocated);
  EXPECT_EQ(heard.Asks(Filter::kInterPodAffinity, "web", "a2"), kUnwelcome);
}

TEST(PodAffinity, CountsStayAsPreparedUntilPreparedAgain) {
  KubeWorld world(TwoZones()
                      .Pod("web", "app: web", "a1")
                      .Pod("loner", "app: db", "", Required("podAntiAffinity", "web")));
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "loner", "a1"), kUnwanted);
  world.session.MarkReleasing(world.Task("web"));
  EXPECT_EQ(world.Says(Filter::kInterPodAffinity, "loner", "a1"), kUnwanted);
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "loner", "a1"), "");
}

TEST(PodAffinity, WhoeverHadNothingToFearOnceIsNotAskedAgainByVolcano) {
  KubeWorld world(TwoZones()
                      .Pod("other", "app: z", "a1", Required("podAntiAffinity", "nobody"))
                      .Pod("loner", "app: db", "", Required("podAntiAffinity", "web"))
                      .Pod("early", "app: web")
                      .Pod("late", "app: web"));
  KubeFilters volcano(world.cluster, world.session.kube, world.session.reasons,
                      {.keeps_skips = true});
  const NodeId node = world.Node("a1");
  const auto refused = [&](KubeFilters& filters, std::string_view pod) {
    filters.Prepare(world.Task(pod));
    return filters.Current(world.Task(pod), node).refused();
  };
  EXPECT_FALSE(refused(volcano, "early"));
  EXPECT_FALSE(refused(world.filters, "early"));
  world.session.Place(world.Task("loner"), node, TaskStatus::kAllocated);
  EXPECT_FALSE(refused(volcano, "early"));
  EXPECT_TRUE(refused(volcano, "late"));
  EXPECT_TRUE(refused(world.filters, "early"));
}

TEST(PodAffinity, ANamespaceSelectorOfExclusionsTakesEveryNamespaceForThePodBeingPlaced) {
  constexpr std::string_view kNotProd = R"(,"namespaceSelector":{"matchExpressions":[)"
                                        R"({"key":"env","operator":"NotIn","values":["prod"]}]})";
  KubeWorld world(
      TwoZones()
          .Add(R"({"apiVersion":"v1","kind":"Namespace",)"
               R"("metadata":{"name":"prod","labels":{"env":"prod"}}})")
          .PodIn("prod", "web", "app: web", "a1", "")
          .PodIn("prod", "loner", "app: x", "b1", Required("podAntiAffinity", "db", kNotProd))
          .Pod("new", "app: db", "", Required("podAntiAffinity", "web", kNotProd))
          .PodIn("prod", "new-db", "app: db", "", ""));
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new", "a1"), kUnwanted);
  // The other way round the labels of the namespace are looked at.
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "new", "b1"), kUnwelcome);
  EXPECT_EQ(world.Asks(Filter::kInterPodAffinity, "prod/new-db", "b1"), "");
}

TEST(PodAffinity, ADryRunCountsItsMovesAndARollbackForgetsThem) {
  KubeWorld world(TwoZones()
                      .Pod("web", "app: web", "a1")
                      .Pod("loner", "app: db", "", Required("podAntiAffinity", "web")));
  const TaskId loner = world.Task("loner");
  const NodeId node = world.Node("a1");
  world.filters.Prepare(loner);
  EXPECT_TRUE(world.filters.SimulatePredicate(loner, node).refused());
  const Session::Mark mark = world.session.MarkNow();
  world.filters.SimulateMove(loner, world.Task("web"), -1, world.session.undo);
  EXPECT_FALSE(world.filters.SimulatePredicate(loner, node).refused());
  world.filters.SimulateMove(loner, world.Task("web"), +1, world.session.undo);
  EXPECT_TRUE(world.filters.SimulatePredicate(loner, node).refused());
  world.filters.SimulateMove(loner, world.Task("web"), -1, world.session.undo);
  world.session.Rollback(mark);
  EXPECT_TRUE(world.filters.SimulatePredicate(loner, node).refused());
}

TEST(PodAffinity, AForgottenPreparationIsMadeAgain) {
  Objects objects = TwoZones();
  objects.Pod("web", "app: web", "a1");
  for (int i = 0; i < 600; ++i)
    objects.Pod("loner-" + std::to_string(i), "app: db", "", Required("podAntiAffinity", "web"));
  KubeWorld world(objects);
  for (int i = 0; i < 600; ++i) world.filters.Prepare(world.Task("loner-" + std::to_string(i)));
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(world.Says(Filter::kInterPodAffinity, "loner-" + std::to_string(i), "a1"), kUnwanted);
}

}  // namespace
}  // namespace krafla::testing
