// Where nobody can go and the queue has no share for a task, one node is asked and says so; and
// where pods are spread, zones that are full are passed over.
#include "actions/room_finder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using testing::ConfigYaml;
using testing::Cycle;
using testing::NodeYaml;
using testing::PodGroupYaml;
using testing::PodYaml;
using testing::PriorityClassesYaml;
using testing::QueueYaml;

constexpr VictimRule kPreempt{.whose = VictimRule::Whose::kOtherJobsOfQueue};

// A pod of a queue that may have one cpu asks for `asks`; nodes n0, n1, … are as `nodes` says.
struct Scene {
  std::string asks = "cpu 2, memory 1Gi";
  int nodes = 5;
  std::string more;  // manifests
  std::string spec;  // of the pod
  int verbosity = 0;
  std::string plugins = "priority gang proportion predicates";
};

class Room {
 public:
  explicit Room(const Scene& scene) {
    std::string cluster = PriorityClassesYaml() + QueueYaml({.capability = "cpu 1"}) +
                          QueueYaml({.name = "other"}) +
                          PodGroupYaml({.name = "high", .priority = "high"}) +
                          PodYaml({.name = "high-0",
                                   .group = "high",
                                   .asks = scene.asks,
                                   .priority = "high",
                                   .spec = scene.spec}) +
                          scene.more;
    for (int i = 0; i < scene.nodes; ++i)
      cluster += NodeYaml(
          {.name = "n" + std::to_string(i), .labels = {{"even", i % 2 == 0 ? "yes" : "no"}}});
    cycle_ = std::make_unique<Cycle>(
        testing::CycleInput{.cluster = cluster,
                            .config = ConfigYaml({.tiers = {scene.plugins}}),
                            .verbosity = scene.verbosity});
    task_ = cycle_->Find("default/high-0");
  }

  // Whether there is room; nothing of it stays.
  bool Find() {
    Session& s = *cycle_->session;
    const size_t before = s.trace.events().size();
    EXPECT_FALSE(s.node_search().Prepare(task_).refused());
    RoomFinder finder(s);
    Statement statement(s);
    const bool found =
        finder.FindRoom(statement, task_, kPreempt, RoomFinder::Order::kBestScore, nullptr);
    EXPECT_EQ(statement.empty(), !found) << "a no leaves everything as it is";
    tried_.clear();
    shorts_.clear();
    for (size_t i = before; i < s.trace.events().size(); ++i) {
      const TraceEvent& event = s.trace.events()[i];
      if (event.kind == TraceKind::kTryTask)
        tried_.emplace_back(s.cluster.NodeName(NodeId(event.b)));
      if (event.kind == TraceKind::kShort) shorts_.push_back(static_cast<ShortCode>(event.code));
    }
    finder.TakeBack(statement);
    return found;
  }

  const std::vector<std::string>& tried() const { return tried_; }
  const std::vector<ShortCode>& shorts() const { return shorts_; }

 private:
  std::unique_ptr<Cycle> cycle_;
  TaskId task_;
  std::vector<std::string> tried_;
  std::vector<ShortCode> shorts_;
};

using Names = std::vector<std::string>;
using Shorts = std::vector<ShortCode>;

TEST(RoomFinder, WithoutShareAndWithoutCandidatesOneNodeIsAsked) {
  Room room({});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried(), Names{"n0"});
  EXPECT_EQ(room.shorts(), Shorts{ShortCode::kQueueShare});
}

// What is left out does not change the answer: where every node is tried, each says no.
TEST(RoomFinder, WithoutShareNoOtherNodeWouldDo) {
  Room room({.verbosity = 3});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried().size(), 5u);
  EXPECT_EQ(room.shorts(), Shorts(5, ShortCode::kQueueShare));
}

TEST(RoomFinder, WithoutShareTheFirstNodeThatHasRoomIsAsked) {
  // n0 and n1 are full of pods of another queue, who are no candidates.
  std::string full = PodGroupYaml({.name = "full", .queue = "other", .phase = "Running"});
  for (const char* node : {"n0", "n1"})
    full += PodYaml({.name = std::string("full-") + node,
                     .group = "full",
                     .node = node,
                     .asks = "cpu 3, memory 1Gi"});
  Room room({.more = full});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried(), Names{"n2"});
  EXPECT_EQ(room.shorts(), Shorts{ShortCode::kQueueShare});
}

TEST(RoomFinder, WithoutShareNodesThatRefuseForGoodAreNotAsked) {
  Room room({.spec = "nodeSelector: {even: \"no\"}"});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried(), Names{"n1"});
}

TEST(RoomFinder, WithoutShareAndWithoutRoomNobodyIsAsked) {
  Room room({.asks = "cpu 5, memory 1Gi"});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.shorts(), Shorts{ShortCode::kCandidates}) << "said of one node, for the record";
}

TEST(RoomFinder, BeyondTheFirstWordOfNodes) {
  // 64 nodes are full: the first that has room is in another word of the bits.
  std::string full = PodGroupYaml({.name = "full", .queue = "other", .phase = "Running"});
  for (int i = 0; i < 100; ++i)
    if (i != 97)
      full += PodYaml({.name = "full-" + std::to_string(i),
                       .group = "full",
                       .node = "n" + std::to_string(i),
                       .asks = "cpu 3, memory 1Gi"});
  Room room({.nodes = 100, .more = full});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried(), Names{"n97"});
}

TEST(RoomFinder, WithShareItIsNotAboutShare) {
  Room room({.asks = "cpu 1, memory 1Gi"});
  EXPECT_TRUE(room.Find());
}

// As soon as somebody might go, their share may become ours: every node counts.
TEST(RoomFinder, WithCandidatesEveryNodeWithRoomIsAsked) {
  const std::string low =
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low", .phase = "Running"}) +
      PodYaml({.name = "low-0",
               .group = "low",
               .node = "n4",
               .asks = "cpu 500m, memory 1Gi",
               .priority = "low"});
  Room room({.more = low});
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried().size(), 5u);
  EXPECT_EQ(room.shorts(), Shorts(5, ShortCode::kQueueShare));
}

TEST(RoomFinder, AskedAgainNothingHasChanged) {
  Room room({});
  EXPECT_FALSE(room.Find());
  const Names first = room.tried();
  EXPECT_FALSE(room.Find());
  EXPECT_EQ(room.tried(), first);
}

// Three zones of 40 nodes, one pod on each that may go, and a gang that is to be spread over the
// zones.
Cycle SpreadGang(const std::string& profile, int verbosity) {
  constexpr int kZone = 40;
  constexpr int kGang = 12;
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() +
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low", .phase = "Running"}) +
      PodGroupYaml({.name = "high", .min_member = kGang, .priority = "high"});
  for (int i = 0; i < 3 * kZone; ++i) {
    const std::string number = std::to_string(1000 + i);
    cluster += NodeYaml({.name = "n" + number, .labels = {{"zone", std::to_string(i / kZone)}}});
    cluster += PodYaml({.name = "low-" + number,
                        .group = "low",
                        .node = "n" + number,
                        .asks = "cpu 4, memory 1Gi",
                        .priority = "low"});
  }
  for (int i = 0; i < kGang; ++i)
    cluster += PodYaml({.name = "high-" + std::to_string(10 + i),
                        .group = "high",
                        .asks = "cpu 4, memory 1Gi",
                        .priority = "high",
                        .labels = {{"app", "spread"}},
                        .spec = "topologySpreadConstraints:\n"
                                "- maxSkew: 1\n"
                                "  topologyKey: zone\n"
                                "  whenUnsatisfiable: DoNotSchedule\n"
                                "  labelSelector: {matchLabels: {app: spread}}"});
  Cycle cycle(
      {.cluster = cluster,
       .config = ConfigYaml({.tiers = {"priority gang conformance", "predicates nodeorder"}}),
       .profile = profile,
       .verbosity = verbosity});
  cycle.Run();
  return cycle;
}

// Nodes of zones that are full are passed over; with log lines switched on, every node is tried.
TEST(RoomFinder, AGangThatIsSpreadGetsThePlacesItGetsWhenEveryNodeIsTried) {
  for (const char* profile : {"volcano", "krafla"}) {
    const Cycle cycle = SpreadGang(profile, 0);
    EXPECT_EQ(testing::Summary(cycle), testing::Summary(SpreadGang(profile, 3)));
    EXPECT_EQ(cycle.Pipelined().size(), 12u);
  }
}

}  // namespace
}  // namespace krafla
