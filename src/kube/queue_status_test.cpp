// What queues are said to hold, on the server and in the metrics; and nominations of pods that are
// bound by the time they would be written.
#include <algorithm>

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "kube/cluster_metrics.h"
#include "kube/live_scheduler_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;

class QueueStatusTest : public testing::LiveSchedulerTest {
 protected:
  void SeeQueue(const std::string& name, const std::string& parent, const std::string& status) {
    See(WatchedKind::kQueue,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":)"
                    R"({{"name":"{0}","uid":"q-{0}"}},"spec":{{"weight":1,"parent":"{1}"}},)"
                    R"("status":{2}}})",
                    name, parent, status));
  }
  void SeeGroupIn(const std::string& queue, const std::string& name, int min_member) {
    See(WatchedKind::kPodGroup,
        fmt::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
                    R"("metadata":{{"name":"{0}","namespace":"a","uid":"g-{0}"}},"spec":)"
                    R"({{"minMember":{1},"queue":"{2}"}},"status":{{"phase":"Inqueue"}}}})",
                    name, min_member, queue));
  }
  void SeeNode(const std::string& cpu) {
    See(WatchedKind::kNode,
        fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n1"}},"spec":{{}},)"
                    R"("status":{{"allocatable":{{"cpu":"{}","memory":"8Gi","pods":"20"}}}}}})",
                    cpu));
  }
  // A pod that is going, and leaves its node when it is gone.
  void SeeLeavingPod(const std::string& name, const std::string& group) {
    See(WatchedKind::kPod,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a","uid":)"
            R"("u-{0}","deletionTimestamp":"2026-03-08T20:00:00Z","annotations":)"
            R"({{"scheduling.k8s.io/group-name":"{1}"}}}},"spec":{{"schedulerName":"volcano",)"
            R"("nodeName":"n1","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}})"
            R"(}}]}},"status":{{"phase":"Running"}}}})",
            name, group));
  }
  // The last body that was sent to the queue's status; empty: none.
  std::string LastStatusOf(const std::string& queue) {
    std::string last;
    for (size_t i = 0; i < client.requests.size(); ++i)
      if (client.requests[i].ends_with(fmt::format("/queues/{}/status", queue)))
        last = client.bodies[i];
    return last;
  }
  static std::string Patch(const std::string& amounts) {
    return fmt::format(R"({{"status":{{"allocated":{{{}}}}}}})", amounts);
  }
};

TEST_F(QueueStatusTest, AnEmptyQueueLosesWhatItNoLongerHolds) {
  SeeQueue("default", "", R"({"state":"Open","allocated":{"cpu":"0","memory":"0","pods":"11"}})");
  Cycle();
  EXPECT_EQ(LastStatusOf("default"), Patch(R"("cpu":"0","memory":"0","pods":null)"));
  AnswerAll();
  client.TakeRequests();
  SeeNode("1");
  Cycle();
  EXPECT_EQ(LastStatusOf("default"), "") << "the watch has not shown it yet";
  SeeQueue("default", "", R"({"state":"Open","allocated":{"cpu":"0","memory":"0"}})");
  SeeNode("2");
  Cycle();
  client.Pass(milliseconds(5000));
  EXPECT_EQ(LastStatusOf("default"), "");
}

// What was found to be written already is not looked at again; a wish that came between is dropped.
TEST_F(QueueStatusTest, AQueueThatIsBackToWhatTheServerSaysIsNotWritten) {
  SeeGroupIn("default", "g", 1);
  SeePod("p", "g", "n1");
  Cycle();
  EXPECT_NE(LastStatusOf("default"), "");
  AnswerAll();
  SeeQueue("default", "", R"({"state":"Open","allocated":{"cpu":"1","memory":"0","pods":"1"}})");
  Cycle();
  Cycle();
  client.TakeRequests();
  SeePod("p2", "g", "n1");
  Cycle();
  mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = "p2"}});
  Cycle();
  client.Pass(milliseconds(5000));
  EXPECT_EQ(LastStatusOf("default"), "");
}

TEST_F(QueueStatusTest, PipelinedPodsHoldNothingYetAndParentsHaveTheSum) {
  SeeQueue("org", "root", "{}");
  SeeQueue("team", "org", "{}");
  SeeNode("4");
  SeeGroupIn("team", "low", 1);
  for (int i = 0; i < 3; ++i) SeePod(fmt::format("low-{}", i), "low", "n1");
  SeeLeavingPod("low-3", "low");
  SeeGroupIn("team", "gang", 1);
  SeePod("gang-0", "gang");
  Cycle();
  ASSERT_EQ(statuses->waiting_pods(), 1u) << "it waits for the pod that leaves";
  const std::string three = Patch(R"("cpu":"3","memory":"0","pods":"3")");
  for (const char* queue : {"team", "org", "root"}) EXPECT_EQ(LastStatusOf(queue), three) << queue;
  EXPECT_EQ(LastStatusOf("default"), "") << "nothing was ever said of it";
}

TEST_F(QueueStatusTest, MetricsSayWhatTheStatusSays) {
  prometheus::Registry registry;
  ClusterMetrics figures(registry);
  LiveScheduler measured(
      LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
      LiveScheduler::Options{
          .may_write = [] { return true; },
          .on_cycle = [&](const Session& session, const std::vector<JobPhaseChange>& phases,
                          double) { figures.Cycle(session, phases); }});
  SeeQueue("team", "root", "{}");
  SeeNode("4");
  SeeGroupIn("team", "low", 1);
  for (int i = 0; i < 3; ++i) SeePod(fmt::format("low-{}", i), "low", "n1");
  SeeLeavingPod("low-3", "low");
  SeeGroupIn("team", "gang", 1);
  SeePod("gang-0", "gang");
  measured.RunCycle(client.Now());
  const std::string text = prometheus::TextSerializer().Serialize(registry.Collect());
  for (const char* queue : {"team", "root"}) {
    const std::string line =
        fmt::format("volcano_queue_allocated_milli_cpu{{queue_name=\"{}\"}} 3000\n", queue);
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

class NominationTest : public QueueStatusTest {
 protected:
  NominationTest() {
    statuses.emplace(
        client, *mirror, *events,
        StatusReports::Options{.log = [this](const std::string& line) { logged.push_back(line); },
                               .read_pod_again =
                                   [this](const ObjectRef& pod, std::function<void()> then) {
                                     effects->ReadAgain(pod, std::move(then));
                                   }});
    scheduler.emplace(
        LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
        LiveScheduler::Options{.may_write = [] { return true; }});
    SeeNode("1");
    SeeGroupIn("default", "low", 1);
    SeeLeavingPod("low-0", "low");
    SeeGroupIn("default", "late", 1);
    SeePod("late-0", "late");
    Cycle();
  }
  // Everything but the nomination has its answer; returns whether there was one.
  bool AnswerAllBut(const std::string& target, int status, const std::string& body) {
    bool found = false;
    const Lines requests = client.TakeRequests();
    for (const std::string& request : requests) {
      const bool it_is = request == target;
      found = found || it_is;
      it_is ? client.Answer(status, body) : client.Answer(200);
    }
    return found;
  }
  const std::string kNomination = "PATCH /api/v1/namespaces/a/pods/late-0/status";
  const std::string kBound =
      R"({"message":"Pod \"late-0\" is invalid: status.nominatedNodeName: Forbidden"})";
  Lines logged;
};

TEST_F(NominationTest, ARefusedNominationOfAPodThatIsBoundMeanwhileIsNoMatterForTheLog) {
  ASSERT_TRUE(AnswerAllBut(kNomination, 422, kBound));
  EXPECT_EQ(Requests(), (Lines{"GET /api/v1/namespaces/a/pods/late-0"})) << "read again";
  client.Answer(200,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"late-0","namespace":"a",)"
                R"("uid":"u-late-0","resourceVersion":"99"},"spec":{"schedulerName":"volcano",)"
                R"("nodeName":"n1","containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
  EXPECT_TRUE(mirror->HasNode("a/late-0"));
  EXPECT_EQ(logged, Lines{});
}

TEST_F(NominationTest, ARefusedStatusOfAPodThatStillWaitsIsLogged) {
  ASSERT_TRUE(AnswerAllBut(kNomination, 422, kBound));
  client.Answer(200,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"late-0","namespace":"a",)"
                R"("uid":"u-late-0","resourceVersion":"99"},"spec":{"schedulerName":"volcano",)"
                R"("containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_TRUE(logged[0].starts_with("status of pod was refused pod=a/late-0 error=\"422 "))
      << logged[0];
}

TEST_F(NominationTest, APodThatIsBoundBeforeItIsNominatedIsNotNominated) {
  AnswerAll();
  client.TakeRequests();
  SeePod("late-0", "late", "n1");  // by another scheduler; no cycle has followed
  client.Pass(milliseconds(60'000));
  const Lines requests = Requests();
  EXPECT_EQ(std::count(requests.begin(), requests.end(), kNomination), 0);
}

}  // namespace
}  // namespace krafla
