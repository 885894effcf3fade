#include "kube/cluster_mirror.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

namespace krafla {
namespace {

using What = ObjectMessage::What;

class ClusterMirrorTest : public ::testing::Test {
 protected:
  ClusterMirrorTest() {
    MirrorOptions options;
    for (const WatchedKindInfo& info : kWatchedKinds) options.kinds.push_back(info.kind);
    options.log = [this](const std::string& line) { log.push_back(line); };
    options.steady_ns = [this] { return steady_ns; };
    mirror.emplace(std::move(options));
    for (const WatchedKindInfo& info : kWatchedKinds) Mark(What::kSyncBegins, info.kind);
    See(WatchedKind::kNamespace, Object("v1", "Namespace", "", "a"));
    See(WatchedKind::kQueue, Object("scheduling.volcano.sh/v1beta1", "Queue", "", "default"));
    See(WatchedKind::kNode,
        Object("v1", "Node", "", "n1",
               R"("status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}})"));
    for (const WatchedKindInfo& info : kWatchedKinds) Mark(What::kSyncEnds, info.kind);
  }

  static std::string Object(const std::string& api, const std::string& kind, const std::string& ns,
                            const std::string& name, const std::string& rest = R"("spec":{})",
                            int version = 1, const std::string& annotations = "") {
    return fmt::format(
        R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}","namespace":"{}","uid":"u-{}",)"
        R"("resourceVersion":"{}","annotations":{{{}}}}},{}}})",
        api, kind, name, ns, name, version, annotations, rest);
  }
  static std::string Pod(const std::string& name, int version = 1, const std::string& node = "",
                         const std::string& phase = "Pending",
                         const std::string& annotations = "") {
    return Object(
        "v1", "Pod", "a", name,
        fmt::format(
            R"("spec":{{"schedulerName":"volcano",{}"containers":[{{"name":"c","image":"i",)"
            R"("resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"{}"}})",
            node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), phase),
        version, annotations);
  }
  void Mark(What what, WatchedKind kind) { mirror->Apply({what, kind, {}, {}}); }
  void See(WatchedKind kind, const std::string& json, What what = What::kSeen) {
    ObjectMessage message{what, kind, Padded(json), {}};
    message.head = parser.ParseHead(message.object).value();
    mirror->Apply(std::move(message));
  }
  void Lose(WatchedKind kind, const std::string& ns, const std::string& name) {
    mirror->Apply({What::kGone, kind, {}, {.ns = ns, .name = name}});
  }
  const PodFacts* Facts(const std::string& name) {
    StringPool& s = mirror->live().strings();
    return mirror->live().FindPod(s.Intern("a"), s.Intern(name));
  }
  TaskStatus Status(const std::string& name) { return Facts(name)->task.status; }

  // A pod of a ReplicaSet, as its controller creates it: without PodGroup.
  static std::string OwnedPod(const std::string& name, int version = 1,
                              const std::string& annotations = "", const std::string& node = "") {
    std::string pod = Pod(name, version, node, "Pending", annotations);
    pod.insert(pod.find(R"("annotations")"),
               R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs",)"
               R"("uid":"rs1","controller":true}],)");
    return pod;
  }
  // The PodGroup that Volcano's controllers create for it.
  static std::string ControllersGroup() {
    std::string group = Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "podgroup-rs1",
                               R"("spec":{"minMember":2})");
    group.insert(group.find(R"("annotations")"),
                 R"("ownerReferences":[{"kind":"ReplicaSet","uid":"rs1","controller":true}],)");
    return group;
  }
  static std::string Queue(const std::string& manager) {
    std::string queue = Object("scheduling.volcano.sh/v1beta1", "Queue", "", "default",
                               R"("spec":{},"status":{"state":"Open"})", 2);
    queue.insert(queue.find(R"("annotations")"),
                 fmt::format(R"("managedFields":[{{"manager":"kubectl","operation":"Update"}},)"
                             R"({{"manager":"{}","subresource":"status"}}],)",
                             manager));
    return queue;
  }
  size_t Jobs() { return mirror->live().cluster().jobs.size(); }

  int64_t steady_ns = 1'000'000'000;
  std::vector<std::string> log;
  std::optional<ClusterMirror> mirror;
  ApiTextParser parser;
};

TEST_F(ClusterMirrorTest, SyncedWhenEveryKindHasBeenListed) {
  EXPECT_TRUE(mirror->synced());
  MirrorOptions options;
  options.kinds = {WatchedKind::kPod, WatchedKind::kNode};
  ClusterMirror other(options);
  other.Apply({What::kSyncBegins, WatchedKind::kPod, {}, {}});
  EXPECT_FALSE(other.synced());
  other.Apply({What::kSyncEnds, WatchedKind::kPod, {}, {}});
  EXPECT_EQ(other.UnsyncedKinds(), std::vector<std::string_view>{"nodes"});
}

TEST_F(ClusterMirrorTest, ANewListIsAppliedAsADifference) {
  See(WatchedKind::kPod, Pod("p1"));
  See(WatchedKind::kPod, Pod("p2"));
  const uint64_t before = mirror->live().version();
  Mark(What::kSyncBegins, WatchedKind::kPod);
  See(WatchedKind::kPod, Pod("p1"));
  EXPECT_EQ(mirror->live().version(), before) << "the same again is no change";
  EXPECT_NE(Facts("p2"), nullptr) << "nothing flaps while the list comes in";
  Mark(What::kSyncEnds, WatchedKind::kPod);
  EXPECT_NE(Facts("p1"), nullptr);
  EXPECT_EQ(Facts("p2"), nullptr);
}

TEST_F(ClusterMirrorTest, NewsThatSaysNothingNewIsNoChange) {
  See(WatchedKind::kPod, Pod("p1", 1, "n1", "Running"));
  const auto node = [](int version, const std::string& cpu, const std::string& beat) {
    return Object(
        "v1", "Node", "", "n1",
        fmt::format(R"("status":{{"allocatable":{{"cpu":"{}","memory":"8Gi","pods":"10"}},)"
                    R"("conditions":[{{"type":"Ready","lastHeartbeatTime":"{}"}}]}})",
                    cpu, beat),
        version);
  };
  See(WatchedKind::kNode, node(2, "4", "2026-01-01T00:00:00Z"));
  const uint64_t before = mirror->live().version();
  See(WatchedKind::kPod, Pod("p1", 2, "n1", "Running"));
  See(WatchedKind::kNode, node(3, "4", "2026-01-01T00:00:10Z"));
  EXPECT_EQ(mirror->live().version(), before);
  See(WatchedKind::kNode, node(4, "5", "2026-01-01T00:00:10Z"));
  EXPECT_GT(mirror->live().version(), before);
  const uint64_t after = mirror->live().version();
  See(WatchedKind::kPod, Pod("p1", 3, "n1", "Succeeded"));
  EXPECT_GT(mirror->live().version(), after);
}

TEST_F(ClusterMirrorTest, WhatAGroupRemembersIsRecalled) {
  See(WatchedKind::kPodGroup,
      Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g", R"("spec":{"minMember":1})", 1,
             R"("krafla.io/zone-evictions":"rz1=2026-03-08T20:00:00Z",)"
             R"("krafla.io/evictions":"2026-03-08T20:00:00Z")"));
  CycleMemory memory;
  mirror->RecallEvictions(Timestamp::FromUnixSeconds(1'773'100'000), memory);
  EXPECT_EQ(FormatRfc3339(*memory.LastEviction("rz1")), "2026-03-08T20:00:00Z");
  EXPECT_EQ(memory.FindJobEvictions("a/g")->times.size(), 1u);
  EXPECT_EQ(mirror->CountEviction("a/g"), 1u);
  EXPECT_EQ(mirror->CountEviction("a/unknown"), 0u);
}

TEST_F(ClusterMirrorTest, OldNewsDoesNotUndoADecision) {
  See(WatchedKind::kPod, Pod("p1"));
  mirror->ExpectBinding("a/p1", "u-p1", "n1");
  See(WatchedKind::kPod, Pod("p1", 2));
  EXPECT_EQ(Status("p1"), TaskStatus::kBinding);
  See(WatchedKind::kPod, Pod("p1", 3, "n1"));
  EXPECT_EQ(Status("p1"), TaskStatus::kBound);
  EXPECT_EQ(mirror->expectations(), 0u);

  mirror->ExpectEviction("a/p1", "u-p1");
  See(WatchedKind::kPod, Pod("p1", 4, "n1", "Running"));
  EXPECT_EQ(Status("p1"), TaskStatus::kReleasing);
  Lose(WatchedKind::kPod, "a", "p1");
  EXPECT_EQ(mirror->expectations(), 0u);
  EXPECT_EQ(Facts("p1"), nullptr);
}

TEST_F(ClusterMirrorTest, AfterAFailureThePodIsWhatTheServerSays) {
  See(WatchedKind::kPod, Pod("p1", 5));
  mirror->ExpectBinding("a/p1", "u-p1", "n1");
  See(WatchedKind::kPod, Pod("p1", 5), What::kReread);
  EXPECT_EQ(Status("p1"), TaskStatus::kBinding) << "still expected";
  mirror->ForgetExpectation("a/p1", "u-other");
  See(WatchedKind::kPod, Pod("p1", 5), What::kReread);
  EXPECT_EQ(Status("p1"), TaskStatus::kBinding) << "that was another pod of the same name";
  mirror->ForgetExpectation("a/p1", "u-p1");
  See(WatchedKind::kPod, Pod("p1", 5), What::kReread);
  EXPECT_EQ(Status("p1"), TaskStatus::kPending);
  See(WatchedKind::kPod, Pod("p1", 7, "n1"));
  See(WatchedKind::kPod, Pod("p1", 6), What::kReread);
  EXPECT_EQ(Status("p1"), TaskStatus::kBound) << "an answer that was slower than the watch";
}

TEST_F(ClusterMirrorTest, APodWithoutPodGroupIsAGroupOfOne) {
  See(WatchedKind::kQueue, Object("scheduling.volcano.sh/v1beta1", "Queue", "", "batch"));
  See(WatchedKind::kPod,
      Pod("p1", 1, "", "Pending", R"("scheduling.volcano.sh/queue-name":"batch")"));
  const Cluster& c = mirror->live().cluster();
  ASSERT_EQ(c.jobs.size(), 1u);
  const Job& job = c.jobs[c.jobs_by_name[0]];
  EXPECT_EQ(c.Text(job.name), "pod:p1");
  EXPECT_TRUE(ClusterMirror::IsGroupOfOne(c.Text(job.name)));
  EXPECT_EQ(c.QueueName(job.queue), "batch");
  EXPECT_EQ(job.min_available, 1);
  EXPECT_EQ(job.tasks.size(), 1u);
  // Somebody gives it a PodGroup, or it goes: then there is none.
  See(WatchedKind::kPod, Pod("p1", 2, "", "Pending", R"("scheduling.k8s.io/group-name":"real")"));
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 0u);
  See(WatchedKind::kPod, Pod("p2"));
  Lose(WatchedKind::kPod, "a", "p2");
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 0u);
}

TEST_F(ClusterMirrorTest, AnOwnedPodWhoseBindingFailedDoesNotWaitAgain) {
  See(WatchedKind::kPod, OwnedPod("p1"));
  steady_ns += LonePods::kOwnedPodDelayNs;
  EXPECT_TRUE(mirror->ReleaseLonePods());
  mirror->ExpectBinding("a/p1", "u-p1", "n1");
  See(WatchedKind::kPod, OwnedPod("p1", 2));  // an update of its status, meanwhile
  mirror->ForgetExpectation("a/p1", "u-p1");
  See(WatchedKind::kPod, OwnedPod("p1", 2), What::kReread);
  EXPECT_EQ(mirror->WaitForGroup("a/p1"), GroupWait::kNone);
  EXPECT_EQ(mirror->next_release_ns(), std::nullopt);
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 1u);
}

TEST_F(ClusterMirrorTest, APodWithAnOwnerIsScheduledAloneOnlyAfterADelay) {
  See(WatchedKind::kPod, OwnedPod("p1"));
  EXPECT_EQ(Jobs(), 0u) << "its PodGroup may be created";
  EXPECT_EQ(mirror->live().FindStranded().pods.size(), 1u) << "it is known to wait";
  EXPECT_EQ(mirror->WaitForGroup("a/p1"), GroupWait::kDelay);
  ASSERT_EQ(mirror->next_release_ns(), steady_ns + LonePods::kOwnedPodDelayNs);
  EXPECT_FALSE(mirror->ReleaseLonePods());
  steady_ns += LonePods::kOwnedPodDelayNs;
  EXPECT_TRUE(mirror->ReleaseLonePods());
  EXPECT_EQ(Jobs(), 1u);
  EXPECT_EQ(mirror->next_release_ns(), std::nullopt);
  EXPECT_EQ(mirror->WaitForGroup("a/p1"), GroupWait::kNone);
  // Seen again it stays so.
  See(WatchedKind::kPod, OwnedPod("p1", 2));
  EXPECT_EQ(Jobs(), 1u);
  EXPECT_TRUE(mirror->live().FindStranded().pods.empty());
}

TEST_F(ClusterMirrorTest, APodThatGetsItsPodGroupInTimeIsNeverASingleton) {
  See(WatchedKind::kPod, OwnedPod("p1"));
  See(WatchedKind::kPodGroup, ControllersGroup());
  See(WatchedKind::kPod, OwnedPod("p1", 2, R"("scheduling.k8s.io/group-name":"podgroup-rs1")"));
  ASSERT_EQ(Jobs(), 1u);
  EXPECT_EQ(mirror->live().cluster().JobKey(JobId{0}), "a/podgroup-rs1");
  EXPECT_EQ(mirror->next_release_ns(), std::nullopt);
  steady_ns += 2 * LonePods::kOwnedPodDelayNs;
  EXPECT_FALSE(mirror->ReleaseLonePods());
  EXPECT_EQ(Jobs(), 1u);
}

TEST_F(ClusterMirrorTest, VolcanosControllersAreSeenByThePodGroupsTheyCreate) {
  See(WatchedKind::kPod, Pod("before"));
  EXPECT_EQ(Jobs(), 1u);
  See(WatchedKind::kPodGroup, ControllersGroup());
  EXPECT_TRUE(mirror->controllers_seen());
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0],
            "Volcano's controllers are seen; pods without PodGroup wait for theirs "
            "podgroup=a/podgroup-rs1 sign=name");
  EXPECT_EQ(Jobs(), 1u) << "the PodGroup; the pod that was a singleton waits for its own";
  EXPECT_EQ(mirror->WaitForGroup("a/before"), GroupWait::kControllers);
  See(WatchedKind::kPod, Pod("after"));
  EXPECT_EQ(mirror->WaitForGroup("a/after"), GroupWait::kControllers);
  // They stay seen when what they created goes.
  Lose(WatchedKind::kPodGroup, "a", "podgroup-rs1");
  See(WatchedKind::kPod, Pod("later"));
  EXPECT_EQ(mirror->WaitForGroup("a/later"), GroupWait::kControllers);
  EXPECT_EQ(Jobs(), 0u);
}

TEST_F(ClusterMirrorTest, VolcanosControllersAreSeenByTheirNameInManagedFields) {
  See(WatchedKind::kQueue, Queue("krafla"));
  EXPECT_FALSE(mirror->controllers_seen()) << "a state that a user has set";
  std::string later = Queue("queue-controller");
  later.replace(later.find(R"("resourceVersion":"2")"), 21, R"("resourceVersion":"3")");
  See(WatchedKind::kQueue, later);
  EXPECT_TRUE(mirror->controllers_seen());
  ASSERT_EQ(log.size(), 1u);
  EXPECT_TRUE(log[0].ends_with("queue=default sign=managedFields")) << log[0];
}

TEST_F(ClusterMirrorTest, APodGroupThatOnlyLooksLikeTheirsIsNoSign) {
  See(WatchedKind::kPodGroup,
      Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "podgroup-rs1"));
  EXPECT_FALSE(mirror->controllers_seen()) << "it has no owner of that UID";
}

TEST_F(ClusterMirrorTest, APodThatIsBoundOrBeingBoundNeedsNoPodGroup) {
  See(WatchedKind::kPod, Pod("binds"));
  mirror->ExpectBinding("a/binds", "u-binds", "n1");
  See(WatchedKind::kPod, Pod("binds", 2));
  See(WatchedKind::kPod, OwnedPod("runs", 1, "", "n1"));
  See(WatchedKind::kPodGroup, ControllersGroup());
  EXPECT_EQ(Status("binds"), TaskStatus::kBinding);
  EXPECT_EQ(mirror->WaitForGroup("a/binds"), GroupWait::kNone);
  EXPECT_EQ(mirror->WaitForGroup("a/runs"), GroupWait::kNone);
  EXPECT_EQ(Jobs(), 3u);
  // The binding failed, and the pod is read again: then it waits.
  mirror->ForgetExpectation("a/binds", "u-binds");
  See(WatchedKind::kPod, Pod("binds", 3), What::kReread);
  EXPECT_EQ(mirror->WaitForGroup("a/binds"), GroupWait::kControllers);
  EXPECT_EQ(Jobs(), 2u);
}

TEST_F(ClusterMirrorTest, APhaseThatWasDecidedStaysUntilItIsSeen) {
  const auto group = [](int version, const std::string& phase) {
    return Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g",
                  fmt::format(R"("spec":{{"minMember":1}},"status":{{"phase":"{}"}})", phase),
                  version);
  };
  const auto phase = [&] {
    StringPool& s = mirror->live().strings();
    return mirror->live().FindPodGroup(s.Intern("a"), s.Intern("g"))->job.phase;
  };
  See(WatchedKind::kPodGroup, group(1, "Pending"));
  EXPECT_EQ(*mirror->StatusOf(WatchedKind::kPodGroup, "a/g"), R"({"phase":"Pending"})");
  mirror->ExpectPhase("a/g", JobPhase::kInqueue);
  See(WatchedKind::kPodGroup, group(2, "Pending"));
  EXPECT_EQ(phase(), JobPhase::kInqueue);
  See(WatchedKind::kPodGroup, group(3, "Inqueue"));
  See(WatchedKind::kPodGroup, group(4, "Pending"));
  EXPECT_EQ(phase(), JobPhase::kPending) << "it was seen; what comes later is somebody's word";
}

TEST_F(ClusterMirrorTest, AnObjectThatCannotBeReadIsNamedOnceAndLeftAsItWas) {
  See(WatchedKind::kPod, Pod("p1"));
  const std::string bad =
      Object("v1", "Pod", "a", "p1", R"("spec":{"containers":[{"resources":7}]})", 2);
  See(WatchedKind::kPod, bad);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log[0].find("Pod a/p1: spec.containers[0].resources"), std::string::npos) << log[0];
  EXPECT_NE(Facts("p1"), nullptr);
  std::string again = bad;
  again.replace(again.find(R"("resourceVersion":"2")"), 21, R"("resourceVersion":"3")");
  See(WatchedKind::kPod, again);
  EXPECT_EQ(log.size(), 1u);
  EXPECT_EQ(mirror->malformed(), 2u);
}

TEST_F(ClusterMirrorTest, NamesOfPodsThatAreGoneAreGivenUp) {
  See(WatchedKind::kPod, Pod("stays", 1, "n1", "Running"));
  See(WatchedKind::kPod, Pod("binds"));
  mirror->ExpectBinding("a/binds", "u-binds", "n1");
  size_t most = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = fmt::format("pod-{}", i);
    See(WatchedKind::kPod, Pod(name));
    Lose(WatchedKind::kPod, "a", name);
    most = std::max(most, mirror->live().strings().size());
  }
  EXPECT_LT(most, 70'000u) << "of 150,000: name, UID and the group of its own for each";
  EXPECT_EQ(Status("stays"), TaskStatus::kRunning);
  See(WatchedKind::kPod, Pod("binds", 2));
  EXPECT_EQ(Status("binds"), TaskStatus::kBinding) << "what is expected is known by name";
  const Cluster& c = mirror->live().cluster();
  EXPECT_EQ(c.tasks.size(), 2u);
  ASSERT_EQ(c.jobs.size(), 2u);
  EXPECT_EQ(c.JobKey(c.jobs_by_name[1]), "a/pod:stays");
}

TEST_F(ClusterMirrorTest, APodOfAGroupHasNoNameForAGroupOfItsOwn) {
  See(WatchedKind::kPod, Pod("p1", 1, "", "Pending", R"("scheduling.k8s.io/group-name":"g")"));
  Lose(WatchedKind::kPod, "a", "p1");
  Lose(WatchedKind::kPod, "a", "never-seen");
  EXPECT_FALSE(mirror->live().strings().Find("pod:p1").valid());
  EXPECT_FALSE(mirror->live().strings().Find("never-seen").valid());
}

TEST_F(ClusterMirrorTest, EveryKindCanGo) {
  See(WatchedKind::kPriorityClass,
      Object("scheduling.k8s.io/v1", "PriorityClass", "", "high", R"("value":10)"));
  See(WatchedKind::kStorageClass,
      Object("storage.k8s.io/v1", "StorageClass", "", "s", R"("provisioner":"x")"));
  See(WatchedKind::kClaim, Object("v1", "PersistentVolumeClaim", "a", "c"));
  EXPECT_EQ(mirror->live().cluster().volumes.claims.size(), 1u);
  Lose(WatchedKind::kPriorityClass, "", "high");
  Lose(WatchedKind::kStorageClass, "", "s");
  Lose(WatchedKind::kClaim, "a", "c");
  Lose(WatchedKind::kNode, "", "n1");
  Lose(WatchedKind::kQueue, "", "default");
  const Cluster& c = mirror->live().cluster();
  EXPECT_EQ(c.volumes.claims.size(), 0u);
  EXPECT_EQ(c.nodes.size(), 0u);
  EXPECT_EQ(c.queues.size(), 0u);
}

TEST_F(ClusterMirrorTest, AGroupOfOneFollowsItsPod) {
  const auto pod = [](int version, const std::string& cpu, const std::string& annotations) {
    return Object("v1", "Pod", "a", "p",
                  fmt::format(R"("spec":{{"schedulerName":"volcano","containers":[{{"name":"c",)"
                              R"("resources":{{"requests":{{"cpu":"{}"}}}}}}]}},)"
                              R"("status":{{"phase":"Pending"}})",
                              cpu),
                  version, annotations);
  };
  const auto group = [&]() -> const PodGroupFacts& {
    StringPool& s = mirror->live().strings();
    return *mirror->live().FindPodGroup(s.Intern("a"), s.Intern("pod:p"));
  };
  const auto milli_cpu = [&] { return group().job.min_resources->Get(ResourceKinds::kCpu); };
  See(WatchedKind::kPod, pod(1, "1", ""));
  mirror->live().AssumePhase(mirror->live().cluster().jobs_by_name[0], JobPhase::kInqueue);
  EXPECT_EQ(milli_cpu(), 1000);
  EXPECT_FALSE(group().job.zones.annotated);
  const uint64_t before = mirror->live().version();
  See(WatchedKind::kPod, pod(2, "1", R"("example.com/note":"x")"));
  EXPECT_EQ(mirror->live().version(), before) << "nothing that counts";
  See(WatchedKind::kPod, pod(3, "3",
                             R"("scheduling.volcano.sh/queue-name":"other","volcano.sh/)"
                             R"(revocable-zone":"*","volcano.sh/preemptable":"true")"));
  EXPECT_EQ(milli_cpu(), 3000);
  EXPECT_TRUE(group().job.zones.all);
  EXPECT_TRUE(group().job.preemptable);
  EXPECT_EQ(mirror->live().strings().Text(group().queue), "other");
  EXPECT_EQ(group().job.phase, JobPhase::kInqueue) << "it keeps its phase";
  See(WatchedKind::kPod, pod(4, "3", ""));
  EXPECT_EQ(group().queue, kEmptyStr);
  EXPECT_FALSE(group().job.zones.annotated);
  // The pod is of its group still.
  EXPECT_EQ(mirror->live().cluster().jobs[mirror->live().cluster().jobs_by_name[0]].tasks.size(),
            1u);
}

TEST_F(ClusterMirrorTest, AFollowerSeesThatAGroupOfOneRuns) {
  const auto phase = [&] {
    StringPool& s = mirror->live().strings();
    return mirror->live().FindPodGroup(s.Intern("a"), s.Intern("pod:p"))->job.phase;
  };
  std::vector<std::optional<JobPhase>> told;
  mirror->SetObserver([&](RecordedChange change) { told.push_back(change.phase); });
  See(WatchedKind::kPod, Pod("p", 1));
  EXPECT_EQ(phase(), JobPhase::kPending);
  mirror->SetFollows(true);
  See(WatchedKind::kPod, Pod("p", 2, "n1"));
  EXPECT_EQ(phase(), JobPhase::kRunning);
  EXPECT_EQ(told.back(), JobPhase::kRunning) << "whoever looks in is told";
  // Whoever leads decides phases in cycles.
  mirror->SetFollows(false);
  See(WatchedKind::kPod, Pod("q", 3));
  See(WatchedKind::kPod, Pod("q", 4, "n1"));
  EXPECT_EQ(told.back(), JobPhase::kPending);
}

TEST_F(ClusterMirrorTest, AnAnswerIsNoWordOfTheList) {
  See(WatchedKind::kPod, Pod("p"));
  Mark(What::kSyncBegins, WatchedKind::kPod);
  See(WatchedKind::kPod, Pod("p", 5), What::kReread);
  Mark(What::kSyncEnds, WatchedKind::kPod);
  EXPECT_EQ(Facts("p"), nullptr) << "the list does not have it";
}

TEST_F(ClusterMirrorTest, AnAnswerDoesNotBringBackWhatIsGone) {
  See(WatchedKind::kPod, Pod("p"));
  Lose(WatchedKind::kPod, "a", "p");
  See(WatchedKind::kPod, Pod("p", 5), What::kReread);
  EXPECT_EQ(mirror->UidOf(WatchedKind::kPod, "a/p"), "");
  EXPECT_EQ(Facts("p"), nullptr);
}

// A list of pods whose resourceVersion is `version`.
class RollbackTest : public ClusterMirrorTest {
 protected:
  RollbackTest() {
    MirrorOptions options;
    for (const WatchedKindInfo& info : kWatchedKinds) options.kinds.push_back(info.kind);
    options.log = [this](const std::string& line) { log.push_back(line); };
    options.on_rollback = [this] { ++told; };
    mirror.emplace(std::move(options));
    for (const WatchedKindInfo& info : kWatchedKinds) Mark(What::kSyncBegins, info.kind);
    See(WatchedKind::kNamespace, Object("v1", "Namespace", "", "a"));
    See(WatchedKind::kQueue, Object("scheduling.volcano.sh/v1beta1", "Queue", "", "default"));
    for (const WatchedKindInfo& info : kWatchedKinds) End(info.kind, 10);
  }
  void End(WatchedKind kind, int version) {
    mirror->Apply({What::kSyncEnds, kind, {}, {.resource_version = fmt::format("{}", version)}});
  }
  void ListPods(const std::vector<std::string>& pods, int version) {
    Mark(What::kSyncBegins, WatchedKind::kPod);
    for (const std::string& pod : pods) See(WatchedKind::kPod, pod);
    End(WatchedKind::kPod, version);
  }
  int told = 0;
};

TEST_F(RollbackTest, AfterARestoreTheListIsTheTruth) {
  ListPods({Pod("bound", 100), Pod("stays", 40), Pod("binds", 100), Pod("leaves", 41, "n1")}, 100);
  See(WatchedKind::kPod, Pod("bound", 110, "n1"));
  See(WatchedKind::kPod, Pod("new", 120));
  mirror->ExpectBinding("a/binds", "u-binds", "n1");
  See(WatchedKind::kPod, Pod("binds", 101));
  mirror->ExpectEviction("a/leaves", "u-leaves");
  See(WatchedKind::kPod, Pod("leaves", 102, "n1", "Running"));
  ASSERT_EQ(Status("binds"), TaskStatus::kBinding);
  ASSERT_EQ(Status("leaves"), TaskStatus::kReleasing);

  Mark(What::kSyncBegins, WatchedKind::kPod);
  for (const std::string& pod :
       {Pod("bound", 30), Pod("stays", 40), Pod("binds", 31), Pod("leaves", 41, "n1")})
    See(WatchedKind::kPod, pod);
  EXPECT_EQ(Status("bound"), TaskStatus::kBound) << "nothing is concluded before the list ends";
  End(WatchedKind::kPod, 50);

  EXPECT_EQ(Status("bound"), TaskStatus::kPending);
  EXPECT_EQ(Status("binds"), TaskStatus::kPending) << "what was expected of it is dropped";
  EXPECT_EQ(Status("leaves"), TaskStatus::kBound);
  EXPECT_EQ(Facts("new"), nullptr);
  EXPECT_EQ(mirror->expectations(), 0u);
  EXPECT_EQ(mirror->rollbacks(), 1u);
  EXPECT_EQ(told, 1);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0],
            "etcd has gone back to an earlier state, as after a restore from a backup; lists are "
            "taken as they are and what was expected is dropped kind=Pod list=50 seen=120 "
            "expectations=2");
  See(WatchedKind::kPod, Pod("bound", 51, "n1"));
  EXPECT_EQ(Status("bound"), TaskStatus::kBound) << "versions count from the restored ones on";
}

TEST_F(RollbackTest, AnOlderObjectInAListOfALaterVersionIsARestoreToo) {
  ListPods({Pod("p", 100, "n1")}, 100);
  ListPods({Pod("p", 30)}, 1'000'000);
  EXPECT_EQ(Status("p"), TaskStatus::kPending) << "etcd was restored with --bump-revision";
  EXPECT_EQ(mirror->rollbacks(), 1u);
}

TEST_F(RollbackTest, AWatchCacheThatLagsIsNoRestore) {
  ListPods({Pod("p", 100, "n1"), Pod("binds", 90)}, 100);
  mirror->ExpectBinding("a/binds", "u-binds", "n1");
  See(WatchedKind::kPod, Pod("binds", 101));
  // A watch-list of another API server: first what its cache has, then what came since.
  Mark(What::kSyncBegins, WatchedKind::kPod);
  See(WatchedKind::kPod, Pod("p", 80));
  See(WatchedKind::kPod, Pod("binds", 90));
  EXPECT_EQ(Status("p"), TaskStatus::kBound);
  EXPECT_EQ(Status("binds"), TaskStatus::kBinding);
  See(WatchedKind::kPod, Pod("p", 100, "n1"));
  See(WatchedKind::kPod, Pod("binds", 101));
  End(WatchedKind::kPod, 101);
  EXPECT_EQ(Status("p"), TaskStatus::kBound);
  EXPECT_EQ(Status("binds"), TaskStatus::kBinding) << "what is right is not thrown away";
  EXPECT_EQ(mirror->rollbacks(), 0u);
  EXPECT_EQ(log.size(), 0u);
}

TEST_F(RollbackTest, AnObjectThatIsDeletedWhileALaggingListComesInIsNoRestore) {
  ListPods({Pod("p", 100, "n1")}, 100);
  Mark(What::kSyncBegins, WatchedKind::kPod);
  See(WatchedKind::kPod, Pod("p", 80));
  Lose(WatchedKind::kPod, "a", "p");
  End(WatchedKind::kPod, 102);
  EXPECT_EQ(Facts("p"), nullptr);
  EXPECT_EQ(mirror->rollbacks(), 0u);
}

TEST_F(RollbackTest, AnAnswerThatOvertakesTheListIsNoRestore) {
  ListPods({Pod("p", 100)}, 100);
  Mark(What::kSyncBegins, WatchedKind::kPod);
  mirror->ExpectBinding("a/p", "u-p", "n1");
  mirror->ForgetExpectation("a/p", "u-p");
  See(WatchedKind::kPod, Pod("p", 120, "n1"), What::kReread);
  See(WatchedKind::kPod, Pod("p", 100));
  End(WatchedKind::kPod, 110);
  EXPECT_EQ(Status("p"), TaskStatus::kBound);
  EXPECT_EQ(mirror->rollbacks(), 0u);
}

TEST_F(RollbackTest, ExpectationsOfOtherKindsAreDroppedWithTheirNextList) {
  const auto group = [](int version) {
    return Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g",
                  R"("spec":{"minMember":1},"status":{"phase":"Pending"})", version);
  };
  const auto phase = [&] {
    StringPool& s = mirror->live().strings();
    return mirror->live().FindPodGroup(s.Intern("a"), s.Intern("g"))->job.phase;
  };
  See(WatchedKind::kPodGroup, group(20));
  mirror->ExpectPhase("a/g", JobPhase::kInqueue);
  See(WatchedKind::kPodGroup, group(21));
  ListPods({Pod("p", 100)}, 100);
  ListPods({Pod("p", 30)}, 50);
  EXPECT_EQ(phase(), JobPhase::kInqueue) << "its list is still to come";
  Mark(What::kSyncBegins, WatchedKind::kPodGroup);
  See(WatchedKind::kPodGroup, group(21));
  End(WatchedKind::kPodGroup, 50);
  EXPECT_EQ(phase(), JobPhase::kPending);
  EXPECT_EQ(log.size(), 1u) << "one line for all kinds";
  EXPECT_EQ(told, 1);
  EXPECT_EQ(mirror->rollbacks(), 1u);
}

TEST_F(RollbackTest, ASecondRestoreIsNoticedAsTheFirst) {
  ListPods({Pod("p", 100, "n1")}, 100);
  ListPods({Pod("p", 30)}, 50);
  for (const WatchedKindInfo& info : kWatchedKinds) {
    if (info.kind == WatchedKind::kPod) continue;
    Mark(What::kSyncBegins, info.kind);
    End(info.kind, 50);
  }
  See(WatchedKind::kPod, Pod("p", 60, "n1"));
  ListPods({Pod("p", 30)}, 50);
  EXPECT_EQ(Status("p"), TaskStatus::kPending);
  EXPECT_EQ(mirror->rollbacks(), 2u);
}

TEST_F(ClusterMirrorTest, AnnotationsOfALaterVersionAreIgnoredWithOneLine) {
  for (int version = 1; version <= 2; ++version)
    See(WatchedKind::kPodGroup,
        Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g", R"("spec":{"minMember":1})",
               version, R"("krafla.io/evictions":"v2;whatever")"));
  CycleMemory memory;
  mirror->RecallEvictions(Timestamp::FromUnixSeconds(1'773'100'000), memory);
  EXPECT_EQ(memory.FindJobEvictions("a/g"), nullptr);
  // Decoders see none of it on its way here: reduced objects do not have it.
  EXPECT_EQ(std::count(log.begin(), log.end(),
                       "annotation of a later krafla is ignored podgroup=a/g "
                       "value=\"v2;whatever\" expected=\"v1;\""),
            1);
}

TEST_F(ClusterMirrorTest, AnnotationsThatAnotherManagerHasWrittenAreIgnored) {
  const auto group = [](const std::string& manager, int version) {
    return fmt::format(
        R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":)"
        R"({{"annotations":{{"krafla.io/evictions":"v1;2026-03-08T20:00:00Z","other":"x"}},)"
        R"("managedFields":[{{"manager":"kubectl","fieldsV1":{{"f:metadata":{{"f:annotations":)"
        R"({{"f:other":{{}}}}}}}}}},{{"manager":"{}","operation":"Update","fieldsV1":)"
        R"({{"f:metadata":{{"f:annotations":{{".":{{}},"f:krafla.io/evictions":{{}}}}}}}}}}],)"
        R"("name":"g","namespace":"a","uid":"u-g","resourceVersion":"{}"}},)"
        R"("spec":{{"minMember":1}}}})",
        manager, version);
  };
  const auto recalled = [&] {
    CycleMemory memory;
    mirror->RecallEvictions(Timestamp::FromUnixSeconds(1'773'100'000), memory);
    return memory.FindJobEvictions("a/g") != nullptr;
  };
  See(WatchedKind::kPodGroup, group("krafla", 1));
  EXPECT_TRUE(recalled());
  EXPECT_EQ(log.size(), 0u);
  See(WatchedKind::kPodGroup, group("kubectl-edit", 2));
  EXPECT_FALSE(recalled());
  See(WatchedKind::kPodGroup, group("kubectl-edit", 3));
  EXPECT_EQ(log, (std::vector<std::string>{
                     "annotations that krafla has not written are ignored podgroup=a/g "
                     "annotations=krafla.io/evictions hint=\"deploy/admission-policy.yaml keeps "
                     "others from writing them\""}));
}

}  // namespace
}  // namespace krafla
