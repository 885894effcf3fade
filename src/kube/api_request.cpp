#include "kube/api_request.h"

#include "base/json_writer.h"

namespace krafla {

bool IsApiPath(const std::string& path) {
  return path == "/api" || path.starts_with("/api/");
}

ApiAnswer ProblemAnswer(const ApiRequest& request, int status, const std::string& message) {
  if (!IsApiPath(request.path))
    return {.status = status,
            .body = message + "\n",
            .content_type = "text/plain; charset=utf-8",
            .retry_after_s = std::nullopt};
  JsonWriter json;
  json.BeginObject().Key("error").String(message).EndObject();
  return {.status = status, .body = json.text() + "\n", .retry_after_s = std::nullopt};
}

}  // namespace krafla
