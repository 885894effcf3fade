#include "kube/volume_binder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 5;
constexpr milliseconds kNews{10'000};

std::string TextOf(const ClaimOrder& order) {
  return fmt::format("{}/{}/{}", order.ns, order.name, order.uid);
}

}  // namespace

milliseconds VolumePatience(const SchedulerConfig& config) {
  for (const Tier& tier : config.tiers)
    for (const PluginOption& plugin : tier.plugins)
      if (plugin.name == "predicates")
        if (const auto seconds = plugin.arguments.GetInt("volumebinding.bindTimeoutSeconds"))
          return std::chrono::seconds(std::clamp<int64_t>(*seconds, 0, 86'400));
  return VolumeBinder::Options{}.patience;
}

const PersistentVolumeClaim* VolumeBinder::FindClaim(const ClaimOrder& order) const {
  StringPool& strings = mirror_.live().strings();
  const PersistentVolumeClaim* claim =
      mirror_.live().FindClaim(strings.Intern(order.ns), strings.Intern(order.name));
  return claim != nullptr && strings.Text(claim->uid) == order.uid ? claim : nullptr;
}

const PersistentVolume* VolumeBinder::FindVolume(const std::string& name) const {
  return mirror_.live().FindVolume(mirror_.live().strings().Intern(name));
}

void VolumeBinder::Bind(const ObjectRef& pod, const std::string& node,
                        std::vector<ClaimOrder> claims, Done done) {
  auto work = std::make_shared<Work>();
  work->pod = pod;
  work->node = node;
  work->claims = std::move(claims);
  work->done = std::move(done);
  work->began = client_.SteadyNow();
  work->patience = options_.patience;
  for (const ClaimOrder& order : work->claims) {
    if (order.volume.empty()) {
      mirror_.volumes().Select(TextOf(order), node, pod.uid);
    } else {
      mirror_.volumes().Reserve(order.volume, TextOf(order), pod.uid);
    }
  }
  WriteNext(work, 0);
}

void VolumeBinder::GiveUp(const Work& work) {
  for (const ClaimOrder& order : work.claims) {
    if (order.volume.empty()) {
      mirror_.volumes().GiveUpNode(TextOf(order), work.pod.uid);
    } else {
      mirror_.volumes().GiveUpVolume(order.volume, TextOf(order), work.pod.uid);
    }
  }
}

void VolumeBinder::Finish(const WorkPtr& work, const std::optional<std::string>& problem) {
  GiveUp(*work);  // what has come true is not expected any more
  work->done(problem);
}

VolumeBinder::ClaimWrite VolumeBinder::WriteFor(const Work& work, const ClaimOrder& order) const {
  const PersistentVolumeClaim* claim = FindClaim(order);
  if (claim == nullptr) return {.problem = fmt::format("claim {} is gone", order.name)};
  if (claim->volume_name != kEmptyStr) return {};
  HttpRequest request{
      .method = "PATCH", .content_type = std::string(kMergePatch), .urgency = Urgency::kBind};
  if (order.volume.empty()) {
    const std::string selected = mirror_.volumes().NodeOf(*claim);
    if (selected == work.node) return {};
    if (!selected.empty())
      return {.problem = fmt::format("claim {} was given to {}", order.name, selected)};
    request.target =
        fmt::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}", order.ns, order.name);
    request.body = SelectedNodePatch(
        work.node, mirror_.VersionOf(WatchedKind::kClaim, order.ns + "/" + order.name));
    return {.request = std::move(request), .kind = WatchedKind::kClaim};
  }
  const PersistentVolume* volume = FindVolume(order.volume);
  if (volume == nullptr) return {.problem = fmt::format("volume {} is gone", order.volume)};
  const std::string reserved = mirror_.volumes().ClaimOf(*volume);
  if (reserved == TextOf(order)) return {};
  // Reserved for the claim by name, by whoever made it: the UID is what is missing.
  if (!reserved.empty() && reserved != fmt::format("{}/{}/", order.ns, order.name))
    return {.problem = fmt::format("volume {} was given to another claim", order.volume)};
  request.target = fmt::format("/api/v1/persistentvolumes/{}", order.volume);
  request.body = ClaimRefPatch(order.ns, order.name, order.uid,
                               mirror_.VersionOf(WatchedKind::kVolume, order.volume));
  return {.request = std::move(request)};
}

// An answer that may be another next time is asked for again, as is one that says that the object
// has changed: with what the watch shows by then there may be nothing left to do.
void VolumeBinder::WriteNext(const WorkPtr& work, int attempt) {
  while (work->next < work->claims.size()) {
    ClaimWrite write = WriteFor(*work, work->claims[work->next]);
    if (!write.problem.empty()) return Finish(work, write.problem);
    if (!write.request) {
      ++work->next;
      attempt = 0;
      continue;
    }
    std::string target = write.request->target;
    client_.Send(std::move(*write.request), [this, work, attempt, target = std::move(target),
                                             kind = write.kind](const HttpResponse& response) {
      if (response.ok()) {
        TakeAnswer(kind, response.body);
        ++work->next;
        return WriteNext(work, 0);
      }
      if (!response.kept_back && (IsTransient(response) || response.status == 409) &&
          attempt + 1 < kAttempts) {
        const milliseconds wait = std::max(response.retry_after.value_or(milliseconds(0)),
                                           milliseconds(100) * (1 << attempt));
        client_.After(wait, [this, work, attempt] { WriteNext(work, attempt + 1); });
        return;
      }
      Finish(work, fmt::format("{}: {}", target, Describe(response)));
    });
    return;
  }
  Wait(work);
}

void VolumeBinder::TakeAnswer(WatchedKind kind, const std::string& body) {
  ObjectMessage message{ObjectMessage::What::kReread, kind, Padded(body), {}};
  Result<ObjectHead> head = parser_.ParseHead(message.object);
  if (!head || head->uid.empty()) return;  // the watch will show it
  message.head = std::move(*head);
  mirror_.Apply(std::move(message));
}

VolumeBinder::ClaimState VolumeBinder::StateOf(const Work& work, const ClaimOrder& order) const {
  const PersistentVolumeClaim* claim = FindClaim(order);
  if (claim == nullptr) return {.problem = fmt::format("claim {} is gone", order.name)};
  if (claim->fully_bound && claim->volume_name != kEmptyStr) return {.bound = true};
  if (order.volume.empty()) {
    // The provisioner takes the annotation away when it cannot make one there.
    if (mirror_.volumes().NodeOf(*claim) != work.node)
      return {.problem =
                  fmt::format("no volume can be made for claim {} on {}", order.name, work.node)};
    return {};
  }
  const PersistentVolume* volume = FindVolume(order.volume);
  if (volume == nullptr) return {.problem = fmt::format("volume {} is gone", order.volume)};
  if (mirror_.volumes().ClaimOf(*volume) != TextOf(order))
    return {.problem = fmt::format("volume {} was given to another claim", order.volume)};
  return {};
}

// What was written is seen through the watch, a little later; until then it is no problem.
void VolumeBinder::Wait(const WorkPtr& work) {
  client_.After(options_.look_every, [this, work] {
    if (mirror_.UidOf(WatchedKind::kPod, work->pod.Key()) != work->pod.uid) return GiveUp(*work);
    const auto waited = client_.SteadyNow() - work->began;
    std::string open;
    for (const ClaimOrder& order : work->claims) {
      const ClaimState state = StateOf(*work, order);
      if (state.bound) continue;
      if (!state.problem.empty() && waited > kNews) return Finish(work, state.problem);
      if (open.empty()) open = order.name;
    }
    if (open.empty()) return Finish(work, std::nullopt);
    if (waited >= work->patience)
      return Finish(work, fmt::format("claim {} is still not bound after {} s", open,
                                      work->patience.count() / 1000));
    Wait(work);
  });
}

}  // namespace krafla
