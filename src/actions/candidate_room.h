// How much room each node would have if every task of a group of candidates went: where even that
// is too little, nobody has to be asked ("cannot be enough" is known from a sum).
//
// The sums are upper bounds: who is a candidate for one task in particular is looked at on the node
// itself. They are kept by kind and node for the groups that came up last, also from one session to
// the next, and brought up to date from the session's list of changed nodes; so is, for each
// request, a bit per node that has room for it. Classes that differ in a label mostly ask for the
// same.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "actions/evictable_tasks.h"
#include "actions/victim_search.h"
#include "session/amount_columns.h"
#include "session/session.h"

namespace krafla {

class CandidateRoom {
 public:
  CandidateRoom(Session& session, EvictableTasks& evictable)
      : session_(session), evictable_(evictable) {}
  struct Tables;  // what is kept

  // A bit per position in nodes_by_name: the task would have room if all candidates went. Good
  // until the next call.
  std::span<const uint64_t> NodesFor(TaskId task, const VictimRule& rule);
  // Whether there are candidates on a node, as of the last call.
  bool HasCandidates(uint32_t position) const { return current_->candidates[position] > 0; }
  bool HasCandidates() const { return current_->all_candidates > 0; }

 private:
  // Whose tasks count.
  struct Group {
    VictimRule::Whose whose = VictimRule::Whose::kOwnJob;
    QueueId queue;  // invalid: nobody's
    bool needs_candidates = false;
    bool operator==(const Group&) const = default;

    EvictableTasks::Side side() const {
      const bool reclaims = whose == VictimRule::Whose::kOtherQueues;
      return {reclaims ? Asking::kReclaim : Asking::kPreempt, queue};
    }
  };
  struct RequestBits {
    size_t synced = 0;
    std::vector<uint64_t> bits;
  };
  struct Sums {
    Group group;
    uint64_t used = 0;  // when it was last asked for
    size_t synced = 0;  // of the session's node changes
    AmountColumns room;
    std::vector<uint32_t> candidates;       // by position
    std::vector<uint64_t> with_candidates;  // a bit per position: there are any
    size_t all_candidates = 0;
    std::unordered_map<uint32_t, RequestBits> requests;  // by their numbers
  };

  Group GroupOf(TaskId task, const VictimRule& rule) const;
  uint32_t RequestOf(ClassId cls);
  Sums& SumsOf(const Group& group);
  void Make(Sums& sums, const Group& group);
  void Synchronize(Sums& sums);
  // The room on a node; good until the next call.
  struct ByKind {
    std::array<double, ResourceKinds::kMax> amounts;
    double Get(int kind) const { return amounts[static_cast<size_t>(kind)]; }
  };
  // And counts the candidates.
  const ByKind& AddUp(Sums& sums, uint32_t position);
  void AddUpAll(Sums& sums);
  // Calls f with the position of every node changed since, once each.
  template <class F>
  void ForEachChanged(size_t since, F&& f);

  Session& session_;
  EvictableTasks& evictable_;
  Sums* current_ = nullptr;
  ByKind room_{};                  // of one call
  std::vector<uint32_t> changed_;  // … positions
};

}  // namespace krafla
