#include "actions/repeated_steps.h"

#include <algorithm>

namespace krafla {

const RepeatedSteps::Step* RepeatedSteps::Find(const KnownInVain::Key& key) {
  asked_ = key;
  asked_at_ = session_.MarkNow();
  if (!traceable_ || !follows_ || taken_ >= known_ || steps_[taken_].key != key) return nullptr;
  return &steps_[taken_];
}

void RepeatedSteps::SetScores(ClassId cls, const ScoreColumn& scores) {
  scored_ = cls;
  scores_.clear();
  for (const uint32_t p : changed_) scores_.push_back(scores[p]);
}

bool RepeatedSteps::Holds(const Step& step, bool by_name) const {
  if (changed_.empty()) return true;
  if (!step.made.node.valid()) return false;
  for (size_t c = 0; c < changed_.size(); ++c) {
    const uint32_t p = changed_[c];
    for (size_t i = 0; i <= taken_; ++i)
      if (steps_[i].position == p && steps_[i].made.node.valid()) return false;
    const bool before = p < step.position;
    if (by_name ? before : scores_[c] > step.score || (scores_[c] == step.score && before))
      return false;
  }
  return true;
}

void RepeatedSteps::Note(const RoomMade& made, uint32_t position, double score,
                         const std::vector<TraceEvent>& furthest) {
  const bool done = made.node.valid();
  if (done) {
    // Tries on other nodes that were taken back may have left something there.
    for (const NodeId node : session_.node_changes().From(asked_at_.node_changes))
      traceable_ &= node == made.node;
  } else {
    traceable_ &= session_.undo.Now() == asked_at_.log;
  }
  if (taken_ == kMaxSteps) traceable_ = false;
  if (!traceable_) return;
  if (taken_ == steps_.size()) steps_.emplace_back();
  Step& step = steps_[taken_++];
  const bool as_before = follows_ && taken_ <= known_ && step.key == asked_ &&
                         step.made.node == made.node && step.made.evicted == made.evicted;
  // One by one: they take the memory of those before.
  step.key = asked_;
  step.made = made;
  step.position = position;
  step.score = score;
  step.furthest = furthest;
  if (as_before) return;
  // From here on the kept steps are those of another course of events.
  follows_ = false;
  known_ = 0;
}

void RepeatedSteps::WillBeTakenBack() {
  // Looked at, so that the rollback adds what it changes instead of removing what it takes back.
  if (!session_.compat.exact_undo) {
    (void)session_.node_changes();
    (void)session_.task_changes();
  }
  before_end_ = session_.MarkNow();
}

void RepeatedSteps::WasTakenBack(const Statement& statement) {
  const Session::Mark began = statement.begin();
  changed_.clear();
  scored_ = ClassId{};
  if (session_.undo.Now() != began.log) {
    if (!traceable_ || session_.compat.exact_undo) return Forget();
    // Behind the changes of the statement, once more in reverse order, are those that stay. Where
    // jobs are among them, nodes elsewhere may answer otherwise.
    const NodeChanges& changes = session_.node_changes();
    const size_t stay = 2 * before_end_.node_changes - began.node_changes;
    const size_t of_tasks = 2 * before_end_.task_changes - began.task_changes;
    if (stay >= changes.size() || of_tasks != session_.task_changes().size()) return Forget();
    for (const NodeId node : changes.From(stay)) changed_.push_back(PositionOf(node));
  }
  if (!traceable_) return Forget();
  known_ = taken_;
  taken_ = 0;
  follows_ = true;
}

void RepeatedSteps::Forget() {
  known_ = taken_ = 0;
  follows_ = traceable_ = true;
  changed_.clear();
}

uint32_t RepeatedSteps::PositionOf(NodeId node) {
  if (position_of_.empty()) {
    position_of_.resize(session_.cluster.nodes.size());
    for (uint32_t p = 0; p < session_.cluster.nodes_by_name.size(); ++p)
      position_of_[session_.cluster.nodes_by_name[p].value] = p;
  }
  return position_of_[node.value];
}

}  // namespace krafla
