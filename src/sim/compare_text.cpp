// The difference of two runs for a terminal: figures side by side, then who is affected.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/compare.h"
#include "sim/local_time.h"
#include "sim/text_columns.h"

namespace krafla {

namespace {

constexpr auto kLeft = TextColumns::Align::kLeft;
constexpr auto kRight = TextColumns::Align::kRight;

std::string Signed(double change, const std::string& size) {
  if (change == 0) return "=";
  return (change > 0 ? "+" : "-") + size;
}

std::string Wait(const std::optional<double>& seconds) {
  return seconds ? DurationText(*seconds) : "never";
}

std::string Drain(const std::optional<ZoneDrain>& drain) {
  if (!drain) return "-";
  switch (drain->end) {
    case ZoneDrain::End::kDrained:
      return DurationText(drain->seconds);
    case ZoneDrain::End::kReopened:
      return "not before " + DurationText(drain->seconds);
    case ZoneDrain::End::kRunEnded:
      return "not in " + DurationText(drain->seconds);
  }
  return "-";
}

std::string Place(const std::string& node) {
  return node.empty() ? "not placed" : node;
}

class ComparisonPage {
 public:
  ComparisonPage(const Comparison& comparison, const SummaryTextOptions& options)
      : c_(comparison), options_(options), clock_(comparison.before.zone) {}

  std::string Render() {
    text_ += Bold("COMPARISON") + '\n';
    text_ += Wrapped("before: " + c_.name_before, "  ") + Wrapped("after:  " + c_.name_after, "  ");
    if (!c_.same_workload)
      text_ += Wrapped(fmt::format("The workloads differ: {} jobs only before, {} only after.",
                                   c_.only_before.size(), c_.only_after.size()),
                       "  ");
    if (c_.identical()) return text_ + "\nBoth runs went the same way.\n";
    Figures();
    Placements();
    Victims();
    Waits();
    Drains();
    return std::move(text_);
  }

 private:
  std::string Bold(std::string_view text) const {
    return options_.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
  }
  void Section(std::string_view title, std::string_view explanation) {
    text_ += '\n' + Bold(title) + fmt::format("  {}\n", explanation);
  }
  void LeftOut(size_t all, const char* one, const char* many) {
    if (all <= options_.rows) return;
    const size_t more = all - options_.rows;
    text_ += fmt::format("  … and {} more {}\n", more, more == 1 ? one : many);
  }
  size_t Shown(size_t all) const { return std::min(all, options_.rows); }

  void Figures() {
    Section("FIGURES", "");
    while (text_.ends_with(" \n")) text_.erase(text_.size() - 2, 1);
    TextColumns table({{"", kLeft}, {"BEFORE", kRight}, {"AFTER", kRight}, {"CHANGE", kRight}});
    const auto count = [&](const char* name, int64_t before, int64_t after) {
      const int64_t change = after - before;
      table.Row({name, fmt::format("{}", before), fmt::format("{}", after),
                 Signed(static_cast<double>(change), fmt::format("{}", std::abs(change)))});
    };
    const auto time = [&](const std::string& name, double before, double after) {
      table.Row({name, DurationText(before), DurationText(after),
                 Signed(after - before, DurationText(std::abs(after - before)))});
    };
    const auto share = [&](const std::string& name, double before, double after) {
      const double points = std::round((after - before) * 1000) / 10;
      table.Row({name, fmt::format("{:.1f}%", before * 100), fmt::format("{:.1f}%", after * 100),
                 Signed(points, fmt::format("{:.1f}", std::abs(points)))});
    };
    for (const UtilisationFigure& before : c_.before.use)
      for (const UtilisationFigure& after : c_.after.use)
        if (after.resource == before.resource && (before.used > 0 || after.used > 0))
          share(before.resource + " in use", before.fraction(), after.fraction());
    for (const QueueFigures& before : c_.before.queues)
      for (const QueueFigures& after : c_.after.queues)
        if (after.queue == before.queue && before.share && after.share)
          share("share of queue " + Shorten(before.queue, 24), *before.share, *after.share);
    count("jobs completed", c_.before.jobs_completed, c_.after.jobs_completed);
    count("jobs waiting at the end", c_.before.jobs_waiting, c_.after.jobs_waiting);
    time("job wait p50", c_.before.job_wait.p50, c_.after.job_wait.p50);
    time("job wait p95", c_.before.job_wait.p95, c_.after.job_wait.p95);
    time("job wait p99", c_.before.job_wait.p99, c_.after.job_wait.p99);
    time("pod wait p95", c_.before.pod_wait.p95, c_.after.pod_wait.p95);
    count("evictions", c_.before.evictions, c_.after.evictions);
    count("re-evictions", c_.before.re_evictions, c_.after.re_evictions);
    time("pod time lost", c_.before.lost_seconds, c_.after.lost_seconds);
    text_ += table.Render("  ");
    // A job that no longer runs at all takes its long wait out of the figures.
    const WaitFigures& jobs_before = c_.before.job_wait;
    const WaitFigures& jobs_after = c_.after.job_wait;
    const WaitFigures& pods_before = c_.before.pod_wait;
    const WaitFigures& pods_after = c_.after.pod_wait;
    if (jobs_before.unfinished + jobs_after.unfinished + pods_before.unfinished +
            pods_after.unfinished >
        0)
      text_ += fmt::format(
          "  waits leave out who never ran: jobs {} before, {} after; pods {} before, {} after\n",
          jobs_before.unfinished, jobs_after.unfinished, pods_before.unfinished,
          pods_after.unfinished);
  }

  void Placements() {
    Section("PLACEMENTS",
            fmt::format("{} of {} pods first placed elsewhere, {} of them in another zone",
                        static_cast<int64_t>(c_.placements.size()) - c_.bound_only_before -
                            c_.bound_only_after,
                        c_.pods_in_both, c_.other_zone));
    if (c_.bound_only_before + c_.bound_only_after > 0)
      text_ += fmt::format("  placed only before: {}, only after: {}\n", c_.bound_only_before,
                           c_.bound_only_after);
    if (c_.placements.empty()) return;
    TextColumns table({{"POD", kLeft, 44}, {"BEFORE", kLeft, 24}, {"AFTER", kLeft}});
    for (size_t i = 0; i < Shown(c_.placements.size()); ++i) {
      const PlacementChange& change = c_.placements[i];
      table.Row({change.pod, Place(change.node_before), Place(change.node_after)});
    }
    text_ += table.Render("  ");
    LeftOut(c_.placements.size(), "pod", "pods");
  }

  void Victims() {
    Section("VICTIMS", fmt::format("{} pods evicted more or less often, {} as often as before",
                                   c_.victims.size(), c_.same_victims));
    if (c_.victims.empty()) return;
    TextColumns table({{"FIRST", kLeft},
                       {"POD", kLeft, 40},
                       {"BEFORE", kRight},
                       {"AFTER", kRight},
                       {"BY", kLeft},
                       {"FOR JOB", kLeft}});
    for (size_t i = 0; i < Shown(c_.victims.size()); ++i) {
      const VictimChange& victim = c_.victims[i];
      table.Row(
          {clock_.Short(victim.at), victim.pod, fmt::format("{}", victim.before),
           fmt::format("{}", victim.after),
           victim.action == victim.reason ? victim.action : victim.action + ", " + victim.reason,
           victim.for_job.empty() ? "nobody" : victim.for_job});
    }
    text_ += table.Render("  ");
    LeftOut(c_.victims.size(), "pod", "pods");
  }

  void Waits() {
    Section("WAITS",
            fmt::format("{} jobs reached their minimum sooner, {} later", c_.sooner, c_.later));
    if (c_.waits.empty()) return;
    TextColumns table({{"JOB", kLeft, 44},
                       {"QUEUE", kLeft, 16},
                       {"BEFORE", kRight},
                       {"AFTER", kRight},
                       {"CHANGE", kRight}});
    for (size_t i = 0; i < Shown(c_.waits.size()); ++i) {
      const WaitChange& wait = c_.waits[i];
      const double change = wait.after.value_or(0) - wait.before.value_or(0);
      table.Row({wait.job, wait.queue, Wait(wait.before), Wait(wait.after),
                 wait.before && wait.after ? Signed(change, DurationText(std::abs(change))) : ""});
    }
    text_ += table.Render("  ");
    LeftOut(c_.waits.size(), "job", "jobs");
  }

  void Drains() {
    std::vector<const DrainChange*> shown;
    for (const DrainChange& change : c_.drains) {
      const auto empty = [](const std::optional<ZoneDrain>& drain) {
        return !drain || (drain->end == ZoneDrain::End::kDrained && drain->seconds == 0 &&
                          drain->evictions == 0);
      };
      if (!empty(change.before) || !empty(change.after)) shown.push_back(&change);
    }
    if (shown.empty()) return;
    Section("CLOSING ZONES", "time until nobody who should go was left (pods evicted)");
    TextColumns table(
        {{"ZONE", kLeft, 24}, {"CLOSED", kLeft}, {"BEFORE", kRight}, {"AFTER", kRight}});
    const auto cell = [](const std::optional<ZoneDrain>& drain) {
      return drain ? fmt::format("{} ({})", Drain(drain), drain->evictions) : "-";
    };
    for (size_t i = 0; i < Shown(shown.size()); ++i)
      table.Row({shown[i]->zone, clock_.Short(shown[i]->closed), cell(shown[i]->before),
                 cell(shown[i]->after)});
    text_ += table.Render("  ");
    LeftOut(shown.size(), "closing", "closings");
  }

  const Comparison& c_;
  const SummaryTextOptions& options_;
  LocalClock clock_;
  std::string text_;
};

}  // namespace

std::string ComparisonText(const Comparison& comparison, const SummaryTextOptions& options) {
  return ComparisonPage(comparison, options).Render();
}

}  // namespace krafla
