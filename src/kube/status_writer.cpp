#include "kube/status_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

namespace {

constexpr const char* kNominated =
    "Nominated";  // the reason of an event: it has a node, not yet room

std::string WishOf(const GroupStatus& status) {
  std::string wish =
      fmt::format("{} {} {} {}", status.phase, status.running, status.succeeded, status.failed);
  for (const GroupCondition& c : status.conditions)
    wish += fmt::format("\n{} {} {} {}", c.type, c.status, c.reason, c.message);
  return wish;
}

}  // namespace

StatusWriter::StatusWriter(ApiClient& client, ClusterMirror& mirror, EventRecorder& events,
                           Options options)
    : client_(client),
      mirror_(mirror),
      options_(std::move(options)),
      recorder_(events),
      events_(client, events, options_.calm),
      groups_(client, {.calm = options_.count_calm,
                       .on_refused =
                           [this](const std::string& key, const HttpResponse& response) {
                             // The new group of that name is reported when the watch shows it.
                             if (!IsOtherObject(response)) Refused("PodGroup", key, response);
                             if (options_.on_group_refused) options_.on_group_refused(key);
                           }}),
      pods_(client,
            {.calm = options_.calm,
             .is_moot = [this](const std::string& key) { return mirror_.HasNode(key); },
             .on_refused = [this](const std::string& key,
                                  const HttpResponse& response) { PodRefused(key, response); }}),
      queues_(client, {.calm = options_.queue_calm,
                       .on_refused = [this](const std::string& key, const HttpResponse& response) {
                         Refused("queue", key, response);
                       }}) {}

// A pod that was bound while the request was under way may not be nominated (422), and a pod of
// that name may be another one by now (409). Both are no matter for the log: the pod is read again,
// and only a refusal of a pod that still waits is one.
void StatusWriter::PodRefused(const std::string& key, const HttpResponse& response) {
  const std::string uid(mirror_.UidOf(WatchedKind::kPod, key));
  if (uid.empty() || mirror_.HasNode(key)) return;
  const bool overtaken = response.status == 409 || response.status == 422;
  if (!overtaken || !options_.read_pod_again) return Refused("pod", key, response);
  const size_t slash = key.find('/');
  options_.read_pod_again(
      PodRef(key.substr(0, slash), key.substr(slash + 1), uid), [this, key, uid, response] {
        if (mirror_.UidOf(WatchedKind::kPod, key) == uid && !mirror_.HasNode(key))
          Refused("pod", key, response);
      });
}

void StatusWriter::Refused(std::string_view what, const std::string& key,
                           const HttpResponse& response) {
  if (!options_.log) return;
  const std::string field = what == "PodGroup" ? "podgroup" : std::string(what);
  options_.log(fmt::format("status of {} was refused {}={} error={}", what, field, key,
                           LogQuoted(Describe(response))));
}

void StatusWriter::WritePod(const ObjectRef& pod, const std::string& message, std::string_view node,
                            Timestamp since, bool urgent) {
  if (mirror_.HasNode(pod.Key())) return;  // bound since the cycle that found it waiting
  pods_.Want(pod.Key(), fmt::format("{}\n{}\n{}", pod.uid, node, message),
             {.method = "PATCH",
              .target = PodPath(pod) + "/status",
              .content_type = std::string(kStrategicPatch),
              .body = WaitingPatch(pod, message, node, since),
              .urgency = Urgency::kStatus},
             urgent);
}

void StatusWriter::AnnouncePod(const ObjectRef& pod, const std::string& message,
                               bool room_is_made) {
  events_.Say({pod, !room_is_made, room_is_made ? kNominated : "FailedScheduling", message});
}

void StatusWriter::Warn(const ObjectRef& about, std::string_view reason,
                        const std::string& message) {
  recorder_.Record({about, true, std::string(reason), message});
}

void StatusWriter::ForgetPod(const std::string& key) {
  pods_.Forget(key);
  events_.Forget("Pod", key);
}

bool StatusWriter::WriteGroup(const ObjectRef& group, const GroupStatus& wanted, bool urgent) {
  const std::string key = group.Key();
  const auto waits =
      std::find_if(wanted.conditions.begin(), wanted.conditions.end(), [](const auto& condition) {
        return condition.type == "Unschedulable" && condition.status == "True";
      });
  if (waits == wanted.conditions.end()) events_.Forget("PodGroup", key);
  const std::string* current = mirror_.StatusOf(WatchedKind::kPodGroup, key);
  if (current == nullptr) return false;
  const Timestamp now = client_.Now();
  std::optional<std::string> patch = GroupStatusPatch(
      group, *current, wanted, fmt::format("{:x}-{}", now.ns, ++transitions_), now);
  if (!patch) return false;
  // The current status is part of the wish: if it is still wanted when the server shows something
  // else, it has to be written once more.
  groups_.Want(key, WishOf(wanted) + "\n" + *current,
               {.method = "PATCH",
                .target = PodGroupPath(group),
                .content_type = std::string(kMergePatch),
                .body = std::move(*patch),
                .urgency = Urgency::kStatus},
               urgent);
  if (waits != wanted.conditions.end())
    events_.Say({group, !wanted.room_is_made, wanted.room_is_made ? kNominated : "Unschedulable",
                 waits->message});
  return true;
}

void StatusWriter::ForgetGroup(const std::string& key) {
  groups_.Forget(key);
  events_.Forget("PodGroup", key);
}

void StatusWriter::WriteQueue(const std::string& name, std::optional<std::string> patch,
                              const std::string& current) {
  if (!patch) return queues_.Settle(name);
  // The current status is part of the wish, as with PodGroups.
  std::string wish = *patch + "\n" + current;
  queues_.Want(name, std::move(wish),
               {.method = "PATCH",
                .target = fmt::format("/apis/{}/queues/{}/status", kSchedulingApi, name),
                .content_type = std::string(kMergePatch),
                .body = *std::move(patch),
                .urgency = Urgency::kStatus},
               false);
}

void StatusWriter::ForgetQueue(const std::string& name) {
  queues_.Forget(name);
}

void StatusWriter::Flush() {
  groups_.Flush();
  pods_.Flush();
  queues_.Flush();
}

}  // namespace krafla
