#include "actions/repeated_steps.h"

namespace krafla {

const RepeatedSteps::Step* RepeatedSteps::Find(const KnownInVain::Key& key) {
  asked_ = key;
  asked_.push_back(state_);
  asked_at_ = session_.undo.Now();
  const auto found = steps_.find(asked_);
  return found == steps_.end() ? nullptr : &found->second;
}

void RepeatedSteps::Note(const RoomMade& made, const std::vector<TraceEvent>& furthest) {
  const bool done = made.node.valid();
  const bool left_nothing = !done && session_.undo.Now() == asked_at_;
  const uint64_t leads_to = left_nothing ? state_ : ++states_;
  state_ = leads_to;
  if ((!done && !left_nothing) || new_count_ == kMaxNewSteps) return;
  if (new_count_ == new_steps_.size()) new_steps_.emplace_back();
  auto& [key, step] = new_steps_[new_count_++];
  key = asked_;
  step.made = made;
  step.furthest = furthest;
  step.leads_to = leads_to;
}

void RepeatedSteps::WasTakenBack(Session::Mark began) {
  if (session_.undo.Now() != began.log) return Forget();
  if (steps_.size() + new_count_ > kMaxSteps) steps_.clear();
  for (size_t i = 0; i < new_count_; ++i) steps_[new_steps_[i].key] = new_steps_[i].step;
  new_count_ = 0;
  state_ = began_;
}

void RepeatedSteps::Forget() {
  if (!steps_.empty()) steps_.clear();
  new_count_ = 0;
  state_ = began_ = ++states_;
}

}  // namespace krafla
