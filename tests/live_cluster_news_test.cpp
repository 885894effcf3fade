// News of a running cluster: what the tables take in place, what has them built anew, and that both
// end in the tables a snapshot of the same objects gives.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "cluster_state/live_cluster.h"
#include "manifest/read_cluster.h"

namespace krafla {
namespace {

std::string Object(std::string_view api, std::string_view kind, std::string_view ns,
                   std::string_view name, std::string_view rest, std::string_view labels = "",
                   std::string_view annotations = "") {
  return fmt::format(
      R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}",{}"uid":"u-{}","labels":{{{}}},)"
      R"("annotations":{{{}}}}},{}}})",
      api, kind, name, ns.empty() ? "" : fmt::format(R"("namespace":"{}",)", ns), name, labels,
      annotations, rest);
}

std::string Node(std::string_view name, int cpu = 8, std::string_view images = "",
                 std::string_view annotations = "", std::string_view labels = "",
                 std::string_view spec = "", int pods = 20) {
  return Object("v1", "Node", "", name,
                fmt::format(R"("spec":{{{}}},"status":{{"allocatable":{{"cpu":"{}","memory":"8Gi",)"
                            R"("pods":"{}"}},"images":[{}]}})",
                            spec, cpu, pods, images),
                labels, annotations);
}
std::string Image(std::string_view name, int mib) {
  return fmt::format(R"({{"names":["{}:1"],"sizeBytes":{}}})", name, int64_t{mib} << 20);
}
std::string CsiNode(std::string_view name, std::string_view driver, int limit,
                    std::string_view annotations = "", std::string_view key = "zone") {
  return Object(
      "storage.k8s.io/v1", "CSINode", "", name,
      driver.empty()
          ? R"("spec":{"drivers":[]})"
          : fmt::format(R"("spec":{{"drivers":[{{"name":"{}","nodeID":"x","topologyKeys":)"
                        R"(["{}"],"allocatable":{{"count":{}}}}}]}})",
                        driver, key, limit),
      "", annotations);
}
std::string Budget(std::string_view name, std::string_view app, int allowed,
                   std::string_view annotations = "", std::string_view disrupted = "",
                   std::string_view label = "app", int more_healthy = 1) {
  return Object(
      "policy/v1", "PodDisruptionBudget", "a", name,
      fmt::format(R"("spec":{{"selector":{{"matchLabels":{{"{}":"{}"}}}}}},"status":)"
                  R"({{"disruptionsAllowed":{},"currentHealthy":{},"disruptedPods":{{{}}}}})",
                  label, app, allowed, allowed + more_healthy, disrupted),
      "", annotations);
}
std::string Pod(std::string_view name, std::string_view ns, std::string_view node,
                std::string_view app = "x", std::string_view image = "i",
                std::string_view conditions = "") {
  return Object("v1", "Pod", ns, name,
                fmt::format(R"("spec":{{"schedulerName":"volcano",{}"containers":[{{"name":"c",)"
                            R"("image":"{}:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}},)"
                            R"("status":{{"phase":"{}","conditions":[{}]}})",
                            node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), image,
                            node.empty() ? "Pending" : "Running", conditions),
                fmt::format(R"("app":"{}")", app), R"("scheduling.k8s.io/group-name":"g")");
}
std::string Namespace(std::string_view name, std::string_view labels = "",
                      std::string_view annotations = "") {
  return Object("v1", "Namespace", "", name, R"("spec":{})", labels, annotations);
}

std::string Describe(const Cluster& c, const LabelSet& labels) {
  std::set<std::string> sorted;
  for (const auto& [key, value] : labels)
    sorted.insert(fmt::format("{}={}", c.Text(key), c.Text(value)));
  return fmt::format("[{}]", fmt::join(sorted, " "));
}

std::string Describe(const Cluster& c, const std::vector<Taint>& taints) {
  std::string text;
  for (const Taint& taint : taints)
    text += fmt::format(" {}={}:{}", c.Text(taint.key), c.Text(taint.value),
                        static_cast<int>(taint.effect));
  return text;
}

// Without numbers of rows, and without namespaces that nobody is in.
std::string Describe(const Cluster& c) {
  std::string text;
  std::set<StrId> used;
  for (const Task& task : c.tasks) used.insert(task.ns);
  for (const krafla::Namespace& ns : c.namespaces)
    if (used.contains(ns.name))
      text += fmt::format("namespace {} {}\n", c.Text(ns.name), Describe(c, ns.labels));
  for (const PodDisruptionBudget& budget : c.budgets) {
    text += fmt::format("budget {}/{} {} of {}", c.Text(budget.ns), c.Text(budget.name),
                        budget.disruptions_allowed, budget.current_healthy);
    for (const StrId pod : budget.disrupted_pods) text += fmt::format(" {}", c.Text(pod));
    for (const SelectorRequirement& r : budget.selector.requirements)
      text += fmt::format(" {}={}", c.Text(r.key), c.Text(r.values.at(0)));
    text += "\n";
  }
  for (const krafla::CsiNode& node : c.volumes.csi_nodes) {
    text += fmt::format("csi node {}", c.Text(node.node));
    for (const CsiNodeDriver& driver : node.drivers) {
      text += fmt::format(" {}:{}", c.Text(driver.driver), driver.limit.value_or(-1));
      for (const StrId key : driver.topology_keys) text += fmt::format(" by {}", c.Text(key));
    }
    text += "\n";
  }
  for (const NodeId id : c.nodes_by_name) {
    const krafla::Node& node = c.nodes[id];
    text += fmt::format("node {} {} in {}{}{} for {}, {}/{} has {} idle {}:", c.Text(node.name),
                        Describe(c, node.labels), c.Text(node.zone), Describe(c, node.taints),
                        node.unschedulable ? " cordoned" : "", node.max_pods, node.scored_cpu,
                        node.scored_memory, ToString(c.allocatable[id], c.kinds),
                        ToString(c.idle[id], c.kinds));
    std::set<std::string> images;
    for (const NodeImage& image : node.images)
      images.insert(
          fmt::format(" {}={}x{}", c.Text(image.name), image.size_bytes, image.nodes_with_it));
    for (const std::string& image : images) text += image;
    for (const TaskId task : node.tasks) {
      EXPECT_EQ(c.tasks[task].node, id);
      text += " " + c.TaskKey(task);
    }
    text += "\n";
  }
  std::set<std::string> tasks;
  for (TaskId id{0}; id < c.tasks.Next(); ++id.value) {
    const Task& task = c.tasks[id];
    tasks.insert(fmt::format("task {} {} {}{} at {} needs {}\n", c.TaskKey(id),
                             Describe(c, c.label_sets[task.labels]), ToString(task.status),
                             task.unready ? " unready" : "", c.Text(task.node_name),
                             ToString(c.Request(id), c.kinds)));
  }
  for (const std::string& task : tasks) text += task;
  for (const JobId id : c.jobs_by_name)
    text += fmt::format("job {} ready {} has {}\n", c.JobKey(id), c.jobs[id].Ready(),
                        ToString(c.jobs[id].allocated, c.kinds));
  return text + "total " + ToString(c.total, c.kinds);
}

class LiveClusterNews : public ::testing::Test {
 protected:
  LiveClusterNews() {
    for (const char* queue : {"default"})
      See(Object("scheduling.volcano.sh/v1beta1", "Queue", "", queue, R"("spec":{"weight":1})"));
    See(Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g",
               R"("spec":{"minMember":1,"queue":"default"})"));
    See(Namespace("a"));
  }

  void See(const std::string& json) {
    Diagnostics problems;
    ReadTextInto(live, json, "test", {}, problems);
    for (const Diagnostic& problem : problems.items()) ADD_FAILURE() << ToString(problem);
  }
  StrId Str(std::string_view text) { return live.strings().Intern(text); }
  uint64_t Rebuilds() {
    live.cluster();
    return live.rebuilds();
  }

  LiveCluster live{BuildOptions{}};
};

TEST_F(LiveClusterNews, WhatSaysNothingNewCostsNothing) {
  const std::string note = R"("note":"another")";
  const std::vector<std::pair<std::string, std::string>> before_and_after = {
      {Node("n1"), Node("n1", 8, "", note)},
      {Namespace("b", R"("team":"x")"), Namespace("b", R"("team":"x")", note)},
      {Budget("p", "x", 1), Budget("p", "x", 1, note)},
      {CsiNode("n1", "disk", 3), CsiNode("n1", "disk", 3, note)},
      {Object("scheduling.k8s.io/v1", "PriorityClass", "", "high", R"("value":10)"),
       Object("scheduling.k8s.io/v1", "PriorityClass", "", "high",
              R"("value":10,"description":"words")")},
      {Object("v1", "PersistentVolumeClaim", "a", "c",
              R"("spec":{"volumeName":"v","storageClassName":"s"},"status":{"phase":"Bound"})"),
       Object("v1", "PersistentVolumeClaim", "a", "c",
              R"("spec":{"volumeName":"v","storageClassName":"s"},"status":{"phase":"Bound",)"
              R"("capacity":{"storage":"1Gi"}})",
              "", note)},
      {Object("v1", "PersistentVolume", "", "v",
              R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]},)"
              R"("status":{"phase":"Bound"})"),
       Object("v1", "PersistentVolume", "", "v",
              R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]},)"
              R"("status":{"phase":"Bound","lastPhaseTransitionTime":"2026-01-01T00:00:00Z"})",
              "", note)},
      {Object("storage.k8s.io/v1", "StorageClass", "", "s", R"("provisioner":"p")"),
       Object("storage.k8s.io/v1", "StorageClass", "", "s",
              R"("provisioner":"p","reclaimPolicy":"Delete")", "", note)},
  };
  for (const auto& [before, after] : before_and_after) See(before);
  live.cluster();
  const uint64_t version = live.version();
  for (const auto& [before, after] : before_and_after) {
    See(after);
    EXPECT_EQ(live.version(), version) << after;
  }
  EXPECT_EQ(Rebuilds(), 1u);
}

TEST_F(LiveClusterNews, WhatABudgetAllowsIsTakenInPlace) {
  See(Budget("p", "x", 1));
  See(Budget("q", "x", 2));
  See(Pod("p1", "a", ""));
  live.cluster();
  const uint64_t version = live.version();
  See(Budget("p", "x", 0, "", R"("p1":"2026-01-01T00:00:00Z")"));
  EXPECT_GT(live.version(), version) << "something may be decided otherwise now";
  EXPECT_EQ(live.cluster().budgets.at(0).disruptions_allowed, 0);
  EXPECT_EQ(live.cluster().budgets.at(0).disrupted_pods, std::vector{Str("p1")});
  EXPECT_EQ(live.cluster().budgets.at(1).disruptions_allowed, 2);
  See(Budget("between", "y", 3));  // looks at no other label
  EXPECT_EQ(live.cluster().budgets.size(), 3u);
  EXPECT_EQ(live.cluster().Text(live.cluster().budgets.at(0).name), "between");
  EXPECT_TRUE(live.RemoveBudget(Str("a"), Str("p")));
  EXPECT_FALSE(live.RemoveBudget(Str("a"), Str("p")));
  EXPECT_EQ(live.cluster().budgets.size(), 2u);
  EXPECT_EQ(Rebuilds(), 1u);
  // Pods of one class may differ in this label.
  See(Budget("p", "x", 1, "", "", "tier"));
  EXPECT_EQ(Rebuilds(), 2u);
}

TEST_F(LiveClusterNews, WhetherAPodIsReadyIsNewsWhereABudgetIs) {
  const auto pod = [](std::string_view ready, std::string_view app = "x") {
    return Pod("p1", "a", "n1", app, "i",
               fmt::format(R"({{"type":"Ready","status":"{}"}})", ready));
  };
  const auto unready = [&] { return live.cluster().tasks[TaskId(0)].unready; };
  See(Node("n1"));
  See(pod("True"));
  live.cluster();
  uint64_t version = live.version();
  See(pod("False"));
  EXPECT_EQ(live.version(), version) << "nobody decides otherwise";
  EXPECT_TRUE(unready()) << "but it is known";
  See(pod("True", "y"));
  EXPECT_GT(live.version(), version);
  EXPECT_FALSE(unready());

  See(Budget("p", "x", 1));
  live.cluster();
  version = live.version();
  See(pod("False", "y"));
  EXPECT_GT(live.version(), version);
  EXPECT_TRUE(unready());
  EXPECT_TRUE(live.RemoveBudget(Str("a"), Str("p")));
  See(pod("True", "y"));
  EXPECT_FALSE(unready());
  live.Compact();
  See(pod("False", "y"));
  EXPECT_TRUE(unready()) << "also while the tables are not there";
}

TEST_F(LiveClusterNews, ANodeComesInPlaceAlsoWhereCsiNodesAre) {
  See(Node("n1"));
  See(Node("n3"));
  See(CsiNode("n1", "disk", 3));
  See(Pod("early", "a", "n2"));
  live.cluster();
  EXPECT_TRUE(live.TakeChanges().rebuilt);
  See(Node("n2", 4));
  const Cluster& c = live.cluster();
  EXPECT_TRUE(live.TakeChanges().rebuilt) << "places in the order of names are others now";
  ASSERT_EQ(c.nodes.size(), 3u);
  const NodeId n2 = c.nodes_by_name[1];
  EXPECT_EQ(c.NodeName(n2), "n2");
  EXPECT_EQ(c.idle[n2].cpu(), 3000) << "the pod was there before its node";
  EXPECT_EQ(c.total.cpu(), 20000);
  EXPECT_EQ(c.jobs[JobId(0)].Ready(), 1);
  const int disks = c.kinds.Find("attachable-volumes-csi-disk");
  ASSERT_GE(disks, 0);
  EXPECT_FALSE(c.allocatable[n2].Has(disks));

  See(CsiNode("n2", "disk", 5));
  EXPECT_EQ(live.cluster().allocatable[n2].Get(disks), 5);
  EXPECT_EQ(live.cluster().total.Get(disks), 8);
  See(Node("n2", 6));
  EXPECT_EQ(live.cluster().allocatable[n2].Get(disks), 5) << "still what its CSINode says";
  EXPECT_EQ(live.cluster().idle[n2].cpu(), 5000);
  const ClusterChanges changes = live.TakeChanges();
  EXPECT_FALSE(changes.rebuilt);
  EXPECT_EQ(changes.node_facts, std::vector{n2});
  EXPECT_EQ(Rebuilds(), 1u);
  // Claims of another driver may count from now on.
  See(CsiNode("n3", "other", 5));
  EXPECT_EQ(Rebuilds(), 2u);
}

TEST_F(LiveClusterNews, ImagesAreCountedOverAllNodesInPlace) {
  See(Node("n1", 8, Image("a", 100)));
  See(Node("n2", 8, Image("a", 200) + "," + Image("b", 50)));
  live.cluster();
  live.TakeChanges();
  See(Node("n1", 8, Image("b", 70)));
  const Cluster& c = live.cluster();
  const std::string text = Describe(c);
  EXPECT_NE(text.find(fmt::format("a:1={}x1", 200 << 20)), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("b:1={}x2", 70 << 20)), std::string::npos)
      << "the size that the first node by name says: " << text;
  EXPECT_EQ(live.TakeChanges().node_facts.size(), 2u);
  EXPECT_EQ(Rebuilds(), 1u);
}

TEST_F(LiveClusterNews, ANamespaceComesInPlace) {
  live.cluster();
  See(Pod("p1", "new", ""));
  See(Namespace("new", R"("team":"x")"));
  See(Namespace("unused"));
  EXPECT_EQ(live.cluster().namespaces.size(), 3u);
  EXPECT_NE(Describe(live.cluster()).find("namespace new [kubernetes.io/metadata.name=new team=x]"),
            std::string::npos)
      << Describe(live.cluster());
  EXPECT_TRUE(live.RemoveNamespace(Str("new")));
  EXPECT_NE(Describe(live.cluster()).find("namespace new [kubernetes.io/metadata.name=new]"),
            std::string::npos);
  EXPECT_EQ(Rebuilds(), 1u);
}

// After whatever news, the tables are those of a snapshot.
TEST_F(LiveClusterNews, EndInTheTablesOfASnapshot) {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::map<std::string, std::string> there;  // by kind and name
  const auto see = [&](const std::string& name, const std::string& json) {
    there[name] = json;
    See(json);
  };
  for (int step = 0; step < 1500; ++step) {
    const std::string node = fmt::format("n{}", pick(6));
    const std::string ns = fmt::format("{}", "abc"[pick(3)]);
    const std::string pod = fmt::format("p{}", pick(20));
    const std::string budget = fmt::format("b{}", pick(3));
    const std::string note = fmt::format(R"("note":"{}")", pick(3));
    switch (pick(12)) {
      case 0:
      case 1: {
        std::string images;
        for (const char* image : {"a", "b", "i"})
          if (pick(2) == 0) images += (images.empty() ? "" : ",") + Image(image, 50 + pick(3));
        see("Node " + node,
            Node(
                node, 4 + pick(3), images, note,
                fmt::format(R"("colour":"{}","volcano.sh/revocable-zone":"{}")", pick(2),
                            pick(3) == 0 ? "rz" : ""),
                fmt::format(R"("unschedulable":{},"taints":[{}])", pick(4) == 0,
                            pick(3) == 0 ? R"({"key":"k","value":"v","effect":"NoSchedule"})" : ""),
                20 + pick(2)));
        break;
      }
      case 2:
        if (pick(4) == 0 && there.erase("Node " + node) != 0) live.RemoveNode(Str(node));
        break;
      case 3:
        see("CSINode " + node, CsiNode(node, pick(8) == 0 ? "" : "disk", 1 + pick(3), note,
                                       pick(2) == 0 ? "zone" : "rack"));
        break;
      case 4:
        if (pick(4) == 0 && there.erase("CSINode " + node) != 0) live.RemoveCsiNode(Str(node));
        break;
      case 5:
        see("Budget " + budget, Budget(budget, fmt::format("{}", "xy"[pick(2)]), pick(3), note,
                                       pick(2) == 0 ? R"("p1":"2026-01-01T00:00:00Z")" : "",
                                       pick(10) == 0 ? "tier" : "app", pick(2)));
        break;
      case 6:
        if (there.erase("Budget " + budget) != 0) live.RemoveBudget(Str("a"), Str(budget));
        break;
      case 7:
        see("Namespace " + ns, Namespace(ns, fmt::format(R"("team":"{}")", pick(2)), note));
        break;
      case 8:
        if (there.erase("Namespace " + ns) != 0) live.RemoveNamespace(Str(ns));
        break;
      case 9:
        if (there.erase("Pod " + ns + pod) != 0) live.RemovePod(Str(ns), Str(pod));
        break;
      default:
        see("Pod " + ns + pod, Pod(pod, ns, pick(3) == 0 ? "" : node, pick(4) == 0 ? "y" : "x", "i",
                                   pick(2) == 0   ? ""
                                   : pick(2) == 0 ? R"({"type":"Ready","status":"True"})"
                                                  : R"({"type":"Ready","status":"False"})"));
    }
    if (pick(50) == 0) live.Compact();
    if (pick(4) != 0) continue;
    std::string all =
        Object("scheduling.volcano.sh/v1beta1", "Queue", "", "default", R"("spec":{"weight":1})") +
        "\n" +
        Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g",
               R"("spec":{"minMember":1,"queue":"default"})");
    for (const auto& [name, json] : there) all += "\n" + json;
    Diagnostics problems;
    const Cluster snapshot = ReadClusterFromText(all, "snapshot", {}, problems);
    ASSERT_FALSE(problems.HasErrors()) << ToString(problems.items().front());
    ASSERT_EQ(Describe(live.cluster()), Describe(snapshot)) << "step " << step;
  }
  EXPECT_LT(Rebuilds(), 150u);
}

}  // namespace
}  // namespace krafla
