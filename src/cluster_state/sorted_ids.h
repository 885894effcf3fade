// Lists of ids that are kept sorted by what their rows say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "cluster_state/name_order.h"
#include "model/cluster.h"

namespace krafla {

// Where `id` is, or belongs, in a list that is sorted by `less`.
template <class Id, class Less>
size_t PlaceOf(const std::vector<Id>& list, Id id, Less&& less) {
  return static_cast<size_t>(std::lower_bound(list.begin(), list.end(), id, less) - list.begin());
}

template <class Id>
void Erase(std::vector<Id>& list, size_t place, Id id) {
  // Equal keys (two pods of one UID) may stand in any order.
  while (place < list.size() && list[place] != id) ++place;
  KRAFLA_CHECK(place < list.size(), "an id is where its key says");
  list.erase(list.begin() + static_cast<ptrdiff_t>(place));
}

template <class Id>
void Replace(std::vector<Id>& list, size_t place, Id before, Id after) {
  while (place < list.size() && list[place] != before) ++place;
  KRAFLA_CHECK(place < list.size(), "an id is where its key says");
  list[place] = after;
}

template <class Id>
void Insert(std::vector<Id>& list, size_t place, Id id) {
  list.insert(list.begin() + static_cast<ptrdiff_t>(place), id);
}

struct ByUid {
  const Cluster& cluster;
  bool operator()(TaskId a, TaskId b) const {
    return cluster.Text(cluster.tasks[a].uid) < cluster.Text(cluster.tasks[b].uid);
  }
};

struct ByTaskName {
  const Cluster& cluster;
  bool operator()(TaskId a, TaskId b) const { return cluster.TaskNameLess(a, b); }
};

struct ByJobName {
  const Cluster& cluster;
  bool operator()(JobId a, JobId b) const {
    const Job& l = cluster.jobs[a];
    const Job& r = cluster.jobs[b];
    return NamespacedLess(cluster.Text(l.ns), cluster.Text(l.name), cluster.Text(r.ns),
                          cluster.Text(r.name));
  }
};

struct ByNodeName {
  const Cluster& cluster;
  bool operator()(NodeId a, NodeId b) const { return cluster.NodeName(a) < cluster.NodeName(b); }
};

}  // namespace krafla
