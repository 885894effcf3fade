// A "no" from every node, remembered: a later task for which everything the answers depend on is
// the same asks only the nodes where something has changed since.
//
// What an answer on a node depends on:
//   - the task: its class, and whose tasks are its candidates;
//   - what the plugins' votes look at beside the candidates, in words (Session::VotesDependOn);
//   - the node: its amounts and its pods (Session::node_changes);
//   - the candidates' jobs (Session::task_changes).
// The first two are the key of a record. The changes since it was made name the nodes to ask again.
//
// Most searches in vain end inside a statement that has evicted somebody for the job's other tasks
// and is then taken back; the next job of the kind does the same again. Two things keep that from
// asking again all nodes with a task of a job that was touched:
//   - where no plugin let anybody go anywhere, only jobs that have more than then matter, and what
//     was lost and is back, or the reverse, is no change;
//   - a record speaks of the state in which the statement began. Nodes that were asked in another
//     one, because something there or with a job there had changed since, are kept apart, with that
//     state.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actions/victim_search.h"
#include "session/session.h"

namespace krafla {

class KnownInVain {
 public:
  explicit KnownInVain(Session& session) : session_(session) {}

  // How far the session's changes had come.
  struct Since {
    size_t node_changes = 0;
    size_t task_changes = 0;
    bool operator==(const Since&) const = default;
  };
  struct Record {
    Since said_no;  // by every node, when changes had come so far
    Since since;
    bool losses_matter = true;  // also jobs that have only lost tasks may answer otherwise
    // Nodes, by position, that were not asked in the state of `since` but when changes had come to
    // `asked`.
    std::vector<uint32_t> open;
    Since asked;
    // Nodes, by position, that are asked in any case: what a predicate refused there depends on
    // more than the node.
    std::vector<uint32_t> always;
    std::vector<TraceEvent> furthest;  // of the tries, the one that got furthest
    // Up to which of the changes nodes have been seen to have no room unless somebody goes.
    size_t without_room = 0;
  };
  using Key = std::vector<uint64_t>;
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  // The key of a task's search; false when something it depends on cannot be named.
  bool MakeKey(TaskId task, const VictimRule& rule, const void* left_out, Key& key) const;
  Record* Find(const Key& key);
  Since Now() const { return {session_.node_changes().size(), session_.task_changes().size()}; }
  // Whether nothing at all has changed since every node said no: mostly the next task of a gang
  // asks. A refusal that depends on more than the node is left to be asked again.
  bool IsAsThen(const Record& record) const {
    return record.said_no == Now() && record.always.empty();
  }
  // Which nodes, by position, may answer otherwise than then; false: too many for a list.
  bool ChangedNodes(Since since, bool losses_matter, std::vector<uint32_t>& positions);
  bool NodesToAskAgain(const Record& record, std::vector<uint32_t>& positions);
  // Whether still no node has room for the task if nobody goes. False also where that is not known.
  bool NoneHasRoom(Record& record, TaskId task) const;

  // Every node said no: `asked` in a search that has just ended (null: all of them), others
  // earlier. What the search itself did to nodes does not count: one whose victims were evicted in
  // vain and put back says no again, also where Kubernetes' view has lost sight of them.
  void Remember(const Key& key, Since statement_began, Since search_began,
                const std::vector<uint32_t>* asked, bool losses_matter,
                const std::vector<uint32_t>& always, std::vector<TraceEvent> furthest);

 private:
  bool NodesThatMayDiffer(const Record& record, std::vector<uint32_t>& positions);
  void MakeTables();
  void CompareTasks(size_t since);

  static constexpr size_t kMaxRecords = 1 << 16;

  Session& session_;
  std::unordered_map<Key, Record, Hash> records_;
  // A bit for each hash, by its last digits, that one of them may have: most keys are asked for
  // once, and the table is not in the cache.
  static constexpr size_t kFilterBits = 1 << 16;
  std::vector<uint64_t> filter_;  // made with the first record
  // Made when first needed: in most cycles nobody looks for room.
  std::vector<uint32_t> position_of_;  // by NodeId
  std::vector<uint32_t> seen_;         // by position: in which call
  uint32_t call_ = 0;
  // By TaskId: in which call it was seen, and where it is in compared_.
  std::vector<std::pair<uint32_t, uint32_t>> task_seen_;
  enum class Net : uint8_t { kSame, kLess, kMore, kOther };
  std::vector<std::pair<TaskId, Net>> compared_;
  std::vector<uint32_t> job_seen_;  // by JobId: in which call
  std::vector<uint32_t> changed_;
  std::vector<uint32_t> open_;
};

}  // namespace krafla
