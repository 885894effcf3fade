// Objects whose handling fails an internal check: what the mirror makes of them.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/recovery.h"
#include "kube/cluster_mirror.h"
#include "kube/stand_in.h"
#include "model/selectors.h"

namespace krafla {
namespace {

using What = ObjectMessage::What;
using std::chrono::seconds;

class MirrorQuarantine : public ::testing::Test {
 protected:
  MirrorQuarantine() {
    RecoveryScope::Enable(true);
    MirrorOptions options;
    for (const WatchedKindInfo& info : kWatchedKinds) options.kinds.push_back(info.kind);
    options.clock = [this] { return now; };
    options.before_taking = [this](WatchedKind kind, const std::string& key, bool stand_in) {
      const std::string title = fmt::format("{} {}", InfoOf(kind).name, key);
      KRAFLA_CHECK(stand_in || broken_once.erase(title) == 0, title);
      KRAFLA_CHECK(!(stand_in ? broken_stand_ins : broken).contains(title), title);
    };
    mirror.emplace(std::move(options));
    mirror->SetQuarantineListener([this](const Quarantine::Entry& entry) {
      told.push_back(fmt::format("{} {} {}", InfoOf(entry.kind).name, entry.key,
                                 entry.held ? entry.instead : "ended"));
    });
    mirror->SetObserver([this](RecordedChange change) {
      recorded.push_back(fmt::format("{} {} {}",
                                     change.what == RecordedChange::What::kGone ? "gone" : "put",
                                     change.kind, change.key));
    });
    See(WatchedKind::kNamespace, Object("v1", "Namespace", "", "a"));
    See(WatchedKind::kQueue, Object("scheduling.volcano.sh/v1beta1", "Queue", "", "default"));
    See(WatchedKind::kNode, Node());
  }
  ~MirrorQuarantine() override { RecoveryScope::Enable(before_); }

  static std::string Object(const std::string& api, const std::string& kind, const std::string& ns,
                            const std::string& name, const std::string& rest = R"("spec":{})",
                            int version = 1, const std::string& uid = "") {
    return fmt::format(
        R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}","namespace":"{}","uid":"{}",)"
        R"("resourceVersion":"{}"}},{}}})",
        api, kind, name, ns, uid.empty() ? "u-" + name : uid, version, rest);
  }
  static std::string Node(int version = 1) {
    return Object("v1", "Node", "", "n1",
                  R"("status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}})", version);
  }
  static std::string Pod(const std::string& name, int version = 1, const std::string& node = "",
                         const std::string& phase = "Pending", const std::string& uid = "") {
    return Object(
        "v1", "Pod", "a", name,
        fmt::format(
            R"("spec":{{"schedulerName":"volcano",{}"containers":[{{"name":"c","image":"i",)"
            R"("resources":{{"requests":{{"cpu":"1"}}}}}}],"initContainers":[{{"name":"i",)"
            R"("resources":{{"requests":{{"cpu":"1500m"}}}}}}]}},"status":{{"phase":"{}"}})",
            node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), phase),
        version, uid);
  }
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
  double IdleCpu() {
    const Cluster& c = mirror->live().cluster();
    return c.nodes.empty() ? -1 : c.idle[NodeId(0)].cpu();
  }
  using Lines = std::vector<std::string>;
  Lines Told() { return std::exchange(told, {}); }

  std::set<std::string> broken;
  std::set<std::string> broken_stand_ins;
  std::set<std::string> broken_once;
  Lines told;
  Lines recorded;
  Quarantine::Clock::time_point now{};
  std::optional<ClusterMirror> mirror;
  ApiTextParser parser;

 private:
  const bool before_ = RecoveryScope::Enabled();
};

TEST_F(MirrorQuarantine, APodThatWaitsIsLeftOutAndOthersAreTaken) {
  See(WatchedKind::kPod, Pod("before"));
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad"));
  See(WatchedKind::kPod, Pod("behind"));
  EXPECT_EQ(Told(), Lines{"Pod a/bad it is left out"});
  EXPECT_EQ(Facts("bad"), nullptr);
  EXPECT_EQ(mirror->live().cluster().tasks.size(), 2u);
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 2u) << "each is a group of one";
  EXPECT_NE(mirror->WhyQuarantined(WatchedKind::kPod, "a/bad").find("quarantine_test.cpp"),
            std::string::npos);
  EXPECT_EQ(mirror->quarantine().Count(WatchedKind::kPod), 1u);
  EXPECT_EQ(mirror->failed_checks(), 1u);
}

TEST_F(MirrorQuarantine, APodOnANodeKeepsItsCapacityAndIsNeverAVictim) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  EXPECT_EQ(Told(), Lines{"Pod a/bad its requests count on node n1"});
  EXPECT_EQ(IdleCpu(), 2500) << "the init container's request is the larger";
  ASSERT_NE(Facts("bad"), nullptr);
  EXPECT_FALSE(Facts("bad")->ours);
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 0u);
  EXPECT_EQ(recorded.back(), "put Pod a/bad") << "a replay has the same pod";
  // Its end frees what it used, although it is not tried again yet.
  See(WatchedKind::kPod, Pod("bad", 2, "n1", "Succeeded"));
  EXPECT_EQ(IdleCpu(), 4000);
  EXPECT_EQ(recorded.back(), "gone Pod a/bad");
}

// The fault was one of the tables, which are rebuilt: the object that happened to arrive is fine.
TEST_F(MirrorQuarantine, ACheckThatFailsOnlyOnceQuarantinesNothing) {
  broken_once = {"Pod a/good"};
  See(WatchedKind::kPod, Pod("good", 1, "n1", "Running"));
  EXPECT_EQ(broken_once.size(), 0u);
  EXPECT_EQ(Told(), Lines{});
  EXPECT_EQ(recorded.back(), "put Pod a/good");
  EXPECT_TRUE(Facts("good")->ours);
  EXPECT_EQ(IdleCpu(), 2500);
  EXPECT_EQ(mirror->failed_checks(), 1u);
}

TEST_F(MirrorQuarantine, ANewerVersionThatCannotBeReadDoesNotEndTheQuarantine) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  Told();
  broken.clear();
  now += seconds(10);
  See(WatchedKind::kPod, Object("v1", "Pod", "a", "bad", R"("spec":7)", 2));
  EXPECT_EQ(Told(), Lines{});
  EXPECT_EQ(mirror->quarantine().Count(WatchedKind::kPod), 1u);
  EXPECT_EQ(IdleCpu(), 2500);
  See(WatchedKind::kPod, Pod("bad", 3, "n1", "Running"));
  EXPECT_EQ(Told(), Lines{"Pod a/bad ended"});
}

// The watch says nothing about a node that does not change.
TEST_F(MirrorQuarantine, ANodeThatWasLeftOutForAPodIsReadAgainWhenThePodIsGone) {
  broken = broken_stand_ins = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  EXPECT_EQ(mirror->TakeNodesToRead(), Lines{});
  Lose(WatchedKind::kPod, "a", "bad");
  EXPECT_EQ(mirror->TakeNodesToRead(), Lines{"n1"});
  See(WatchedKind::kNode, Node(), What::kReread);
  EXPECT_EQ(IdleCpu(), 4000);
  EXPECT_EQ(mirror->quarantine().Held().size(), 0u);
}

TEST_F(MirrorQuarantine, APodThatIsBeingBoundCountsOnItsNode) {
  See(WatchedKind::kPod, Pod("bad"));
  mirror->ExpectBinding("a/bad", "u-bad", "n1");
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 2));
  EXPECT_EQ(Told(), Lines{"Pod a/bad its requests count on node n1"});
  EXPECT_EQ(IdleCpu(), 2500);
}

TEST_F(MirrorQuarantine, ANodeWithAPodThatCannotBeCountedTakesNoPods) {
  broken = broken_stand_ins = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  EXPECT_EQ(Told(), (Lines{"Node n1 no pod is placed on it, because pod a/bad cannot be counted",
                           "Pod a/bad it is left out"}));
  EXPECT_EQ(IdleCpu(), -1) << "there is no node";
  // Its heartbeat does not bring it back.
  now += seconds(3600);
  See(WatchedKind::kNode, Node(2));
  EXPECT_EQ(IdleCpu(), -1);
  // The end of the pod does.
  Lose(WatchedKind::kPod, "a", "bad");
  mirror->RetryQuarantined();
  EXPECT_EQ(IdleCpu(), 4000);
  EXPECT_EQ(Told(), (Lines{"Pod a/bad ended", "Node n1 ended"}));
}

TEST_F(MirrorQuarantine, ABrokenBudgetProtectsItsWholeNamespace) {
  broken = {"PodDisruptionBudget a/pdb"};
  See(WatchedKind::kBudget, Object("policy/v1", "PodDisruptionBudget", "a", "pdb",
                                   R"("spec":{"selector":{"matchLabels":{"app":"x"}}},)"
                                   R"("status":{"disruptionsAllowed":5})"));
  EXPECT_EQ(Told(), Lines{"PodDisruptionBudget a/pdb every pod of the namespace is protected"});
  const Cluster& c = mirror->live().cluster();
  ASSERT_EQ(c.budgets.size(), 1u);
  EXPECT_EQ(c.budgets[0].disruptions_allowed, 0);
  See(WatchedKind::kPod, Pod("p"));
  EXPECT_TRUE(Matches(c.budgets[0].selector, c.label_sets[Facts("p")->task.labels]));
}

TEST_F(MirrorQuarantine, ANewerVersionIsTriedAfterAPauseThatDoubles) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad"));
  EXPECT_EQ(mirror->quarantine().NextDue(), std::nullopt) << "the same version stays broken";
  See(WatchedKind::kPod, Pod("bad", 2));
  EXPECT_EQ(mirror->failed_checks(), 1u) << "it is not tried before 10 s";
  EXPECT_EQ(mirror->quarantine().NextDue(), now + seconds(10));
  now += seconds(10);
  mirror->RetryQuarantined();
  EXPECT_EQ(mirror->failed_checks(), 2u);
  See(WatchedKind::kPod, Pod("bad", 3));
  EXPECT_EQ(mirror->quarantine().NextDue(), now + seconds(20));
  Told();
  broken.clear();
  now += seconds(20);
  mirror->RetryQuarantined();
  EXPECT_EQ(Told(), Lines{"Pod a/bad ended"});
  EXPECT_NE(Facts("bad"), nullptr);
  EXPECT_EQ(mirror->quarantine().Count(WatchedKind::kPod), 0u);
  EXPECT_EQ(mirror->WhyQuarantined(WatchedKind::kPod, "a/bad"), "");
}

TEST_F(MirrorQuarantine, AnotherObjectOfTheNameIsTriedAtOnce) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad"));
  broken.clear();
  See(WatchedKind::kPod, Pod("bad", 2, "", "Pending", "another"));
  EXPECT_NE(Facts("bad"), nullptr);
}

TEST_F(MirrorQuarantine, AnObjectThatIsGoneIsForgotten) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  Told();
  Lose(WatchedKind::kPod, "a", "bad");
  EXPECT_EQ(mirror->quarantine().Held().size(), 0u);
  EXPECT_EQ(Told(), Lines{"Pod a/bad ended"});
  EXPECT_EQ(IdleCpu(), 4000);
}

TEST_F(MirrorQuarantine, ACheckThatFailedOnTheThreadOfTheWatchQuarantinesToo) {
  ObjectMessage message{What::kSeen, WatchedKind::kPod, Padded(Pod("bad", 1, "n1", "Running")), {}};
  message.head = parser.ParseHead(message.object).value();
  message.failed_check = "src/x.cpp:1: this must hold and does not: x";
  mirror->Apply(std::move(message));
  EXPECT_EQ(Told(), Lines{"Pod a/bad its requests count on node n1"});
  EXPECT_EQ(IdleCpu(), 2500);
}

TEST_F(MirrorQuarantine, WhatACycleLeavesOutIsAGroupOrThePodThatIsOne) {
  See(WatchedKind::kPodGroup, Object("scheduling.volcano.sh/v1beta1", "PodGroup", "a", "g"));
  See(WatchedKind::kPod, Pod("bare"));
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 2u);
  EXPECT_TRUE(mirror->LeaveOut(WatchedKind::kPodGroup, "a/g", "a check"));
  EXPECT_FALSE(mirror->LeaveOut(WatchedKind::kPodGroup, "a/g", "a check")) << "it is already";
  EXPECT_TRUE(mirror->LeaveOut(WatchedKind::kPodGroup, "a/pod:bare", "a check"));
  EXPECT_FALSE(mirror->LeaveOut(WatchedKind::kPodGroup, "a/nothing", "a check"));
  EXPECT_EQ(Told(), (Lines{"PodGroup a/g it is left out", "Pod a/bare it is left out"}));
  EXPECT_EQ(mirror->live().cluster().jobs.size(), 0u);
  EXPECT_EQ(mirror->live().cluster().tasks.size(), 0u);
}

TEST_F(MirrorQuarantine, APodThatACycleLeavesOutOnItsNodeCountsByItsFacts) {
  See(WatchedKind::kPod, Pod("bare", 1, "n1", "Running"));
  EXPECT_EQ(IdleCpu(), 2500);
  EXPECT_TRUE(mirror->LeaveOut(WatchedKind::kPod, "a/bare", "a check"));
  EXPECT_EQ(Told(), Lines{"Pod a/bare its requests count on node n1"});
  EXPECT_EQ(IdleCpu(), 2500);
  EXPECT_FALSE(Facts("bare")->ours);
}

TEST_F(MirrorQuarantine, ObjectsStayLeftOutWhenNamesAreCompacted) {
  broken = {"Pod a/bad"};
  See(WatchedKind::kPod, Pod("bad", 1, "n1", "Running"));
  mirror->Compact();
  EXPECT_EQ(IdleCpu(), 2500);
  See(WatchedKind::kPod, Pod("bad", 2, "n1", "Failed"));
  EXPECT_EQ(IdleCpu(), 4000);
}

TEST(StandIn, KeepsWhatAPodUsesAndNothingElse) {
  const std::string pod = Padded(
      R"({"metadata":{"name":"p","namespace":"a","uid":"u","annotations":{"x":"y"}},)"
      R"("spec":{"nodeName":"n1","overhead":{"cpu":"1"},"affinity":{},"containers":[)"
      R"({"name":"c","env":[],"ports":[{"hostPort":80}],"resources":{"requests":{"cpu":"2"}}}]},)"
      R"("status":{"phase":"Running"}})");
  const std::optional<StandIn> stand_in = StandInForPod(pod, "");
  ASSERT_TRUE(stand_in);
  EXPECT_EQ(stand_in->node, "n1");
  EXPECT_EQ(stand_in->json,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u"},)"
            R"("spec":{"schedulerName":"krafla-quarantined","nodeName":"n1","containers":[)"
            R"({"name":"c0","resources":{"requests":{"cpu":"2"}},"ports":[{"hostPort":80}]}],)"
            R"("initContainers":[],"overhead":{"cpu":"1"}},"status":{"phase":"Running"}})");
  EXPECT_FALSE(StandInForPod(Padded(R"({"spec":{},"status":{}})"), "")) << "it is on no node";
  EXPECT_FALSE(StandInForPod(Padded("no JSON"), "n1"));
}

}  // namespace
}  // namespace krafla
