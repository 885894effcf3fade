// The summary as a person at a terminal reads it: what was used, who waited, who was evicted, how
// zones emptied, who is left.
#include <fmt/format.h>

#include <algorithm>

#include "sim/local_time.h"
#include "sim/summary.h"
#include "sim/text_columns.h"

namespace krafla {

namespace {

constexpr auto kLeft = TextColumns::Align::kLeft;
constexpr auto kRight = TextColumns::Align::kRight;
constexpr size_t kMostResources = 4;
constexpr size_t kMostReasons = 3;

std::string Percent(double fraction) {
  const double percent = fraction * 100;
  if (percent > 0 && percent < 0.5) return "<1%";
  return fmt::format("{:.0f}%", percent);
}

std::string Count(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

class SummaryPage {
 public:
  SummaryPage(const Summary& summary, const SummaryTextOptions& options)
      : s_(summary), options_(options), clock_(summary.zone) {}

  std::string Render() {
    Head();
    Utilisation();
    Shares();
    Waits("JOB WAIT", "from submission until minAvailable pods are bound", &QueueFigures::job_wait,
          s_.job_wait);
    Waits("POD WAIT", "from creation until bound", &QueueFigures::pod_wait, s_.pod_wait);
    Evictions();
    Thrash();
    HeadRooms();
    Drains();
    Waiting();
    Notes();
    return std::move(text_);
  }

 private:
  std::string Bold(std::string_view text) const {
    return options_.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
  }
  void Section(std::string_view title, std::string_view explanation) {
    text_ += '\n' + Bold(title);
    if (!explanation.empty()) text_ += fmt::format("  {}", explanation);
    text_ += '\n';
  }
  void LeftOut(size_t all, const char* one, const char* many) {
    if (all <= options_.rows) return;
    const size_t more = all - options_.rows;
    text_ += fmt::format("  … and {} more {}\n", more, more == 1 ? one : many);
  }
  size_t Shown(size_t all) const { return std::min(all, options_.rows); }

  void Head() {
    text_ += Bold(s_.scenario.empty() ? "simulation" : s_.scenario) + '\n';
    text_ +=
        fmt::format("{} to {}, {} ({}), seed {}\n", clock_.Short(s_.begin), clock_.Short(s_.end),
                    s_.zone.name(), DurationText(SecondsBetween(s_.begin, s_.end)), s_.seed);
    text_ +=
        Wrapped(fmt::format("{}; {}: {} completed, {} running, {} waiting; {} bound, {} failed; {}",
                            Count(s_.nodes, "node", "nodes"), Count(s_.jobs, "job", "jobs"),
                            s_.jobs_completed, s_.jobs_running, s_.jobs_waiting,
                            Count(s_.pods_bound, "pod", "pods"), s_.pods_failed,
                            Count(s_.evictions, "eviction", "evictions")),
                "");
  }

  // The kinds that are asked for most, so that the columns fit; cpu and memory come first.
  std::vector<std::string> Resources() const {
    std::vector<std::string> resources;
    for (const UtilisationFigure& figure : s_.use) {
      const bool main = figure.resource == "cpu" || figure.resource == "memory";
      if (main || figure.used > 0) resources.push_back(figure.resource);
    }
    if (resources.size() > kMostResources) resources.resize(kMostResources);
    return resources;
  }

  void Utilisation() {
    if (s_.use.empty()) return;
    Section("UTILISATION", "requests of placed pods, of all nodes' allocatable: average (peak)");
    const std::vector<std::string> resources = Resources();
    std::vector<TextColumns::Column> columns = {{"", kLeft, 28}};
    for (const std::string& resource : resources) columns.push_back({resource, kRight, 16});
    TextColumns table(columns);
    const auto row = [&](const std::string& name, const std::vector<UtilisationFigure>& use) {
      std::vector<std::string> cells = {name};
      for (const std::string& resource : resources) {
        const auto figure = std::ranges::find(use, resource, &UtilisationFigure::resource);
        if (figure == use.end() || figure->allocatable <= 0) {
          cells.push_back("-");
        } else {
          cells.push_back(fmt::format("{} ({})", Percent(figure->fraction()),
                                      Percent(figure->peak / figure->allocatable)));
        }
      }
      table.Row(std::move(cells));
    };
    row("cluster", s_.use);
    for (const QueueFigures& queue : s_.queues) row("queue " + queue.queue, queue.use);
    text_ += table.Render("  ");
    if (s_.use.size() > resources.size())
      text_ += fmt::format(
          "  {} not shown; the JSON has all\n",
          Count(static_cast<int64_t>(s_.use.size() - resources.size()), "resource", "resources"));
  }

  void Shares() {
    if (s_.queues.empty()) return;
    Section("QUEUES", "share of the cluster where it is most, averaged; evictions; pod time lost");
    TextColumns table({{"QUEUE", kLeft, 24},
                       {"SHARE", kRight},
                       {"DESERVED", kRight},
                       {"PEAK", kRight},
                       {"JOBS", kRight},
                       {"DONE", kRight},
                       {"WAITING", kRight},
                       {"EVICTED", kRight},
                       {"FOR IT", kRight},
                       {"LOST", kRight}});
    for (const QueueFigures& queue : s_.queues) {
      const bool known = queue.share.has_value();
      table.Row({queue.queue, known ? Percent(*queue.share) : "-",
                 queue.deserved_share ? Percent(*queue.deserved_share) : "-",
                 known ? Percent(queue.largest_share) : "-", fmt::format("{}", queue.jobs),
                 fmt::format("{}", queue.completed), fmt::format("{}", queue.waiting),
                 fmt::format("{}", queue.evicted), fmt::format("{}", queue.evicted_for),
                 DurationText(queue.lost_seconds)});
    }
    text_ += table.Render("  ");
  }

  void Waits(std::string_view title, std::string_view explanation,
             WaitFigures QueueFigures::* which, const WaitFigures& all) {
    if (all.over + all.unfinished == 0) return;
    Section(title, explanation);
    TextColumns table({{"QUEUE", kLeft, 28},
                       {"COUNT", kRight},
                       {"P50", kRight},
                       {"P95", kRight},
                       {"P99", kRight},
                       {"LONGEST", kRight},
                       {"STILL WAITING", kRight}});
    const auto row = [&](const std::string& name, const WaitFigures& w) {
      const auto time = [&](double seconds) {
        return w.over == 0 ? std::string("-") : DurationText(seconds);
      };
      table.Row(
          {name, fmt::format("{}", w.over), time(w.p50), time(w.p95), time(w.p99), time(w.longest),
           w.unfinished == 0 ? "-" : fmt::format("{} ({})", w.unfinished, DurationText(w.oldest))});
    };
    for (const QueueFigures& queue : s_.queues)
      if ((queue.*which).over + (queue.*which).unfinished > 0) row(queue.queue, queue.*which);
    row("all", all);
    text_ += table.Render("  ");
  }

  void Evictions() {
    if (s_.evictions == 0) {
      Section("EVICTIONS", "none");
      return;
    }
    Section("EVICTIONS", "by action and reason; pod time lost");
    TextColumns table(
        {{"ACTION", kLeft}, {"REASON", kLeft}, {"PODS", kRight}, {"LOST", kRight}, {"", kLeft}});
    for (const EvictionFigures& figures : s_.evictions_by)
      table.Row({figures.action, figures.reason, fmt::format("{}", figures.count),
                 DurationText(figures.lost_seconds), ""});
    const double worked = s_.lost_seconds + s_.useful_seconds;
    table.Row({"all", "", fmt::format("{}", s_.evictions), DurationText(s_.lost_seconds),
               worked > 0 ? fmt::format("{:.1f}% of {} of work", 100 * s_.lost_seconds / worked,
                                        DurationText(worked))
                          : ""});
    text_ += table.Render("  ");
  }

  void Thrash() {
    if (s_.thrash.empty() && s_.loops.empty()) return;
    Section("THRASH", fmt::format("jobs evicted more than once; {} of places evicted before",
                                  Count(s_.re_evictions, "re-eviction", "re-evictions")));
    if (!s_.thrash.empty()) {
      TextColumns table({{"JOB", kLeft, 38},
                         {"QUEUE", kLeft, 20},
                         {"EVICTIONS", kRight},
                         {"AGAIN", kRight},
                         {"ONE POD", kRight},
                         {"LOST", kRight}});
      for (size_t i = 0; i < Shown(s_.thrash.size()); ++i) {
        const JobEvictions& job = s_.thrash[i];
        table.Row({job.job, job.queue, fmt::format("{}", job.evictions),
                   fmt::format("{}", job.re_evictions), fmt::format("{}", job.worst_place),
                   DurationText(job.lost_seconds)});
      }
      text_ += table.Render("  ");
      LeftOut(s_.thrash.size(), "job", "jobs");
    }
    for (const std::string& loop : s_.loops) text_ += Wrapped("loop: " + loop, "  ");
  }

  void HeadRooms() {
    if (s_.head_room.empty()) return;
    Section("HEAD-ROOM", "pods above the floor (budget, else minAvailable) after an eviction");
    TextColumns table({{"JOB", kLeft, 38},
                       {"FLOOR", kRight},
                       {"OF", kLeft},
                       {"LEAST", kRight},
                       {"AT FLOOR", kRight},
                       {"WHEN", kLeft}});
    for (size_t i = 0; i < Shown(s_.head_room.size()); ++i) {
      const HeadRoom& room = s_.head_room[i];
      table.Row({room.job, fmt::format("{}", room.floor), room.budget ? "budget" : "minAvailable",
                 fmt::format("{}", room.least), Count(room.at_floor, "time", "times"),
                 clock_.Short(room.at)});
    }
    text_ += table.Render("  ");
    LeftOut(s_.head_room.size(), "job", "jobs");
  }

  void Drains() {
    if (s_.drains.empty()) return;
    Section("CLOSING ZONES", "time until nobody who should go was left, and what held it up");
    TextColumns table({{"ZONE", kLeft, 20},
                       {"CLOSED", kLeft},
                       {"TOOK", kRight},
                       {"EVICTED", kRight},
                       {"HELD UP BY", kLeft}});
    int64_t empty = 0;
    size_t left_out = 0;
    size_t shown = 0;
    for (const ZoneDrain& drain : s_.drains) {
      if (drain.end == ZoneDrain::End::kDrained && drain.seconds == 0 && drain.evictions == 0) {
        ++empty;
        continue;
      }
      if (shown == options_.rows * 2) {
        ++left_out;
        continue;
      }
      ++shown;
      std::string took = DurationText(drain.seconds);
      if (drain.end == ZoneDrain::End::kReopened) took = "not before " + took;
      if (drain.end == ZoneDrain::End::kRunEnded) took = "not in " + took;
      std::string held;
      for (size_t i = 0; i < std::min(drain.held.size(), kMostReasons); ++i) {
        const DrainDelay& hold = drain.held[i];
        if (!held.empty()) held += "; ";
        held += fmt::format("{} ({}, {} left in the zone)", hold.why, DurationText(hold.seconds),
                            Count(hold.most_pods, "pod", "pods"));
      }
      if (drain.held.size() > kMostReasons)
        held += fmt::format("; and {} more", drain.held.size() - kMostReasons);
      table.Row({drain.zone, clock_.Short(drain.closed), took, fmt::format("{}", drain.evictions),
                 held.empty() ? "-" : held});
    }
    if (!table.empty()) text_ += table.Render("  ");
    if (left_out > 0)
      text_ +=
          fmt::format("  … and {} more {}\n", left_out, left_out == 1 ? "closing" : "closings");
    if (empty > 0)
      text_ +=
          fmt::format("  {} found nobody who had to go\n", Count(empty, "closing", "closings"));
  }

  void Waiting() {
    if (s_.waiting.empty()) return;
    Section("WAITING AT THE END", "longest first");
    TextColumns table({{"JOB", kLeft, 30},
                       {"QUEUE", kLeft, 14},
                       {"PODS", kRight},
                       {"SINCE", kRight},
                       {"WHY", kLeft}});
    for (size_t i = 0; i < Shown(s_.waiting.size()); ++i) {
      const WaitingJob& job = s_.waiting[i];
      table.Row({job.job, job.queue, fmt::format("{} of {}", job.bound, job.minimum),
                 DurationText(job.seconds), job.why.empty() ? "not known" : job.why});
    }
    text_ += table.Render("  ");
    LeftOut(s_.waiting.size(), "job", "jobs");
  }

  void Notes() {
    if (s_.binds_failed + s_.evictions_failed + s_.nodes_lost == 0 && s_.faults.empty()) return;
    Section("FAULTS",
            fmt::format("{}, {}, {}", Count(s_.nodes_lost, "node lost", "nodes lost"),
                        Count(s_.binds_failed, "bind refused", "binds refused"),
                        Count(s_.evictions_failed, "eviction refused", "evictions refused")));
    for (size_t i = 0; i < Shown(s_.faults.size()); ++i) text_ += Wrapped(s_.faults[i], "  ");
    LeftOut(s_.faults.size(), "fault", "faults");
  }

  const Summary& s_;
  const SummaryTextOptions& options_;
  LocalClock clock_;
  std::string text_;
};

}  // namespace

std::string SummaryText(const Summary& summary, const SummaryTextOptions& options) {
  return SummaryPage(summary, options).Render();
}

}  // namespace krafla
