#include "kube/page_reviews.h"

#include <simdjson.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.h"

namespace krafla {

namespace {

namespace dom = simdjson::dom;

constexpr size_t kMostTokenBytes = 12 << 10;
constexpr std::string_view kScheme = "bearer";

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The status of a review; the parser owns it.
Result<dom::object> StatusOf(dom::parser& parser, const std::string& body, std::string_view kind) {
  dom::element root;
  std::string_view found;
  dom::object status;
  if (parser.parse(body).get(root) || root["kind"].get_string().get(found) || found != kind ||
      root["status"].get_object().get(status))
    return Fail(fmt::format("the answer is not a {} with a status", kind));
  return status;
}

bool IsTrue(const dom::object& object, std::string_view key) {
  bool value = false;
  return !object[key].get_bool().get(value) && value;
}

std::string TextIn(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get_string().get(text) ? std::string() : std::string(text);
}

HttpRequest Post(std::string target, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.content_type = "application/json";
  request.body = std::move(body);
  return request;
}

}  // namespace

std::optional<std::string_view> BearerToken(std::string_view authorization) {
  if (authorization.size() <= kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                  [](char expected, char c) { return expected == Lower(c); }))
    return std::nullopt;
  std::string_view token = authorization.substr(kScheme.size());
  if (token[0] != ' ') return std::nullopt;
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  while (token.ends_with(' ')) token.remove_suffix(1);
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (token.empty() || token.size() > kMostTokenBytes || !printable) return std::nullopt;
  return token;
}

std::string PathForAccess(const std::string& path) {
  return path == "/metrics" ? path : "/krafla" + path;
}

HttpRequest TokenReviewRequest(std::string_view token) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("authentication.k8s.io/v1");
  json.Key("kind").String("TokenReview");
  json.Key("spec").BeginObject().Key("token").String(token).EndObject().EndObject();
  return Post("/apis/authentication.k8s.io/v1/tokenreviews", json.text());
}

HttpRequest AccessReviewRequest(const PageCaller& caller, const std::string& path) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String("authorization.k8s.io/v1");
  json.Key("kind").String("SubjectAccessReview").Key("spec").BeginObject();
  json.Key("user").String(caller.name);
  if (!caller.uid.empty()) json.Key("uid").String(caller.uid);
  if (!caller.groups.empty()) json.Key("groups").Raw(caller.groups);
  if (!caller.extra.empty()) json.Key("extra").Raw(caller.extra);
  json.Key("nonResourceAttributes").BeginObject();
  json.Key("path").String(PathForAccess(path)).Key("verb").String("get").EndObject();
  json.EndObject().EndObject();
  return Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", json.text());
}

Result<std::optional<PageCaller>> ReadTokenReview(const std::string& body) {
  dom::parser parser;
  Result<dom::object> status = StatusOf(parser, body, "TokenReview");
  if (!status) return Fail(status.error().message);
  if (!IsTrue(*status, "authenticated")) return std::nullopt;
  dom::object user;
  PageCaller caller;
  if (!(*status)["user"].get_object().get(user)) {
    caller.name = TextIn(user, "username");
    caller.uid = TextIn(user, "uid");
    dom::array groups;
    if (!user["groups"].get_array().get(groups)) caller.groups = simdjson::minify(groups);
    dom::object extra;
    if (!user["extra"].get_object().get(extra)) caller.extra = simdjson::minify(extra);
  }
  // Without it the SubjectAccessReview would be about the groups alone.
  if (caller.name.empty()) return Fail("the TokenReview names no user");
  return caller;
}

Result<bool> ReadAccessReview(const std::string& body) {
  dom::parser parser;
  Result<dom::object> status = StatusOf(parser, body, "SubjectAccessReview");
  if (!status) return Fail(status.error().message);
  return IsTrue(*status, "allowed") && !IsTrue(*status, "denied");
}

}  // namespace krafla
