// Who is concerned when a zone closes: the questions about one job that several rules ask.
#pragma once

#include <cstdint>
#include <vector>

#include "check/check_input.h"
#include "session/tdm_settings.h"

namespace krafla {

// Pods of a job that offer themselves (volcano.sh/preemptable) and stand on a node of a configured
// zone, or may use one.
std::vector<TaskId> RevocablePods(const CheckInput& input, JobId job);

// Running pods on nodes of one zone that are taken off when it closes.
std::vector<TaskId> PodsToDrain(const CheckInput& input, JobId job, std::string_view zone);

// How many steps, at least, it takes to get `pods` of a job without a budget out of a closed zone:
// one pod above the job's minimum per step, then the gang as a whole.
int64_t StepsWithoutBudget(const CheckInput& input, JobId job, const std::vector<TaskId>& pods);

}  // namespace krafla
