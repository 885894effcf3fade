#include "kube/update_fallback.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "kube/api_objects.h"
#include "kube/json_merge.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 5;

// An answer of our own, in the server's form.
HttpResponse AnswerOf(int status, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Key("kind").String("Status").Key("message").String(message);
  json.Key("code").Integer(status).EndObject();
  return {.status = status, .body = json.text()};
}

}  // namespace

ApiTarget ParseApiTarget(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string_view> words;
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    words.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  ApiTarget parsed{.object = std::string(path)};
  // "api/v1" or "apis/group/version", then perhaps "namespaces/name".
  size_t at = words.empty() ? 0 : words[0] == "api" ? 2 : words[0] == "apis" ? 3 : words.size();
  if (at + 2 < words.size() && words[at] == "namespaces") at += 2;
  if (words.empty() || at >= words.size()) return parsed;
  parsed.resource = words[at];
  if (at + 1 < words.size()) parsed.name = words[at + 1];
  if (at + 2 < words.size()) parsed.resource += fmt::format("/{}", words[at + 2]);
  const char* end = words[at].data() + words[at].size();
  parsed.collection = std::string(path.substr(0, static_cast<size_t>(end - path.data())));
  return parsed;
}

std::string UpdateFallback::WithManager(std::string target) const {
  target += fmt::format("{}fieldManager={}", target.find('?') == std::string::npos ? '?' : '&',
                        options_.field_manager);
  return target;
}

void UpdateFallback::Send(HttpRequest request, Done done) {
  ApiTarget target = ParseApiTarget(request.target);
  const bool patch = request.method == "PATCH";
  if (patch && !target.name.empty() && ways_.contains(target.resource) &&
      ways_.at(target.resource) == Way::kUpdate)
    return Read({std::move(request), std::move(target), std::move(done), {}});
  HttpRequest sent = request;
  if (patch || request.method == "PUT") sent.target = WithManager(std::move(sent.target));
  next_.Send(std::move(sent), [this, request = std::move(request), target = std::move(target),
                               done = std::move(done), patch](const HttpResponse& response) {
    const auto way = ways_.find(target.resource);
    if (patch && !target.name.empty() && LacksPermission(response) &&
        (way == ways_.end() || way->second != Way::kNeither))
      return Read({request, target, done, response});
    if (patch && response.ok() && logged_.erase(target.resource) != 0)
      Log(fmt::format("API server allows patch again resource={}", target.resource));
    done(response);
  });
}

void UpdateFallback::Read(Replacement replacement) {
  HttpRequest read{.target = fmt::format("{}?fieldSelector=metadata.name%3D{}",
                                         replacement.target.collection, replacement.target.name),
                   .urgency = replacement.patch.urgency};
  next_.Send(std::move(read), [this, replacement = std::move(replacement)](
                                  const HttpResponse& list) { Replace(replacement, list); });
}

void UpdateFallback::Replace(Replacement replacement, const HttpResponse& list) {
  if (!list.ok()) return replacement.done(list);
  std::optional<std::string> object;
  const auto page = parser_.ParseList(list.body, [&](std::string text, const ObjectHead& head) {
    if (head.name == replacement.target.name) object = std::move(text);
  });
  if (!page)
    return replacement.done({.error = "the object cannot be read: " + page.error().message});
  const std::string title =
      fmt::format("{} \"{}\"", replacement.target.resource, replacement.target.name);
  if (!object) return replacement.done(AnswerOf(404, title + " not found"));
  // The UID that a patch names is a precondition.
  const std::string uid = MetadataText(replacement.patch.body, "uid");
  if (!uid.empty() && uid != MetadataText(*object, "uid"))
    return replacement.done(AnswerOf(409, fmt::format("{}: {}", title, kOtherObject)));
  Result<std::string> changed =
      ApplyPatch(*object, replacement.patch.body,
                 replacement.patch.content_type == kStrategicPatch ? PatchType::kStrategic
                                                                   : PatchType::kMerge);
  if (!changed)
    return replacement.done({.error = "the object cannot be changed: " + changed.error().message});
  HttpRequest write{.method = "PUT",
                    .target = WithManager(replacement.target.object),
                    .content_type = std::string(kJsonType),
                    .body = *std::move(changed),
                    .urgency = replacement.patch.urgency,
                    .timeout = replacement.patch.timeout};
  next_.Send(std::move(write),
             [this, replacement = std::move(replacement)](const HttpResponse& response) {
               Replaced(replacement, response);
             });
}

void UpdateFallback::Replaced(Replacement replacement, const HttpResponse& response) {
  const std::string& resource = replacement.target.resource;
  // A version that the patch itself names is the caller's condition: it is not repeated here.
  if (response.status == 409 && replacement.attempt + 1 < kAttempts &&
      MetadataText(replacement.patch.body, "resourceVersion").empty()) {
    ++replacement.attempt;
    return Read(std::move(replacement));
  }
  if (LacksPermission(response)) {
    SetWay(resource, Way::kNeither);
    // The patch is what deploy/rbac.yaml allows: its refusal says more.
    return replacement.done(replacement.refusal.status != 0 ? replacement.refusal : response);
  }
  if (response.ok()) {
    if (replacement.refusal.status != 0) SetWay(resource, Way::kUpdate);
    if (logged_.insert(resource).second)
      Log(
          fmt::format("API server forbids patch and allows update; objects are replaced as a whole "
                      "resource={} hint=\"deploy/rbac.yaml has the role with patch\"",
                      resource));
  }
  replacement.done(response);
}

void UpdateFallback::SetWay(const std::string& resource, Way way) {
  const auto known = ways_.find(resource);
  if (known != ways_.end() && known->second == way) return;
  ways_[resource] = way;
  next_.After(way == Way::kUpdate ? options_.patch_again : options_.update_again,
              [this, resource, way] {
                const auto it = ways_.find(resource);
                if (it != ways_.end() && it->second == way) ways_.erase(it);
              });
}

}  // namespace krafla
