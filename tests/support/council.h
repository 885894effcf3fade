// A session of plugins that say what a test wants them to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/session.h"

namespace krafla {

using Fill = std::function<void(PluginHooks&)>;

inline const Fill kSilent = [](PluginHooks&) {};

class FakePlugin final : public Plugin {
 public:
  explicit FakePlugin(Fill fill) : fill_(std::move(fill)) {}
  void Open(Session&, const PluginOption&, PluginHooks& hooks) override { fill_(hooks); }

 private:
  Fill fill_;
};

inline constexpr QueueId kQueueA(0);
inline constexpr QueueId kQueueB(1);
inline constexpr JobId kJobA(0);
inline constexpr JobId kJobB(1);
inline constexpr TaskId kTask0(0);
inline constexpr TaskId kTask1(1);
inline constexpr TaskId kTask2(2);
inline constexpr TaskId kTask3(3);
inline constexpr NodeId kNodeA(0);
inline constexpr NodeId kNodeB(1);

// Two queues, a job in each, two tasks in each job, two nodes; alike in everything but names.
inline Cluster SmallCluster() {
  Cluster cluster;
  const StrId ns = cluster.strings.Intern("ns");
  cluster.label_sets.Add({});
  cluster.specs.Add({});
  TaskClass task_class;
  task_class.spec = PodSpecId(0);
  task_class.labels = LabelSetId(0);
  task_class.ns = ns;
  cluster.classes.Add(task_class);
  for (const char* name : {"a", "b"}) {
    Node node;
    node.name = cluster.strings.Intern(name);
    cluster.nodes_by_name.push_back(cluster.nodes.Add(node));
    Queue queue;
    queue.name = node.name;
    cluster.queues_by_name.push_back(cluster.queues.Add(queue));
    Job job;
    job.ns = ns;
    job.name = node.name;
    job.queue = cluster.queues_by_name.back();
    job.roles.push_back({.name = kEmptyStr});
    cluster.jobs_by_name.push_back(cluster.jobs.Add(std::move(job)));
  }
  for (auto* amounts :
       {&cluster.allocatable, &cluster.idle, &cluster.used, &cluster.releasing, &cluster.pipelined})
    amounts->Reset(cluster.nodes.size());
  for (const auto& [name, job] : {std::pair("t0", kJobA), std::pair("t1", kJobA),
                                  std::pair("t2", kJobB), std::pair("t3", kJobB)}) {
    Task task;
    task.ns = ns;
    task.name = task.uid = cluster.strings.Intern(name);
    task.job = job;
    task.cls = ClassId(0);
    task.spec = PodSpecId(0);
    task.labels = LabelSetId(0);
    cluster.jobs[job].tasks.push_back(cluster.tasks.Add(task));
    ++cluster.jobs[job].count[static_cast<size_t>(TaskStatus::kPending)];
    ++cluster.jobs[job].roles[0].count[static_cast<size_t>(TaskStatus::kPending)];
  }
  return cluster;
}

// A session of plugins that say what a test wants them to, tier by tier: p0, p1, … in order.
class Council {
 public:
  explicit Council(
      const std::vector<std::vector<Fill>>& tiers, Compatibility compat = Compatibility::Krafla(),
      const std::function<void(PluginOption&)>& edit = [](PluginOption&) {})
      : cluster(SmallCluster()) {
    config.compatibility = compat;
    for (const auto& tier : tiers) {
      Tier& added = config.tiers.emplace_back();
      for (const Fill& fill : tier) {
        PluginOption option;
        option.name = "p" + std::to_string(fills_.size());
        edit(option);
        fills_.emplace(option.name, fill);
        added.plugins.push_back(std::move(option));
      }
    }
    SessionOptions options;
    options.make_plugin = [this](std::string_view name) -> std::unique_ptr<Plugin> {
      const auto it = fills_.find(std::string(name));
      if (it == fills_.end()) return nullptr;
      return std::make_unique<FakePlugin>(it->second);
    };
    session_ = std::make_unique<Session>(cluster, config, options, log_);
  }

  Session* operator->() { return session_.get(); }
  Session& operator*() { return *session_; }

  Cluster cluster;
  SchedulerConfig config;

 private:
  std::map<std::string, Fill> fills_;
  Log log_;
  std::unique_ptr<Session> session_;
};

}  // namespace krafla
