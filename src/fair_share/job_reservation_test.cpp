#include "fair_share/job_reservation.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

class JobReservationTest : public testing::Test {
 protected:
  int Kind(std::string_view name) { return cluster_.kinds.Intern(name); }
  std::string Text(const Resource& resource) { return ToString(resource, cluster_.kinds); }

  Resource Cpu(double milli) {
    Resource resource;
    resource.Set(ResourceKinds::kCpu, milli);
    return resource;
  }

  void AddTask(Resource request, bool gated, bool only_queue_gate = false) {
    Task task;
    task.gated = gated;
    task.only_queue_gate = only_queue_gate;
    TaskClass cls;
    cls.request = std::move(request);
    task.cls = cluster_.classes.Add(std::move(cls));
    job_.tasks.push_back(cluster_.tasks.Add(std::move(task)));
  }

  Cluster cluster_;
  Job job_;
};

TEST_F(JobReservationTest, KeepsWhatIsMissingOfTheMinimum) {
  Resource minimum = Cpu(4000);
  minimum.Set(ResourceKinds::kMemory, 100);
  minimum.Set(ResourceKinds::kPods, 4);
  minimum.Set(Kind("nvidia.com/gpu"), 2000);
  minimum.Set(Kind("ephemeral-storage"), 7000);
  job_.min_resources = minimum;
  job_.allocated = Cpu(1000);
  job_.allocated.Set(ResourceKinds::kMemory, 200);
  job_.allocated.Set(ResourceKinds::kPods, 1);
  EXPECT_EQ(Text(UnallocatedMinResources(job_, cluster_.kinds)),
            "cpu 3000.00, memory 0.00, nvidia.com/gpu 2000.00, pods 3.00");
  EXPECT_EQ(Text(ElasticResources(job_)), "cpu 0.00, memory 100.00");
}

TEST_F(JobReservationTest, WithoutAMinimumEverythingIsElastic) {
  job_.allocated = Cpu(1000);
  EXPECT_EQ(Text(MinResources(job_)), "cpu 0.00, memory 0.00");
  EXPECT_EQ(Text(ElasticResources(job_)), "cpu 1000.00, memory 0.00");
}

TEST_F(JobReservationTest, GatedPodsKeepNothing) {
  Resource request = Cpu(1500);
  request.Set(ResourceKinds::kPods, 1);
  request.Set(Kind("nvidia.com/gpu"), 1000);
  AddTask(request, true);
  AddTask(request, true);
  AddTask(request, false);
  AddTask(request, true, /*only_queue_gate=*/true);
  Resource minimum = Cpu(4000);
  minimum.Set(ResourceKinds::kPods, 1);
  EXPECT_EQ(Text(WithoutGatedPods(cluster_, job_, minimum)), "cpu 1000.00, memory 0.00, pods 0.00");
}

TEST_F(JobReservationTest, GatedPodsThatAskForNothingChangeNothing) {
  Resource request;
  request.Set(ResourceKinds::kPods, 1);
  AddTask(request, true);
  Resource minimum = Cpu(4000);
  minimum.Set(ResourceKinds::kPods, 3);
  EXPECT_EQ(Text(WithoutGatedPods(cluster_, job_, minimum)), "cpu 4000.00, memory 0.00, pods 3.00");
}

TEST_F(JobReservationTest, RunsAtMinimumWithEnoughPodsThatHoldResources) {
  job_.min_available = 2;
  job_.phase = JobPhase::kRunning;
  job_.count[static_cast<size_t>(TaskStatus::kRunning)] = 1;
  job_.count[static_cast<size_t>(TaskStatus::kSucceeded)] = 5;
  EXPECT_FALSE(RunsAtMinimum(job_));
  job_.count[static_cast<size_t>(TaskStatus::kBound)] = 1;
  EXPECT_TRUE(RunsAtMinimum(job_));
  job_.phase = JobPhase::kInqueue;
  EXPECT_FALSE(RunsAtMinimum(job_));
}

}  // namespace
}  // namespace krafla
