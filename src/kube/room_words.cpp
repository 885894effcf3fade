#include "kube/room_words.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explain/amount_words.h"

namespace krafla {

namespace {

constexpr size_t kMostNodes = 3;  // that are named

// All that leave it, for whomever: which of them make the room is open until it is there.
size_t LeavingOf(const Cluster& c, NodeId node) {
  const auto& tasks = c.nodes[node].tasks;
  return static_cast<size_t>(std::count_if(tasks.begin(), tasks.end(), [&](TaskId task) {
    return c.tasks[task].status == TaskStatus::kReleasing;
  }));
}

RoomWords Words(const Cluster& c, const std::set<NodeId>& nodes) {
  size_t leaving = 0;
  std::vector<std::string_view> names;
  for (const NodeId node : nodes) {
    leaving += LeavingOf(c, node);
    names.push_back(c.NodeName(node));
  }
  std::sort(names.begin(), names.end());
  const size_t more = names.size() - std::min(names.size(), kMostNodes);
  names.resize(names.size() - more);
  std::string where =
      fmt::format("node{} {}{}", names.size() == 1 ? "" : "s", fmt::join(names, ", "),
                  more == 0 ? std::string() : fmt::format(" and {} more", more));
  std::string sentence =
      leaving == 0 ? fmt::format("waits for room on {}", where)
                   : fmt::format("waits for at most {} to leave {}", PodCount(leaving), where);
  return {std::move(sentence), std::move(where)};
}

}  // namespace

bool RoomIsBeingMade(const Session& session, JobId job) {
  return session.cluster.jobs[job].Count(TaskStatus::kPipelined) > 0 && session.JobPipelined(job);
}

RoomWords WhoHasToLeave(const Session& session, TaskId task) {
  return Words(session.cluster, {session.cluster.tasks[task].node});
}

RoomWords WhoHasToLeave(const Session& session, JobId job) {
  const Cluster& c = session.cluster;
  std::set<NodeId> nodes;
  for (const TaskId task : c.jobs[job].tasks)
    if (c.tasks[task].status == TaskStatus::kPipelined && c.tasks[task].node.valid())
      nodes.insert(c.tasks[task].node);
  return Words(c, nodes);
}

}  // namespace krafla
