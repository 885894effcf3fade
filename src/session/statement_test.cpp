#include "session/statement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/check.h"
#include "base/recovery.h"
#include "support/cycle.h"

namespace krafla {
namespace {

using testing::Cycle;

// One node of 4 cpus with two pods of 1 cpu, and two waiting pods: of 1 cpu and of 3.
constexpr const char* kNodeAndGroups = R"(---
{apiVersion: v1, kind: Node, metadata: {name: node},
 status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q},
 spec: {weight: 1}, status: {state: Open}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: old, namespace: d},
 spec: {minMember: 1, queue: q}, status: {phase: Running}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: new, namespace: d},
 spec: {minMember: 1, queue: q}, status: {phase: Inqueue}}
)";

std::string Pod(std::string_view group, int number, int cpus, bool runs) {
  return fmt::format(R"(---
{{apiVersion: v1, kind: Pod,
 metadata: {{name: {0}-{1}, namespace: d, uid: {0}{1},
  annotations: {{scheduling.k8s.io/group-name: {0}}}}},
 spec: {{schedulerName: volcano, {2}
  containers: [{{name: c, resources: {{requests: {{cpu: "{3}"}}}}}}]}},
 status: {{phase: {4}}}}}
)",
                     group, number, runs ? "nodeName: node," : "", cpus,
                     runs ? "Running" : "Pending");
}

std::string ClusterText() {
  return kNodeAndGroups + Pod("old", 0, 1, true) + Pod("old", 1, 1, true) +
         Pod("new", 0, 1, false) + Pod("new", 1, 3, false);
}

constexpr const char* kConfig = R"(
actions: allocate
tiers:
- plugins:
  - name: gang
  - name: predicates
)";

class StatementTest : public ::testing::Test {
 protected:
  explicit StatementTest(std::string profile = "krafla")
      : cycle_({.cluster = ClusterText(), .config = kConfig, .profile = std::move(profile)}),
        session_(*cycle_.session) {}

  TaskId Old(int i) { return cycle_.Find("d/old-" + std::to_string(i)); }
  TaskId New(int i) { return cycle_.Find("d/new-" + std::to_string(i)); }
  TaskStatus Status(TaskId task) { return cycle_.cluster.tasks[task].status; }
  double IdleCpu() { return cycle_.cluster.idle[kNode].cpu(); }
  double FutureIdleCpu() { return cycle_.cluster.FutureIdle(kNode).cpu(); }
  void Evict(Statement& statement, TaskId victim, TaskId for_task) {
    statement.Evict(victim, for_task, EvictionReason::kPreempt, 1);
  }
  void ExpectUntouched() {
    EXPECT_EQ(Status(Old(0)), TaskStatus::kRunning);
    EXPECT_EQ(Status(Old(1)), TaskStatus::kRunning);
    EXPECT_EQ(Status(New(0)), TaskStatus::kPending);
    EXPECT_EQ(Status(New(1)), TaskStatus::kPending);
    EXPECT_EQ(IdleCpu(), 2000);
    EXPECT_EQ(FutureIdleCpu(), 2000);
    EXPECT_TRUE(session_.plan.binds.empty());
    EXPECT_TRUE(session_.plan.evictions.empty());
    session_.VerifyInvariants();
  }

  static constexpr NodeId kNode{0};
  Cycle cycle_;
  Session& session_;
};

class VolcanoStatementTest : public StatementTest {
 protected:
  VolcanoStatementTest() : StatementTest("volcano") {}
};

TEST_F(StatementTest, OperationsCountAtOnce) {
  Statement statement(session_);
  EXPECT_TRUE(statement.empty());
  Evict(statement, Old(0), New(1));
  EXPECT_EQ(Status(Old(0)), TaskStatus::kReleasing);
  EXPECT_EQ(IdleCpu(), 2000);  // not free before it has ended
  EXPECT_EQ(FutureIdleCpu(), 3000);
  statement.Pipeline(New(1), kNode, true);
  EXPECT_EQ(Status(New(1)), TaskStatus::kPipelined);
  EXPECT_EQ(FutureIdleCpu(), 0);
  statement.Allocate(New(0), kNode);
  EXPECT_EQ(Status(New(0)), TaskStatus::kAllocated);
  EXPECT_EQ(IdleCpu(), 1000);
  EXPECT_TRUE(statement.HasEvictions());
  EXPECT_TRUE(session_.plan.evictions.empty());
  statement.Discard();
  ExpectUntouched();
}

// A destructor that may not throw would end the program.
TEST_F(StatementTest, ACheckThatFailsInARollbackCanBeRecoveredFrom) {
  const bool before = RecoveryScope::Enabled();
  RecoveryScope::Enable(true);
  constexpr auto kFail = [](int&, uint64_t) { KRAFLA_CHECK(false, "in a rollback"); };
  int target = 0;
  const std::optional<std::string> check = RunRecovering([&] {
    Statement statement(session_);
    session_.undo.Reversible<kFail>(target, 0);
  });
  EXPECT_TRUE(check);
  RecoveryScope::Enable(before);
}

TEST_F(StatementTest, CommitIssuesBindsAndEvictionsInOrder) {
  Statement statement(session_);
  Evict(statement, Old(1), New(1));
  statement.Pipeline(New(1), kNode, true);
  statement.Commit();
  ASSERT_EQ(session_.plan.evictions.size(), 1u);
  const Eviction& eviction = session_.plan.evictions[0];
  EXPECT_EQ(eviction.task, Old(1));
  EXPECT_EQ(eviction.node, kNode);
  EXPECT_EQ(eviction.for_task, New(1));
  EXPECT_EQ(eviction.reason, EvictionReason::kPreempt);
  EXPECT_EQ(eviction.permitted_by, 1u);
  EXPECT_EQ(Status(Old(1)), TaskStatus::kReleasing);
  EXPECT_EQ(Status(New(1)), TaskStatus::kPipelined);
  EXPECT_TRUE(session_.plan.binds.empty());  // it waits; nothing is bound

  Statement next(session_);
  next.Allocate(New(0), kNode);
  next.Commit();
  ASSERT_EQ(session_.plan.binds.size(), 1u);
  EXPECT_EQ(session_.plan.binds[0].task, New(0));
  EXPECT_EQ(session_.plan.binds[0].node, kNode);
  EXPECT_EQ(Status(New(0)), TaskStatus::kBinding);
  session_.VerifyInvariants();
}

TEST_F(StatementTest, LeavingTheScopeDiscards) {
  {
    Statement statement(session_);
    Evict(statement, Old(0), New(1));
    statement.Pipeline(New(1), kNode, true);
  }
  ExpectUntouched();
  EXPECT_FALSE(cycle_.cluster.tasks[New(1)].eviction_occurred);
  EXPECT_FALSE(cycle_.cluster.tasks[New(1)].node.valid());
}

TEST_F(StatementTest, SavepointsTakeBackWhatCameAfter) {
  Statement statement(session_);
  Evict(statement, Old(0), New(1));
  const Statement::Savepoint savepoint = statement.Save();
  Evict(statement, Old(1), New(1));
  statement.Allocate(New(0), kNode);
  statement.RollbackTo(savepoint);
  EXPECT_EQ(Status(Old(0)), TaskStatus::kReleasing);
  EXPECT_EQ(Status(Old(1)), TaskStatus::kRunning);
  EXPECT_EQ(Status(New(0)), TaskStatus::kPending);
  statement.Pipeline(New(1), kNode, true);
  statement.Commit();
  ASSERT_EQ(session_.plan.evictions.size(), 1u);
  EXPECT_EQ(session_.plan.evictions[0].task, Old(0));
}

TEST_F(StatementTest, KeepLeavesTheMarksAndIssuesNothing) {
  {
    Statement statement(session_);
    statement.Pipeline(New(0), kNode, false);
    statement.Keep();
  }
  EXPECT_EQ(Status(New(0)), TaskStatus::kPipelined);
  EXPECT_EQ(FutureIdleCpu(), 1000);
  EXPECT_TRUE(session_.plan.binds.empty());
  session_.VerifyInvariants();
}

TEST_F(StatementTest, MergedOperationsShareTheFateOfTheOuterStatement) {
  {
    Statement outer(session_);
    Evict(outer, Old(0), New(1));
    Statement inner(session_);
    inner.Pipeline(New(1), kNode, true);
    outer.Merge(std::move(inner));
    outer.Discard();
  }
  ExpectUntouched();

  Statement outer(session_);
  Evict(outer, Old(0), New(1));
  {
    Statement inner(session_);
    inner.Pipeline(New(1), kNode, true);
    outer.Merge(std::move(inner));
  }
  EXPECT_EQ(Status(New(1)), TaskStatus::kPipelined);
  outer.Commit();
  EXPECT_EQ(session_.plan.evictions.size(), 1u);
}

TEST_F(StatementTest, AnInnerStatementMayBeDiscardedAlone) {
  Statement outer(session_);
  outer.Allocate(New(0), kNode);
  {
    Statement inner(session_);
    Evict(inner, Old(0), New(1));
  }
  outer.Commit();
  EXPECT_EQ(session_.plan.binds.size(), 1u);
  EXPECT_TRUE(session_.plan.evictions.empty());
  EXPECT_EQ(Status(Old(0)), TaskStatus::kRunning);
}

// D19: 2 cpus are free and new-1 needs 3, so one of the two victims is enough, and the first one
// evicted goes.
TEST_F(StatementTest, ASuperfluousVictimIsPutBackBeforeTheCommit) {
  Statement statement(session_);
  Evict(statement, Old(0), New(1));
  Evict(statement, Old(1), New(1));
  statement.Pipeline(New(1), kNode, true);
  statement.Commit();
  ASSERT_EQ(session_.plan.evictions.size(), 1u);
  EXPECT_EQ(session_.plan.evictions[0].task, Old(0));
  EXPECT_EQ(Status(Old(1)), TaskStatus::kRunning);
  session_.VerifyInvariants();
}

TEST_F(VolcanoStatementTest, ASuperfluousVictimGoesAllTheSame) {
  Statement statement(session_);
  Evict(statement, Old(0), New(1));
  Evict(statement, Old(1), New(1));
  statement.Pipeline(New(1), kNode, true);
  statement.Commit();
  EXPECT_EQ(session_.plan.evictions.size(), 2u);
}

TEST_F(StatementTest, WhoWaitsForRoomThatWasThereAllTheTimeWaitsForNobody) {
  Statement statement(session_);
  Evict(statement, Old(0), New(0));
  statement.Pipeline(New(0), kNode, true);
  statement.Commit();
  EXPECT_TRUE(session_.plan.evictions.empty());
  EXPECT_EQ(Status(New(0)), TaskStatus::kPipelined);
  EXPECT_FALSE(cycle_.cluster.tasks[New(0)].eviction_occurred);
}

TEST_F(StatementTest, WhoIsEvictedForNobodyIsNotPutBack) {
  Statement statement(session_);
  statement.Evict(Old(0), TaskId{}, EvictionReason::kZoneClosed, 1);
  statement.Commit();
  ASSERT_EQ(session_.plan.evictions.size(), 1u);
  EXPECT_FALSE(session_.plan.evictions[0].for_task.valid());
  EXPECT_EQ(Status(Old(0)), TaskStatus::kReleasing);
}

}  // namespace
}  // namespace krafla
