#include "explain/cycle_run.h"

namespace krafla {

CycleRun::CycleRun(const CycleInputs& inputs)
    : config(inputs.config), memory(inputs.memory), borrowed_(inputs.cluster) {
  when.now = inputs.now;
  when.zone = inputs.zone;
  // What an operator should know was said when the cycle was first run.
  log_.CaptureTo(&muted_);
}

Session& CycleRun::Run(CycleProbe* probe) {
  when.memory = &memory;
  when.visits_all_jobs = true;  // what is said of a job must not depend on whether it was quiet
  if (probe != nullptr) probe->ListenThrough(when);
  session_ = std::make_unique<Session>(borrowed_.cluster, config, when, log_);
  if (probe != nullptr) probe->Attach(*session_);
  session_->RunActions();
  return *session_;
}

}  // namespace krafla
