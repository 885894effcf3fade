// What a cycle is working on: the step, and the job whose turn it is. One store per job and step,
// so that the message about a failed check can name both (scheduling_loop_recovery.cpp reads it).
// Not set per node or per pod: those loops are hot.
#pragma once

#include <string_view>

#include "model/cluster.h"

namespace krafla {

struct InHand {
  enum class Step : uint8_t { kNone, kOpen, kAction, kClose };
  Step step = Step::kNone;
  std::string_view name;  // of the plugin that opens or closes, or of the action
  JobId job;              // invalid: no single job
};

// Of this thread.
inline constinit thread_local InHand in_hand;

inline void TakeInHand(JobId job) {
  in_hand.job = job;
}

}  // namespace krafla
