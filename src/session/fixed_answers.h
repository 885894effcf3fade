// What predicates say of nodes for as long as the session lasts, shared by all classes of tasks
// they cannot tell apart: classes that differ in a label, an amount or whom they want to be near
// mostly ask the same of the nodes themselves.
//
// Owned by NodeSearch. Everything is by position in nodes_by_name; a bit per node is in words of
// 64.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "session/session.h"
#include "session/words_hash.h"

namespace krafla {

struct FixedAnswers {
  std::vector<std::vector<Refusal>> by_hook;  // in tier order; empty: it has nothing to say
  std::vector<uint64_t> open;                 // a bit per node: no hook refuses
  // A bit per node: none refuses in a way evictions cannot lift, as far as that can be told here.
  std::vector<uint64_t> allowed;
  // Nodes of which it cannot: what an earlier hook says of the pods there hides the refusal.
  std::vector<uint32_t> unclear;
  size_t facts_synced = 0;  // good up to here of the nodes whose facts have changed

  Refusal At(size_t hook, uint32_t position) const {
    return by_hook[hook].empty() ? Refusal{} : by_hook[hook][position];
  }
  bool IsOpen(uint32_t position) const { return (open[position / 64] >> position % 64 & 1) != 0; }
};

class FixedAnswerBook {
 public:
  explicit FixedAnswerBook(Session& session) : session_(session) {}

  // Those of a class, as of now.
  std::shared_ptr<FixedAnswers> Find(ClassId cls);
  // Asks again about the nodes whose facts have changed since.
  void CatchUp(ClassId cls, FixedAnswers& answers);
  // All nodes, in words of nobody else.
  FixedAnswers Ask(ClassId cls);

  // Between two sessions.
  bool TooManyFactChanges() const { return fact_changes_.size() > kMaxFactChanges; }
  void NoteFactChanges(const std::vector<NodeId>& nodes);
  // Nothing that is kept is good any more.
  void Forget();

 private:
  using Key = std::vector<uint64_t>;

  static constexpr size_t kMaxFactChanges = 1 << 16;

  void MakeKey(ClassId cls);
  void AskAll(ClassId cls, FixedAnswers& answers);
  void Judge(FixedAnswers& answers, uint32_t position) const;
  void DropUnused();

  Session& session_;
  std::unordered_map<Key, std::shared_ptr<FixedAnswers>, WordsHash> kept_;
  Key key_;
  std::vector<NodeId> fact_changes_;   // in order
  std::vector<uint32_t> position_of_;  // by NodeId; made when first needed
  std::vector<Refusal> by_id_;         // of one call, kept for its memory
};

}  // namespace krafla
