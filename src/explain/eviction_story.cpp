#include "explain/eviction_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/go_duration.h"
#include "explain/veto_words.h"
#include "model/disruption_budget.h"
#include "session/eviction_reason.h"
#include "session/tdm_settings.h"

namespace krafla {

namespace {

constexpr size_t kNoEvent = SIZE_MAX;
constexpr size_t kNeighboursTold = 6;
// How far back a try may reach in the trace: votes on one node, not a whole cycle.
constexpr size_t kLongestTry = 4096;

// A zone is emptied because it is closed, or because it is about to close (drain-lead).
std::string WhyEmptied(const Session& s, std::string_view name) {
  const TdmSettings tdm = ReadTdmSettings(s.config, s.zone);
  if (const TdmZone* zone = tdm.Find(name); zone != nullptr && tdm.IsOpen(*zone, s.now))
    if (const std::optional<Timestamp> closes = tdm.NextChange(*zone, s.now))
      return fmt::format("zone {} closes in {}", name, FormatGoDuration(ElapsedNs(s.now, *closes)));
  return fmt::format("zone {} is closed", name);
}

// In which tier's vote the veto at `at` was said; none: by a guard, before or behind all tiers. A
// plugin's vote in a tier is noted behind its vetoes, with how many it was asked about and let go.
std::optional<size_t> TierOfVeto(const Trace::Events& events, size_t at) {
  const uint8_t plugin = events[at].plugin;
  for (size_t i = at + 1; i < events.size() && events[i].plugin == plugin; ++i) {
    if (events[i].kind == TraceKind::kVeto) continue;
    if (events[i].kind != TraceKind::kVotes || events[i].a == events[i].b) return std::nullopt;
    return events[i].code;
  }
  return std::nullopt;
}

// Whether a veto counted for the eviction: a guard's, or one of the tier that decided. What another
// tier said was overruled.
bool Counted(const Session& s, const Eviction& e, size_t veto) {
  const std::optional<size_t> said_in = TierOfVeto(s.trace.events(), veto);
  if (!said_in || *said_in >= s.config.tiers.size()) return true;
  const std::vector<PluginOption>& tier = s.config.tiers[*said_in].plugins;
  for (size_t i = 0; i < s.plugin_names().size(); ++i)
    if ((e.permitted_by >> i & 1) != 0 &&
        std::none_of(tier.begin(), tier.end(),
                     [&](const PluginOption& o) { return o.name == s.plugin_names()[i]; }))
      return false;
  return true;
}

}  // namespace

std::string WhyEvicted(const Session& s, const Eviction& e) {
  const Cluster& c = s.cluster;
  const Task& victim = c.tasks[e.task];
  switch (ReasonOf(s, e)) {
    case ToldReason::kPriority:
      return fmt::format("job priority {} over {}", c.jobs[c.tasks[e.for_task].job].priority,
                         c.jobs[victim.job].priority);
    case ToldReason::kFairShare:
      return "its job has the larger share";
    case ToldReason::kOffered:
      return victim.says_preemptable || (victim.job.valid() && c.jobs[victim.job].preemptable)
                 ? "it offers itself (preemptable: true)"
                 : "it does not say preemptable: false";
    case ToldReason::kUnopposed:
      return "no plugin that was asked spares it";
    case ToldReason::kWithinJob:
      return Agreed(s, e, "priority") ? fmt::format("task priority {} over {}",
                                                    c.tasks[e.for_task].priority, victim.priority)
                                      : "for another pod of its job";
    case ToldReason::kReclaim:
      return fmt::format(
          "{} {}", c.QueueName(c.jobs[victim.job].queue),
          Agreed(s, e, "proportion") ? "has more than it deserves" : "gives it back");
    case ToldReason::kZoneClosed:
      return e.node.valid() && c.nodes[e.node].zone != kEmptyStr
                 ? WhyEmptied(s, c.Text(c.nodes[e.node].zone))
                 : "its gang leaves a closed zone";
    case ToldReason::kBudget:
      return "its disruption budget allows it";
  }
  return {};
}

std::string PluginsThatAllowed(const Session& s, const Eviction& e) {
  std::string agreed;
  for (size_t i = 0; i < s.plugin_names().size(); ++i)
    if ((e.permitted_by >> i & 1) != 0)
      agreed += (agreed.empty() ? "" : ", ") + s.plugin_names()[i];
  return agreed;
}

std::string EvictionHeadline(const Session& s, size_t index) {
  const Eviction& e = s.plan.evictions[index];
  std::string text = fmt::format("evicted by {}", e.action);
  if (e.for_task.valid()) text += " for " + s.cluster.TaskKey(e.for_task);
  text += fmt::format(" ({})", WhyEvicted(s, e));
  const std::string agreed = PluginsThatAllowed(s, e);
  const bool nominated =
      e.reason == EvictionReason::kZoneClosed || e.reason == EvictionReason::kBudget;
  if (!agreed.empty())
    text += fmt::format(", {} by {}", nominated ? "nominated" : "allowed", agreed);
  return text;
}

EvictionStories::EvictionStories(const Session& session)
    : session_(session), evict_event_(session.plan.evictions.size(), kNoEvent) {
  // A pod is evicted once in a plan; of tries that were taken back the last one is the one that
  // counts.
  std::unordered_map<uint64_t, size_t> at;
  auto key = [](uint32_t victim, uint32_t for_task) {
    return static_cast<uint64_t>(victim) << 32 | for_task;
  };
  for (size_t i = 0; i < evict_event_.size(); ++i) {
    const Eviction& e = session.plan.evictions[i];
    at.emplace(key(e.task.value, e.for_task.value), i);
    evicted_.push_back(e.task);
  }
  std::sort(evicted_.begin(), evicted_.end());
  const Trace::Events& events = session.trace.events();
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != TraceKind::kEvict) continue;
    if (auto it = at.find(key(events[i].a, events[i].b)); it != at.end())
      evict_event_[it->second] = i;
  }
}

std::vector<EvictionStories::Neighbour> EvictionStories::NeighboursOf(size_t index) const {
  const Session& s = session_;
  const Cluster& c = s.cluster;
  const Eviction& e = s.plan.evictions[index];
  std::vector<Neighbour> neighbours;
  if (!e.node.valid()) return neighbours;

  // What was said in the try that ended with this eviction.
  struct Said {
    bool evicted = false;
    std::optional<TraceEvent> veto;
  };
  std::unordered_map<TaskId, Said> said;
  if (evict_event_[index] != kNoEvent) {
    const Trace::Events& events = s.trace.events();
    const size_t end = evict_event_[index];
    const size_t begin = end > kLongestTry ? end - kLongestTry : 0;
    for (size_t i = end; i-- > begin;) {
      const TraceEvent& event = events[i];
      if (event.kind == TraceKind::kAction || event.kind == TraceKind::kTryTask) break;
      if (event.kind == TraceKind::kVeto && c.tasks[TaskId(event.a)].node == e.node &&
          Counted(s, e, i))
        said[TaskId(event.a)].veto = event;
      if (event.kind == TraceKind::kEvict && event.b == e.for_task.value)
        said[TaskId(event.a)].evicted = true;
    }
  }

  const Task& victim = c.tasks[e.task];
  const bool reclaims = e.reason == EvictionReason::kReclaim;
  for (TaskId other : c.nodes[e.node].tasks) {
    const Task& task = c.tasks[other];
    if (other == e.task || IsTerminated(task.status) || task.status == TaskStatus::kPipelined)
      continue;
    const auto found = said.find(other);
    std::string why;
    if (std::binary_search(evicted_.begin(), evicted_.end(), other)) {
      why = "was evicted too";
    } else if (found != said.end() && found->second.veto) {
      const TraceEvent& veto = *found->second.veto;
      why = fmt::format("is spared by {}: {}", s.plugin_names()[veto.plugin],
                        WhySpared(static_cast<VetoCode>(veto.code)));
    } else if (found != said.end() && found->second.evicted) {
      why = "was put back: it turned out not to be needed";
    } else if (!task.job.valid()) {
      why = "belongs to no PodGroup";
    } else if (!IsPreemptableStatus(task.status)) {
      why = fmt::format("is {}", ToString(task.status));
    } else if (!e.for_task.valid()) {
      why = task.says_preemptable ? "goes in a later step or is held by its budget"
                                  : "does not say that it may be taken off";
    } else if (!task.preemptable) {
      why = "says preemptable: false";
    } else if (e.reason == EvictionReason::kWithinJob && task.job != victim.job) {
      why = "belongs to another job";
    } else if (e.reason != EvictionReason::kWithinJob && task.job == c.tasks[e.for_task].job) {
      why = "belongs to the job the place is for";
    } else if (const bool same_queue =
                   c.jobs[task.job].queue == c.jobs[c.tasks[e.for_task].job].queue;
               same_queue == reclaims) {
      why = fmt::format("is in queue {}, {} looks in {}", c.QueueName(c.jobs[task.job].queue),
                        e.action, reclaims ? "the others" : "its own");
    } else {
      why = fmt::format("would have gone after {}: the room was enough", c.Text(victim.name));
    }
    neighbours.push_back({other, std::move(why)});
  }
  std::stable_sort(neighbours.begin(), neighbours.end(),
                   [&](const Neighbour& l, const Neighbour& r) {
                     auto rank = [&](TaskId t) {
                       return said.contains(t) ? 0 : c.tasks[t].job == victim.job ? 1 : 2;
                     };
                     return rank(l.task) < rank(r.task);
                   });
  return neighbours;
}

std::string EvictionStories::Story(size_t index) const {
  const Session& s = session_;
  const Cluster& c = s.cluster;
  const Eviction& e = s.plan.evictions[index];
  std::string text = fmt::format("{} is {}.", c.TaskKey(e.task), EvictionHeadline(s, index));
  if (e.node.valid()) {
    text += e.for_task.valid()
                ? fmt::format(" {} gets its place on {} once it has ended.", c.TaskKey(e.for_task),
                              c.NodeName(e.node))
                : fmt::format(" It leaves {}; nobody takes its place.", c.NodeName(e.node));
  }
  if (!e.for_task.valid() && c.tasks[e.task].job.valid()) {
    const std::string budget =
        DescribeBudget(c.jobs[c.tasks[e.task].job].budget, s.compat.budget_precedence);
    text += budget.empty() ? " Its job has no budget: one step per evict period."
                           : fmt::format(" The budget of its job: {}.", budget);
  }
  const std::vector<Neighbour> neighbours = NeighboursOf(index);
  for (size_t i = 0; i < neighbours.size() && i < kNeighboursTold; ++i)
    text += fmt::format(" {} {}.", c.TaskKey(neighbours[i].task), neighbours[i].why);
  if (neighbours.size() > kNeighboursTold)
    text += fmt::format(" {} more are on that node.", neighbours.size() - kNeighboursTold);
  return text;
}

std::string EvictionStory(const Session& session, size_t index) {
  return EvictionStories(session).Story(index);
}

}  // namespace krafla
