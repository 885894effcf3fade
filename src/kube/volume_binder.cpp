#include "kube/volume_binder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 5;
constexpr milliseconds kNews{10'000};

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
  work->began = client_.Now();
  work->patience = options_.patience;
  WriteNext(work, 0);
}

VolumeBinder::ClaimWrite VolumeBinder::WriteFor(const Work& work, const ClaimOrder& order) const {
  const PersistentVolumeClaim* claim = FindClaim(order);
  if (claim == nullptr) return {.problem = fmt::format("claim {} is gone", order.name)};
  if (claim->volume_name != kEmptyStr) return {};
  StringPool& strings = mirror_.live().strings();
  HttpRequest request{
      .method = "PATCH", .content_type = std::string(kMergePatch), .urgency = Urgency::kBind};
  if (order.volume.empty()) {
    const std::string_view selected = strings.Text(claim->selected_node);
    if (selected == work.node) return {};
    if (!selected.empty())
      return {.problem = fmt::format("claim {} was given to {}", order.name, selected)};
    request.target =
        fmt::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}", order.ns, order.name);
    request.body = SelectedNodePatch(
        work.node, mirror_.VersionOf(WatchedKind::kClaim, order.ns + "/" + order.name));
    return {.request = std::move(request)};
  }
  const PersistentVolume* volume = FindVolume(order.volume);
  if (volume == nullptr) return {.problem = fmt::format("volume {} is gone", order.volume)};
  if (strings.Text(volume->claim_uid) == order.uid) return {};
  // Reserved for the claim by name, by whoever made it: the UID is what is missing.
  const bool for_us =
      strings.Text(volume->claim_ns) == order.ns && strings.Text(volume->claim_name) == order.name;
  if (volume->claim_uid != kEmptyStr || (volume->claim_name != kEmptyStr && !for_us))
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
    if (!write.problem.empty()) return work->done(write.problem);
    if (!write.request) {
      ++work->next;
      attempt = 0;
      continue;
    }
    std::string target = write.request->target;
    client_.Send(std::move(*write.request), [this, work, attempt, target = std::move(target)](
                                                const HttpResponse& response) {
      if (response.ok()) {
        ++work->next;
        return WriteNext(work, 0);
      }
      if ((IsTransient(response) || response.status == 409) && attempt + 1 < kAttempts) {
        const milliseconds wait = std::max(response.retry_after.value_or(milliseconds(0)),
                                           milliseconds(100) * (1 << attempt));
        client_.After(wait, [this, work, attempt] { WriteNext(work, attempt + 1); });
        return;
      }
      work->done(fmt::format("{}: {}", target, Describe(response)));
    });
    return;
  }
  Wait(work);
}

VolumeBinder::ClaimState VolumeBinder::StateOf(const Work& work, const ClaimOrder& order) const {
  const PersistentVolumeClaim* claim = FindClaim(order);
  if (claim == nullptr) return {.problem = fmt::format("claim {} is gone", order.name)};
  StringPool& strings = mirror_.live().strings();
  if (claim->fully_bound && claim->volume_name != kEmptyStr) return {.bound = true};
  if (order.volume.empty()) {
    // The provisioner takes the annotation away when it cannot make one there.
    const std::string_view node = strings.Text(claim->selected_node);
    if (node != work.node)
      return {.problem =
                  fmt::format("no volume can be made for claim {} on {}", order.name, work.node)};
    return {};
  }
  const PersistentVolume* volume = FindVolume(order.volume);
  if (volume == nullptr) return {.problem = fmt::format("volume {} is gone", order.volume)};
  if (strings.Text(volume->claim_uid) != order.uid)
    return {.problem = fmt::format("volume {} was given to another claim", order.volume)};
  return {};
}

// What was written is seen through the watch, a little later; until then it is no problem.
void VolumeBinder::Wait(const WorkPtr& work) {
  client_.After(options_.look_every, [this, work] {
    if (mirror_.UidOf(WatchedKind::kPod, work->pod.Key()) != work->pod.uid) return;
    const milliseconds waited(ElapsedNs(work->began, client_.Now()) / 1'000'000);
    std::string open;
    for (const ClaimOrder& order : work->claims) {
      const ClaimState state = StateOf(*work, order);
      if (state.bound) continue;
      if (!state.problem.empty() && waited > kNews) return work->done(state.problem);
      if (open.empty()) open = order.name;
    }
    if (open.empty()) return work->done(std::nullopt);
    if (waited >= work->patience)
      return work->done(fmt::format("claim {} is still not bound after {} s", open,
                                    work->patience.count() / 1000));
    Wait(work);
  });
}

}  // namespace krafla
