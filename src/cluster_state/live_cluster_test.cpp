#include "cluster_state/live_cluster.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cluster_state/cluster_builder.h"
#include "cluster_state/crowding.h"

namespace krafla {
namespace {

std::string Describe(const Cluster& c, const LabelSet& labels) {
  std::set<std::string> sorted;
  for (const auto& [key, value] : labels)
    sorted.insert(std::string(c.Text(key)) + "=" + std::string(c.Text(value)));
  std::string text = "[";
  for (const std::string& label : sorted) text += " " + label;
  return text + " ]";
}

// The tables in words, without numbers of rows: two clusters that say the same are the same.
std::string Describe(const Cluster& c) {
  std::string text;
  // Who is of one class with whom: classes are numbered by the first of their tasks, by name.
  std::map<std::string, TaskId> by_name;
  for (TaskId t{0}; t.value < c.tasks.size(); ++t.value) by_name[c.TaskKey(t)] = t;
  std::map<ClassId, size_t> classes;
  for (const auto& [name, t] : by_name) {
    const size_t number = classes.try_emplace(c.tasks[t].cls, classes.size()).first->second;
    text += "task " + name + " class " + std::to_string(number) + " " +
            Describe(c, c.label_sets[c.tasks[t].labels]) + "\n";
  }
  const auto amount = [&](const Resource& r) { return ToString(r, c.kinds); };
  for (const QueueId id : c.queues_by_name) text += "queue " + std::string(c.QueueName(id)) + "\n";
  for (const NodeId id : c.nodes_by_name) {
    text += "node " + std::string(c.NodeName(id)) + " idle " + amount(c.idle[id]) + " used " +
            amount(c.used[id]) + " releasing " + amount(c.releasing[id]) + " " +
            Describe(c, c.nodes[id].labels) + (c.nodes[id].unschedulable ? " cordoned" : "");
    for (const Taint& taint : c.nodes[id].taints)
      text += " " + std::string(c.Text(taint.key)) + "=" + std::string(c.Text(taint.value)) + ":" +
              std::to_string(static_cast<int>(taint.effect));
    text += ":";
    for (const TaskId t : c.nodes[id].tasks) text += " " + c.TaskKey(t);
    text += "\n";
  }
  for (const JobId id : c.jobs_by_name) {
    const Job& job = c.jobs[id];
    text += "job " + c.JobKey(id) + " in " + std::string(c.QueueName(job.queue)) + " priority " +
            std::to_string(job.priority) + " phase " + std::string(ToString(job.phase)) + " has " +
            amount(job.allocated) + " of " + amount(job.total_request) + ":";
    for (const TaskId t : job.tasks) {
      const Task& task = c.tasks[t];
      EXPECT_EQ(task.job, id);
      text += " " + c.TaskKey(t) + "=" + std::string(ToString(task.status)) + "/" +
              std::string(c.Text(job.roles[task.role_index].name)) + "/" + amount(c.Request(t));
    }
    std::multiset<std::string> roles;
    for (const JobRole& role : job.roles) {
      std::string counts(c.Text(role.name));
      for (const int32_t n : role.count) counts += "," + std::to_string(n);
      // A role whose pods are all gone is as good as none.
      if (role.in_min_task_member || role.count != std::array<int32_t, kTaskStatusCount>{})
        roles.insert(counts);
    }
    for (const std::string& role : roles) text += " {" + role + "}";
    text += "\n";
  }
  std::multiset<std::string> loose;
  for (TaskId t{0}; t.value < c.tasks.size(); ++t.value)
    if (!c.tasks[t].job.valid())
      loose.insert(c.TaskKey(t) + "@" + std::string(c.Text(c.tasks[t].node_name)));
  for (const std::string& task : loose) text += "loose " + task + "\n";
  EXPECT_LE(c.tasks_by_name, c.tasks.size());
  for (uint32_t t = 1; t < c.tasks_by_name; ++t)
    EXPECT_TRUE(c.TaskNameLess(TaskId(t - 1), TaskId(t))) << "numbered as names sort: " << t;
  return text + "total " + amount(c.total);
}

// Makes the same objects for any sink; remembers them by name, so that a snapshot can be built.
class Objects {
 public:
  explicit Objects(FactSink& sink) : sink_(sink) {}

  StrId Str(const std::string& text) { return sink_.strings().Intern(text); }

  void Queue(const std::string& name, int32_t weight = 1) {
    QueueFacts facts;
    facts.queue.name = Str(name);
    facts.queue.weight = weight;
    sink_.AddQueue(std::move(facts));
  }
  // The larger ones are of another kind.
  void Node(const std::string& name, double cpu) {
    NodeFacts facts;
    facts.node.name = Str(name);
    facts.node.labels = {{Str("size"), Str(cpu > 1500 ? "large" : "small")}};
    if (cpu > 2500) facts.node.taints = {{Str("dedicated"), Str("large")}};
    facts.node.unschedulable = cpu > 1500 && cpu < 2500;
    facts.allocatable.Set(ResourceKinds::kCpu, cpu);
    sink_.AddNode(std::move(facts));
  }
  void Group(const std::string& name, const std::string& queue, int32_t minimum,
             int further_roles = 0) {
    PodGroupFacts facts;
    facts.job.ns = Str("default");
    facts.job.name = Str(name);
    facts.job.min_available = minimum;
    facts.queue = Str(queue);
    facts.min_task_member = {{Str("worker"), 1}};
    for (int role = 0; role < further_roles; ++role)
      facts.min_task_member.emplace_back(Str("further" + std::to_string(role)), 0);
    sink_.AddPodGroup(std::move(facts), Origin::kWritten);
  }
  struct PodShape {
    std::string name, group, node, role = "worker";
    TaskStatus status = TaskStatus::kPending;
    double cpu = 100;
    double gpu = 0;
    bool ours = true;
    std::string size;   // of the node it wants, and its own label
    std::string label;  // the value of another one
    std::string claim;
  };
  void Pod(const PodShape& shape) {
    PodFacts facts;
    facts.task.ns = Str("default");
    facts.task.name = Str(shape.name);
    facts.task.uid = Str("uid-" + shape.name);
    facts.task.role = Str(shape.role);
    facts.task.node_name = Str(shape.node);
    facts.task.status = shape.status;
    facts.group = Str(shape.group);
    facts.ours = shape.ours;
    PodSpec spec;
    spec.request.Set(ResourceKinds::kCpu, shape.cpu);
    if (shape.gpu > 0) spec.request.Set(sink_.kinds().Intern("nvidia.com/gpu"), shape.gpu);
    if (!shape.size.empty()) spec.node_selector = {{Str("size"), Str(shape.size)}};
    if (!shape.claim.empty()) spec.claims.push_back({.claim = Str(shape.claim)});
    facts.task.spec = sink_.InternSpec(std::move(spec));
    LabelSet labels;
    if (!shape.size.empty()) labels.emplace_back(Str("wants"), Str(shape.size));
    if (!shape.label.empty()) labels.emplace_back(Str("label"), Str(shape.label));
    std::sort(labels.begin(), labels.end());
    facts.task.labels = sink_.InternLabels(std::move(labels));
    sink_.AddPod(std::move(facts), Origin::kWritten);
  }

 private:
  FactSink& sink_;
};

TEST(LiveCluster, AssumptionsHoldUntilTheObjectIsSeenAgain) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Group("job", "default", 1);
  objects.Pod({.name = "a", .group = "job"});
  const uint64_t version = live.version();
  live.AssumeBinding(live.cluster().jobs[JobId(0)].tasks[0], NodeId(0));
  EXPECT_GT(live.version(), version);
  EXPECT_EQ(live.cluster().idle[NodeId(0)].cpu(), 900);
  EXPECT_EQ(live.cluster().jobs[JobId(0)].Ready(), 1);
  EXPECT_EQ(live.FindPod(objects.Str("default"), objects.Str("a"))->task.status,
            TaskStatus::kBinding);
  // The bind was refused: the pod is seen as it was.
  objects.Pod({.name = "a", .group = "job"});
  EXPECT_EQ(live.cluster().idle[NodeId(0)].cpu(), 1000);
  EXPECT_EQ(live.cluster().jobs[JobId(0)].Ready(), 0);

  objects.Pod({.name = "a", .group = "job", .node = "n1", .status = TaskStatus::kRunning});
  live.AssumeReleasing(live.cluster().jobs[JobId(0)].tasks[0]);
  EXPECT_EQ(live.cluster().releasing[NodeId(0)].cpu(), 100);
  EXPECT_EQ(live.cluster().jobs[JobId(0)].releasing_on_node, 1);
  live.AssumePhase(JobId(0), JobPhase::kInqueue);
  EXPECT_EQ(live.cluster().jobs[JobId(0)].phase, JobPhase::kInqueue);
  EXPECT_EQ(live.rebuilds(), 1u);
}

TEST(LiveCluster, PodsMayComeBeforeTheirPodGroupAndOutliveIt) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Pod({.name = "first", .group = "other"});
  live.cluster();
  objects.Pod({.name = "a", .group = "job", .node = "n1", .status = TaskStatus::kRunning});
  EXPECT_FALSE(live.cluster().tasks[TaskId(1)].job.valid());
  objects.Group("job", "default", 1);
  ASSERT_EQ(live.cluster().jobs.size(), 1u);
  EXPECT_EQ(live.cluster().jobs[JobId(0)].Ready(), 1);
  EXPECT_TRUE(live.RemovePodGroup(objects.Str("default"), objects.Str("job")));
  EXPECT_EQ(live.cluster().jobs.size(), 0u);
  EXPECT_EQ(live.cluster().used[NodeId(0)].cpu(), 100);
  EXPECT_EQ(live.rebuilds(), 1u);
}

// Who waits for what is not there, sorted: "p of g (no queue none)".
std::vector<std::string> Stranded(LiveCluster& live) {
  const Cluster& c = live.cluster();
  std::vector<std::string> lines;
  const LiveCluster::Stranded stranded = live.FindStranded();
  for (const LiveCluster::StrandedPod& pod : stranded.pods)
    lines.push_back(
        std::string(c.Text(pod.pod->task.name)) + " of " + std::string(c.Text(pod.pod->group)) +
        (pod.group == nullptr ? "" : " (no queue " + std::string(c.Text(pod.group->queue)) + ")"));
  for (const LiveCluster::StrandedGroup& group : stranded.groups)
    lines.push_back((group.group == nullptr ? "no " : "") + std::string(c.Text(group.name)) +
                    " waiting " + std::to_string(group.waiting) + " running " +
                    std::to_string(group.Count(TaskStatus::kRunning)));
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(LiveCluster, SaysWhoWaitsForWhatIsNotThere) {
  using Lines = std::vector<std::string>;
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Group("fine", "default", 1);
  objects.Pod({.name = "a", .group = "fine"});
  objects.Group("lost", "none", 1);
  objects.Pod({.name = "b", .group = "lost"});
  objects.Pod({.name = "c", .group = "never"});
  objects.Pod({.name = "d", .group = "never", .ours = false});
  EXPECT_EQ(Stranded(live), (Lines{"b of lost (no queue none)", "c of never",
                                   "lost waiting 1 running 0", "no never waiting 1 running 0"}));
  // One after the other, in place.
  objects.Pod({.name = "e", .group = "lost", .node = "n1", .status = TaskStatus::kRunning});
  objects.Group("never", "none", 1);
  EXPECT_EQ(Stranded(live), (Lines{"b of lost (no queue none)", "c of never (no queue none)",
                                   "lost waiting 1 running 1", "never waiting 1 running 0"}));
  objects.Group("lost", "default", 1);
  EXPECT_EQ(Stranded(live), (Lines{"c of never (no queue none)", "never waiting 1 running 0"}));
  EXPECT_TRUE(live.RemovePodGroup(objects.Str("default"), objects.Str("never")));
  EXPECT_EQ(Stranded(live), (Lines{"c of never", "no never waiting 1 running 0"}));
  EXPECT_TRUE(live.RemovePod(objects.Str("default"), objects.Str("c")));
  EXPECT_EQ(Stranded(live), Lines{});
  EXPECT_EQ(live.rebuilds(), 1u);
  // A queue that goes, and comes back.
  EXPECT_TRUE(live.RemoveQueue(objects.Str("default")));
  EXPECT_EQ(Stranded(live), (Lines{"a of fine (no queue default)", "b of lost (no queue default)",
                                   "fine waiting 1 running 0", "lost waiting 1 running 1"}));
  live.Compact();
  EXPECT_EQ(Stranded(live).size(), 4u);
  objects.Queue("default");
  EXPECT_EQ(Stranded(live), Lines{});
}

TEST(LiveCluster, ThoseWhoWaitForWhatIsNotThereComeByName) {
  LiveCluster live{BuildOptions{.leave_out_pods_without_claims = true}};
  Objects objects(live);
  objects.Queue("default");
  live.AddPriorityClass({.name = objects.Str("low"), .value = 10});
  objects.Group("fine", "default", 1);
  const auto name = [](char kind, int i) { return kind + std::to_string(100 + i * 7 % 40); };
  for (int i = 0; i < 40; ++i) {
    objects.Pod({.name = name('c', i), .group = "fine", .claim = "none"});
    objects.Pod({.name = name('p', i), .group = name('g', i)});
    PodGroupFacts group;
    group.job.ns = objects.Str("default");
    group.job.name = objects.Str(name('u', i));
    group.job.priority_class = objects.Str("none");
    group.queue = objects.Str("default");
    live.AddPodGroup(group, Origin::kWritten);
  }
  const Cluster& c = live.cluster();
  const LiveCluster::Stranded stranded = live.FindStranded();
  std::vector<std::string_view> pods, groups, unranked;
  for (const LiveCluster::StrandedPod& pod : stranded.pods)
    pods.push_back(c.Text(pod.pod->task.name));
  for (const LiveCluster::StrandedGroup& group : stranded.groups)
    groups.push_back(c.Text(group.name));
  for (const PodGroupFacts* group : stranded.unranked) unranked.push_back(c.Text(group->job.name));
  EXPECT_EQ(pods.size(), 80u);
  EXPECT_EQ(groups.size(), 40u);
  EXPECT_EQ(unranked.size(), 40u);
  for (const auto& names : {pods, groups, unranked})
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << names.front();
}

// In place and after the tables were built anew alike.
TEST(LiveCluster, SaysWhosePriorityClassOrClaimIsNotThere) {
  using Lines = std::vector<std::string>;
  LiveCluster live{BuildOptions{.leave_out_pods_without_claims = true}};
  Objects objects(live);
  const auto lacking = [&] {
    const Cluster& c = live.cluster();
    const LiveCluster::Stranded stranded = live.FindStranded();
    Lines lines;
    for (const PodGroupFacts* group : stranded.unranked)
      lines.push_back(std::string(c.Text(group->job.name)) + " names " +
                      std::string(c.Text(group->job.priority_class)));
    for (const LiveCluster::StrandedPod& pod : stranded.pods)
      if (pod.claim != nullptr)
        lines.push_back(std::string(c.Text(pod.pod->task.name)) + " lacks " +
                        std::string(c.Text(pod.claim->claim)));
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  const auto add_group = [&](const char* name, const char* priority_class) {
    PodGroupFacts group;
    group.job.ns = objects.Str("default");
    group.job.name = objects.Str(name);
    group.job.uid = objects.Str(name);
    group.job.min_available = 1;
    group.job.priority_class = objects.Str(priority_class);
    group.queue = objects.Str("default");
    live.AddPodGroup(group, Origin::kWritten);
  };
  const auto add_class = [&](const char* name) {
    live.AddPriorityClass({.name = objects.Str(name), .value = 10});
  };
  const auto add_pod = [&](const char* name, const char* claim) {
    objects.Pod({.name = name, .group = "g", .claim = claim});
  };
  objects.Queue("default");
  add_group("g", "none");
  EXPECT_EQ(lacking(), Lines{}) << "nobody follows classes";
  add_class("low");
  EXPECT_EQ(lacking(), Lines{"g names none"});
  add_group("h", "low");
  add_group("i", "other");
  EXPECT_EQ(lacking(), (Lines{"g names none", "i names other"}));
  add_group("i", "low");
  add_class("none");
  EXPECT_EQ(lacking(), Lines{});
  EXPECT_TRUE(live.RemovePriorityClass(objects.Str("low")));
  EXPECT_TRUE(live.RemovePodGroup(objects.Str("default"), objects.Str("h")));
  EXPECT_EQ(lacking(), Lines{"i names low"});
  add_group("i", "none");
  add_pod("p", "data");
  add_pod("q", "");
  EXPECT_EQ(lacking(), Lines{"p lacks data"});
  add_pod("r", "data");
  EXPECT_EQ(lacking(), (Lines{"p lacks data", "r lacks data"}));
  EXPECT_EQ(live.cluster().tasks.size(), 1u);
  live.Compact();
  EXPECT_EQ(lacking(), (Lines{"p lacks data", "r lacks data"}));
  EXPECT_TRUE(live.RemovePod(objects.Str("default"), objects.Str("r")));
  add_pod("p", "");
  EXPECT_EQ(lacking(), Lines{});
}

TEST(LiveCluster, ANewKindOfResourceHasTheTablesBuiltAnew) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Group("job", "default", 1);
  objects.Pod({.name = "a", .group = "job"});
  live.cluster();
  objects.Pod({.name = "b", .group = "job", .gpu = 1});
  live.cluster();
  EXPECT_EQ(live.rebuilds(), 2u);
  objects.Pod({.name = "c", .group = "job", .gpu = 1});
  live.cluster();
  EXPECT_EQ(live.rebuilds(), 2u);
}

// Roles of pods that are gone are kept until the numbers are used up; then the tables are built
// anew.
TEST(LiveCluster, AJobMayHaveHadMoreRolesThanCanBeNumbered) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Group("job", "default", 1, 65'530);
  objects.Pod({.name = "stays", .group = "job", .role = "stays"});
  live.cluster();
  for (int number = 0; number < 5; ++number) {
    objects.Pod({.name = "comes", .group = "job", .role = "role" + std::to_string(number)});
    live.RemovePod(objects.Str("default"), objects.Str("comes"));
  }
  objects.Pod({.name = "last", .group = "job", .role = "last"});
  const Job& job = live.cluster().jobs[JobId(0)];
  ASSERT_EQ(job.tasks.size(), 2u);
  for (const TaskId id : job.tasks) {
    const Task& task = live.cluster().tasks[id];
    EXPECT_EQ(job.roles[task.role_index].name, task.role);
  }
  EXPECT_EQ(live.rebuilds(), 2u);
}

// Our own reports of what a queue holds come back as news of the queue.
TEST(LiveCluster, AQueueThatSaysNothingNewCostsNothing) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  live.cluster();
  const uint64_t version = live.version();
  objects.Queue("default");
  live.cluster();
  EXPECT_EQ(live.version(), version);
  EXPECT_EQ(live.rebuilds(), 1u);
  objects.Queue("default", 7);
  live.cluster();
  EXPECT_EQ(live.rebuilds(), 2u);
}

TEST(LiveCluster, SaysWhichRowsHaveChanged) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1000);
  objects.Node("n2", 1000);
  for (const char* job : {"a", "b", "c"}) {
    objects.Group(job, "default", 1);
    objects.Pod({.name = job, .group = job, .node = "n1", .status = TaskStatus::kRunning});
  }
  live.cluster();
  EXPECT_TRUE(live.TakeChanges().rebuilt);
  const ClusterChanges none = live.TakeChanges();
  EXPECT_TRUE(!none.rebuilt && none.nodes.empty() && none.jobs.empty() && none.job_steps.empty());

  objects.Node("n2", 500);
  ClusterChanges changes = (live.cluster(), live.TakeChanges());
  EXPECT_EQ(changes.nodes.size(), 1u);
  EXPECT_EQ(changes.node_facts, changes.nodes);
  EXPECT_EQ(live.cluster().NodeName(changes.nodes[0]), "n2");
  EXPECT_EQ(live.cluster().total.cpu(), 1500);

  // The last job's row moves into the gap.
  const JobId first(0);
  const std::string gone = live.cluster().JobKey(first);
  live.RemovePodGroup(objects.Str("default"), objects.Str(gone.substr(gone.find('/') + 1)));
  changes = (live.cluster(), live.TakeChanges());
  ASSERT_EQ(changes.job_steps.size(), 1u);
  EXPECT_EQ(changes.job_steps[0].kind, ClusterChanges::JobStep::Kind::kRemoved);
  EXPECT_EQ(changes.job_steps[0].job, first);
  EXPECT_EQ(changes.jobs, (std::vector{first}));
  EXPECT_EQ(live.cluster().NodeName(changes.nodes.at(0)), "n1") << "a pod there has no job now";
  Table<JobId, std::string> column;
  for (const char* text : {"0", "1", "2"}) column.Add(text);
  FollowJobs(changes, column);
  EXPECT_EQ(column.raw(), (std::vector<std::string>{"2", "1"}));
}

// Every pod has names, a label and a spec of its own. What is kept of them is bounded by those that
// are there at a time.
TEST(LiveCluster, WhatIsKeptIsBoundedByTheClusterNotByWhatWasEverSeen) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  objects.Queue("default");
  objects.Node("n1", 1e9);
  objects.Group("job", "default", 1);
  constexpr int kPods = 300'000;
  constexpr int kAtATime = 500;
  uint64_t version = 0;
  int compactions = 0;
  for (int i = 0; i < kPods; ++i) {
    objects.Pod({.name = "pod-" + std::to_string(i),
                 .group = "job",
                 .node = "n1",
                 .status = TaskStatus::kRunning,
                 .cpu = 1.0 + i,
                 .label = "label-" + std::to_string(i)});
    if (i >= kAtATime) {
      const std::string oldest = "pod-" + std::to_string(i - kAtATime);
      ASSERT_TRUE(live.RemovePod(objects.Str("default"), objects.Str(oldest)));
    }
    if (i % 1000 != 0) continue;
    live.cluster();
    version = live.version();
    if (!live.IsCrowded()) continue;
    live.Compact();
    ++compactions;
    EXPECT_EQ(live.version(), version) << "nothing that a scheduler could see";
    EXPECT_FALSE(live.IsCrowded());
    const Cluster& c = live.cluster();
    EXPECT_FALSE(live.IsCrowded());
    // A name, a UID and the value of a label for each, and a handful for the rest.
    EXPECT_LT(c.strings.size(), 3u * kAtATime + 50);
    EXPECT_LT(c.label_sets.size(), 1u * kAtATime + 5);
    EXPECT_LE(c.specs.size(), 1u * kAtATime);
    EXPECT_LE(c.classes.size(), 1u * kAtATime);
    EXPECT_EQ(c.tasks.size(), 1u * kAtATime);
    ASSERT_EQ(c.jobs.size(), 1u);
    EXPECT_EQ(c.jobs[JobId(0)].Ready(), kAtATime);
  }
  EXPECT_GT(compactions, 10);
  EXPECT_LT(compactions, kPods / 2000) << "not at every step";
  const Cluster& c = live.cluster();
  EXPECT_LT(c.strings.size(), Crowding::kStrings.floor + 3 * (3 * kAtATime + 3000));
  EXPECT_LT(c.specs.size(), Crowding::kSpecs.floor + 3 * kAtATime + 1000);
  EXPECT_LT(c.label_sets.size(), Crowding::kLabelSets.floor + 3 * kAtATime + 1000);
}

TEST(LiveCluster, ACompactedClusterSaysTheSame) {
  LiveCluster live{BuildOptions{}};
  Objects objects(live);
  // The first strings have low numbers; afterwards their order is another one.
  for (const char* text : {"zzz", "large", "default", "label", "wants", "size", "small"})
    objects.Str(text);
  objects.Queue("default");
  objects.Node("n1", 2000);
  objects.Node("n2", 3000);
  objects.Group("job", "default", 2);
  for (const char* name : {"a", "b", "c"})
    objects.Pod({.name = name, .group = "job", .gpu = 1, .size = "large", .label = name});
  PodSpec spec;
  spec.request.Set(ResourceKinds::kCpu, 10);
  spec.required_affinity = {
      {.selector = {.given = true,
                    .requirements = {{.key = objects.Str("wants"),
                                      .values = {objects.Str("large")}},
                                     {.key = objects.Str("label"),
                                      .values = {objects.Str("a"), objects.Str("b")}}}},
       .namespaces = {objects.Str("default")},
       .topology_key = objects.Str("size")}};
  PodFacts pod;
  pod.task.ns = objects.Str("default");
  pod.task.name = objects.Str("with-affinity");
  pod.task.uid = objects.Str("u");
  pod.task.spec = live.InternSpec(spec);
  pod.task.labels = live.InternLabels({});
  pod.ours = true;
  live.AddPod(pod, Origin::kWritten);
  const std::string before = Describe(live.cluster());
  live.Compact();
  EXPECT_EQ(Describe(live.cluster()), before);
  EXPECT_FALSE(live.strings().Find("zzz").valid());
  EXPECT_EQ(live.rebuilds(), 2u);

  // What is read afterwards is equal to what was moved.
  const size_t specs = live.cluster().specs.size();
  objects.Pod({.name = "d", .group = "job", .gpu = 1, .size = "large", .label = "a"});
  EXPECT_EQ(live.cluster().specs.size(), specs);
  const PodFacts* moved = live.FindPod(objects.Str("default"), objects.Str("with-affinity"));
  ASSERT_NE(moved, nullptr);
  const PodAffinityTerm& term = live.spec(moved->task.spec).required_affinity.at(0);
  const LabelSet* matching =
      &live.labels(live.FindPod(objects.Str("default"), objects.Str("a"))->task.labels);
  EXPECT_TRUE(Matches(term.selector, *matching));
  matching = &live.labels(live.FindPod(objects.Str("default"), objects.Str("c"))->task.labels);
  EXPECT_FALSE(Matches(term.selector, *matching));
}

// Random comings and goings: after each, the tables say what a fresh build of the same objects
// says.
TEST(LiveCluster, FollowsAnyChangeExactly) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 30; ++round) {
    LiveCluster live{BuildOptions{}};
    Objects changes(live);
    std::map<std::string, double> nodes;
    std::map<std::string, std::pair<std::string, int32_t>> groups;
    std::map<std::string, Objects::PodShape> pods;
    changes.Queue("default");
    changes.Queue("other");
    for (int step = 0; step < 120; ++step) {
      const std::string node = "n" + std::to_string(pick(4));
      const std::string group = "g" + std::to_string(pick(5));
      const std::string pod = "p" + std::to_string(pick(25));
      switch (pick(9)) {
        case 0:
          changes.Node(node, nodes[node] = 1000 * (1 + pick(3)));
          break;
        case 1:
          if (pick(4) == 0) {
            EXPECT_EQ(live.RemoveNode(changes.Str(node)), nodes.erase(node) == 1);
          }
          break;
        case 2: {
          constexpr const char* kQueues[] = {"other", "default", "default", "none"};
          const auto& g = groups[group] = {kQueues[pick(4)], pick(4)};
          changes.Group(group, g.first, g.second);
          break;
        }
        case 3:
          EXPECT_EQ(live.RemovePodGroup(changes.Str("default"), changes.Str(group)),
                    groups.erase(group) == 1);
          break;
        case 4:
          EXPECT_EQ(live.RemovePod(changes.Str("default"), changes.Str(pod)), pods.erase(pod) == 1);
          break;
        default: {
          Objects::PodShape shape{.name = pod, .group = pick(6) == 0 ? "" : group};
          shape.role = pick(2) == 0 ? "worker" : "role" + std::to_string(pick(3));
          shape.cpu = 100 * (1 + pick(3));
          shape.gpu = pick(12) == 0 ? 1 : 0;
          shape.ours = pick(8) != 0;
          if (pick(3) == 0) shape.size = pick(2) == 0 ? "large" : "small";
          if (pick(2) == 0) {
            shape.node = node;
            constexpr TaskStatus kStatuses[] = {TaskStatus::kBound, TaskStatus::kRunning,
                                                TaskStatus::kReleasing, TaskStatus::kSucceeded};
            shape.status = kStatuses[pick(4)];
          }
          pods[pod] = shape;
          changes.Pod(shape);
        }
      }
      if (pick(20) == 0) live.Compact();
      if (pick(3) != 0) continue;
      ClusterBuilder builder{BuildOptions{}};
      Objects fresh(builder);
      fresh.Queue("default");
      fresh.Queue("other");
      for (const auto& [name, cpu] : nodes) fresh.Node(name, cpu);
      for (const auto& [name, g] : groups) fresh.Group(name, g.first, g.second);
      for (const auto& [name, shape] : pods) fresh.Pod(shape);
      Diagnostics diagnostics;
      const Cluster snapshot = std::move(builder).Build(diagnostics);
      ASSERT_EQ(Describe(live.cluster()), Describe(snapshot))
          << "round " << round << " step " << step;
      LiveCluster anew{BuildOptions{}};
      Objects again(anew);
      again.Queue("default");
      again.Queue("other");
      for (const auto& [name, g] : groups) again.Group(name, g.first, g.second);
      for (const auto& [name, shape] : pods) again.Pod(shape);
      ASSERT_EQ(Stranded(live), Stranded(anew)) << "round " << round << " step " << step;
    }
    EXPECT_LT(live.rebuilds(), 60u);
  }
}

}  // namespace
}  // namespace krafla
