// The five tables of a cluster and what indexes them.
#pragma once

#include "base/strong_id.h"

namespace krafla {

using NodeId = StrongId<struct NodeTag>;
using TaskId = StrongId<struct TaskTag>;  // a pod
using JobId = StrongId<struct JobTag>;    // a PodGroup with its pods
using QueueId = StrongId<struct QueueTag>;
using ClassId = StrongId<struct ClassTag>;  // pods that look the same to every predicate and scorer
using LabelSetId = StrongId<struct LabelSetTag>;
using PodSpecId = StrongId<struct PodSpecTag>;

}  // namespace krafla
