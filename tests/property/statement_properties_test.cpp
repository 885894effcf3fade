// Random statements on random clusters: what is taken back leaves nothing behind, and what is kept
// up to date by increments equals what a computation from scratch gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "property/for_all.h"
#include "property/observed_cycle.h"
#include "session/node_search.h"
#include "session/statement.h"

namespace krafla::testing {
namespace {

const Wanted kAnything;
// With profile volcano an eviction that was taken back leaves traces on purpose.
const Wanted kExactUndo{.more_config = "compatibility:\n  exact-undo: true\n"};

// ---- a session as bytes

class Bytes {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void Add(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Add(const std::string& text) { text_ += text; }
  void Add(const Resource& amount, int kinds) {
    Add(amount.mask());
    Add(amount.scalars_nil());
    for (int kind = 0; kind < kinds; ++kind) Add(amount.Get(kind));
  }
  void Add(const std::vector<TaskId>& tasks) {
    Add(tasks.size());
    for (TaskId task : tasks) Add(task.value);
  }
  // A section, for telling which one differs.
  void Begin(std::string name) { sections_.emplace_back(std::move(name), text_.size()); }
  // Where two differ, as a section's name; empty when they do not.
  static std::string Difference(const Bytes& a, const Bytes& b) {
    if (a.text_ == b.text_) return {};
    size_t at = 0;
    while (at < a.text_.size() && at < b.text_.size() && a.text_[at] == b.text_[at]) ++at;
    std::string name = "?";
    for (const auto& [section, begin] : a.sections_)
      if (begin <= at) name = section;
    return name;
  }

 private:
  std::string text_;
  std::vector<std::pair<std::string, size_t>> sections_;
};

// Every table a statement may touch.
void AddTables(Session& s, Bytes& bytes) {
  const Cluster& cluster = s.cluster;
  const int kinds = cluster.kinds.size();
  bytes.Begin("tasks");
  for (const Task& task : cluster.tasks) {
    bytes.Add(task.status);
    bytes.Add(task.node.value);
    bytes.Add(task.eviction_occurred);
  }
  bytes.Begin("jobs");
  for (const Job& job : cluster.jobs) {
    bytes.Add(job.count);
    bytes.Add(job.phase);
    bytes.Add(job.pending_best_effort);
    bytes.Add(job.releasing_on_node);
    bytes.Add(job.allocated, kinds);
    for (const JobRole& role : job.roles) {
      bytes.Add(role.count);
      bytes.Add(role.pending_best_effort);
    }
  }
  for (NodeId node : cluster.nodes_by_name) {
    bytes.Begin(fmt::format("amounts of node {}", cluster.NodeName(node)));
    for (const auto* amounts :
         {&cluster.idle, &cluster.used, &cluster.releasing, &cluster.pipelined})
      bytes.Add((*amounts)[node], kinds);
    bytes.Add(cluster.nodes[node].tasks);
    bytes.Begin(fmt::format("view of node {}", cluster.NodeName(node)));
    s.kube.EnsureBuilt();
    bytes.Add(s.kube.PodsOn(node));
    bytes.Add(s.kube.SumsOf(node));
  }
  bytes.Begin("pods with affinity");
  bytes.Add(s.kube.with_affinity());
  bytes.Add(s.kube.with_required_anti_affinity());
}

void AddVictims(const Victims& victims, Bytes& bytes) {
  bytes.Add(victims.tasks);
  bytes.Add(victims.permitted_by);
}

// What the plugins answer: their own tables show in it.
void AddAnswers(Session& s, Bytes& bytes) {
  const Cluster& cluster = s.cluster;
  bytes.Begin("answers about jobs");
  for (JobId l : cluster.jobs_by_name) {
    for (JobId r : cluster.jobs_by_name) bytes.Add(s.CompareJobs(l, r));
    bytes.Add(s.JobReady(l));
    bytes.Add(s.JobPipelined(l));
    bytes.Add(s.JobStarving(l));
    bytes.Add(s.JobEnqueueable(l));
  }
  bytes.Begin("answers about queues");
  for (QueueId l : cluster.queues_by_name) {
    for (QueueId r : cluster.queues_by_name) {
      bytes.Add(s.QueueLess(l, r));
      bytes.Add(s.VictimQueueLess(l, r, l));
    }
    bytes.Add(s.Overused(l));
  }
  std::vector<TaskId> running;
  for (NodeId node : cluster.nodes_by_name)
    for (TaskId task : cluster.nodes[node].tasks)
      if (IsPreemptableStatus(cluster.tasks[task].status) && cluster.tasks[task].job.valid())
        running.push_back(task);
  std::vector<uint32_t> everywhere;
  for (uint32_t p = 0; p < cluster.nodes_by_name.size(); ++p) everywhere.push_back(p);
  std::vector<double> scores;
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t) {
    const TaskId task(t);
    if (cluster.tasks[task].status != TaskStatus::kPending || !cluster.tasks[task].job.valid())
      continue;
    bytes.Begin(fmt::format("answers about {}", cluster.TaskKey(task)));
    for (QueueId queue : cluster.queues_by_name) {
      bytes.Add(s.Allocatable(queue, task));
      bytes.Add(s.Preemptive(queue, task));
    }
    bytes.Begin(fmt::format("victims for {}", cluster.TaskKey(task)));
    if (!running.empty()) {
      AddVictims(s.Preemptable(task, running), bytes);
      AddVictims(s.Reclaimable(task, running), bytes);
    }
    bytes.Begin(fmt::format("nodes for {}", cluster.TaskKey(task)));
    const Refusal prepared = s.node_search().Prepare(task);
    bytes.Add(prepared.codes);
    for (NodeId node : cluster.nodes_by_name) bytes.Add(s.node_search().Check(task, node).codes);
    bytes.Begin(fmt::format("scores for {}", cluster.TaskKey(task)));
    s.node_search().Score(task, everywhere, scores);
    for (const double score : scores) bytes.Add(score);
  }
}

Bytes StateOf(Session& session) {
  Bytes bytes;
  AddTables(session, bytes);
  AddAnswers(session, bytes);
  return bytes;
}

// ---- random statements

class Player {
 public:
  Player(Session& session, uint64_t seed) : session_(session), dice_(seed) {}

  // A few operations, perhaps with statements inside, perhaps taken back in parts. Complains when a
  // rollback to a savepoint does not give back the state of that moment.
  void Play(Statement& statement, int depth) {
    const int steps = 1 + dice_.Below(8);
    for (int i = 0; i < steps && complaint.empty(); ++i) {
      switch (dice_.Below(depth < 3 ? 8 : 6)) {
        case 0:
        case 1:
          Evict(statement);
          break;
        case 2:
        case 3:
          Place(statement, true);
          break;
        case 4:
          Place(statement, false);
          break;
        case 5:
          PlayAndRollBack(statement, depth);
          break;
        default:
          PlayInside(statement, depth);
          break;
      }
    }
  }

  std::string complaint;

 private:
  TaskId AnyTask(bool (*wanted)(const Task&)) {
    std::vector<TaskId> found;
    for (uint32_t t = 0; t < session_.cluster.tasks.size(); ++t)
      if (wanted(session_.cluster.tasks[TaskId(t)])) found.push_back(TaskId(t));
    return found.empty() ? TaskId{} : dice_.Pick(found);
  }
  TaskId AnyWaiting() {
    return AnyTask([](const Task& t) { return t.status == TaskStatus::kPending && t.job.valid(); });
  }

  void Evict(Statement& statement) {
    const TaskId victim = AnyTask([](const Task& t) {
      return IsPreemptableStatus(t.status) && t.job.valid() && t.node.valid();
    });
    if (victim.valid()) statement.Evict(victim, AnyWaiting(), EvictionReason::kPreempt, 0);
  }

  // Anywhere: whether it fits is not a statement's business.
  void Place(Statement& statement, bool pipeline) {
    const TaskId task = AnyWaiting();
    if (!task.valid()) return;
    const NodeId node = dice_.Pick(session_.cluster.nodes_by_name);
    if (pipeline) {
      statement.Pipeline(task, node, dice_.Chance(50));
    } else {
      statement.Allocate(task, node);
    }
  }

  void PlayAndRollBack(Statement& statement, int depth) {
    const Bytes before = StateOf(session_);
    const Statement::Savepoint savepoint = statement.Save();
    Play(statement, depth + 1);
    statement.RollbackTo(savepoint);
    Compare("rolling back to a savepoint", before);
  }

  void PlayInside(Statement& outer, int depth) {
    const int end = dice_.Below(4);
    std::optional<Bytes> before;
    if (end != 0) before.emplace(StateOf(session_));
    {
      Statement inner(session_);
      Play(inner, depth + 1);
      if (end == 0) {
        outer.Merge(std::move(inner));
        return;
      }
      if (end == 1) inner.Discard();
      // Else it discards itself.
    }
    Compare("discarding an inner statement", *before);
  }

  void Compare(std::string_view after, const Bytes& before) {
    if (!complaint.empty()) return;
    if (const std::string section = Bytes::Difference(before, StateOf(session_)); !section.empty())
      complaint = fmt::format("after {}: {} differ(s)", after, section);
  }

  Session& session_;
  Dice dice_;
};

// A session in the middle of a cycle is as good a start as a fresh one.
bool RunSomeActions(ObservedCycle& cycle, Dice& dice) {
  if (!cycle.complaint.empty()) return false;
  if (dice.Chance(50)) cycle.Run();
  return cycle.complaint.empty();
}

TEST(StatementProperties, DiscardingLeavesTheStateByteIdentical) {
  ForAll(300, kExactUndo, [](const RandomCluster& random) {
    ObservedCycle cycle(random, random.Text(), false);
    Dice dice(random.shape.seed, "play", 0);
    if (!RunSomeActions(cycle, dice)) return cycle.complaint;
    Session& session = *cycle.session;
    for (int round = 0; round < 3; ++round) {
      const Bytes before = StateOf(session);
      Player player(session, dice.Next());
      const size_t evictions = session.plan.evictions.size();
      const size_t binds = session.plan.binds.size();
      {
        Statement statement(session);
        player.Play(statement, 0);
        if (dice.Chance(50)) statement.Discard();
      }
      if (!player.complaint.empty()) return player.complaint;
      const std::string section = Bytes::Difference(before, StateOf(session));
      if (!section.empty()) return "after discarding: " + section + " differ(s)";
      if (session.plan.evictions.size() != evictions || session.plan.binds.size() != binds)
        return std::string("a discarded statement has changed the plan");
      session.VerifyInvariants();
    }
    return std::string();
  });
}

TEST(StatementProperties, SumsStayRightWhateverIsKept) {
  ForAll(300, kExactUndo, [](const RandomCluster& random) {
    ObservedCycle cycle(random, random.Text(), false);
    if (!cycle.complaint.empty()) return cycle.complaint;
    Dice dice(random.shape.seed, "keep", 0);
    for (int round = 0; round < 3; ++round) {
      Player player(*cycle.session, dice.Next());
      Statement statement(*cycle.session);
      player.Play(statement, 1);
      if (!player.complaint.empty()) return player.complaint;
      cycle.session->VerifyInvariants();
      statement.Keep();
      cycle.session->VerifyInvariants();
    }
    return std::string();
  });
}

// ---- increments against computations from scratch

// The answers of NodeSearch, worked out node by node from the hooks themselves.
class PlainSearch {
 public:
  explicit PlainSearch(Session& session) : s_(session), cluster_(session.cluster) {}

  Refusal Check(TaskId task, NodeId node) {
    for (const auto& tier : s_.predicates()) {
      for (const auto& entry : tier) {
        Refusal refusal;
        if (entry.call->current) refusal = entry.call->current(task, node);
        if (entry.call->fixed) {
          std::vector<Refusal> fixed(cluster_.nodes.size());
          entry.call->fixed(cluster_.tasks[task].cls, fixed);
          refusal.Join(fixed[node.value]);
        }
        if (refusal.refused()) return refusal;
      }
    }
    return {};
  }

  std::vector<double> Scores(TaskId task, const std::vector<NodeId>& nodes) {
    std::vector<double> scores(nodes.size(), 0);
    std::vector<double> batch(nodes.size(), 0);
    for (const auto& tier : s_.scores()) {
      for (const auto& entry : tier) {
        if (entry.call->node)
          for (size_t i = 0; i < nodes.size(); ++i)
            scores[i] += entry.call->node(cluster_.tasks[task].cls, nodes[i]);
        if (entry.call->batch) entry.call->batch(task, nodes, batch);
      }
    }
    for (size_t i = 0; i < nodes.size(); ++i) scores[i] += batch[i];
    return scores;
  }

  NodeSearch::Choice FindForAllocate(TaskId task) {
    std::vector<NodeId> idle;
    std::vector<NodeId> future;
    const Resource& request = cluster_.Request(task);
    for (NodeId node : cluster_.nodes_by_name) {
      if (!request.LessEqual(cluster_.FutureIdle(node), Missing::kZero)) continue;
      if (Check(task, node).refused()) continue;
      (request.LessEqual(cluster_.idle[node], Missing::kZero) ? idle : future).push_back(node);
    }
    const std::vector<NodeId>& nodes = idle.empty() ? future : idle;
    if (nodes.empty()) return {};
    const std::vector<double> scores = Scores(task, nodes);
    size_t best = 0;
    for (size_t i = 1; i < nodes.size(); ++i)
      if (scores[i] > scores[best]) best = i;
    return {nodes[best], !idle.empty()};
  }

 private:
  Session& s_;
  Cluster& cluster_;
};

std::string Show(const Cluster& cluster, const NodeSearch::Choice& choice) {
  if (!choice.node.valid()) return "no node";
  return fmt::format("{}{}", cluster.NodeName(choice.node), choice.idle ? "" : " later");
}

// The session's node search, which keeps answers, against one that has none yet and against none at
// all.
std::string CompareSearches(Session& session, TaskId task) {
  const Cluster& cluster = session.cluster;
  NodeSearch& kept = session.node_search();
  NodeSearch fresh(session);
  PlainSearch plain(session);
  if (kept.Prepare(task).codes != fresh.Prepare(task).codes) return "prepared otherwise";
  FitError kept_error;
  FitError fresh_error;
  const NodeSearch::Choice by_kept = kept.FindForAllocate(task, NodeId{}, nullptr, kept_error);
  const NodeSearch::Choice by_fresh = fresh.FindForAllocate(task, NodeId{}, nullptr, fresh_error);
  const NodeSearch::Choice by_plain = plain.FindForAllocate(task);
  auto same = [](const NodeSearch::Choice& a, const NodeSearch::Choice& b) {
    return a.node == b.node && a.idle == b.idle;
  };
  if (!same(by_kept, by_fresh) || !same(by_kept, by_plain))
    return fmt::format("{}: {} by kept answers, {} by fresh ones, {} by none",
                       cluster.TaskKey(task), Show(cluster, by_kept), Show(cluster, by_fresh),
                       Show(cluster, by_plain));
  const std::string why = FitErrors::Text(kept_error, session.reasons);
  if (const std::string fresh_why = FitErrors::Text(fresh_error, session.reasons); why != fresh_why)
    return fmt::format("{}: \"{}\" by kept answers, \"{}\" by fresh ones", cluster.TaskKey(task),
                       why, fresh_why);

  std::vector<uint32_t> positions;
  for (uint32_t p = 0; p < cluster.nodes_by_name.size(); ++p) {
    positions.push_back(p);
    const NodeId node = cluster.nodes_by_name[p];
    const Refusal a = kept.Check(task, node);
    const Refusal b = plain.Check(task, node);
    if (a.codes != b.codes || a.reason != b.reason)
      return fmt::format("{} on {}: \"{}\" by kept answers, \"{}\" by none", cluster.TaskKey(task),
                         cluster.NodeName(node), session.reasons.Text(a.reason),
                         session.reasons.Text(b.reason));
  }
  std::vector<double> kept_scores;
  std::vector<double> fresh_scores;
  kept.Score(task, positions, kept_scores);
  fresh.Score(task, positions, fresh_scores);
  const std::vector<double> plain_scores = plain.Scores(task, cluster.nodes_by_name);
  if (kept_scores != fresh_scores || kept_scores != plain_scores)
    return fmt::format("{}: scores {} by kept answers, {} by fresh ones, {} by none",
                       cluster.TaskKey(task), fmt::join(kept_scores, " "),
                       fmt::join(fresh_scores, " "), fmt::join(plain_scores, " "));
  return {};
}

std::string CompareSearchesForAll(Session& session) {
  for (uint32_t t = 0; t < session.cluster.tasks.size(); ++t) {
    const Task& task = session.cluster.tasks[TaskId(t)];
    if (task.status != TaskStatus::kPending || !task.job.valid()) continue;
    if (std::string complaint = CompareSearches(session, TaskId(t)); !complaint.empty())
      return complaint;
  }
  return {};
}

TEST(NodeSearchProperties, KeptAnswersEqualFreshOnesAfterEveryStep) {
  ForAll(300, kExactUndo, [](const RandomCluster& random) {
    ObservedCycle cycle(random, random.Text(), false);
    if (!cycle.complaint.empty()) return cycle.complaint;
    Session& session = *cycle.session;
    Dice dice(random.shape.seed, "steps", 0);
    std::string complaint = CompareSearchesForAll(session);
    Statement outer(session);
    for (int step = 0; step < 6 && complaint.empty(); ++step) {
      Player player(session, dice.Next());
      Statement statement(session);
      player.Play(statement, 2);
      complaint = player.complaint;
      if (complaint.empty()) complaint = CompareSearchesForAll(session);
      if (dice.Chance(60)) {
        outer.Merge(std::move(statement));
      } else {
        statement.Discard();
      }
      if (complaint.empty()) complaint = CompareSearchesForAll(session);
    }
    outer.Keep();
    return complaint;
  });
}

TEST(NodeSearchProperties, KeptAnswersEqualFreshOnesAfterEveryAction) {
  ForAll(300, kAnything, [](const RandomCluster& random) {
    ObservedCycle cycle(random, random.Text(), false);
    cycle.after_action = [&] { cycle.Complain(CompareSearchesForAll(*cycle.session)); };
    cycle.Run();
    return cycle.complaint;
  });
}

}  // namespace
}  // namespace krafla::testing
