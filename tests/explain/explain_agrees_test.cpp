// Explanations are about the cycle that would be run: listening changes nothing, the closer look
// comes to the same verdict as the action did, and a change that is said to work works.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>

#include "app/plan_json.h"
#include "explain/cluster_changes.h"
#include "explain/explain_support.h"
#include "explain/job_gates.h"
#include "support/gzip_lines.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

std::vector<CycleInput> RecordedClusters(const std::string& name, size_t most) {
  std::vector<CycleInput> inputs;
  simdjson::dom::parser parser;
  for (const std::string& line :
       ReadGzipLines(testing::SourceDir() + "/tests/conformance/cases/" + name + ".jsonl.gz")) {
    if (inputs.size() >= most) break;
    simdjson::dom::element root;
    EXPECT_EQ(parser.parse(line).get(root), simdjson::SUCCESS);
    CycleInput input;
    input.cluster = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":" +
                    simdjson::to_string(root["objects"]) + "}";
    input.config = std::string(std::string_view(root["conf"]));
    input.now = std::string(std::string_view(root["now"]));
    if (input.now.empty()) input.now = "2026-03-10T12:00:00Z";
    input.lenient = true;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

struct Observed {
  explicit Observed(const CycleInput& input) : cycle(input) {}

  // Opens the session again, with the probe listening.
  void Run(CycleProbe& probe) {
    SessionOptions options;
    options.now = cycle.session->now;
    options.zone = cycle.session->zone;
    options.memory = &cycle.memory;
    probe.ListenThrough(options);
    session = std::make_unique<Session>(cycle.cluster, cycle.config, options, log);
    probe.Attach(*session);
    session->RunActions();
  }

  Cycle cycle;
  Log log;
  std::unique_ptr<Session> session;
};

class RecordedCluster : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedCluster, ListeningChangesNothingAndACloserLookAgreesWithTheAction) {
  size_t looks = 0;
  for (CycleInput input : RecordedClusters(GetParam(), 40)) {
    for (const char* profile : {"krafla", "volcano"}) {
      input.profile = profile;
      Cycle plain(input);
      const size_t jobs = plain.cluster.jobs.size();
      plain.Run();
      for (uint32_t j = 0; j < jobs; ++j) {
        const JobId job(j);
        if (plain.cluster.jobs[job].tasks.empty()) continue;
        Observed first(input);
        CycleProbe probe(first.cycle.cluster, job);
        first.Run(probe);
        ASSERT_EQ(PlanAsJson(*first.session, std::nullopt), Summary(plain));
        const std::vector<EvictionAttempt> attempts = AttemptsOf(probe);
        if (attempts.empty() || std::string_view(profile) == "volcano") continue;
        Observed second(input);
        CycleProbe looking(second.cycle.cluster, job);
        for (const EvictionAttempt& attempt : attempts)
          looking.LookAt(attempt.round, [&, attempt](Session& session) {
            const auto action =
                attempt.action == "preempt" ? EvictingAction::kPreempt : EvictingAction::kReclaim;
            const RoomLook search = SearchRoom(session, looking, action, attempt.task);
            ++looks;
            EXPECT_EQ(search.Furthest() == RoomStage::kFits, attempt.placed)
                << attempt.action << " for " << session.cluster.TaskKey(attempt.task) << "\n"
                << input.cluster << input.config;
          });
        second.Run(looking);
      }
    }
  }
  EXPECT_GT(looks, 10u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedCluster,
                         ::testing::Values("mixed", "cdp", "drf", "preempt-intra-job",
                                           "evict-predicates", "pdb"));

TEST(ExplainAgrees, SameInputSameBytes) {
  const CycleInput input{.cluster = ReadExampleFile("why-no-preemption/5c-queue-share.yaml"),
                         .config = ReadExampleFile("why-no-preemption/scheduler.yaml")};
  EXPECT_EQ(ExplanationAsText(Explained(input, "job", "research/urgent"), false),
            ExplanationAsText(Explained(input, "job", "research/urgent"), false));
}

TEST(ExplainAgrees, CopiesDecideAlike) {
  Cycle original({.cluster = ReadExampleFile("preempt/cluster.yaml"),
                  .config = ReadExampleFile("preempt/scheduler.yaml")});
  Cluster copy = CopyCluster(original.cluster);
  SessionOptions options;
  options.now = original.session->now;
  options.zone = original.session->zone;
  Log log;
  std::string of_borrowed;
  {
    Cluster lender = CopyCluster(original.cluster);
    BorrowedCluster borrowed(lender);
    Session session(borrowed.cluster, original.config, options, log);
    session.RunActions();
    of_borrowed = PlanAsJson(session, std::nullopt);
  }
  Session session(copy, original.config, options, log);
  session.RunActions();
  original.Run();
  EXPECT_EQ(PlanAsJson(session, std::nullopt), Summary(original));
  EXPECT_EQ(of_borrowed, Summary(original));
}

// What is suggested, done by hand in the manifests, has the consequences that were told.
TEST(ExplainAgrees, SuggestionsHoldWhenTheManifestsAreEdited) {
  CycleInput input{.cluster = ReadExampleFile("why-no-preemption/4a-gang-veto.yaml"),
                   .config = ReadExampleFile("why-no-preemption/scheduler.yaml")};
  const Explanation e = Explained(input, "job", "research/urgent");
  ASSERT_TRUE(HasFlip(e, "minMember of research/batch from 2 to 1"));
  const std::string before = "minMember: 2, priorityClassName: batch";
  const size_t at = input.cluster.find(before);
  ASSERT_NE(at, std::string::npos);
  input.cluster.replace(at, before.size(), "minMember: 1, priorityClassName: batch");
  Cycle cycle(input);
  cycle.Run();
  EXPECT_EQ(cycle.Evictions(), e.flips->flips.front().evicts);
  EXPECT_EQ(cycle.Pipelined().at("research/urgent-worker-0"), "worker-1");
}

TEST(ExplainAgrees, AnotherNodeIsAsGoodAsItsModel) {
  Cycle cycle({.cluster = QueueYaml() + NodeYaml() + PodGroupYaml({.min_member = 2}) +
                          PodYaml({.name = "job-0", .asks = "cpu 4, memory 1Gi"}) +
                          PodYaml({.name = "job-1", .asks = "cpu 4, memory 1Gi"}),
               .config = ConfigYaml(
                   {.actions = "allocate", .tiers = {"gang predicates proportion nodeorder"}})});
  Cluster larger = CopyCluster(cycle.cluster);
  EXPECT_EQ(AddNodeLike(larger, larger.nodes_by_name[0]), "another-n1");
  SessionOptions options;
  options.now = cycle.session->now;
  Log log;
  Session session(larger, cycle.config, options, log);
  session.RunActions();
  session.VerifyInvariants();
  EXPECT_EQ(session.plan.binds.size(), 2u);
  cycle.Run();
  EXPECT_TRUE(cycle.Binds().empty());
}

}  // namespace
}  // namespace krafla::testing
