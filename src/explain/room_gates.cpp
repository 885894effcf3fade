#include "explain/room_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "explain/amount_words.h"

namespace krafla {

namespace {

constexpr size_t kRowsTold = 10;
constexpr size_t kNearestTold = 3;

std::string Plural(size_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

void Shorten(ExplanationTable& table, size_t most) {
  if (table.rows.size() <= most) return;
  table.left_out = table.rows.size() - most;
  table.rows.erase(table.rows.begin() + static_cast<ptrdiff_t>(most), table.rows.end());
}

class RoomGateWriter {
 public:
  RoomGateWriter(const Session& session, JobId job, const RoomLook& search)
      : s_(session),
        c_(session.cluster),
        job_(session.cluster.jobs[job]),
        search_(search),
        action_(ToString(search.action)),
        furthest_(search.Furthest()) {}

  std::vector<Gate> Write() {
    if (Eligible() && MayReclaim() && Predicates() && Candidates() && Victims() && Enough() &&
        QueueShare())
      PredicatesAfter();
    return std::move(gates_);
  }

 private:
  bool Yes(Gate gate) {
    gate.action = action_;
    gates_.push_back(std::move(gate));
    return true;
  }
  bool No(Gate gate) {
    gate.verdict = Verdict::kNo;
    Yes(std::move(gate));
    return false;
  }

  bool Eligible() {
    Gate gate{.name = "eligible", .text = "its pods may evict others"};
    if (search_.not_eligible.empty()) return Yes(std::move(gate));
    gate.text = search_.not_eligible;
    return No(std::move(gate));
  }

  // Reclaim asks first whether the queue would stay within what it deserves.
  bool MayReclaim() {
    if (!search_.no_share) return true;
    Gate gate{.name = "queue"};
    AddQueueNumbers(s_, job_.queue, search_.queue_allocated, search_.task, gate);
    gate.text = DescribeQueueRefusal(s_, job_.queue, search_.task, search_.queue_allocated);
    return No(std::move(gate));
  }

  bool Predicates() {
    Gate gate{.name = "predicates"};
    if (!search_.refused_everywhere.empty()) {
      gate.text = fmt::format("{} is refused before any node is looked at: {}",
                              c_.TaskKey(search_.task), search_.refused_everywhere);
      return No(std::move(gate));
    }
    const size_t refused = search_.CountAt(RoomStage::kRefused);
    const size_t all = search_.nodes.size();
    gate.numbers = {{"nodes", static_cast<double>(all)}, {"refused", static_cast<double>(refused)}};
    ExplanationTable refusals = RefusalTable(s_, search_.nodes);
    if (refused == all) {
      gate.text = all == 0 ? "there is no node"
                           : fmt::format("no node (of {}) would take {}, whoever is evicted{}", all,
                                         c_.TaskKey(search_.task),
                                         refusals.rows.size() == 1 ? ": " + refusals.rows[0][1].text
                                                                   : std::string());
      gate.tables.push_back(std::move(refusals));
      AddNearestMisses(gate);
      return No(std::move(gate));
    }
    gate.text = fmt::format("{} of {} would take {} if there were room", all - refused,
                            Plural(all, "node"), c_.TaskKey(search_.task));
    if (refused > 0) gate.tables.push_back(std::move(refusals));
    return Yes(std::move(gate));
  }

  // Nodes with room for the pod that refuse it all the same.
  void AddNearestMisses(Gate& gate) {
    ExplanationTable table{.name = "nearestMisses",
                           .title = "nodes with room that refuse it",
                           .columns = {"node", "reason"}};
    for (const NodeRoom& room : search_.nodes)
      if (room.has_room) table.rows.push_back({c_.NodeName(room.node), room.refusal});
    Shorten(table, kNearestTold);
    if (!table.rows.empty()) gate.tables.push_back(std::move(table));
  }

  bool Candidates() {
    Gate gate{.name = "candidates"};
    std::array<size_t, static_cast<size_t>(Candidacy::kCount)> counts{};
    size_t nodes_with = 0;
    size_t pods = 0;
    for (const NodeRoom& room : search_.nodes) {
      if (room.stage == RoomStage::kRefused) continue;
      nodes_with += room.census.candidates.empty() ? 0 : 1;
      for (size_t i = 0; i < counts.size(); ++i) {
        counts[i] += room.census.counts[i];
        pods += room.census.counts[i];
      }
    }
    const size_t candidates = counts[0];
    gate.numbers = {{"pods", static_cast<double>(pods)},
                    {"candidates", static_cast<double>(candidates)}};
    ExplanationTable table{.name = "notCandidates", .columns = {"pods", "why not"}};
    for (size_t i = 1; i < counts.size(); ++i)
      if (counts[i] > 0) table.rows.push_back({counts[i], ToString(static_cast<Candidacy>(i))});
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](const auto& l, const auto& r) { return *l[0].number > *r[0].number; });
    const std::string others =
        table.rows.size() == 1
            ? fmt::format("; {} {}", Plural(static_cast<size_t>(*table.rows[0][0].number), "pod"),
                          table.rows[0][1].text)
            : std::string();
    if (table.rows.size() > 1) gate.tables.push_back(std::move(table));
    if (furthest_ <= RoomStage::kNoCandidates) {
      gate.text = candidates > 0 ? "there is room without evicting anybody, and the dry run of "
                                   "topology-aware preemption looks only for nodes where somebody "
                                   "has to go"
                  : pods == 0    ? "nobody runs on those nodes"
                                 : fmt::format("none of the {} there may be evicted for it{}",
                                               Plural(pods, "pod"), others);
      if (const NodeRoom* nearest = search_.NearestAt(RoomStage::kNoCandidates);
          nearest != nullptr && nearest->short_of >= 0)
        gate.text += fmt::format("; short by {} on {}", MissingText(s_, *nearest),
                                 c_.NodeName(nearest->node));
      return No(std::move(gate));
    }
    gate.text =
        fmt::format("{} on {}{}", Plural(candidates, "pod"), Plural(nodes_with, "node"), others);
    return Yes(std::move(gate));
  }

  ExplanationTable PluginTable() const {
    ExplanationTable table{.name = "plugins",
                           .title = "who was asked, on all nodes",
                           .columns = {"tier", "plugin", "asked", "let go", "spared"}};
    std::vector<PluginTally> tallies = search_.tallies;
    std::stable_sort(tallies.begin(), tallies.end(),
                     [](const PluginTally& l, const PluginTally& r) { return l.tier < r.tier; });
    for (const PluginTally& tally : tallies)
      table.rows.push_back(
          {tally.tier + 1, tally.plugin, tally.asked, tally.let_go, tally.asked - tally.let_go});
    return table;
  }

  ExplanationTable SparedTable(const NodeRoom& room) const {
    ExplanationTable table{.name = "spared",
                           .title = fmt::format("spared on {}", c_.NodeName(room.node)),
                           .columns = {"pod", "by"}};
    for (const SparedPod& spared : room.spared)
      table.rows.push_back({c_.TaskKey(spared.pod), spared.why});
    Shorten(table, kRowsTold);
    return table;
  }

  bool Victims() {
    Gate gate{.name = "victims"};
    if (furthest_ <= RoomStage::kTooSmall) {
      gate.verdict = Verdict::kNotAsked;
      gate.text = "no plugin was asked: not even all candidates would be enough";
      return Yes(std::move(gate));
    }
    gate.tables.push_back(PluginTable());
    if (furthest_ > RoomStage::kSpared) {
      const NodeRoom* room = search_.NearestAt(furthest_);
      gate.text = room->victims.empty()
                      ? fmt::format("nobody has to go on {}", c_.NodeName(room->node))
                      : fmt::format("{} of {} on {} may go", room->victims.size(),
                                    Plural(room->census.candidates.size(), "candidate"),
                                    c_.NodeName(room->node));
      return Yes(std::move(gate));
    }
    // Where most of what is missing could be freed.
    const NodeRoom* nearest = search_.NearestAt(RoomStage::kSpared);
    bool any = false;
    for (const NodeRoom& room : search_.nodes)
      any |= room.stage == RoomStage::kSpared && !room.victims.empty();
    gate.numbers = {{"candidates", static_cast<double>(nearest->census.candidates.size())},
                    {"victims", static_cast<double>(nearest->victims.size())}};
    if (!nearest->spared.empty()) gate.tables.push_back(SparedTable(*nearest));
    if (any) {
      gate.text = fmt::format("{} of {} on {} may go", nearest->victims.size(),
                              Plural(nearest->census.candidates.size(), "candidate"),
                              c_.NodeName(nearest->node));
      return Yes(std::move(gate));
    }
    gate.text = fmt::format("no candidate is let go; on {} {}", c_.NodeName(nearest->node),
                            SparedSummary(*nearest));
    return No(std::move(gate));
  }

  // "research/batch-0 is spared by gang: …", and how many more.
  std::string SparedSummary(const NodeRoom& room) const {
    if (room.spared.empty()) return "all are spared";
    std::string text =
        fmt::format("{} is spared by {}", c_.TaskKey(room.spared[0].pod), room.spared[0].why);
    if (room.spared.size() > 1)
      text += fmt::format(" (and {} there)", Plural(room.spared.size() - 1, "more pod"));
    return text;
  }

  bool Enough() {
    Gate gate{.name = "enough"};
    if (furthest_ > RoomStage::kSpared) {
      gate.text = fmt::format("enough room can be made on {}",
                              Plural(CountBeyond(RoomStage::kSpared), "node"));
      return Yes(std::move(gate));
    }
    const NodeRoom* nearest = search_.NearestAt(furthest_);
    gate.numbers = {{"missing." + c_.kinds.Name(std::max(0, nearest->short_of)), nearest->missing}};
    const std::string missing = MissingText(s_, *nearest);
    const size_t candidates = nearest->census.candidates.size();
    if (furthest_ == RoomStage::kSpared) {
      gate.text = fmt::format("short by {} on {}, the nearest node, without the {} that may go; {}",
                              missing, c_.NodeName(nearest->node),
                              Plural(nearest->victims.size(), "pod"), SparedSummary(*nearest));
    } else {
      gate.text = fmt::format(
          "short by {} on {}, the nearest node, even if {} there {} evicted; {} asks for {}",
          missing, c_.NodeName(nearest->node),
          candidates == 1 ? "the 1 candidate" : fmt::format("all {} candidates", candidates),
          candidates == 1 ? "is" : "are", c_.TaskKey(search_.task),
          NamedAmountsText(c_.Request(search_.task), c_.kinds));
    }
    return No(std::move(gate));
  }

  size_t CountBeyond(RoomStage stage) const {
    return static_cast<size_t>(
        std::count_if(search_.nodes.begin(), search_.nodes.end(),
                      [&](const NodeRoom& room) { return room.stage > stage; }));
  }

  bool QueueShare() {
    Gate gate{.name = "queue share"};
    if (search_.queue_known)
      AddQueueNumbers(s_, job_.queue, search_.queue_allocated, search_.task, gate);
    if (furthest_ > RoomStage::kQueueShare) {
      gate.text = search_.queue_known
                      ? fmt::format("queue {} has {} of {}", c_.QueueName(job_.queue),
                                    AmountsText(search_.queue_allocated, c_.kinds),
                                    AmountsText(search_.queue_deserved, c_.kinds))
                      : "no plugin shares among queues";
      return Yes(std::move(gate));
    }
    const NodeRoom* nearest = search_.NearestAt(RoomStage::kQueueShare);
    Resource allocated = search_.queue_allocated;
    // With the victims of its own queue gone.
    for (TaskId victim : nearest->victims)
      if (c_.jobs[c_.tasks[victim].job].queue == job_.queue) allocated.Sub(c_.Request(victim));
    gate.text = fmt::format("room could be made on {}, but {}", c_.NodeName(nearest->node),
                            DescribeQueueRefusal(s_, job_.queue, search_.task, allocated));
    return No(std::move(gate));
  }

  void PredicatesAfter() {
    if (furthest_ != RoomStage::kStillRefused) return;
    const NodeRoom* nearest = search_.NearestAt(RoomStage::kStillRefused);
    No({.name = "predicates after",
        .text =
            fmt::format("room could be made on {}, but it would still refuse {}: {}",
                        c_.NodeName(nearest->node), c_.TaskKey(search_.task), nearest->refusal)});
  }

  const Session& s_;
  const Cluster& c_;
  const Job& job_;
  const RoomLook& search_;
  std::string action_;
  RoomStage furthest_;
  std::vector<Gate> gates_;
};

}  // namespace

std::vector<Gate> RoomGates(const Session& session, JobId job, const RoomLook& search) {
  return RoomGateWriter(session, job, search).Write();
}

std::string MissingText(const Session& s, const NodeRoom& room) {
  if (room.short_of < 0) return "nothing";
  if (room.short_of == ResourceKinds::kPods) return "room for another pod (its number of pods)";
  return fmt::format("{} {}", AmountText(room.missing, room.short_of),
                     s.cluster.kinds.Name(room.short_of));
}

std::string DescribeQueueRefusal(const Session& s, QueueId id, TaskId task,
                                 const Resource& allocated) {
  const Cluster& c = s.cluster;
  const Queue& queue = c.queues[id];
  if (queue.state != QueueState::kOpen)
    return fmt::format("queue {} is {}", c.QueueName(id), ToString(queue.state));
  const Resource& deserved = s.queue_reports[id].deserved;
  if (!task.valid())
    return fmt::format("queue {} has all it deserves: {} of {}", c.QueueName(id),
                       AmountsText(allocated, c.kinds), AmountsText(deserved, c.kinds));
  const Resource& request = c.Request(task);
  const int kind = Resource(allocated).Add(request).FirstExceeding(deserved, request);
  if (kind < 0)
    return fmt::format("queue {} has no share left for {}", c.QueueName(id), c.TaskKey(task));
  return fmt::format("queue {} has {} of the {} {} it deserves, {} asks for {}", c.QueueName(id),
                     AmountText(allocated.Get(kind), kind), AmountText(deserved.Get(kind), kind),
                     c.kinds.Name(kind), c.TaskKey(task), AmountText(request.Get(kind), kind));
}

void AddQueueNumbers(const Session& s, QueueId queue, const Resource& allocated, TaskId task,
                     Gate& gate) {
  const Cluster& c = s.cluster;
  const Resource& deserved = s.queue_reports[queue].deserved;
  for (int kind = 0; kind < c.kinds.size(); ++kind) {
    if (kind == ResourceKinds::kPods) continue;
    const double request = task.valid() ? c.Request(task).Get(kind) : 0;
    if (deserved.Get(kind) == 0 && allocated.Get(kind) == 0 && request == 0) continue;
    const std::string& name = c.kinds.Name(kind);
    gate.numbers.push_back({"deserved." + name, deserved.Get(kind)});
    gate.numbers.push_back({"allocated." + name, allocated.Get(kind)});
    if (task.valid()) gate.numbers.push_back({"request." + name, request});
  }
}

ExplanationTable RefusalTable(const Session& s, const std::vector<NodeRoom>& nodes) {
  struct Count {
    size_t nodes = 0;
    NodeId example;
  };
  std::map<std::string, Count> by_reason;
  for (const NodeRoom& room : nodes) {
    if (room.stage != RoomStage::kRefused) continue;
    Count& count = by_reason[room.refusal];
    if (count.nodes++ == 0) count.example = room.node;
  }
  ExplanationTable table{.name = "refusals", .columns = {"nodes", "reason", "for example"}};
  for (const auto& [reason, count] : by_reason)
    table.rows.push_back({count.nodes, reason, s.cluster.NodeName(count.example)});
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& l, const auto& r) { return *l[0].number > *r[0].number; });
  Shorten(table, kRowsTold);
  return table;
}

}  // namespace krafla
