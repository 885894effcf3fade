// Whether an object that was seen again says anything new. Most news (probes, heartbeats, statuses
// we wrote ourselves, annotations of others) is about things a scheduler does not look at.
#pragma once

#include "cluster_state/facts.h"

namespace krafla {

bool SameFacts(const PodFacts& a, const PodFacts& b);
bool SameFacts(const NodeFacts& a, const NodeFacts& b);
bool SameFacts(const QueueFacts& a, const QueueFacts& b);
bool SameFacts(const PriorityClassFacts& a, const PriorityClassFacts& b);
bool SameFacts(const Namespace& a, const Namespace& b);
bool SameFacts(const PodDisruptionBudget& a, const PodDisruptionBudget& b);
bool SameFacts(const PersistentVolumeClaim& a, const PersistentVolumeClaim& b);
bool SameFacts(const PersistentVolume& a, const PersistentVolume& b);
bool SameFacts(const StorageClass& a, const StorageClass& b);
bool SameFacts(const CsiNode& a, const CsiNode& b);

}  // namespace krafla
