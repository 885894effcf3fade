// shuffle: evicts what plugins nominate, making room for nobody in particular.
#include "actions/evict_nominated.h"
#include "session/action.h"
#include "session/session.h"

namespace krafla {

namespace {

class ShuffleAction : public Action {
 public:
  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Shuffle ...");
    EvictNominatedVictims(s);
    if (s.log.V(5)) s.log.Line("Leaving Shuffle ...");
  }
};

}  // namespace

std::unique_ptr<Action> Make_shuffle_action() {
  return std::make_unique<ShuffleAction>();
}

}  // namespace krafla
