#include "kube/quarantine_reports.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log_text.h"
#include "kube/api_objects.h"

namespace krafla {

namespace {

// More are counted, not named: the page is read by a human.
constexpr size_t kMostNamed = 20;

// "/apis/policy/v1/poddisruptionbudgets" -> "policy/v1", "/api/v1/pods" -> "v1".
std::string ApiVersionOf(const WatchedKindInfo& info) {
  std::string_view path = info.path;
  path.remove_prefix(path.find('/', 1) + 1);
  return std::string(path.substr(0, path.rfind('/')));
}

}  // namespace

void QuarantineNote::Set(std::string quarantined, std::optional<std::string> suspended) {
  const std::scoped_lock lock(mutex_);
  quarantined_ = std::move(quarantined);
  suspended_ = std::move(suspended);
}

std::string QuarantineNote::quarantined() const {
  const std::scoped_lock lock(mutex_);
  return quarantined_;
}

std::optional<std::string> QuarantineNote::suspended() const {
  const std::scoped_lock lock(mutex_);
  return suspended_;
}

QuarantineReports::QuarantineReports(ClusterMirror& mirror, SchedulingLoop& loop,
                                     EventRecorder& events, ServeMetrics& metrics, Options options)
    : mirror_(mirror),
      loop_(loop),
      events_(events),
      metrics_(metrics),
      options_(std::move(options)) {
  mirror_.SetQuarantineListener([this](const Quarantine::Entry& entry) { Report(entry); });
}

ObjectRef QuarantineReports::RefOf(const Quarantine::Entry& entry) const {
  const WatchedKindInfo& info = InfoOf(entry.kind);
  const size_t slash = info.namespaced ? entry.key.find('/') : std::string::npos;
  return {.kind = std::string(info.name),
          .api_version = ApiVersionOf(info),
          .ns = slash == std::string::npos ? std::string() : entry.key.substr(0, slash),
          .name = slash == std::string::npos ? entry.key : entry.key.substr(slash + 1),
          .uid = entry.uid};
}

void QuarantineReports::Report(const Quarantine::Entry& entry) {
  changed_ = true;
  const std::string_view kind = InfoOf(entry.kind).name;
  if (!entry.held) {
    unannounced_.erase({entry.kind, entry.key});
    options_.log(fmt::format("quarantine ended kind={} object={} uid={} why={}", kind,
                             LogWord(entry.key), LogWord(entry.uid), LogQuoted(entry.instead)));
    return;
  }
  options_.log(
      fmt::format("object quarantined until it changes: an internal check failed; please report it "
                  "kind={} object={} uid={} times={} instead={} check={}",
                  kind, LogWord(entry.key), LogWord(entry.uid), entry.times,
                  LogQuoted(entry.instead), LogQuoted(entry.check)));
  unannounced_.insert({entry.kind, entry.key});
}

void QuarantineReports::ReportingFailed(const std::string& check) {
  metrics_.InternalChecksFailed(1);
  if (!failed_reports_.insert(check).second) return;
  options_.log(
      fmt::format("internal check failed while statuses were made; decisions stand, "
                  "statuses may be missing; please report it check={}",
                  LogQuoted(check)));
}

void QuarantineReports::Announce() {
  for (const Quarantine::Entry* entry : mirror_.quarantine().Held())
    unannounced_.insert({entry->kind, entry->key});
}

void QuarantineReports::Follow(bool leading) {
  metrics_.InternalChecksFailed(static_cast<double>(
      mirror_.failed_checks() - std::exchange(counted_, mirror_.failed_checks())));
  for (const SchedulingLoop::FailedCycle& failed : loop_.TakeFailures()) {
    metrics_.InternalChecksFailed(1);
    options_.log(
        fmt::format("internal check failed in a cycle; nothing of the cycle is written "
                    "where={} check={}",
                    LogQuoted(failed.where), LogQuoted(failed.check)));
  }
  const SchedulingLoop::Trouble& trouble = loop_.trouble();
  if (trouble.skipped_actions != skipped_) {
    changed_ = true;
    skipped_ = trouble.skipped_actions;
    const std::string names = fmt::format("{}", fmt::join(skipped_, ","));
    options_.log(skipped_.empty()
                     ? std::string("no action is skipped any more")
                     : fmt::format("actions are skipped for 10 minutes, because internal checks "
                                   "fail in them actions={}",
                                   names));
    if (!skipped_.empty() && leading)
      events_.Record({options_.scheduler, true, "ActionsSkipped",
                      fmt::format("internal checks fail in these actions, which are skipped for "
                                  "10 minutes: {}",
                                  names)});
  }
  if (trouble.check != suspended_) {
    changed_ = true;
    suspended_ = trouble.check;
    options_.log(suspended_.empty()
                     ? std::string("scheduling resumed: a cycle could be run")
                     : fmt::format("scheduling suspended: an internal check fails whatever is left "
                                   "out check={}",
                                   LogQuoted(suspended_)));
    if (!suspended_.empty() && leading)
      events_.Record({options_.scheduler, true, "SchedulingSuspended", suspended_});
  }
  if (leading)
    for (const auto& [kind, key] : std::exchange(unannounced_, {}))
      if (const Quarantine::Entry* entry = mirror_.quarantine().FindHeld(kind, key))
        events_.Record({RefOf(*entry), true, "Quarantined",
                        fmt::format("left out by the scheduler until it changes ({}): an internal "
                                    "check failed while it was handled: {}",
                                    entry->instead, entry->check)});
  if (std::exchange(changed_, false)) SetNote();
}

void QuarantineReports::SetNote() {
  for (const WatchedKindInfo& info : kWatchedKinds)
    metrics_.Quarantined(info.name, static_cast<double>(mirror_.quarantine().Count(info.kind)));
  metrics_.CyclesFail(!suspended_.empty(), static_cast<double>(skipped_.size()));
  if (options_.note == nullptr) return;
  const std::vector<const Quarantine::Entry*> held = mirror_.quarantine().Held();
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(held.size(), kMostNamed); ++i)
    parts.push_back(fmt::format("{} {}", InfoOf(held[i]->kind).name, held[i]->key));
  if (held.size() > kMostNamed) parts.push_back(fmt::format("{} more", held.size() - kMostNamed));
  std::string text;
  if (!held.empty())
    text = fmt::format("{} object(s) quarantined: {}", held.size(), fmt::join(parts, ", "));
  if (!skipped_.empty())
    text +=
        fmt::format("{}actions skipped: {}", text.empty() ? "" : "; ", fmt::join(skipped_, ", "));
  options_.note->Set(std::move(text),
                     suspended_.empty()
                         ? std::nullopt
                         : std::optional(fmt::format("no cycle can be run: {}", suspended_)));
}

}  // namespace krafla
