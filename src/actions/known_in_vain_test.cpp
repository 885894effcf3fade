// A search that was in vain: whether anything has changed meanwhile, and whether a node has come to
// have room if nobody goes.
#include "actions/known_in_vain.h"

#include <gtest/gtest.h>

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
using testing::QueueYaml;

// Two nodes that are full, of a pod of one cpu and one of three each; a pod of two waits.
class KnownInVainTest : public ::testing::Test {
 protected:
  static std::string FullCluster() {
    std::string all = QueueYaml() + PodGroupYaml({.name = "run", .phase = "Running"}) +
                      PodGroupYaml({.name = "new"}) +
                      PodYaml({.name = "new-0", .group = "new", .asks = "cpu 2"});
    for (const std::string node : {"n1", "n2"}) {
      all += NodeYaml({.name = node});
      all += PodYaml({.name = node + "-one", .group = "run", .node = node, .asks = "cpu 1"});
      all += PodYaml({.name = node + "-three", .group = "run", .node = node, .asks = "cpu 3"});
    }
    return all;
  }
  void SetUp() override {
    const KnownInVain::Since now = in_vain_.Now();
    in_vain_.Remember(key_, now, now, nullptr, false, {}, {});
  }
  bool NoneHasRoom() { return in_vain_.NoneHasRoom(*in_vain_.Find(key_), task_); }
  void Evict(Statement& statement, const std::string& pod) {
    statement.Evict(cycle_.Find("default/" + pod), task_, EvictionReason::kPreempt, 0);
  }

  Cycle cycle_{{.cluster = FullCluster(), .config = ConfigYaml({.tiers = {"gang"}})}};
  const TaskId task_ = cycle_.Find("default/new-0");
  KnownInVain in_vain_{*cycle_.session};
  const KnownInVain::Key key_{1, 2, 3};
};

TEST_F(KnownInVainTest, NoneHasRoomAsLongAsNothingChanges) {
  EXPECT_TRUE(NoneHasRoom());
  EXPECT_TRUE(NoneHasRoom());
}

TEST_F(KnownInVainTest, ANodeThatHasRoomNowIsSeen) {
  Statement statement(*cycle_.session);
  Evict(statement, "n2-one");
  EXPECT_TRUE(NoneHasRoom()) << "one cpu is not enough";
  Evict(statement, "n1-three");
  EXPECT_FALSE(NoneHasRoom());
  EXPECT_FALSE(NoneHasRoom()) << "it has not become less";
  statement.Pipeline(task_, cycle_.session->cluster.nodes_by_name[0], true);
  EXPECT_TRUE(NoneHasRoom()) << "somebody else has taken it";
}

TEST_F(KnownInVainTest, TheLastOfSeveralChangesCounts) {
  Statement statement(*cycle_.session);
  Evict(statement, "n1-one");
  Evict(statement, "n1-three");
  EXPECT_FALSE(NoneHasRoom());
  statement.Discard();
  EXPECT_TRUE(NoneHasRoom());
}

TEST_F(KnownInVainTest, NothingHasChangedUntilSomethingDoes) {
  EXPECT_TRUE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
  Statement statement(*cycle_.session);
  Evict(statement, "n1-one");
  EXPECT_FALSE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
  // A search in the middle of a statement, as things are there.
  const KnownInVain::Since now = in_vain_.Now();
  in_vain_.Remember(key_, {}, now, nullptr, false, {}, {});
  EXPECT_TRUE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
  statement.Discard();
  EXPECT_FALSE(in_vain_.IsAsThen(*in_vain_.Find(key_))) << "what was taken back has changed again";
}

// The number of changes is the same as then, but they are others.
TEST_F(KnownInVainTest, AsManyChangesAreNotTheSame) {
  Statement statement(*cycle_.session);
  const Statement::Savepoint before = statement.Save();
  Evict(statement, "n1-one");
  const KnownInVain::Since now = in_vain_.Now();
  in_vain_.Remember(key_, now, now, nullptr, false, {}, {});
  statement.RollbackTo(before);
  Evict(statement, "n2-three");
  EXPECT_FALSE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
}

// Nodes that were asked before it changed a task may say otherwise now.
TEST_F(KnownInVainTest, WhatTheSearchItselfDidToTasksIsAChange) {
  const KnownInVain::Since search_began = in_vain_.Now();
  Statement statement(*cycle_.session);
  Evict(statement, "n1-one");
  in_vain_.Remember(key_, search_began, search_began, nullptr, false, {}, {});
  EXPECT_FALSE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
}

TEST_F(KnownInVainTest, WhatAPredicateRefusedIsAskedAgainInAnyCase) {
  const KnownInVain::Since now = in_vain_.Now();
  in_vain_.Remember(key_, now, now, nullptr, false, {0}, {});
  EXPECT_FALSE(in_vain_.IsAsThen(*in_vain_.Find(key_)));
}

TEST_F(KnownInVainTest, WhoWasRefusedMayHaveHadRoom) {
  const KnownInVain::Since now = in_vain_.Now();
  in_vain_.Remember(key_, now, now, nullptr, false, {0}, {});
  EXPECT_FALSE(NoneHasRoom());
}

}  // namespace
}  // namespace krafla
