#include "session/job_by_name.h"

#include <algorithm>

namespace krafla {

namespace {

// Whether the job's "namespace/name" sorts before `wanted`; without putting it together.
bool KeyLess(const Cluster& cluster, const Job& job, std::string_view wanted) {
  const std::string_view ns = cluster.Text(job.ns);
  if (const int order = ns.compare(wanted.substr(0, ns.size())); order != 0) return order < 0;
  wanted.remove_prefix(ns.size());
  if (wanted.empty()) return false;
  if (wanted.front() != '/') return '/' < static_cast<unsigned char>(wanted.front());
  return cluster.Text(job.name) < wanted.substr(1);
}

}  // namespace

JobId FindJob(const Cluster& cluster, std::string_view key) {
  const auto& jobs = cluster.jobs_by_name;
  const auto it =
      std::lower_bound(jobs.begin(), jobs.end(), key, [&](JobId job, std::string_view wanted) {
        return KeyLess(cluster, cluster.jobs[job], wanted);
      });
  return it != jobs.end() && cluster.JobKey(*it) == key ? *it : JobId{};
}

}  // namespace krafla
