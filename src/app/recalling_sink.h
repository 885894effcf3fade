// Reads what PodGroups tell of earlier evictions into the memory of a cycle, as a scheduler does
// that is started anew: a command that looks at a live cluster's objects answers as that scheduler
// would.
#pragma once

#include "cluster_state/forwarding_sink.h"
#include "session/cycle_memory.h"

namespace krafla {

class RecallingSink final : public ForwardingSink {
 public:
  // `memory` has to live as long as the sink.
  RecallingSink(FactSink& next, Timestamp now, CycleMemory& memory)
      : ForwardingSink(next), now_(now), memory_(memory) {}

  Added AddPodGroup(PodGroupFacts group, Origin origin) override;

 private:
  Timestamp now_;
  CycleMemory& memory_;
};

}  // namespace krafla
