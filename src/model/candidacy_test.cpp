#include "model/candidacy.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

// Two queues, in the first of them two jobs; tasks are made by hand.
class CandidacyTest : public ::testing::Test {
 protected:
  CandidacyTest() {
    for (const bool reclaimable : {true, true, false}) {
      Queue queue;
      queue.reclaimable = reclaimable;
      cluster_.queues.Add(std::move(queue));
    }
    for (const uint32_t queue : {0u, 0u, 1u, 2u}) {
      Job job;
      job.queue = QueueId(queue);
      cluster_.jobs.Add(std::move(job));
    }
    for_task_.job = JobId(0);
  }

  Task Running(uint32_t job) const {
    Task task;
    task.job = JobId(job);
    task.status = TaskStatus::kRunning;
    task.preemptable = true;
    return task;
  }
  Candidacy Of(VictimsFrom from, const Task& task) const {
    return CandidacyOf(cluster_, from, for_task_, task);
  }

  Cluster cluster_;
  Task for_task_;
};

TEST_F(CandidacyTest, EachActionTakesFromItsOwnPlace) {
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, Running(0)), Candidacy::kOwnJob);
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, Running(1)), Candidacy::kCandidate);
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, Running(2)), Candidacy::kOtherQueue);
  EXPECT_EQ(Of(VictimsFrom::kOwnJob, Running(0)), Candidacy::kCandidate);
  EXPECT_EQ(Of(VictimsFrom::kOwnJob, Running(1)), Candidacy::kOtherJob);
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, Running(1)), Candidacy::kOwnQueue);
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, Running(2)), Candidacy::kCandidate);
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, Running(3)), Candidacy::kNotReclaimable);
}

TEST_F(CandidacyTest, BoundPodsMayBePreemptedButNotReclaimed) {
  Task bound = Running(1);
  bound.status = TaskStatus::kBound;
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, bound), Candidacy::kCandidate);
  bound.job = JobId(2);
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, bound), Candidacy::kNotRunning);
}

TEST_F(CandidacyTest, BestEffortPodsPreemptOnlyTheirLikeAndReclaimAnybody) {
  for_task_.best_effort = true;
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, Running(1)), Candidacy::kBestEffort);
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, Running(2)), Candidacy::kCandidate);
}

TEST_F(CandidacyTest, WhatThePodSaysAndWhoseItIs) {
  Task task = Running(1);
  task.preemptable = false;
  EXPECT_EQ(Of(VictimsFrom::kOtherJobsOfQueue, task), Candidacy::kNotPreemptable);
  task = Running(1);
  task.job = JobId{};
  EXPECT_EQ(Of(VictimsFrom::kOtherQueues, task), Candidacy::kNoJob);
}

}  // namespace
}  // namespace krafla
