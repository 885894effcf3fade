#include "session/fixed_answers.h"

#include <algorithm>

#include "base/words_of_bits.h"

namespace krafla {

namespace {

// Sets of answers nobody uses at the moment are given up when there are more of them than this.
constexpr size_t kMaxKept = 64;

}  // namespace

// Each hook in its turn, so that words of one are not taken for another's.
void FixedAnswerBook::MakeKey(ClassId cls) {
  key_.clear();
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      if (!entry.call->fixed) continue;
      const size_t at = key_.size();
      key_.push_back(0);
      if (entry.call->fixed_depends_on) {
        entry.call->fixed_depends_on(cls, key_);
      } else {
        key_.push_back(cls.value);
      }
      key_[at] = key_.size() - at;
    }
  }
}

std::shared_ptr<FixedAnswers> FixedAnswerBook::Find(ClassId cls) {
  MakeKey(cls);
  auto found = kept_.find(key_);
  if (found == kept_.end()) {
    if (kept_.size() >= kMaxKept) DropUnused();
    found = kept_.emplace(key_, std::make_shared<FixedAnswers>()).first;
    AskAll(cls, *found->second);
  } else {
    CatchUp(cls, *found->second);
  }
  return found->second;
}

FixedAnswers FixedAnswerBook::Ask(ClassId cls) {
  FixedAnswers answers;
  AskAll(cls, answers);
  return answers;
}

void FixedAnswerBook::DropUnused() {
  std::erase_if(kept_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

void FixedAnswerBook::AskAll(ClassId cls, FixedAnswers& answers) {
  const Cluster& cluster = session_.cluster;
  const uint32_t n = static_cast<uint32_t>(cluster.nodes_by_name.size());
  answers.facts_synced = fact_changes_.size();
  answers.by_hook.clear();
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      std::vector<Refusal>& fixed = answers.by_hook.emplace_back();
      if (!entry.call->fixed) continue;
      by_id_.assign(cluster.nodes.size(), Refusal{});
      entry.call->fixed(cls, by_id_);
      fixed.resize(n);
      for (uint32_t p = 0; p < n; ++p) fixed[p] = by_id_[cluster.nodes_by_name[p].value];
    }
  }
  answers.open.assign((n + 63) / 64, 0);
  answers.allowed.assign(answers.open.size(), 0);
  answers.unclear.clear();
  for (uint32_t p = 0; p < n; ++p) Judge(answers, p);
}

void FixedAnswerBook::Judge(FixedAnswers& answers, uint32_t position) const {
  bool open = true;
  bool allowed = true;
  bool clear = true;
  size_t hook = 0;
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      const Refusal refusal = answers.At(hook++, position);
      if (refusal.refused()) {
        // The first hook that refuses ends the question. What its other part says of the pods that
        // are there is never beyond help; an earlier one's comes first when it refuses too.
        if (open) allowed = !refusal.refused_for_preemption();
        open = false;
      }
      if (open && entry.call->current) clear = false;
    }
  }
  SetBit(answers.open, position, open);
  SetBit(answers.allowed, position, allowed);
  if (!open && !clear) answers.unclear.push_back(position);
}

// Only nodes whose facts have changed since. They are among the session's node changes too, so that
// everything else that is kept about them follows.
void FixedAnswerBook::CatchUp(ClassId cls, FixedAnswers& answers) {
  if (answers.facts_synced == fact_changes_.size()) return;
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->fixed && !entry.call->fixed_at) return AskAll(cls, answers);
  if (position_of_.empty()) {
    const std::vector<NodeId>& nodes = session_.cluster.nodes_by_name;
    position_of_.resize(session_.cluster.nodes.size());
    for (uint32_t p = 0; p < nodes.size(); ++p) position_of_[nodes[p].value] = p;
  }
  for (; answers.facts_synced < fact_changes_.size(); ++answers.facts_synced) {
    const NodeId node = fact_changes_[answers.facts_synced];
    const uint32_t p = position_of_[node.value];
    size_t hook = 0;
    for (const auto& tier : session_.predicates()) {
      for (const auto& entry : tier) {
        std::vector<Refusal>& fixed = answers.by_hook[hook++];
        if (!fixed.empty()) fixed[p] = entry.call->fixed_at(cls, node);
      }
    }
    std::erase(answers.unclear, p);
    Judge(answers, p);
  }
}

void FixedAnswerBook::NoteFactChanges(const std::vector<NodeId>& nodes) {
  fact_changes_.insert(fact_changes_.end(), nodes.begin(), nodes.end());
}

void FixedAnswerBook::Forget() {
  kept_.clear();
  fact_changes_.clear();
}

}  // namespace krafla
