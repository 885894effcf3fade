#include "kube/leader_lease.h"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.h"
#include "base/log_text.h"
#include "kube/api_client.h"
#include "kube/api_objects.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

// With microseconds, as Leases have it.
std::string MicroTime(Timestamp now) {
  std::string text = FormatRfc3339(now);
  text.pop_back();
  return fmt::format("{}.{:06}Z", text,
                     (now.ns - now.UnixSeconds() * Timestamp::kNsPerSecond) / 1000);
}

int64_t Seconds(milliseconds time) {
  return std::max<int64_t>(1, time.count() / 1000);
}

}  // namespace

Result<LeaseRecord> ParseLease(std::string_view json) {
  const simdjson::padded_string padded(json);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(padded).get(root)) return Fail("the Lease is no JSON");
  LeaseRecord record;
  std::string_view text;
  if (root.at_pointer("/metadata/resourceVersion").get(text))
    return Fail("the Lease has no resourceVersion");
  record.resource_version = text;
  if (!root.at_pointer("/spec/holderIdentity").get(text)) record.holder = text;
  if (!root.at_pointer("/spec/renewTime").get(text)) record.renew_time = text;
  int64_t number = 0;
  if (!root.at_pointer("/spec/leaseDurationSeconds").get(number)) record.duration_s = number;
  if (!root.at_pointer("/spec/leaseTransitions").get(number)) record.transitions = number;
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
  const bool ours = before.holder == options.identity;
  JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject();
  json.Key("resourceVersion").String(before.resource_version).EndObject();
  json.Key("spec").BeginObject().Key("holderIdentity").String(options.identity);
  json.Key("leaseDurationSeconds").Integer(Seconds(options.lease_duration));
  json.Key("renewTime").String(MicroTime(now));
  if (!ours) {
    json.Key("acquireTime").String(MicroTime(now));
    json.Key("leaseTransitions").Integer(before.transitions + 1);
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

bool LeaseWatch::IsFree(const LeaseRecord& record, Clock::time_point now) {
  if (record.holder.empty()) return true;
  const std::string state = record.holder + "\n" + record.renew_time;
  if (state != seen_) {
    seen_ = state;
    since_ = now;
    return false;
  }
  return now - since_ >= std::chrono::seconds(record.duration_s);
}

LeaderLease::LeaderLease(HttpChannel& channel, OutageLog& outages, LeaseOptions options)
    : channel_(channel),
      outages_(outages),
      options_(std::move(options)),
      resource_(fmt::format("leases {}/{}", options_.ns, options_.name)),
      thread_([this] { Run(); }) {}

LeaderLease::~LeaderLease() {
  Stop();
}

void LeaderLease::Release() {
  Stop();
  const bool ours = held_ && MayWrite();
  write_until_ = 0;
  if (!ours || !last_) return;
  channel_.Ask({.method = "PATCH",
                .target = Path() + "/" + options_.name,
                .content_type = std::string(kMergePatch),
                .body = ReleasePatch(*last_, WallClock()),
                .timeout = milliseconds(2000)});
}

void LeaderLease::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LeaderLease::NoteFailure(const char* verb, const HttpResponse& response) {
  if (!response.closing) outages_.Failed(verb, resource_, response);
}

std::string LeaderLease::Path() const {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", options_.ns);
}

bool LeaderLease::Sleep(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopping_.wait_for(lock, time, [&] { return stop_; });
}

std::string LeaderLease::Holder() const {
  const std::scoped_lock lock(holder_mutex_);
  return holder_;
}

void LeaderLease::NoteHolder(const std::string& holder) {
  const std::scoped_lock lock(holder_mutex_);
  holder_ = holder;
}

bool LeaderLease::TryAcquire() {
  const Clock::time_point begin = Clock::now();
  const milliseconds patience =
      std::min<milliseconds>(options_.renew_deadline / 2, milliseconds(5000));
  const HttpResponse read =
      channel_.Ask({.target = Path() + "/" + options_.name, .timeout = patience});
  HttpResponse written;
  if (read.status == 404) {
    written = channel_.Ask({.method = "POST",
                            .target = Path(),
                            .content_type = std::string(kJsonType),
                            .body = LeaseBody(options_, WallClock()),
                            .timeout = patience});
  } else if (!read.ok()) {
    NoteFailure("get", read);
    return false;
  } else {
    const Result<LeaseRecord> record = ParseLease(read.body);
    if (!record) {
      NoteFailure("get", {.status = read.status, .error = record.error().message});
      return false;
    }
    NoteHolder(record->holder);
    if (record->holder != options_.identity && !watch_.IsFree(*record, begin)) {
      outages_.Worked(resource_);
      if (!std::exchange(logged_other_, true) && options_.log)
        options_.log(fmt::format("somebody else leads holder={}", LogWord(record->holder)));
      if (held_) write_until_ = 0;  // it was taken from us
      return false;
    }
    written = channel_.Ask({.method = "PATCH",
                            .target = Path() + "/" + options_.name,
                            .content_type = std::string(kMergePatch),
                            .body = LeasePatch(options_, *record, WallClock()),
                            .timeout = patience});
  }
  if (!written.ok()) {
    // Somebody else was quicker.
    if (written.status != 409) NoteFailure(read.status == 404 ? "create" : "patch", written);
    return false;
  }
  outages_.Worked(resource_);
  NoteHolder(options_.identity);
  if (Result<LeaseRecord> record = ParseLease(written.body)) last_ = std::move(*record);
  // Counted from before it was asked for: others count from later.
  write_until_ = (begin + options_.renew_deadline).time_since_epoch().count();
  return true;
}

void LeaderLease::Run() {
  do {
    if (TryAcquire()) {
      if (!std::exchange(held_, true)) {
        if (options_.log)
          options_.log(fmt::format("leading lease={}/{} identity={}", options_.ns, options_.name,
                                   options_.identity));
        if (options_.on_started) options_.on_started();
      }
    } else if (held_ && !MayWrite()) {
      if (options_.log) options_.log("leadership is lost");
      if (options_.on_lost) options_.on_lost();
      return;
    }
  } while (Sleep(options_.retry_period));
}

}  // namespace krafla
