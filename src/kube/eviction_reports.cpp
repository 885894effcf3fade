#include "kube/eviction_reports.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"
#include "kube/api_objects.h"

namespace krafla {

namespace {

// A limit that was reached counts as over when nothing has waited for so long.
constexpr std::chrono::seconds kOver{60};

ObjectRef GroupRefOf(const std::string& key, std::string_view uid) {
  const size_t slash = key.find('/');
  return PodGroupRef(std::string_view(key).substr(0, slash),
                     std::string_view(key).substr(slash + 1), uid);
}

}  // namespace

void EvictionReports::Follow(SchedulingLoop& loop, Clock::time_point now) {
  ReportLoops(loop);
  ReportAnnouncement(loop);
  ReportLimit(loop, now);
}

void EvictionReports::ReportLoops(SchedulingLoop& loop) {
  for (const EvictionLedger::Ring& ring : loop.TakeEvictionRings()) {
    ++loops_;
    options_.log(fmt::format(
        "{}={}",
        ring.is_storm ? "evictions lead nowhere storm" : "jobs evict each other in turn ring",
        LogQuoted(ring.text)));
    if (ring.is_storm) {
      metrics_.EvictionStorm();
      events_.Record({options_.scheduler, true, "EvictionStorm", ring.text});
    }
    for (const std::string& job : ring.jobs)
      if (const std::string_view uid = mirror_.UidOf(WatchedKind::kPodGroup, job); !uid.empty())
        events_.Record({GroupRefOf(job, uid), true,
                        ring.is_storm ? "EvictionStorm" : "EvictionLoop", ring.text});
  }
}

void EvictionReports::ReportAnnouncement(SchedulingLoop& loop) {
  const std::optional<SchedulingLoop::Announcement> announcement = loop.TakeAnnouncement();
  if (!announcement) return;
  const std::string begins = FormatRfc3339(announcement->begins);
  options_.log(fmt::format(
      "configuration taken; its first cycle would evict more pods than the eviction limits allow, "
      "nothing is evicted before {} evictions={} allowed={}",
      begins, announcement->evictions, announcement->allowed));
  events_.Record({options_.scheduler, true, "ConfigurationAnnounced",
                  fmt::format("configuration taken; its first cycle would evict {} pods, and the "
                              "eviction limits allow {}: evictions begin at {}, within the limits",
                              announcement->evictions, announcement->allowed, begins)});
}

void EvictionReports::ReportLimit(const SchedulingLoop& loop, Clock::time_point now) {
  const SchedulingLoop::HeldBack& held = loop.held_back();
  if (std::exchange(cycles_, loop.cycles()) == loop.cycles() && !waits_) return;
  metrics_.EvictionLimit(held.evictions > 0, std::max(0, held.evictions - held_back_));
  held_back_ = held.evictions;
  NoteWaiting(held);
  ReportNever(held, now);
  if (held.evictions > 0) {
    free_since_.reset();
    // A reload is announced in words of its own.
    if (std::exchange(waits_, true) || held.announced) return;
    options_.log(fmt::format("evictions wait for the eviction limit limit={} waiting={} next={}",
                             LogQuoted(held.limits), held.evictions,
                             held.at ? FormatRfc3339(*held.at) : "never"));
    events_.Record({options_.scheduler, true, "EvictionLimitReached",
                    fmt::format("evictions wait: the limit of {} is reached", held.limits)});
    return;
  }
  if (!waits_) return;
  if (!free_since_) free_since_ = now;
  if (now - *free_since_ < kOver) return;
  waits_ = false;
  free_since_.reset();
  options_.log("no eviction waits for the eviction limit any more");
}

void EvictionReports::ReportNever(const SchedulingLoop::HeldBack& held, Clock::time_point now) {
  for (const std::string& sentence : held.never) {
    const auto [seen, is_new] = never_.insert_or_assign(sentence, now);
    if (!is_new) continue;
    options_.log(sentence);
    events_.Record({options_.scheduler, true, "EvictionLimitTooLow", sentence});
  }
  std::erase_if(never_, [&](const auto& entry) { return now - entry.second >= kOver; });
}

void EvictionReports::NoteWaiting(const SchedulingLoop::HeldBack& held) {
  std::string note;
  if (held.evictions > 0)
    note = fmt::format(
        "evictions wait waiting={} next={} {}", held.evictions,
        held.at ? FormatRfc3339(*held.at) : "never",
        held.announced ? "because the configuration was reloaded, and its first cycle would evict "
                         "more pods than the limit of " +
                             held.limits
                       : fmt::format("because the limit of {} is reached", held.limits));
  for (const std::string& sentence : held.never) note += (note.empty() ? "" : "; ") + sentence;
  if (note == note_) return;
  note_ = note;
  if (options_.on_waiting) options_.on_waiting(note_);
}

}  // namespace krafla
