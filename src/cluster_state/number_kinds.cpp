#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cluster_state/assemble.h"
#include "cluster_state/csi_claims.h"

namespace krafla {

Resource Renumbered(const Resource& resource, const Renumbering& to) {
  Resource answer;
  answer.Set(ResourceKinds::kCpu, resource.cpu());
  answer.Set(ResourceKinds::kMemory, resource.memory());
  if (!resource.scalars_nil()) answer.MakeScalars();
  for (uint64_t rest = resource.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    answer.Set(to[static_cast<size_t>(kind)], resource.Get(kind));
  }
  return answer;
}

namespace {

void Renumber(std::optional<Resource>& resource, const Renumbering& to) {
  if (resource) resource = Renumbered(*resource, to);
}

}  // namespace

Renumbering NumberKinds(Cluster& cluster, const BuildOptions& options, Diagnostics& diagnostics) {
  const CsiClaims csi(cluster, options);
  for (const StrId driver : csi.CountedDrivers()) {
    const std::string name = AttachLimitName(cluster.Text(driver));
    if (cluster.kinds.Intern(name) < 0)
      diagnostics.Error({}, {},
                        fmt::format("{} is one kind of resource too many: there may be {}", name,
                                    ResourceKinds::kMax));
  }

  std::vector<std::string> names;
  for (int kind = ResourceKinds::kPods + 1; kind < cluster.kinds.size(); ++kind)
    names.push_back(cluster.kinds.Name(kind));
  if (std::is_sorted(names.begin(), names.end())) return {};
  std::sort(names.begin(), names.end());
  ResourceKinds sorted;
  for (const std::string& name : names) sorted.Intern(name);
  Renumbering to;
  for (int kind = 0; kind < cluster.kinds.size(); ++kind)
    to.push_back(sorted.Find(cluster.kinds.Name(kind)));

  for (PodSpec& spec : cluster.specs) spec.request = Renumbered(spec.request, to);
  cluster.kinds = std::move(sorted);
  return to;
}

void Renumber(NodeFacts& node, const Renumbering& to) {
  node.allocatable = Renumbered(node.allocatable, to);
}

void Renumber(PodGroupFacts& group, const Renumbering& to) {
  Renumber(group.job.min_resources, to);
}

void Renumber(QueueFacts& entry, const Renumbering& to) {
  Renumber(entry.queue.capability, to);
  Renumber(entry.queue.guarantee, to);
  Renumber(entry.queue.deserved, to);
}

}  // namespace krafla
