// What came of a task's search for room, kept for the next gang that asks the same.
//
// A gang that does not get all its places gives back those it had; the next gang of the kind then
// finds the session nearly as the first one did, takes the same places with the same evictions, and
// fails at the same point. So the steps of the last statement that was taken back are kept, and as
// long as a statement asks for the same (KnownInVain::Key), step by step, its searches need not be
// made. The steps themselves are taken, so that plugins see them, and whatever they leave behind is
// left behind.
//
// What was left behind when the last statement was taken back makes some nodes other than they were
// then. A step still holds when none of them is its node or the node of a step before it, and none
// has a better score: nodes before the step's own said no, and say it again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actions/known_in_vain.h"
#include "actions/victim_search.h"
#include "session/node_ranking.h"
#include "session/score_column.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

class RepeatedSteps {
 public:
  explicit RepeatedSteps(Session& session) : session_(session) {}

  struct Step {
    KnownInVain::Key key;
    RoomMade made;
    uint32_t position = 0;             // of its node, among those by name
    double score = 0;                  // of its node; 0 when nodes are tried by name
    std::vector<TraceEvent> furthest;  // when there was no room
  };
  // The step that is to be taken again if `Holds` says so; null: this has to be searched for.
  const Step* Find(const KnownInVain::Key& key);
  // Whether Holds has to know the scores of nodes for the class of tasks. Only nodes that were left
  // changed matter, and those that statements have not touched since: once per statement is enough.
  bool NeedsScores(ClassId cls) const { return !changed_.empty() && scored_ != cls; }
  const std::vector<uint32_t>& changed() const { return changed_; }
  void SetScores(ClassId cls, const ScoreColumn& scores);
  // Whether no changed node comes before the step's. `by_name`: in that order, else by score.
  bool Holds(const Step& step, bool by_name) const;
  void Taken() { ++taken_; }
  // A search has ended. `score` of the node that was found.
  void Note(const RoomMade& made, uint32_t position, double score,
            const std::vector<TraceEvent>& furthest);
  // One that nothing can be said about.
  void NoteUnknown() { traceable_ = false; }

  // The statement of the steps so far ends.
  void WillBeTakenBack();
  void WasTakenBack(const Statement& statement);
  void WasKept() { Forget(); }

 private:
  void Forget();
  uint32_t PositionOf(NodeId node);

  static constexpr size_t kMaxSteps = 1 << 11;

  Session& session_;
  std::vector<Step> steps_;
  size_t known_ = 0;               // steps that may be taken again; the rest is kept for its memory
  size_t taken_ = 0;               // in this statement
  bool follows_ = true;            // all of them were taken as they are kept
  bool traceable_ = true;          // nothing was left behind by searches themselves
  std::vector<uint32_t> changed_;  // positions of nodes that are not as they were then
  ClassId scored_;                 // whose scores these are:
  std::vector<double> scores_;     // of changed nodes
  // In the last Find, and when the statement was about to end.
  KnownInVain::Key asked_;
  Session::Mark asked_at_{};
  Session::Mark before_end_{};
  std::vector<uint32_t> position_of_;  // by NodeId; made when needed
};

}  // namespace krafla
