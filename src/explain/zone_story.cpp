#include "explain/zone_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "explain/amount_words.h"
#include "explain/drain_forecast.h"
#include "model/disruption_budget.h"
#include "model/revocable_access.h"
#include "model/zone_drain.h"
#include "session/tdm_settings.h"

namespace krafla {

namespace {

constexpr size_t kMostSteps = 15;
constexpr size_t kMostJobs = 20;
constexpr size_t kMostPodsInCell = 4;

// "2026-03-10T21:00:00+08:00"; in UTC it ends with Z.
std::string LocalTime(Timestamp at, const TimeZone& zone) {
  const int offset = zone.OffsetAt(at.UnixSeconds()).seconds;
  std::string local = FormatRfc3339(Timestamp::FromUnixSeconds(at.UnixSeconds() + offset));
  if (offset == 0) return local;
  local.pop_back();  // the Z
  const int minutes = std::abs(offset) / 60;
  return local + fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

// "2026-03-10T21:00:00+08:00 (2026-03-10T13:00:00Z)"
std::string BothTimes(Timestamp at, const TimeZone& zone) {
  const std::string local = LocalTime(at, zone);
  return local.ends_with('Z') ? local : fmt::format("{} ({})", local, FormatRfc3339(at));
}

std::string Some(const std::vector<std::string>& pods) {
  std::string text;
  for (size_t i = 0; i < pods.size() && i < kMostPodsInCell; ++i)
    text += (i == 0 ? "" : ", ") + pods[i];
  if (pods.size() > kMostPodsInCell)
    text += fmt::format(" and {} more", pods.size() - kMostPodsInCell);
  return text;
}

class ZoneStory {
 public:
  ZoneStory(const CycleInputs& inputs, std::string_view zone, Explanation& out)
      : in_(inputs), c_(inputs.cluster), name_(zone), out_(out) {
    access_ = AccessRulesOf(in_.config.compatibility);
    tdm_ = ReadTdmSettings(in_.config, in_.zone);
    window_ = tdm_.Find(zone);
    const StrId id = c_.strings.Find(zone);
    for (NodeId node : c_.nodes_by_name)
      if (id.valid() && c_.nodes[node].zone == id) nodes_.push_back(node);
  }

  void Tell() {
    Nodes();
    if (!tdm_.configured()) {
      out_.answer = fmt::format("zone {} means nothing here: plugin tdm is not configured.", name_);
      return;
    }
    if (window_ == nullptr) {
      out_.answer = fmt::format(
          "zone {} is never open: the configuration has no argument tdm.revocable-zone.{}, so "
          "nobody is placed on its {} and nobody is taken off.",
          name_, name_, NodeCount());
      return;
    }
    const bool open = tdm_.IsOpen(*window_, in_.now);
    const std::optional<Timestamp> change = tdm_.NextChange(*window_, in_.now);
    out_.answer = fmt::format("zone {} is {}", name_, open ? "open" : "closed");
    if (!window_->readable()) {
      out_.answer += fmt::format(" for good: its window {} cannot be read.", Quoted(window_->text));
    } else if (!change) {
      out_.answer += " all day, every day.";
    } else {
      out_.answer += fmt::format(", and {} in {}, at {}.", open ? "closes" : "opens",
                                 FormatShortDuration(ElapsedNs(in_.now, *change)),
                                 BothTimes(*change, tdm_.time_zone));
    }
    out_.facts.push_back(fmt::format("window {} {}; now it is {}", window_->text,
                                     tdm_.time_zone.name(), BothTimes(in_.now, tdm_.time_zone)));
    Drain(open, change);
  }

 private:
  std::string NodeCount() const {
    return fmt::format("{} node{}", nodes_.size(), nodes_.size() == 1 ? "" : "s");
  }

  // Who is on it, by job.
  void Nodes() {
    struct OnZone {
      size_t pods = 0;
      size_t go = 0;
    };
    std::map<std::string, std::pair<JobId, OnZone>> jobs;
    size_t pods = 0;
    for (NodeId node : nodes_) {
      for (TaskId id : c_.nodes[node].tasks) {
        const Task& task = c_.tasks[id];
        if (IsTerminated(task.status)) continue;
        ++pods;
        auto& [job, on] = jobs[task.job.valid() ? c_.JobKey(task.job) : c_.TaskKey(id)];
        job = task.job;
        ++on.pods;
        if (task.job.valid() && OffersItself(task, &c_.jobs[task.job], access_)) ++on.go;
      }
    }
    out_.facts.push_back(fmt::format("{}, {} on {}", NodeCount(), PodCount(pods),
                                     nodes_.size() == 1 ? "it" : "them"));
    ExplanationTable table{.name = "onZone",
                           .title = "who is on it",
                           .columns = {"job", "pods", "may be taken off", "budget"}};
    for (const auto& [key, entry] : jobs) {
      const auto& [job, on] = entry;
      leaving_ += on.go;
      staying_ += on.pods - on.go;
      if (table.rows.size() >= kMostJobs) {
        ++table.left_out;
        continue;
      }
      std::string budget = "-";
      if (job.valid()) {
        budget = DescribeBudget(c_.jobs[job].budget, in_.config.compatibility.budget_precedence);
        if (budget.empty()) budget = "none: one step per evict period";
      }
      std::string go = on.go == on.pods ? "all"
                       : on.go == 0     ? "none: they do not say preemptable: true"
                                        : std::to_string(on.go);
      if (!job.valid()) go = "none: it belongs to no PodGroup";
      table.rows.push_back({key, on.pods, go, budget});
    }
    if (!table.rows.empty()) out_.tables.push_back(std::move(table));
  }

  // Which action empties it; empty: none does.
  std::string EmptiedBy() const {
    std::string by;
    for (const ActionOption& action : in_.config.actions) {
      const bool does = action.name == "shuffle" ||
                        (action.name == "preempt" && in_.config.compatibility.victims_in_preempt);
      if (does && by.find(action.name) == std::string::npos)
        by += (by.empty() ? "" : " and ") + action.name;
    }
    return by;
  }

  void Drain(bool open, const std::optional<Timestamp>& change) {
    const std::string by = EmptiedBy();
    const int64_t period_ns = tdm_.evict_period_ns;
    if (by.empty()) {
      out_.facts.push_back(
          fmt::format("nobody empties it: {} among the actions, so pods stay when it closes",
                      in_.config.compatibility.victims_in_preempt ? "neither preempt nor shuffle is"
                                                                  : "shuffle is not"));
      return;
    }
    out_.facts.push_back(
        fmt::format("{} empties it, one step per {}", by, FormatShortDuration(period_ns)));
    if (staying_ > 0)
      out_.facts.push_back(
          fmt::format("{} on it will not be taken off: no volcano.sh/preemptable: "
                      "\"true\", or no PodGroup",
                      PodCount(staying_)));
    if (leaving_ == 0 || (open && !change)) {
      out_.facts.push_back(open ? "nobody would have to leave if it closed"
                                : "nobody has to leave it");
      return;
    }
    if (in_.memory.clock_skew_s)
      out_.facts.push_back("drain held: " + DescribeClockSkew(*in_.memory.clock_skew_s));
    Timestamp begin = in_.now;
    if (!tdm_.IsEmptied(*window_, in_.now)) {
      begin = Timestamp{change->ns - tdm_.drain_lead_ns};
      if (tdm_.drain_lead_ns > 0)
        out_.facts.push_back(fmt::format("that begins {} before it closes, at {}",
                                         FormatShortDuration(tdm_.drain_lead_ns),
                                         BothTimes(begin, tdm_.time_zone)));
    } else {
      if (open)
        out_.facts.push_back("it is being emptied already: it closes within tdm.drain-lead");
      if (const std::optional<Timestamp> next = PausesUntil()) {
        out_.facts.push_back(fmt::format(
            "it pauses now: somebody was evicted {} ago{}, and the evict period of {} ends in {}, "
            "at {}",
            FormatShortDuration(ElapsedNs(*LastEviction(), in_.now)),
            in_.config.compatibility.evict_period_per_zone ? ""
                                                           : " from some zone (one clock for all)",
            FormatShortDuration(period_ns), FormatShortDuration(ElapsedNs(in_.now, *next)),
            BothTimes(*next, tdm_.time_zone)));
        begin = *next;
      }
    }
    Forecast(begin, open);
  }

  // By the clock that counts for this zone; null: none is known of.
  const Timestamp* LastEviction() const {
    return in_.memory.LastEviction(
        in_.config.compatibility.evict_period_per_zone ? std::string_view(name_) : "");
  }
  // When the evict period is over that goes on now.
  std::optional<Timestamp> PausesUntil() const {
    const Timestamp* last = LastEviction();
    const int64_t step_ns = tdm_.StepNs();
    if (IsPeriodOver(last, in_.now, step_ns)) return std::nullopt;
    return NextPeriodChange(last, in_.now, step_ns);
  }

  void Forecast(Timestamp begin, bool open) {
    const DrainForecast forecast = ForecastDrain(in_, name_, begin);
    size_t gone = 0;
    for (const DrainStep& step : forecast.steps) gone += step.pods.size();
    const int64_t taken_ns = ElapsedNs(forecast.begin, forecast.end);
    const std::string when = open ? "closing" : "emptying it";
    std::string text;
    if (forecast.cut_short) {
      text = fmt::format("{} evicts {} in {} step{} and more, which there was no time to look at",
                         when, PodCount(gone), forecast.steps.size(),
                         forecast.steps.size() == 1 ? "" : "s");
    } else if (forecast.complete) {
      text = fmt::format(
          "{} evicts {} in {} step{}; the last goes {}", when, PodCount(gone),
          forecast.steps.size(), forecast.steps.size() == 1 ? "" : "s",
          taken_ns == 0 ? "at once" : FormatShortDuration(taken_ns) + " after the first cycle");
    } else {
      text = fmt::format("{} evicts {} in {} step{} and leaves {} there{}", when, PodCount(gone),
                         forecast.steps.size(), forecast.steps.size() == 1 ? "" : "s",
                         PodCount(forecast.stay.size()),
                         forecast.reopened ? " when the window opens again" : "");
    }
    out_.facts.push_back(text + " (evicted pods come back as waiting pods; nothing else changes)");
    for (const std::string& held : forecast.held)
      if (!forecast.complete) out_.facts.push_back("held: " + held);
    ExplanationTable steps{
        .name = "drain",
        .title = "how it gets empty",
        .columns = {"after", "at", "in UTC", "pods", "who", "no more because of"}};
    for (const DrainStep& step : forecast.steps) {
      if (steps.rows.size() >= kMostSteps) {
        ++steps.left_out;
        continue;
      }
      std::string who = Some(step.pods);
      if (step.elsewhere > 0)
        who += fmt::format(", and {} of their gangs on other nodes", PodCount(step.elsewhere));
      steps.rows.push_back({FormatShortDuration(ElapsedNs(forecast.begin, step.at)),
                            LocalTime(step.at, tdm_.time_zone), FormatRfc3339(step.at),
                            step.pods.size(), who, step.pause.empty() ? "-" : step.pause});
    }
    if (!steps.rows.empty()) out_.tables.push_back(std::move(steps));
    if (!forecast.stay.empty()) {
      ExplanationTable stay{.name = "stays", .title = "still there at the end", .columns = {"pod"}};
      for (const std::string& pod : forecast.stay) {
        if (stay.rows.size() < kMostJobs) {
          stay.rows.push_back({pod});
        } else {
          ++stay.left_out;
        }
      }
      out_.tables.push_back(std::move(stay));
    }
  }

  const CycleInputs& in_;
  const Cluster& c_;
  std::string name_;
  Explanation& out_;
  AccessRules access_;
  TdmSettings tdm_;
  const TdmZone* window_ = nullptr;  // in tdm_; null: the zone is not configured
  std::vector<NodeId> nodes_;
  size_t leaving_ = 0;
  size_t staying_ = 0;
};

}  // namespace

void TellZoneStory(const CycleInputs& inputs, std::string_view zone, Explanation& explanation) {
  ZoneStory(inputs, zone, explanation).Tell();
}

}  // namespace krafla
