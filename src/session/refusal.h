// Why a task may not run on a node, in codes. Words are looked up only when somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace krafla {

using ReasonCode = uint16_t;

struct Refusal {
  // What kind of "no" was said; several predicates may each have said one.
  static constexpr uint8_t kUnschedulable = 1;  // evicting pods from the node may help
  static constexpr uint8_t kUnschedulableAndUnresolvable =
      2;                                // nothing done to the node's pods helps
  static constexpr uint8_t kError = 4;  // could not be judged

  uint8_t codes = 0;
  ReasonCode reason = 0;  // the first one given

  bool refused() const { return codes != 0; }
  bool unresolvable() const { return (codes & kUnschedulableAndUnresolvable) != 0; }
  // Preempt and reclaim go on with nodes whose refusal evictions may lift.
  bool refused_for_preemption() const {
    return (codes & (kUnschedulableAndUnresolvable | kError)) != 0;
  }
  // Another predicate of the same plugin also says no.
  void Join(Refusal other) {
    if (codes == 0) reason = other.reason;
    codes |= other.codes;
  }
};

// The sentences behind the codes. Code 0 is empty.
class ReasonTable {
 public:
  ReasonTable() : texts_{""} {}
  ReasonCode Intern(std::string_view text);
  const std::string& Text(ReasonCode code) const { return texts_[code]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, ReasonCode> index_;
};

}  // namespace krafla
