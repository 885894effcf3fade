#include "actions/task_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/cycle.h"

namespace krafla {
namespace {

using testing::Cycle;

struct WaitingPod {
  std::string name;
  int priority = 0;
  int second = 0;  // of its creation
};

std::string ClusterText(const std::vector<WaitingPod>& pods) {
  std::string text = R"(---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, status: {state: Open}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: d},
 spec: {minMember: 1, queue: q}, status: {phase: Inqueue}}
)";
  for (size_t i = 0; i < pods.size(); ++i)
    text += fmt::format(R"(---
{{apiVersion: v1, kind: Pod,
 metadata: {{name: {0}, namespace: d, uid: u{1}, creationTimestamp: "2026-01-01T00:00:{2:02}Z",
  annotations: {{scheduling.k8s.io/group-name: g}}}},
 spec: {{schedulerName: volcano, priority: {3}, containers: [{{name: c}}]}}, status: {{phase: Pending}}}}
)",
                        pods[i].name, i, pods[i].second, pods[i].priority);
  return text;
}

// The names in the order of the line, and in that of a heap with the same pods in it.
std::pair<std::vector<std::string>, std::vector<std::string>> Orders(
    const std::vector<WaitingPod>& pods) {
  Cycle cycle({.cluster = ClusterText(pods),
               .config = "actions: allocate\ntiers:\n- plugins:\n  - name: priority\n",
               .profile = "volcano"});
  const Session& session = *cycle.session;
  const std::vector<TaskId>& tasks = session.cluster.jobs[JobId(0)].tasks;
  const auto less = [&](TaskId l, TaskId r) { return session.TaskLess(l, r); };
  GoHeap<TaskId, decltype(less)> heap(less);
  for (const TaskId task : tasks) heap.Push(task);
  TaskLine line(session, tasks);
  std::pair<std::vector<std::string>, std::vector<std::string>> orders;
  const auto name = [&](TaskId task) {
    return std::string(session.cluster.Text(session.cluster.tasks[task].name));
  };
  while (!line.empty()) orders.first.push_back(name(line.Pop()));
  while (!heap.empty()) orders.second.push_back(name(heap.Pop()));
  return orders;
}

TEST(TaskLine, PriorityThenNumberThenAge) {
  const auto [line, heap] =
      Orders({{"g-w-10", 0, 1}, {"g-w-9", 0, 5}, {"g-m-11", 7, 9}, {"g-w-11", 7, 3}});
  EXPECT_EQ(line, (std::vector<std::string>{"g-w-11", "g-m-11", "g-w-9", "g-w-10"}));
  EXPECT_EQ(heap, line);
}

TEST(TaskLine, IsTheOrderOfTheHeapWhateverTheNames) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<WaitingPod> pods;
    const int numbered = round % 3;  // none, all, some: the last is no order, and needs the heap
    for (int i = 0; i < 9; ++i) {
      const bool has_number = numbered == 1 || (numbered == 2 && random() % 2 == 0);
      pods.push_back({has_number ? fmt::format("g-p{}-{}", i, random() % 4)
                                 : fmt::format("p{}x", static_cast<char>('a' + i)),
                      static_cast<int>(random() % 2), static_cast<int>(random() % 3)});
    }
    std::shuffle(pods.begin(), pods.end(), random);
    const auto [line, heap] = Orders(pods);
    EXPECT_EQ(line, heap) << "round " << round;
  }
}

}  // namespace
}  // namespace krafla
