#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "cluster_state/assemble.h"

namespace krafla {

namespace {

// Follows parents from each queue that was not seen yet. A walk that meets itself has found a
// circle; under `lenient` the queue at which it closes loses its parent.
void CheckParents(const Cluster& cluster, std::vector<QueueFacts>& facts, bool lenient,
                  Diagnostics& diagnostics) {
  std::unordered_map<StrId, size_t> by_name;
  for (size_t i = 0; i < facts.size(); ++i) by_name.emplace(facts[i].queue.name, i);
  constexpr size_t kUnseen = 0;
  std::vector<size_t> walk_of(facts.size(), kUnseen);
  for (size_t start = 0; start < facts.size(); ++start) {
    const size_t walk = start + 1;
    std::vector<size_t> path;
    for (size_t at = start; walk_of[at] == kUnseen;) {
      walk_of[at] = walk;
      path.push_back(at);
      const auto parent = by_name.find(facts[at].queue.parent);
      if (parent == by_name.end()) break;
      at = parent->second;
      if (walk_of[at] != walk) continue;
      std::string circle;
      for (auto step = std::find(path.begin(), path.end(), at); step != path.end(); ++step)
        circle += fmt::format("{} → ", cluster.Text(facts[*step].queue.name));
      QueueFacts& first = facts[at];
      diagnostics.Add(
          {lenient ? Severity::kWarning : Severity::kError, first.file, first.location,
           fmt::format("Queue {}", cluster.Text(first.queue.name)), "spec.parent",
           fmt::format("queues are each other's parents: {}{}{}", circle,
                       cluster.Text(first.queue.name), lenient ? "; the parent is left out" : "")});
      if (lenient) first.queue.parent = kEmptyStr;
    }
  }
}

}  // namespace

void AssembleQueues(ClusterDraft& draft, Diagnostics& diagnostics) {
  Cluster& cluster = draft.cluster;
  std::vector<QueueFacts>& facts = draft.queues;
  std::sort(facts.begin(), facts.end(), [&](const QueueFacts& a, const QueueFacts& b) {
    return cluster.Text(a.queue.name) < cluster.Text(b.queue.name);
  });
  CheckParents(cluster, facts, draft.options.lenient, diagnostics);
  for (QueueFacts& entry : facts)
    cluster.queues_by_name.push_back(cluster.queues.Add(std::move(entry.queue)));
}

}  // namespace krafla
