#include "kube/status_server.h"

#include <httplib.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <charconv>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kube/api_pages.h"

namespace krafla {

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc{} || last != end) port = -1;
  }
  if (port < 0 || port > 65535)
    return Fail(
        fmt::format("expected an address such as 127.0.0.1:8080 or :8080, got \"{}\"", text));
  std::string host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return ListenAddress{host, port};
}

class StatusServer::Impl {
 public:
  std::unique_ptr<httplib::Server> server;
  std::thread thread;
  int port = 0;
  std::string url;
};

namespace {

// Before clients are asked for it: what is wrong with which file.
std::optional<std::string> ProblemWith(SSL_CTX& context, const TlsFiles& tls) {
  const auto why = [] {
    char text[256] = "";
    ERR_error_string_n(ERR_get_error(), text, sizeof text);
    return std::string(text);
  };
  ERR_clear_error();
  // Nobody is there to be asked for a pass phrase.
  SSL_CTX_set_default_passwd_cb(&context, [](char*, int, int, void*) { return 0; });
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  if (SSL_CTX_use_certificate_chain_file(&context, tls.certificate.c_str()) != 1)
    return fmt::format("--tls-cert-file {}: expected a certificate in PEM: {}", tls.certificate,
                       why());
  if (SSL_CTX_use_PrivateKey_file(&context, tls.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fmt::format(
        "--tls-private-key-file {}: expected the certificate's key in PEM, not encrypted: {}",
        tls.key, why());
  if (tls.client_authority.empty()) return std::nullopt;
  if (SSL_CTX_load_verify_locations(&context, tls.client_authority.c_str(), nullptr) != 1)
    return fmt::format("--ca-cert-file {}: expected certificates in PEM: {}", tls.client_authority,
                       why());
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);  // if there is one
  return std::nullopt;
}

constexpr size_t kMostBytesOfABody = 64 << 10;  // which nobody looks at

void Set(const ApiAnswer& said, httplib::Response& to) {
  to.status = said.status;
  to.set_header("X-Krafla", "api/v1");  // by which a client knows us
  if (said.retry_after_s) to.set_header("Retry-After", std::to_string(*said.retry_after_s));
  for (const auto& [name, value] : said.headers) to.set_header(name, value);
  to.set_content(said.body, said.content_type);
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

ApiRequest RequestOf(const httplib::Request& from, bool tls) {
  ApiRequest request{.method = from.method, .path = from.path, .parameters = {}};
  for (const auto& [name, value] : from.params) request.parameters.emplace(name, value);
  request.authorization = from.get_header_value("Authorization");
  request.accept = from.get_header_value("Accept");
  request.peer = from.remote_addr;
  request.tls = tls;
  request.loopback = IsLoopback(from.remote_addr) && IsLoopback(from.local_addr);
  return request;
}

// None: the caller may read the page.
std::optional<ApiAnswer> Refusal(const StatusPages& pages, const ApiRequest& request) {
  const bool open = pages.plain_metrics && request.path == "/metrics";
  if (!request.tls && !request.loopback && !open)
    return ApiAnswer{.status = 403,
                     .body = "plain HTTP is answered on loopback only; use https:// here\n",
                     .content_type = "text/plain"};
  return pages.authorize ? pages.authorize(request) : std::nullopt;
}

// The lines of ?verbose, and of every answer when a check fails.
void SetHealth(const std::vector<HealthCheck>& checks, const httplib::Request& from,
               httplib::Response& to) {
  std::string lines = "[+]ping ok\n";
  bool healthy = true;
  for (const HealthCheck& check : checks) {
    const std::optional<std::string> problem = check.problem();
    if (problem) healthy = false;
    lines += problem ? fmt::format("[-]{} failed: {}\n", check.name, *problem)
                     : fmt::format("[+]{} ok\n", check.name);
  }
  const std::string page = from.path.substr(1);
  if (!healthy) to.status = 503;
  to.set_content(healthy && !from.has_param("verbose")
                     ? "ok\n"
                     : fmt::format("{}{} check {}\n", lines, page, healthy ? "passed" : "failed"),
                 "text/plain");
}

std::vector<std::string_view> PathsOf(const StatusPages& pages) {
  std::vector<std::string_view> paths;
  if (pages.health) paths.insert(paths.end(), {"/healthz", "/livez", "/readyz"});
  if (pages.metrics) paths.push_back("/metrics");
  if (pages.api)
    for (const std::string_view path : kApiPaths) paths.push_back(path);
  return paths;
}

// What there is, for whoever opens the address in a browser.
void AddIndex(httplib::Server& server, const StatusPages& pages) {
  const std::vector<std::string_view> paths = PathsOf(pages);
  const std::string index = fmt::format("krafla serve; pages:\n{}\n", fmt::join(paths, "\n"));
  server.Get("/", [index](const httplib::Request&, httplib::Response& response) {
    response.set_content(index, "text/plain");
  });
}

// Every page, known or not.
void RefuseToWrite(httplib::Server& server, const StatusPages& pages) {
  const auto refuse = [pages](const httplib::Request& from, httplib::Response& to) {
    if (pages.api && (from.path == "/api" || from.path.starts_with("/api/"))) {
      Set(pages.api({.method = from.method, .path = from.path, .parameters = {}}), to);
    } else {
      to.status = 405;
      to.set_content(from.method + " is not possible: everything here is read-only\n",
                     "text/plain");
    }
    to.set_header("Allow", "GET, HEAD");
  };
  server.set_payload_max_length(kMostBytesOfABody);
  const std::string all = ".*";
  server.Post(all, refuse);
  server.Put(all, refuse);
  server.Patch(all, refuse);
  server.Delete(all, refuse);
  server.Options(all, refuse);
  // The library waits for a body that was not announced, and then says 400.
  server.set_pre_routing_handler([refuse](const httplib::Request& from, httplib::Response& to) {
    const bool reads = from.method == "GET" || from.method == "HEAD";
    const bool has_body =
        from.has_header("Transfer-Encoding") ||
        (from.has_header("Content-Length") && from.get_header_value("Content-Length") != "0");
    if (reads || has_body) return httplib::Server::HandlerResponse::Unhandled;
    refuse(from, to);
    return httplib::Server::HandlerResponse::Handled;
  });
  // Whatever is wrong with the body (too large, say): the method is wrong first, unless the line
  // that names it is no request at all. A page that is not there has no words of its own.
  server.set_error_handler(httplib::Server::HandlerWithResponse(
      [refuse](const httplib::Request& from, httplib::Response& to) {
        const bool reads = from.method == "GET" || from.method == "HEAD";
        if (!reads && !from.version.empty() && to.status != 405) {
          refuse(from, to);
        } else if (reads && to.status == 404 && to.body.empty()) {
          to.set_content("there is no such page; / lists those there are\n", "text/plain");
        } else {
          return httplib::Server::HandlerResponse::Unhandled;
        }
        return httplib::Server::HandlerResponse::Handled;
      }));
}

Result<std::unique_ptr<httplib::Server>> MakeServer(const std::optional<TlsFiles>& tls) {
  if (!tls) return std::make_unique<httplib::Server>();
  std::optional<std::string> problem;
  auto server = std::make_unique<httplib::SSLServer>([&](SSL_CTX& context) {
    problem = ProblemWith(context, *tls);
    return !problem;
  });
  if (problem) return Fail(*problem);
  if (!server->is_valid()) return Fail("the TLS library gives no server");
  return server;
}

}  // namespace

Result<std::unique_ptr<StatusServer>> StatusServer::Start(const ListenAddress& address,
                                                          StatusPages pages,
                                                          const std::optional<TlsFiles>& tls) {
  auto impl = std::make_unique<Impl>();
  Result<std::unique_ptr<httplib::Server>> made = MakeServer(tls);
  if (!made) return Fail(made.error().message);
  impl->server = std::move(*made);
  httplib::Server& server = *impl->server;
  const bool over_tls = tls.has_value();
  // One thread per open connection: probes, a Prometheus, few people.
  server.new_task_queue = [] { return new httplib::ThreadPool(8); };
  server.set_tcp_nodelay(true);
  // Not the library's SO_REUSEPORT: a second process would listen there too, and each answer some.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_keep_alive_timeout(5);
  if (pages.health) {
    for (const char* path : {"/healthz", "/livez", "/readyz"})
      server.Get(path, [pages](const httplib::Request& from, httplib::Response& to) {
        SetHealth(from.path == "/readyz" ? pages.ready_checks : pages.live_checks, from, to);
      });
  }
  if (pages.metrics) {
    server.Get("/metrics", [pages, over_tls](const httplib::Request& from, httplib::Response& to) {
      if (const auto refused = Refusal(pages, RequestOf(from, over_tls))) return Set(*refused, to);
      to.set_content(pages.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    });
  }
  if (pages.api) {
    const auto answer = [pages, over_tls](const httplib::Request& from, httplib::Response& to) {
      const ApiRequest request = RequestOf(from, over_tls);
      const auto refused = Refusal(pages, request);
      Set(refused ? *refused : pages.api(request), to);
    };
    server.Get("/api(/.*)?", answer);  // HEAD too
  }
  AddIndex(server, pages);
  RefuseToWrite(server, pages);
  const std::string host = address.host.empty() ? "0.0.0.0" : address.host;
  bool bound = false;
  if (address.port == 0) {
    impl->port = server.bind_to_any_port(host);
    bound = impl->port > 0;
  } else {
    impl->port = address.port;
    bound = server.bind_to_port(host, address.port);
  }
  if (!bound)
    return Fail(fmt::format("cannot listen on {}:{}: is the address in use, or not ours?", host,
                            address.port));
  impl->url =
      fmt::format("{}://{}:{}", tls ? "https" : "http",
                  host.find(':') != std::string::npos ? "[" + host + "]" : host, impl->port);
  impl->thread = std::thread([raw = impl.get()] { raw->server->listen_after_bind(); });
  return std::unique_ptr<StatusServer>(new StatusServer(std::move(impl)));
}

StatusServer::StatusServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusServer::~StatusServer() {
  // A server that has not begun to listen would not notice.
  while (!impl_->server->is_running()) std::this_thread::yield();
  impl_->server->stop();
  impl_->thread.join();
}

int StatusServer::port() const {
  return impl_->port;
}

const std::string& StatusServer::url() const {
  return impl_->url;
}

}  // namespace krafla
