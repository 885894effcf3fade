// A "no" from every node, remembered: a later task for which everything the answers depend on is
// the same asks only the nodes where something has changed since.
//
// What an answer on a node depends on:
//   - the task: its class, and whose tasks are its candidates;
//   - what the plugins' votes look at beside the candidates, in words (Session::VotesDependOn);
//   - the node: its amounts and its pods (Session::node_changes);
//   - the candidates' jobs (Session::job_changes).
// The first two are the key of a record. The changes since it was made name the nodes to ask again.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "actions/victim_search.h"
#include "session/session.h"

namespace krafla {

class KnownInVain {
 public:
  explicit KnownInVain(Session& session);

  struct Record {
    size_t node_changes = 0;
    size_t job_changes = 0;
    std::vector<TraceEvent> furthest;  // of the tries, the one that got furthest
  };
  using Key = std::vector<uint64_t>;

  // The key of a task's search; false when something it depends on cannot be named.
  bool MakeKey(TaskId task, const VictimRule& rule, const void* left_out, Key& key) const;
  Record* Find(const Key& key);
  // Which nodes, by position, may answer otherwise than when the record was made; false: too many
  // for a list.
  bool NodesToAskAgain(const Record& record, std::vector<uint32_t>& positions);

  // Where the session is now, to be taken before a search.
  size_t JobChangesNow() const { return session_.job_changes().size(); }
  // Every node said no, in a search that began at `job_changes`. What the search itself did to
  // nodes does not count: a node whose victims were evicted in vain and put back says no again,
  // also where Kubernetes' view has lost sight of them.
  void Remember(const Key& key, size_t job_changes, std::vector<TraceEvent> furthest);

 private:
  static constexpr size_t kMaxRecords = 1 << 16;
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  Session& session_;
  std::unordered_map<Key, Record, Hash> records_;
  std::vector<uint32_t> position_of_;  // by NodeId
  std::vector<uint32_t> seen_;         // by position: in which call
  uint32_t call_ = 0;
};

}  // namespace krafla
