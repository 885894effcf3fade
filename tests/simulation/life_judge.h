// Follows every pod and job of a simulation through its events: no pod is bound twice, none is
// lost, and each step follows one that may come before it.
#pragma once

#include <map>
#include <string>

#include "sim/sim_event.h"

namespace krafla::testing {

class LifeJudge final : public SimObserver {
 public:
  void On(const SimEvent& event) override;

  const std::string& complaint() const { return complaint_; }
  // Jobs that were submitted and have not completed, with what their pods do.
  std::string Unfinished() const;
  Timestamp last_fault() const { return last_fault_; }
  Timestamp last_completion() const { return last_completion_; }

 private:
  enum class State : uint8_t { kMissing, kPending, kBound, kRunning, kEvicted, kDone, kFailed };
  struct Pod {
    State state = State::kMissing;
    std::string job;
    Timestamp missing_since;
  };
  struct Job {
    int64_t pods = 0;
    int64_t created = 0;  // names
    int64_t succeeded = 0;
    bool complete = false;
  };
  void OnPod(const SimEvent& event);
  void Move(const SimEvent& event, Pod& pod, std::initializer_list<State> from, State to);
  void Complain(const SimEvent& event, std::string_view what);

  std::map<std::string, Pod> pods_;
  std::map<std::string, Job> jobs_;
  Timestamp last_fault_;
  Timestamp last_completion_;
  std::string complaint_;
};

}  // namespace krafla::testing
