#include "kube/status_server.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kube/api_pages.h"

namespace krafla {

namespace {

constexpr size_t kMetricsLane = 0;
constexpr size_t kApiLane = 1;
constexpr size_t kExplainLane = 2;
constexpr size_t kExplanationsAtOnce = 2;
constexpr std::string_view kHealthPaths[] = {"/healthz", "/livez", "/readyz"};

constexpr int kRetryAfterSlowPage = 10;  // seconds

ApiAnswer Text(int status, std::string body) {
  return {.status = status, .body = std::move(body), .content_type = "text/plain; charset=utf-8"};
}

// By which krafla explain knows us. Health pages have it too; nothing depends on that.
ApiAnswer Marked(ApiAnswer answer) {
  answer.headers.emplace_back("X-Krafla", "api/v1");
  return answer;
}

std::string IndexOf(const StatusPages& pages) {
  std::vector<std::string_view> paths;
  if (pages.health) paths.insert(paths.end(), std::begin(kHealthPaths), std::end(kHealthPaths));
  if (pages.metrics) paths.push_back("/metrics");
  if (pages.api) paths.insert(paths.end(), std::begin(kApiPaths), std::end(kApiPaths));
  return fmt::format("krafla serve; pages:\n{}\n", fmt::join(paths, "\n"));
}

// The lines of ?verbose, and of every answer when a check fails.
ApiAnswer Health(const StatusPages& pages, const ApiRequest& request) {
  const bool ready = request.path == "/readyz";
  std::string lines = "[+]ping ok\n";
  bool healthy = true;
  for (const HealthCheck& check : ready ? pages.ready_checks : pages.live_checks) {
    const std::optional<std::string> problem = check.problem();
    if (problem) healthy = false;
    const std::string note = !problem && check.note ? check.note() : std::string();
    lines += problem ? fmt::format("[-]{} failed: {}\n", check.name, *problem)
                     : fmt::format("[+]{} ok{}{}\n", check.name, note.empty() ? "" : ": ", note);
  }
  if (healthy && !request.parameters.contains("verbose")) return Text(200, "ok\n");
  return Text(healthy ? 200 : 503, fmt::format("{}{} check {}\n", lines, request.path.substr(1),
                                               healthy ? "passed" : "failed"));
}

// None: the transport is good enough for the page.
std::optional<ApiAnswer> RefusePlain(const StatusPages& pages, const ApiRequest& request) {
  if (request.tls || request.loopback) return std::nullopt;
  if (pages.plain_metrics && request.path == "/metrics") return std::nullopt;
  return ProblemAnswer(request, 403,
                       "plain HTTP is answered on loopback only; use https:// here (for /metrics, "
                       "--allow-anonymous-metrics allows plain HTTP)");
}

HttpServerOptions::Route RouteOf(const StatusPages& pages, const std::string& index,
                                 const ApiRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    ApiAnswer refused = ProblemAnswer(
        request, 405,
        fmt::format("{} is not possible: everything here is read-only", request.method));
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return {Marked(std::move(refused)), 0};
  }
  const std::string& path = request.path;
  if (pages.health && (path == "/livez" || path == "/healthz" || path == "/readyz"))
    return {Health(pages, request), 0};
  if (path == "/") return {Text(200, index), 0};
  const bool metrics = pages.metrics && path == "/metrics";
  const bool api = pages.api && IsApiPath(path);
  if (!metrics && !api) return {Text(404, "there is no such page; / lists those there are\n"), 0};
  if (auto refused = RefusePlain(pages, request)) return {Marked(std::move(*refused)), 0};
  if (metrics) return {std::nullopt, kMetricsLane};
  return {std::nullopt, path == kExplainPath ? kExplainLane : kApiLane};
}

// On a worker.
ApiAnswer PageOf(const StatusPages& pages, const ApiRequest& request) {
  if (!IsApiPath(request.path))
    return Marked({.status = 200,
                   .body = pages.metrics(),
                   .content_type = "text/plain; version=0.0.4; charset=utf-8"});
  return Marked(pages.api(request));
}

AccessVerdict Marked(AccessVerdict verdict) {
  if (verdict.refusal) verdict.refusal = Marked(std::move(*verdict.refusal));
  return verdict;
}

}  // namespace

Result<std::unique_ptr<StatusServer>> StatusServer::Start(StatusServerOptions options) {
  std::unique_ptr<StatusServer> server(new StatusServer());
  HttpServerOptions http{.name = options.pages.api ? "http-pages" : "http-health",
                         .address = options.address,
                         .transport = options.transport,
                         .identity = {},
                         .limits = options.limits,
                         .route = {},
                         .authorize = {},
                         .was_allowed = options.pages.was_allowed,
                         .lanes = {},
                         .busy = {},
                         .too_late = {},
                         .log = options.log ? options.log : [](const std::string&) {}};
  if (options.transport != Transport::kPlain) {
    auto identity = options.tls ? TlsIdentity::FromFiles(*options.tls) : TlsIdentity::SelfSigned();
    if (!identity) return Fail(identity.error().message);
    http.identity = std::move(*identity);
    server->fingerprint_ = http.identity->Fingerprint();
  }
  const auto pages = std::make_shared<const StatusPages>(std::move(options.pages));
  const std::string index = IndexOf(*pages);
  http.route = [pages, index](const ApiRequest& request) {
    return RouteOf(*pages, index, request);
  };
  if (pages->authorize)
    http.authorize = [pages](const ApiRequest& request, AccessVerdictCallback later) {
      AccessVerdictCallback marked;
      if (later)
        marked = [later = std::move(later)](AccessVerdict late) { later(Marked(std::move(late))); };
      std::optional<AccessVerdict> verdict = pages->authorize(request, std::move(marked));
      if (verdict) verdict = Marked(std::move(*verdict));
      return verdict;
    };
  http.busy = [](const ApiRequest& request) {
    ApiAnswer answer = ProblemAnswer(request, 503, "too many requests wait already");
    answer.retry_after_s = 1;
    return Marked(std::move(answer));
  };
  http.too_late = [](const ApiRequest& request) {
    ApiAnswer answer = ProblemAnswer(request, 503, "the page could not be made in time");
    answer.retry_after_s = kRetryAfterSlowPage;
    return Marked(std::move(answer));
  };
  const auto answer = [pages](const ApiRequest& request) { return PageOf(*pages, request); };
  // Figures are not held up by the API, nor its other pages by explanations. An explanation takes a
  // process of its own for up to a minute: one caller has at most one at a time, so that there is
  // always a worker for another caller.
  if (pages->metrics || pages->api)
    http.lanes = {{.workers = 2, .most_waiting = 16, .most_of_a_caller = 4, .answer = answer},
                  {.workers = 4, .most_waiting = 32, .most_of_a_caller = 8, .answer = answer},
                  {.workers = kExplanationsAtOnce,
                   .most_waiting = 32,
                   .most_of_a_caller = 8,
                   .most_worked_on_of_a_caller = 1,
                   .low_priority = true,
                   .answer = answer}};
  auto started = HttpServer::Start(std::move(http));
  if (!started) return Fail(started.error().message);
  server->server_ = std::move(*started);
  server->url_ = fmt::format("{}://{}", options.transport == Transport::kTls ? "https" : "http",
                             server->server_->at());
  return server;
}

Result<std::unique_ptr<StatusServer>> StatusServer::Start(const ListenAddress& address,
                                                          StatusPages pages,
                                                          const std::optional<TlsFiles>& tls) {
  return Start({.address = address,
                .pages = std::move(pages),
                .transport = tls ? Transport::kTls : Transport::kPlain,
                .tls = tls});
}

StatusServer::~StatusServer() = default;

int StatusServer::port() const {
  return server_->port();
}

}  // namespace krafla
