#include "kube/status_server.h"

#include <httplib.h>

#include <charconv>
#include <thread>

#include <fmt/format.h>

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
  httplib::Server server;
  std::thread thread;
  int port = 0;
};

Result<std::unique_ptr<StatusServer>> StatusServer::Start(const ListenAddress& address,
                                                          StatusPages pages) {
  auto impl = std::make_unique<Impl>();
  httplib::Server& server = impl->server;
  // One thread per open connection: probes, a Prometheus, few people.
  server.new_task_queue = [] { return new httplib::ThreadPool(8); };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_timeout(5);
  if (pages.health) {
    const auto alive = [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    };
    server.Get("/healthz", alive);
    server.Get("/livez", alive);
    server.Get("/readyz", [pages](const httplib::Request&, httplib::Response& response) {
      if (pages.ready()) {
        response.set_content("ok\n", "text/plain");
      } else {
        response.status = 503;
        response.set_content(pages.not_ready_because() + "\n", "text/plain");
      }
    });
  }
  if (pages.metrics) {
    server.Get("/metrics", [pages](const httplib::Request&, httplib::Response& response) {
      response.set_content(pages.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    });
  }
  if (pages.api) {
    const auto answer = [pages](const httplib::Request& from, httplib::Response& to) {
      ApiRequest request{.method = from.method, .path = from.path, .parameters = {}};
      for (const auto& [name, value] : from.params) request.parameters.emplace(name, value);
      const ApiAnswer said = pages.api(request);
      to.status = said.status;
      to.set_header("X-Krafla", "api/v1");  // by which a client knows us
      if (said.retry_after_s) to.set_header("Retry-After", std::to_string(*said.retry_after_s));
      if (said.status == 405) to.set_header("Allow", "GET, HEAD");
      to.set_content(said.body, said.content_type);
    };
    const std::string all = "/api(/.*)?";
    server.Get(all, answer);  // HEAD too
    server.Post(all, answer);
    server.Put(all, answer);
    server.Patch(all, answer);
    server.Delete(all, answer);
  }
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
  impl->thread = std::thread([raw = impl.get()] { raw->server.listen_after_bind(); });
  return std::unique_ptr<StatusServer>(new StatusServer(std::move(impl)));
}

StatusServer::StatusServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusServer::~StatusServer() {
  // A server that has not begun to listen would not notice.
  while (!impl_->server.is_running()) std::this_thread::yield();
  impl_->server.stop();
  impl_->thread.join();
}

int StatusServer::port() const {
  return impl_->port;
}

}  // namespace krafla
