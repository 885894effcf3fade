// What came of a task's search for room, kept for the next task that asks the same in the same
// state.
//
// A gang that does not get all its places gives back those it had; the next gang of the kind then
// finds the session as the first one did, takes the same places with the same evictions, and fails
// at the same point. Its searches need not be made again: each step is known by the state it starts
// in and by what the search depends on (KnownInVain::Key). The steps themselves are taken, so that
// plugins see them, and whatever they leave behind is left behind.
//
// A state lasts while nothing changes but by steps, and comes back when a statement is taken back
// without leaving anything in the undo log. Every other change makes a new one of which nothing is
// known. Tasks that a search cannot tell apart may take each other's part in a state.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "actions/known_in_vain.h"
#include "actions/victim_search.h"
#include "session/session.h"

namespace krafla {

class RepeatedSteps {
 public:
  explicit RepeatedSteps(Session& session) : session_(session) {}

  struct Step {
    RoomMade made;
    std::vector<TraceEvent> furthest;  // when there was no room
    uint64_t leads_to = 0;             // state
  };
  // What came of such a search in the state the session is in; null: not known.
  const Step* Find(const KnownInVain::Key& key);
  // The step that was found has been taken.
  void Taken(const Step& step) { state_ = step.leads_to; }
  // The search, of which nothing was known, has ended.
  void Note(const RoomMade& made, const std::vector<TraceEvent>& furthest);

  // The statement of the steps so far was ended.
  void WasTakenBack(Session::Mark began);
  void WasKept() { Forget(); }

 private:
  struct NewStep {
    KnownInVain::Key key;
    Step step;
  };

  void Forget();

  static constexpr size_t kMaxSteps = 1 << 14;
  static constexpr size_t kMaxNewSteps = 1 << 11;

  Session& session_;
  uint64_t states_ = 0;
  uint64_t state_ = 0;  // now
  uint64_t began_ = 0;  // when the statement began
  std::unordered_map<KnownInVain::Key, Step, KnownInVain::Hash> steps_;
  // Of the present statement. Most are kept, so they are put into the map only when they were not.
  std::vector<NewStep> new_steps_;
  size_t new_count_ = 0;    // what is behind is kept for its memory
  KnownInVain::Key asked_;  // in the last Find, with the state
  UndoLog::Mark asked_at_ = 0;
};

}  // namespace krafla
