// What a scheduler without a network says and writes when an internal check fails.
#include "kube/quarantine_reports.h"

#include "base/check.h"
#include "base/recovery.h"
#include "kube/live_scheduler_test.h"

namespace krafla::testing {
namespace {

class QuarantineReportsTest : public LiveSchedulerTest {
 protected:
  QuarantineReportsTest() {
    RecoveryScope::Enable(true);
    scheduler.reset();
    scheduler.emplace(
        LiveScheduler::Parts{inbox, *mirror, *effects, *statuses, *events, metrics, client}, *loop,
        LiveScheduler::Options{.may_write = [] { return true; },
                               .log = [this](const std::string& line) { log_lines += line + "\n"; },
                               .quarantine_note = &note});
    loop->SetWrapHooks([this](std::string_view plugin, PluginHooks& hooks) {
      if (plugin != "gang") return;
      hooks.on_allocate = [this, next = std::move(hooks.on_allocate)](TaskId task) {
        const Cluster& c = mirror->live().TablesAsTheyAre();
        KRAFLA_CHECK(c.JobKey(c.tasks[task].job) != "a/bad", "on purpose");
        if (next) next(task);
      };
    });
  }
  ~QuarantineReportsTest() override { RecoveryScope::Enable(before_); }

  bool Says(const std::string& text) const { return log_lines.find(text) != std::string::npos; }

  QuarantineNote note;
  std::string log_lines;

 private:
  const bool before_ = RecoveryScope::Enabled();
};

// The watch says nothing about a node that does not change.
TEST_F(QuarantineReportsTest, ANodeThatWasLeftOutForAPodIsReadAgainWhenThePodIsGone) {
  broken = "Pod a/bad";
  SeePod("bad", "bad", "n1");
  EXPECT_EQ(mirror->live().cluster().nodes_by_name.size(), 0u);
  scheduler->FollowQuarantine();
  AnswerAll();
  broken.clear();
  mirror->Apply({What::kGone, WatchedKind::kPod, {}, {.ns = "a", .name = "bad"}});
  client.TakeRequests();
  scheduler->FollowQuarantine();
  EXPECT_EQ(client.TakeRequests(), Lines{"GET /api/v1/nodes/n1"});
  client.Answer(503);
  client.Pass(std::chrono::seconds(2));
  client.Answer(
      200,
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"n","resourceVersion":"99"},)"
      R"("status":{"allocatable":{"cpu":"2","memory":"8Gi","pods":"10"}}})");
  EXPECT_EQ(mirror->live().cluster().nodes_by_name.size(), 1u);
}

TEST_F(QuarantineReportsTest, ABrokenPodGroupIsNamedAndTheRestIsBound) {
  SeeGroup("bad", 1, R"({"phase":"Inqueue"})");
  SeePod("bad-0", "bad");
  SeeGroup("good", 1, R"({"phase":"Inqueue"})");
  SeePod("good-0", "good");
  Cycle();
  scheduler->FollowQuarantine();
  EXPECT_TRUE(Says("object quarantined until it changes")) << log_lines;
  EXPECT_TRUE(Says("kind=PodGroup object=a/bad uid=g-bad")) << log_lines;
  EXPECT_TRUE(Says("in action allocate at job a/bad")) << log_lines;
  EXPECT_EQ(note.quarantined(), "1 object(s) quarantined: PodGroup a/bad");
  EXPECT_EQ(note.suspended(), std::nullopt);
  const std::string page = metrics.Text();
  EXPECT_NE(page.find("krafla_quarantined_objects{kind=\"PodGroup\"} 1"), std::string::npos);
  EXPECT_NE(page.find("krafla_internal_check_failures_total 1"), std::string::npos) << page;
  std::string all;
  for (const std::string& body : client.bodies) all += body + "\n";
  EXPECT_NE(all.find("\"reason\":\"Quarantined\""), std::string::npos) << all;
  EXPECT_NE(all.find("\"uid\":\"g-bad\""), std::string::npos) << all;
  int binds = 0;
  for (const std::string& request : client.requests)
    if (request.ends_with("/binding")) {
      ++binds;
      EXPECT_NE(request.find("good-0"), std::string::npos) << request;
    }
  EXPECT_EQ(binds, 1);
}

TEST_F(QuarantineReportsTest, PodsOfABrokenPodGroupAreToldWhyTheyWait) {
  SeeGroup("bad", 1, R"({"phase":"Inqueue"})");
  SeePod("bad-0", "bad");
  Cycle();
  client.Pass(std::chrono::seconds(6));
  std::string all;
  for (const std::string& body : client.bodies) all += body + "\n";
  EXPECT_NE(all.find("PodGroup a/bad is quarantined until it changes: an internal check of the "
                     "scheduler failed"),
            std::string::npos)
      << all;
}

TEST_F(QuarantineReportsTest, ANewVersionWaitsForItsPause) {
  SeeGroup("bad", 1, R"({"phase":"Inqueue"})");
  SeePod("bad-0", "bad");
  Cycle();
  scheduler->FollowQuarantine();
  loop->SetWrapHooks(nullptr);
  SeeGroup("bad", 1, R"({"phase":"Inqueue"})");
  EXPECT_EQ(mirror->quarantine().Count(WatchedKind::kPodGroup), 1u) << "not before 10 s";
  EXPECT_TRUE(mirror->quarantine().NextDue());
}

}  // namespace
}  // namespace krafla::testing
