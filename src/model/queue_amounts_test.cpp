// What queues hold, with the queues below them.
#include "model/queue_amounts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace krafla {
namespace {

// Queues with their parents, and one job of so many CPUs in each.
std::map<std::string, double> Cpus(const std::vector<std::pair<std::string, std::string>>& queues,
                                   const std::map<std::string, double>& jobs) {
  Cluster c;
  for (const auto& [name, parent] : queues)
    c.queues.Add({.name = c.strings.Intern(name), .parent = c.strings.Intern(parent)});
  for (QueueId id{0}; id.value < c.queues.size(); ++id.value) c.queues_by_name.push_back(id);
  std::sort(c.queues_by_name.begin(), c.queues_by_name.end(),
            [&](QueueId a, QueueId b) { return c.QueueName(a) < c.QueueName(b); });
  for (const auto& [queue, cpu] : jobs) {
    Job job;
    job.queue = c.FindQueue(queue);
    job.allocated.Set(ResourceKinds::kCpu, cpu);
    c.jobs.Add(std::move(job));
  }
  std::map<std::string, double> cpus;
  const AmountByQueue amounts = AllocatedByQueue(c);
  for (const QueueId id : c.queues_by_name) cpus[std::string(c.QueueName(id))] = amounts[id].cpu();
  return cpus;
}

using Amounts = std::map<std::string, double>;

TEST(QueueAmounts, AParentHasWhatTheQueuesBelowItHave) {
  EXPECT_EQ(Cpus({{"root", ""}, {"org", "root"}, {"team", "org"}, {"default", ""}},
                 {{"team", 3}, {"org", 2}, {"default", 1}}),
            (Amounts{{"root", 6}, {"org", 5}, {"team", 3}, {"default", 1}}));
}

TEST(QueueAmounts, JobsOfRootCountOnce) {
  EXPECT_EQ(Cpus({{"root", ""}}, {{"root", 3}}), (Amounts{{"root", 3}}));
}

TEST(QueueAmounts, WithoutRootNothingIsAdded) {
  EXPECT_EQ(Cpus({{"org", ""}, {"team", "org"}}, {{"team", 3}}),
            (Amounts{{"org", 0}, {"team", 3}}));
}

TEST(QueueAmounts, AParentThatDoesNotExistCountsAsRoot) {
  EXPECT_EQ(Cpus({{"root", ""}, {"team", "gone"}}, {{"team", 3}}),
            (Amounts{{"root", 3}, {"team", 3}}));
}

TEST(QueueAmounts, ACircleOfParentsEndsAtRoot) {
  EXPECT_EQ(Cpus({{"root", ""}, {"a", "b"}, {"b", "a"}, {"c", "a"}, {"d", "d"}},
                 {{"a", 1}, {"c", 4}, {"d", 8}}),
            (Amounts{{"root", 13}, {"a", 5}, {"b", 5}, {"c", 4}, {"d", 8}}));
}

}  // namespace
}  // namespace krafla
