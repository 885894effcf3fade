#include "explain/cluster_copy.h"

#include <utility>

namespace krafla {

namespace {

// Names every member: a new one does not compile until it is copied here.
void CopyTables(const Cluster& from, Cluster& to) {
  const auto& [strings, kinds, label_sets, specs, classes, tasks, tasks_by_name, jobs, queues,
               nodes, allocatable, idle, used, releasing, pipelined, total, jobs_by_name,
               nodes_by_name, queues_by_name, volumes, budgets, namespaces] = from;
  to.kinds = kinds;
  to.label_sets = label_sets;
  to.specs = specs;
  to.classes = classes;
  to.tasks = tasks;
  to.tasks_by_name = tasks_by_name;
  to.jobs = jobs;
  to.queues = queues;
  to.nodes = nodes;
  to.allocatable = allocatable;
  to.idle = idle;
  to.used = used;
  to.releasing = releasing;
  to.pipelined = pipelined;
  to.total = total;
  to.jobs_by_name = jobs_by_name;
  to.nodes_by_name = nodes_by_name;
  to.queues_by_name = queues_by_name;
  to.volumes = volumes;
  to.budgets = budgets;
  to.namespaces = namespaces;
}

}  // namespace

Cluster CopyCluster(const Cluster& cluster) {
  Cluster copy;
  CopyTables(cluster, copy);
  // In the order of their ids, so that they get the same ones.
  for (uint32_t i = 0; i < cluster.strings.size(); ++i)
    copy.strings.Intern(cluster.strings.Text(StrId(i)));
  return copy;
}

BorrowedCluster::BorrowedCluster(Cluster& lender) : lender_(lender) {
  CopyTables(lender, cluster);
  std::swap(cluster.strings, lender.strings);
}

BorrowedCluster::~BorrowedCluster() {
  std::swap(cluster.strings, lender_.strings);
}

}  // namespace krafla
