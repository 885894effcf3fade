// The examples of the project do what their README says, and the text a user sees says why.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "app/plan_text.h"
#include "support/cycle.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;
using Places = std::map<std::string, std::string>;

std::string ReadExample(const std::string& path) {
  std::ifstream file(testing::SourceDir() + "/examples/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  Places binds;
  Pods evictions;
  Places pipelined;
  std::string text;  // as a user sees it
};

Outcome RunExample(const std::string& folder, const std::string& file = "cluster.yaml",
                   const std::string& now = "2026-03-10T12:00:00Z",
                   const std::string& profile = "krafla") {
  CycleInput input;
  input.cluster = ReadExample(folder + "/" + file);
  input.config = ReadExample(folder + "/scheduler.yaml");
  input.now = now;
  input.profile = profile;
  Cycle cycle(input);
  cycle.Run();
  return {cycle.Binds(), cycle.Evictions(), cycle.Pipelined(), PlanAsText(*cycle.session, false)};
}

::testing::AssertionResult Says(const Outcome& outcome, const std::string& line) {
  if (outcome.text.find(line) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << line << "\" is not in:\n" << outcome.text;
}

TEST(Examples, PreemptMakesRoomForBothPodsOfTheUrgentJob) {
  const Outcome outcome = RunExample("preempt");
  EXPECT_EQ(outcome.evictions, (Pods{"research/hyperparameter-sweep-trial-0",
                                     "research/hyperparameter-sweep-trial-1"}));
  EXPECT_EQ(outcome.pipelined, (Places{{"research/urgent-finetune-worker-0", "worker-1"},
                                       {"research/urgent-finetune-worker-1", "worker-1"}}));
  EXPECT_EQ(outcome.binds, Places{});
  EXPECT_TRUE(Says(outcome, "preempt: 2 evicted (allowed by priority, gang, conformance)\n"));
}

TEST(Examples, ReclaimTakesFromTheQueueThatHasTooMuch) {
  const Outcome outcome = RunExample("reclaim");
  EXPECT_EQ(outcome.evictions, Pods{"vision/image-labels-worker-1"});
  EXPECT_EQ(outcome.pipelined, (Places{{"nlp/translation-worker-0", "worker-2"}}));
  EXPECT_TRUE(Says(outcome, "team-vision has more than it deserves"));
  EXPECT_TRUE(Says(outcome, "reclaim   with summaries-worker-0 queue team-nlp would have more"));
}

TEST(Examples, GangPlacesAllOrNothing) {
  const Outcome outcome = RunExample("gang");
  EXPECT_EQ(outcome.binds, (Places{{"vision/resnet-eval-worker-0", "worker-1"},
                                   {"vision/resnet-eval-worker-1", "worker-1"}}));
  EXPECT_EQ(outcome.evictions, Pods{});
  EXPECT_TRUE(Says(outcome, "room for 3 of its pods, 4 needed at once"));
}

TEST(Examples, TdmPlacesGuestsWhileZonesAreOpen) {
  const Outcome noon = RunExample("tdm", "cluster.yaml", "2026-03-10T12:00:00+08:00");
  EXPECT_EQ(noon.binds, (Places{{"shop/checkout-web-0", "own-1"},
                                {"analytics/nightly-report-worker-0", "shared-1"}}));
  EXPECT_EQ(noon.evictions, Pods{});
}

TEST(Examples, TdmEmptiesClosedZonesWithinTheBudgets) {
  const Outcome evening = RunExample("tdm", "cluster.yaml", "2026-03-10T19:00:00+08:00");
  EXPECT_EQ(evening.evictions, Pods{"analytics/thumbnails-worker-0"});
  const Outcome night = RunExample("tdm", "cluster.yaml", "2026-03-10T22:30:00+08:00");
  EXPECT_EQ(night.binds, (Places{{"shop/checkout-web-0", "own-1"}}));
  EXPECT_EQ(night.evictions,
            (Pods{"analytics/spark-etl-executor-0", "analytics/spark-etl-executor-1",
                  "analytics/thumbnails-worker-0"}));
  EXPECT_TRUE(Says(night, "preempt: 3 evicted (nominated by tdm)\n"));
  EXPECT_TRUE(
      Says(night, "analytics/spark-etl   4 pods  zone rz1  its budget: maxUnavailable 30%"));
  EXPECT_TRUE(Says(night, "analytics/thumbnails  3 pods  zone rz2  its budget: minAvailable 3"));
}

TEST(Examples, CooldownProtectsAndReleases) {
  const Outcome during = RunExample("cdp", "cluster.yaml", "2026-03-10T12:03:00Z");
  EXPECT_EQ(during.evictions, Pods{});
  EXPECT_TRUE(Says(during, "is spared: it is in its cooldown"));
  const Outcome after = RunExample("cdp", "cluster.yaml", "2026-03-10T12:06:00Z");
  EXPECT_EQ(after.evictions, Pods{"default/elastic-training-training-1"});
  EXPECT_EQ(after.pipelined, (Places{{"default/fraud-model-trainer-0", "worker-1"}}));
  // In Volcano the second tier decides without the plugin.
  const Outcome volcano = RunExample("cdp", "cluster.yaml", "2026-03-10T12:03:00Z", "volcano");
  EXPECT_EQ(volcano.evictions, Pods{"default/elastic-training-training-1"});
}

// ---- why did the high-priority job not preempt?

struct Variant {
  std::string file;
  std::string reason;  // a line of the text
};

class WhyNoPreemption : public ::testing::TestWithParam<Variant> {};

TEST_P(WhyNoPreemption, NobodyIsEvictedAndTheTextSaysWhy) {
  const Outcome outcome = RunExample("why-no-preemption", GetParam().file);
  EXPECT_EQ(outcome.binds, Places{});
  EXPECT_EQ(outcome.evictions, Pods{});
  EXPECT_EQ(outcome.pipelined, Places{});
  EXPECT_TRUE(Says(outcome, "    " + GetParam().reason + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Steps, WhyNoPreemption,
    ::testing::Values(
        Variant{"1-not-starving.yaml",
                "preempt   its minimum of 1 runs; nobody is evicted for more"},
        Variant{"2-not-valid.yaml", "Not enough valid tasks for gang-scheduling, valid: 2, min: 3"},
        Variant{"3a-not-preemptable.yaml",
                "preempt   no pod on worker-1 may be evicted for it: "
                "research/batch-worker-0 says preemptable: false"},
        Variant{"3b-best-effort.yaml",
                "preempt   no pod on worker-1 may be evicted for it: it asks for "
                "nothing itself, the others do"},
        Variant{"3c-not-running.yaml",
                "preempt   no pod on worker-1 may be evicted for it: "
                "research/batch-worker-0 is Unknown"},
        Variant{"4a-gang-veto.yaml",
                "preempt   research/batch-worker-1 on worker-1 is spared: its job "
                "needs it for its minimum"},
        Variant{"4b-drf-veto.yaml",
                "preempt   research/batch-worker-1 on worker-1 is spared: its job "
                "would have the smaller share"},
        Variant{"5a-predicate.yaml",
                "preempt   no node would take it, whoever is evicted: node(s) didn't "
                "match Pod's node affinity/selector"},
        Variant{"5b-too-large.yaml",
                "preempt   not enough room on worker-1, even without the 2 pod(s) "
                "that could go"},
        Variant{"5c-queue-share.yaml",
                "preempt   room could be made on worker-1, but queue research has "
                "no share left for it"},
        Variant{"6-not-pipelined.yaml",
                "preempt   room for 1 of its pods, 2 needed at once: taken back"},
        Variant{"7-policy-never.yaml", "preempt   urgent-worker-0 says preemptionPolicy Never"}),
    [](const ::testing::TestParamInfo<Variant>& variant) {
      std::string name = variant.param.file.substr(0, variant.param.file.find('.'));
      std::erase(name, '-');
      return name;
    });

TEST(Examples, PreemptionHappensWhenNothingSpeaksAgainstIt) {
  const Outcome outcome = RunExample("why-no-preemption", "0-success.yaml");
  EXPECT_EQ(outcome.evictions, Pods{"research/batch-worker-0"});
  EXPECT_EQ(outcome.pipelined, (Places{{"research/urgent-worker-0", "worker-1"}}));
}

}  // namespace
}  // namespace krafla::testing
