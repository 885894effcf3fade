#include "kube/leader_lease.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.h"
#include "base/log_text.h"
#include "kube/api_client.h"
#include "kube/api_objects.h"
#include "kube/lease_margin.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;
namespace dom = simdjson::dom;

// A standby looks so often that it sees a renewal early in the lease: failover takes little longer
// than the lease.
constexpr int kLooksPerLease = 15;
constexpr milliseconds kLeastPause{50};
constexpr milliseconds kReleaseTimeout{1'000};

// With microseconds, as Leases have it.
std::string MicroTime(Timestamp now) {
  std::string text = FormatRfc3339(now);
  text.pop_back();
  return fmt::format("{}.{:06}Z", text,
                     (now.ns - now.UnixSeconds() * Timestamp::kNsPerSecond) / 1000);
}

// The field has whole seconds. Others wait longer rather than shorter.
int64_t Seconds(milliseconds time) {
  return std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count());
}

double SecondsOf(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Takes a field of the spec; one of a wrong type is named in `problem`.
template <class T>
void TakeField(dom::element root, const std::string& name, T& value, std::string& problem) {
  dom::element field;
  if (root.at_pointer("/spec/" + name).get(field) || field.is_null()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (!field.get(text)) {
      value = text;
      return;
    }
  } else {
    if (!field.get(value)) return;
  }
  problem = fmt::format("spec.{}: expected {}, got {}", name,
                        std::is_same_v<T, std::string> ? "text" : "a whole number",
                        simdjson::minify(field));
}

void WriteSpec(JsonWriter& json, const LeaseOptions& options, const LeaseRecord& before,
               Timestamp now) {
  const bool ours = before.holder == options.identity;
  json.Key("spec").BeginObject().Key("holderIdentity").String(options.identity);
  json.Key("leaseDurationSeconds").Integer(Seconds(options.lease_duration));
  json.Key("renewTime").String(MicroTime(now));
  if (!ours) {
    json.Key("acquireTime").String(MicroTime(now));
    json.Key("leaseTransitions").Integer(before.transitions + 1);
  }
}

// The beginning of a whole object, up to its metadata.
void BeginUpdate(JsonWriter& json, const LeaseOptions& options, const LeaseRecord& before) {
  json.BeginObject().Key("apiVersion").String("coordination.k8s.io/v1").Key("kind").String("Lease");
  json.Key("metadata").BeginObject().Key("name").String(options.name);
  json.Key("namespace").String(options.ns);
  json.Key("resourceVersion").String(before.resource_version);
  dom::parser parser;
  dom::object kept;
  if (!parser.parse("{" + before.metadata + "}").get(kept))
    for (const auto [key, value] : kept) json.Key(key).Raw(simdjson::minify(value));
  json.EndObject();
}

}  // namespace

Result<LeaseRecord> ParseLease(std::string_view json) {
  const simdjson::padded_string padded(json);
  dom::parser parser;
  dom::element root;
  if (parser.parse(padded).get(root)) return Fail("the Lease is no JSON");
  LeaseRecord record;
  std::string_view text;
  if (root.at_pointer("/metadata/resourceVersion").get(text))
    return Fail("the Lease has no metadata.resourceVersion");
  record.resource_version = text;
  for (const char* key : {"labels", "annotations", "ownerReferences"}) {
    dom::element value;
    if (root.at_pointer(std::string("/metadata/") + key).get(value)) continue;
    record.metadata += fmt::format("{}\"{}\":{}", record.metadata.empty() ? "" : ",", key,
                                   std::string(simdjson::minify(value)));
  }
  TakeField(root, "leaseTransitions", record.transitions, record.problem);
  TakeField(root, "leaseDurationSeconds", record.duration_s, record.problem);
  TakeField(root, "acquireTime", record.acquire_time, record.problem);
  TakeField(root, "renewTime", record.renew_time, record.problem);
  TakeField(root, "holderIdentity", record.holder, record.problem);
  return record;
}

std::string LeaseBody(const LeaseOptions& options, Timestamp now) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("coordination.k8s.io/v1").Key("kind").String("Lease");
  json.Key("metadata").BeginObject().Key("name").String(options.name);
  json.Key("namespace").String(options.ns).EndObject();
  json.Key("spec").BeginObject().Key("holderIdentity").String(options.identity);
  json.Key("leaseDurationSeconds").Integer(Seconds(options.lease_duration));
  json.Key("acquireTime").String(MicroTime(now)).Key("renewTime").String(MicroTime(now));
  json.Key("leaseTransitions").Integer(0).EndObject().EndObject();
  return json.text();
}

std::string LeasePatch(const LeaseOptions& options, const LeaseRecord& before, Timestamp now) {
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject();
  json.Key("resourceVersion").String(before.resource_version).EndObject();
  WriteSpec(json, options, before, now);
  json.EndObject().EndObject();
  return json.text();
}

std::string LeaseUpdate(const LeaseOptions& options, const LeaseRecord& before, Timestamp now) {
  JsonWriter json;
  BeginUpdate(json, options, before);
  WriteSpec(json, options, before, now);
  if (before.holder == options.identity) {
    if (!before.acquire_time.empty()) json.Key("acquireTime").String(before.acquire_time);
    json.Key("leaseTransitions").Integer(before.transitions);
  }
  json.EndObject().EndObject();
  return json.text();
}

std::string ReleasePatch(const LeaseRecord& before, Timestamp now) {
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject();
  json.Key("resourceVersion").String(before.resource_version).EndObject();
  json.Key("spec").BeginObject().Key("holderIdentity").String("");
  json.Key("leaseDurationSeconds").Integer(1);
  json.Key("renewTime").String(MicroTime(now)).EndObject().EndObject();
  return json.text();
}

std::string ReleaseUpdate(const LeaseOptions& options, const LeaseRecord& before, Timestamp now) {
  JsonWriter json;
  BeginUpdate(json, options, before);
  json.Key("spec").BeginObject().Key("holderIdentity").String("");
  json.Key("leaseDurationSeconds").Integer(1);
  json.Key("leaseTransitions").Integer(before.transitions);
  json.Key("renewTime").String(MicroTime(now)).EndObject().EndObject();
  return json.text();
}

// ---- another replica's Lease

bool LeaseWatch::IsFree(const LeaseRecord& record, Clock::time_point now) {
  // Of a Lease in a foreign format any change is a sign of life.
  std::string state = record.holder + "\n" + record.renew_time;
  if (!record.problem.empty()) {
    state += "\n" + record.resource_version;
  } else if (record.holder.empty()) {
    seen_.clear();
    return true;
  }
  if (state != seen_) {
    seen_ = std::move(state);
    since_ = now;
    // More than a day is a mistake.
    duration_ =
        record.duration_s > 0
            ? milliseconds(std::chrono::seconds(std::min<int64_t>(record.duration_s, 86'400)))
            : assumed_;
    return false;
  }
  return now - since_ >= duration_;
}

bool LeaseWatch::MayCreate(Clock::time_point now) {
  constexpr std::string_view kDeleted = "deleted";  // a state of a Lease has a line break
  if (seen_.empty()) return true;
  if (seen_ != kDeleted) {
    seen_ = kDeleted;
    since_ = now;
    return false;
  }
  return now - since_ >= duration_;
}

std::optional<LeaseWatch::Clock::time_point> LeaseWatch::FreeAt() const {
  if (seen_.empty()) return std::nullopt;
  return since_ + duration_;
}

std::optional<LeaseWatch::Clock::time_point> LeaseWatch::since() const {
  if (seen_.empty()) return std::nullopt;
  return since_;
}

// ---- our own

void LeaseTerm::Renewed(const ClockReading& asked, milliseconds renew_deadline) {
  const std::scoped_lock lock(mutex_);
  asked_ = asked.boot;
  until_ = asked.boot + renew_deadline;
  suspended_ = asked.suspended();
  ended_ = false;
}

void LeaseTerm::End() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
}

bool LeaseTerm::MayWriteLocked(const ClockReading& now) const {
  return !ended_ && now.boot < until_ && now.suspended() - suspended_ < kTolerance;
}

bool LeaseTerm::MayWrite(const ClockReading& now) const {
  const std::scoped_lock lock(mutex_);
  return MayWriteLocked(now);
}

ClockReading::Steady::time_point LeaseTerm::WriteUntil(const ClockReading& now) const {
  const std::scoped_lock lock(mutex_);
  if (!MayWriteLocked(now)) return ClockReading::Steady::time_point::min();
  return now.steady + (until_ - now.boot);
}

bool LeaseTerm::IsOver(const ClockReading& now) const {
  const std::scoped_lock lock(mutex_);
  return ended_ || now.boot >= until_;
}

std::optional<double> LeaseTerm::AgeSeconds(const ClockReading& now) const {
  const std::scoped_lock lock(mutex_);
  if (!asked_) return std::nullopt;
  return SecondsOf(now.boot - *asked_);
}

LeaderLease::LeaderLease(HttpChannel& channel, OutageLog& outages, LeaseOptions options)
    : channel_(channel),
      outages_(outages),
      options_(std::move(options)),
      title_(fmt::format("{}/{}", options_.ns, options_.name)),
      resource_("leases " + title_),
      timeout_(LeaseRequestTimeout(options_.renew_deadline)),
      watch_(options_.lease_duration),
      suspended_(options_.clocks().suspended()),
      thread_([this] { Run(); }) {}

LeaderLease::~LeaderLease() {
  Stop();
}

void LeaderLease::Release() {
  Stop();
  const bool ours = held_ && MayWrite();
  term_.End();
  if (!ours || !last_) return;
  channel_.Ask({.method = updates_ ? "PUT" : "PATCH",
                .target = Path() + "/" + options_.name,
                .content_type = std::string(updates_ ? kJsonType : kMergePatch),
                .body = updates_ ? ReleaseUpdate(options_, *last_, options_.clocks().wall)
                                 : ReleasePatch(*last_, options_.clocks().wall),
                .timeout = kReleaseTimeout});
}

void LeaderLease::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LeaderLease::Log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

void LeaderLease::NoteFailure(const char* verb, const HttpResponse& response) {
  if (!response.closing) outages_.Failed(verb, resource_, response);
}

// Once for each problem, until the Lease is readable again.
void LeaderLease::NoteUnreadable(const std::string& problem) {
  if (logged_problem_ == problem) return;
  logged_problem_ = problem;
  if (!problem.empty())
    Log(fmt::format("the leader lease cannot be read lease={} error={}", title_,
                    LogQuoted(problem)));
}

std::string LeaderLease::Path() const {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", options_.ns);
}

bool LeaderLease::Sleep(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopping_.wait_for(lock, time, [&] { return stop_; });
}

milliseconds LeaderLease::Pause() const {
  if (held_) return options_.retry_period;
  milliseconds pause = std::min(options_.retry_period,
                                std::max(options_.lease_duration / kLooksPerLease, kLeastPause));
  if (const auto free_at = watch_.FreeAt()) {
    const auto left = *free_at - options_.clocks().boot;
    if (left > left.zero()) pause = std::min(pause, std::chrono::ceil<milliseconds>(left));
  }
  return std::max(pause, milliseconds(1));
}

std::string LeaderLease::Holder() const {
  const std::scoped_lock lock(holder_mutex_);
  return holder_;
}

std::optional<double> LeaderLease::RenewalAgeSeconds() const {
  const std::scoped_lock lock(holder_mutex_);
  if (!seen_renewed_) return std::nullopt;
  return SecondsOf(options_.clocks().boot - *seen_renewed_);
}

void LeaderLease::NoteHolder(const std::string& holder) {
  const std::scoped_lock lock(holder_mutex_);
  holder_ = holder;
  if (holder == options_.identity) return;
  if (const auto since = watch_.since()) seen_renewed_ = since;
}

void LeaderLease::Granted(const ClockReading& asked) {
  outages_.Worked(resource_);
  term_.Renewed(asked, options_.renew_deadline);
  const std::scoped_lock lock(holder_mutex_);
  holder_ = options_.identity;
  seen_renewed_ = asked.boot;
}

bool LeaderLease::TryAcquire() {
  // The term counts from before the request, for others it counts from after it.
  const ClockReading asked = options_.clocks();
  if (held_ && last_) {
    switch (Take(*last_)) {
      case Write::kDone:
        Granted(asked);
        return true;
      case Write::kFailed:
        return false;
      case Write::kConflict:
        break;  // something has changed in it since: see what
    }
  }
  return ReadAndTake(asked);
}

bool LeaderLease::ReadAndTake(const ClockReading& asked) {
  const HttpResponse read =
      channel_.Ask({.target = Path() + "/" + options_.name, .timeout = timeout_});
  Write write = Write::kFailed;
  if (read.status == 404) {
    if (!MayCreate()) return false;
    write = Create();
  } else if (!read.ok()) {
    NoteFailure("get", read);
    return false;
  } else {
    const Result<LeaseRecord> record = ParseLease(read.body);
    NoteUnreadable(record ? record->problem : record.error().message);
    if (!record) return false;
    if (!MayTake(*record)) return false;
    write = Take(*record);
  }
  if (write != Write::kDone) return false;
  Granted(asked);
  return true;
}

// Whether it is ours, or free, as this answer shows it.
bool LeaderLease::MayTake(const LeaseRecord& record) {
  // Our name alone says little: etcd may have been restored to a state of an earlier term.
  if (!record.holder.empty() && record.holder != options_.identity) asked_to_hold_ = false;
  const bool ours = (record.holder == options_.identity && (held_ || asked_to_hold_)) ||
                    (held_ && !record.problem.empty() && record.holder.empty());
  const bool may_take = ours || watch_.IsFree(record, options_.clocks().boot);
  NoteHolder(record.holder);
  if (may_take) return true;
  outages_.Worked(resource_);
  if (std::exchange(logged_holder_, record.holder) != record.holder && record.problem.empty())
    Log(fmt::format("leader lease held by {}", LogQuoted(record.holder)));
  if (held_) {  // it was taken from us
    term_.End();
    lost_because_ = fmt::format("it is held by {}", LogQuoted(record.holder));
  }
  return false;
}

// There is no Lease. A leader creates it again in its term, another replica when the last term that
// it knows of has run out.
bool LeaderLease::MayCreate() {
  if (held_) return MayWrite();
  return watch_.MayCreate(options_.clocks().boot);
}

LeaderLease::Write LeaderLease::Create() {
  asked_to_hold_ = true;
  return Finish("create", channel_.Ask({.method = "POST",
                                        .target = Path(),
                                        .content_type = std::string(kJsonType),
                                        .body = LeaseBody(options_, options_.clocks().wall),
                                        .timeout = timeout_}));
}

// Roles made for client-go's leader election allow "update" alone.
LeaderLease::Write LeaderLease::Take(const LeaseRecord& before) {
  asked_to_hold_ = true;
  const std::string target = Path() + "/" + options_.name;
  if (!updates_) {
    const HttpResponse patched =
        channel_.Ask({.method = "PATCH",
                      .target = target,
                      .content_type = std::string(kMergePatch),
                      .body = LeasePatch(options_, before, options_.clocks().wall),
                      .timeout = timeout_});
    if (patched.status != 403) return Finish("patch", patched);
    updates_ = true;
  }
  const HttpResponse updated =
      channel_.Ask({.method = "PUT",
                    .target = target,
                    .content_type = std::string(kJsonType),
                    .body = LeaseUpdate(options_, before, options_.clocks().wall),
                    .timeout = timeout_});
  if (updated.status == 403) updates_ = false;  // next time as it is meant to be
  return Finish("update", updated);
}

LeaderLease::Write LeaderLease::Finish(const char* verb, const HttpResponse& written) {
  last_.reset();
  // Another replica was quicker, or something else has changed in the Lease.
  if (written.status == 409) return Write::kConflict;
  if (!written.ok()) {
    NoteFailure(verb, written);
    return Write::kFailed;
  }
  if (Result<LeaseRecord> record = ParseLease(written.body);
      record && record->holder == options_.identity)
    last_ = std::move(*record);
  return Write::kDone;
}

// After a resume nothing is written before the Lease was checked (LeaseTerm).
void LeaderLease::NoteSuspend() {
  const std::chrono::nanoseconds suspended = options_.clocks().suspended();
  const std::chrono::nanoseconds more = suspended - suspended_;
  suspended_ = suspended;
  if (more < LeaseTerm::kTolerance) return;
  Log(
      fmt::format("the machine was suspended; nothing is written before the leader lease was "
                  "checked for_s={:.1f}",
                  SecondsOf(more)));
}

void LeaderLease::Run() {
  do {
    NoteSuspend();
    const bool healthy = !options_.healthy || options_.healthy();
    lost_because_ =
        healthy ? fmt::format("it was not renewed within {} ms", options_.renew_deadline.count())
                : std::string("the scheduling thread hangs");
    if (healthy && TryAcquire()) {
      if (!std::exchange(held_, true)) {
        Log(fmt::format("acquired leader lease lease={} identity={}", title_, options_.identity));
        if (options_.on_started) options_.on_started();
      }
    } else if (held_ && term_.IsOver(options_.clocks())) {
      Log(fmt::format("lost leader lease lease={} because={}", title_, LogQuoted(lost_because_)));
      term_.End();
      if (options_.on_lost) options_.on_lost();
      return;
    }
  } while (Sleep(Pause()));
}

}  // namespace krafla
