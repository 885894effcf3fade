#include "kube/status_server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace krafla {
namespace {

class StatusServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             fmt::format("krafla-status-{}-{}", ::getpid(),
                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Path(const char* name) const { return (folder / name).string(); }
  TlsFiles MakeCertificate() const {
    const std::string command = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=localhost -addext subjectAltName=DNS:localhost -keyout {} -out {} 2>{}",
        Path("key"), Path("cert"), Path("log"));
    EXPECT_EQ(std::system(command.c_str()), 0);
    return {Path("cert"), Path("key"), Path("cert")};
  }
  static StatusPages Pages() {
    return {.health = true,
            .live_checks = {},
            .ready_checks = {},
            .metrics = [] { return std::string("figures 1\n"); },
            .api =
                [](const ApiRequest& request) {
                  const bool reads = request.method == "GET" || request.method == "HEAD";
                  return ApiAnswer{.status = reads ? 200 : 405, .body = "{}\n"};
                }};
  }
  // A request as it is written, and all that comes back. The connection is ours to close.
  static std::string Exchange(int port, const std::string& text) {
    const int to = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(to, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    std::string answer;
    char piece[4096];
    for (ssize_t got = 0; (got = ::recv(to, piece, sizeof piece, 0)) > 0;)
      answer.append(piece, static_cast<size_t>(got));
    ::close(to);
    return answer;
  }

  std::filesystem::path folder;
};

TEST_F(StatusServerTest, AnAddressBelongsToOne) {
  const auto first = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(first);
  const auto second = StatusServer::Start({"127.0.0.1", (*first)->port()}, Pages());
  EXPECT_FALSE(second);
}

TEST_F(StatusServerTest, HealthOverTls) {
  const TlsFiles tls = MakeCertificate();
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages(), tls);
  ASSERT_TRUE(server) << server.error().message;
  httplib::SSLClient client("localhost", (*server)->port());
  client.set_ca_cert_path(tls.certificate);
  const httplib::Result healthy = client.Get("/healthz");
  ASSERT_TRUE(healthy) << httplib::to_string(healthy.error());
  EXPECT_EQ(healthy->body, "ok\n");

  httplib::Client plain("127.0.0.1", (*server)->port());
  const httplib::Result refused = plain.Get("/healthz");
  EXPECT_FALSE(refused && refused->status == 200) << "nobody is told without TLS";
}

TEST_F(StatusServerTest, WhereItIs) {
  const auto plain = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->url(), fmt::format("http://127.0.0.1:{}", (*plain)->port()));
  const auto tls = StatusServer::Start({"", 0}, Pages(), MakeCertificate());
  ASSERT_TRUE(tls);
  EXPECT_EQ((*tls)->url(), fmt::format("https://0.0.0.0:{}", (*tls)->port()));
}

TEST_F(StatusServerTest, NothingCanBeWritten) {
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(server);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    for (const char* path : {"/healthz", "/metrics", "/api/v1/jobs", "/nowhere"})
      for (const char* body : {"\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n{}",
                               "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"}) {
        const std::string answer =
            Exchange((*server)->port(), fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: "
                                                    "close\r\n{}",
                                                    method, path, body));
        const std::string what = fmt::format("{} {} {}: {}", method, path, body, answer);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << what;
        EXPECT_NE(answer.find("\r\nAllow: GET, HEAD\r\n"), std::string::npos) << what;
      }
  // Also on a connection that stays open, as a client without a body leaves it.
  httplib::Client client("127.0.0.1", (*server)->port());
  client.set_keep_alive(true);
  EXPECT_EQ(client.Delete("/api/v1/jobs")->status, 405);
  EXPECT_EQ(client.Post("/api/v1/jobs", "{}", "application/json")->status, 405);
  EXPECT_EQ(client.Get("/api/v1/jobs")->status, 200);
}

TEST_F(StatusServerTest, TheMethodIsWrongBeforeTheBodyIs) {
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(server);
  const std::string large(200'000, 'x');
  httplib::Client client("127.0.0.1", (*server)->port());
  for (const char* path : {"/metrics", "/api/v1/jobs", "/nowhere"}) {
    EXPECT_EQ(client.Post(path, large, "text/plain")->status, 405) << path;
    EXPECT_EQ(client.Put(path, large, "text/plain")->status, 405) << path;
  }
  EXPECT_EQ(client.Get("/api/v1/jobs")->status, 200);
}

TEST_F(StatusServerTest, WhatIsNoRequestHasNoMethodThatCouldBeWrong) {
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(server);
  const std::string answer = Exchange((*server)->port(), "nonsense\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_EQ(answer.find("read-only"), std::string::npos) << answer;
}

TEST_F(StatusServerTest, TheRootListsThePages) {
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(server);
  httplib::Client client("127.0.0.1", (*server)->port());
  const httplib::Result index = client.Get("/");
  ASSERT_TRUE(index);
  EXPECT_EQ(index->status, 200);
  for (const char* page : {"/healthz\n", "/readyz\n", "/metrics\n", "/api/v1/explain\n"})
    EXPECT_NE(index->body.find(page), std::string::npos) << index->body;
  const httplib::Result nowhere = client.Get("/nowhere");
  EXPECT_EQ(nowhere->status, 404);
  EXPECT_EQ(nowhere->body, "there is no such page; / lists those there are\n");
  StatusPages health = Pages();
  health.metrics = nullptr;
  health.api = nullptr;
  const auto other = StatusServer::Start({"127.0.0.1", 0}, health);
  ASSERT_TRUE(other);
  EXPECT_EQ(httplib::Client("127.0.0.1", (*other)->port()).Get("/")->body,
            "krafla serve; pages:\n/healthz\n/livez\n/readyz\n");
}

TEST_F(StatusServerTest, HeadIsGetWithoutABody) {
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages());
  ASSERT_TRUE(server);
  for (const char* path : {"/healthz", "/metrics", "/api/v1/jobs"}) {
    httplib::Client client("127.0.0.1", (*server)->port());
    const httplib::Result got = client.Get(path);
    const std::string head =
        Exchange((*server)->port(),
                 fmt::format("HEAD {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path));
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
    EXPECT_NE(head.find(fmt::format("\r\nContent-Length: {}\r\n", got->body.size())),
              std::string::npos)
        << head;
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  }
}

TEST_F(StatusServerTest, WhatIsWrongWithWhichFile) {
  const TlsFiles good = MakeCertificate();
  std::ofstream(Path("text")) << "no certificate\n";
  const auto message = [&](TlsFiles tls) {
    const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages(), tls);
    return server ? std::string("started") : server.error().message;
  };
  EXPECT_TRUE(message({Path("text"), good.key, good.client_authority})
                  .starts_with(fmt::format("--tls-cert-file {}: expected a certificate in PEM: ",
                                           Path("text"))));
  EXPECT_TRUE(message({good.certificate, Path("missing"), good.client_authority})
                  .starts_with(fmt::format("--tls-private-key-file {}: expected the certificate's "
                                           "key in PEM, not encrypted: ",
                                           Path("missing"))));
  EXPECT_TRUE(message({good.certificate, good.key, Path("text")})
                  .starts_with(fmt::format("--ca-cert-file {}: expected certificates in PEM: ",
                                           Path("text"))));
}

}  // namespace
}  // namespace krafla
