#include "kube/status_server.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/raw_client.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using testing::Exchange;
using testing::Fetch;
using testing::Fetched;
using testing::RawClient;

class StatusServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             fmt::format("krafla-status-{}-{}", ::getpid(),
                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Path(const std::string& name) const { return (folder / name).string(); }
  TlsFiles MakeCertificate(const std::string& name = "server") const {
    const std::string command = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout {} -out {} 2>{}",
        Path(name + ".key"), Path(name + ".crt"), Path("log"));
    EXPECT_EQ(std::system(command.c_str()), 0);
    return {Path(name + ".crt"), Path(name + ".key"), Path(name + ".crt")};
  }
  static StatusPages Pages() {
    return {.health = true,
            .live_checks = {},
            .ready_checks = {},
            .metrics = [] { return std::string("figures 1\n"); },
            .api =
                [](const ApiRequest& request) {
                  return ApiAnswer{
                      .body = fmt::format("{} {} tls={} loopback={} authorization={} accept={}\n",
                                          request.path, request.peer, request.tls, request.loopback,
                                          request.authorization, request.accept)};
                },
            .authorize = {}};
  }
  static std::unique_ptr<StatusServer> Serve(StatusPages pages = Pages()) {
    auto server = StatusServer::Start({"127.0.0.1", 0}, std::move(pages));
    EXPECT_TRUE(server);
    return std::move(*server);
  }
  static std::string Get(const std::string& path) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
  }

  std::filesystem::path folder;
};

TEST_F(StatusServerTest, AnAddressBelongsToOneServer) {
  const auto first = Serve();
  const auto second = StatusServer::Start({"127.0.0.1", first->port()}, Pages());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            fmt::format("cannot listen on 127.0.0.1:{}: Address already in use", first->port()));
}

TEST_F(StatusServerTest, WithoutAHostItListensOnBothFamilies) {
  const auto server = StatusServer::Start({"", 0}, Pages());
  ASSERT_TRUE(server);
  const int port = (*server)->port();
  EXPECT_TRUE(Exchange(port, Get("/livez"), "127.0.0.1").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ((*server)->url(), fmt::format("http://[::]:{}", port));
  EXPECT_TRUE(Exchange(port, Get("/livez"), "::1").starts_with("HTTP/1.1 200 "));
  EXPECT_NE(Exchange(port, Get("/api/v1/jobs"), "127.0.0.1").find("127.0.0.1 tls=false loopback=t"),
            std::string::npos)
      << "a client over IPv4 has its IPv4 address";
  EXPECT_NE(Exchange(port, Get("/api/v1/jobs"), "::1").find(" ::1 tls=false loopback=true"),
            std::string::npos);
}

TEST_F(StatusServerTest, OneAddressOfIPv6) {
  const auto server = StatusServer::Start({"::1", 0}, Pages());
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->url(), fmt::format("http://[::1]:{}", (*server)->port()));
  EXPECT_EQ(Fetch((*server)->url() + "/livez").body, "ok\n");
  EXPECT_FALSE(RawClient((*server)->port(), "127.0.0.1").connected());
}

TEST_F(StatusServerTest, AddressesOfFlags) {
  const auto read = [](const std::string& text) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    return address ? fmt::format("{} {}", address->host, address->port) : address.error().message;
  };
  EXPECT_EQ(read(":8080"), " 8080");
  EXPECT_EQ(read("[::1]:8080"), "::1 8080");
  EXPECT_EQ(read("0.0.0.0:1"), "0.0.0.0 1");
  EXPECT_EQ(read("localhost:0"), "localhost 0");
  for (const std::string wrong : {"", "8080", "x:", "x:80y", ":65536", ":-1", "::1", "::1:80"})
    EXPECT_EQ(
        read(wrong),
        fmt::format("expected an address such as 127.0.0.1:8080, [::1]:8080 or :8080, got \"{}\"",
                    wrong));
}

TEST_F(StatusServerTest, HealthOverTls) {
  const TlsFiles tls = MakeCertificate();
  const auto server = StatusServer::Start({"127.0.0.1", 0}, Pages(), tls);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ((*server)->url(), fmt::format("https://127.0.0.1:{}", (*server)->port()));
  const Fetched healthy = Fetch((*server)->url() + "/healthz", tls.certificate);
  EXPECT_EQ(healthy.body, "ok\n") << healthy.error;
  EXPECT_EQ(Exchange((*server)->port(), Get("/healthz")), "") << "plain HTTP gets no answer";
}

TEST_F(StatusServerTest, OnePortTakesPlainHttpAndTls) {
  const TlsFiles tls = MakeCertificate();
  auto server = StatusServer::Start(
      {.address = {"127.0.0.1", 0}, .pages = Pages(), .transport = Transport::kBoth, .tls = tls});
  ASSERT_TRUE(server) << server.error().message;
  const int port = (*server)->port();
  EXPECT_NE(Exchange(port, Get("/api/v1/jobs")).find("tls=false"), std::string::npos);
  const Fetched over_tls = Fetch(fmt::format("https://127.0.0.1:{}/api/v1/jobs", port),
                                 tls.certificate, "Authorization: Bearer abc");
  EXPECT_EQ(over_tls.body,
            "/api/v1/jobs 127.0.0.1 tls=true loopback=true authorization=Bearer abc accept=*/*\n")
      << over_tls.error;
}

TEST_F(StatusServerTest, WithoutFilesTheCertificateIsMadeAtTheStart) {
  const auto server = StatusServer::Start(
      {.address = {"127.0.0.1", 0}, .pages = Pages(), .transport = Transport::kBoth});
  ASSERT_TRUE(server) << server.error().message;
  const std::string url = fmt::format("https://localhost:{}/livez", (*server)->port());
  EXPECT_EQ(Fetch(url).body, "ok\n");
  EXPECT_EQ((*server)->fingerprint().size(), 95u) << (*server)->fingerprint();
  const std::string seen = Path("seen.crt");
  const std::string command = fmt::format(
      "openssl s_client -connect 127.0.0.1:{} </dev/null 2>/dev/null | openssl x509 >{} && openssl "
      "x509 -in {} -noout -fingerprint -sha256 | grep -qi {}",
      (*server)->port(), seen, seen, (*server)->fingerprint());
  EXPECT_EQ(std::system(command.c_str()), 0) << "it is the one whose fingerprint is told";
  EXPECT_EQ(Fetch(url, seen).body, "ok\n") << "who has it can verify it, for localhost";
}

TEST_F(StatusServerTest, CertificatesAreReadAgainWhenTheyChange) {
  const TlsFiles first = MakeCertificate("first");
  const TlsFiles second = MakeCertificate("second");
  std::filesystem::copy_file(first.certificate, Path("tls.crt"));
  std::filesystem::copy_file(first.key, Path("tls.key"));
  std::mutex mutex;
  std::vector<std::string> log;
  const auto server = StatusServer::Start({.address = {"127.0.0.1", 0},
                                           .pages = Pages(),
                                           .transport = Transport::kBoth,
                                           .tls = TlsFiles{Path("tls.crt"), Path("tls.key"), ""},
                                           .limits = {},
                                           .log = [&](const std::string& line) {
                                             const std::scoped_lock lock(mutex);
                                             log.push_back(line);
                                           }});
  ASSERT_TRUE(server) << server.error().message;
  const std::string url = fmt::format("https://localhost:{}/livez", (*server)->port());
  const auto lines = [&](size_t count) {
    for (int i = 0; i < 500; ++i) {
      {
        const std::scoped_lock lock(mutex);
        if (log.size() >= count) return log;
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
    return std::vector<std::string>{"too few lines"};
  };
  EXPECT_EQ(Fetch(url, first.certificate).body, "ok\n");
  std::ofstream(Path("tls.crt")) << "no certificate\n";
  EXPECT_TRUE(lines(1)[0].starts_with("certificate refused; the one read before stays error=\"--"))
      << lines(1)[0];
  EXPECT_EQ(Fetch(url, first.certificate).body, "ok\n") << "the old one stays";
  // As a mounted Secret changes: both at once, behind a link.
  std::filesystem::copy_file(second.key, Path("new.key"));
  std::filesystem::copy_file(second.certificate, Path("new.crt"));
  std::filesystem::rename(Path("new.key"), Path("tls.key"));
  std::filesystem::rename(Path("new.crt"), Path("tls.crt"));
  for (int i = 0; i < 250 && Fetch(url, second.certificate).body != "ok\n"; ++i)
    std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(Fetch(url, second.certificate).body, "ok\n");
  EXPECT_EQ(Fetch(url, first.certificate).status, 0);
  EXPECT_TRUE(lines(2).back().starts_with("certificate read again file=")) << lines(2).back();
}

TEST_F(StatusServerTest, NothingCanBeWritten) {
  const auto server = Serve();
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    for (const char* path : {"/healthz", "/metrics", "/api/v1/jobs", "/nowhere"})
      for (const char* body : {"\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n{}",
                               "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"}) {
        const std::string answer = Exchange(
            server->port(), fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}",
                                        method, path, body));
        const std::string what = fmt::format("{} {} {}: {}", method, path, body, answer);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << what;
        EXPECT_NE(answer.find("\r\nAllow: GET, HEAD\r\n"), std::string::npos) << what;
      }
}

TEST_F(StatusServerTest, ABodyIsRefusedUnreadAndTheConnectionEnds) {
  const auto server = Serve();
  const std::string large(200'000, 'x');
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n30d40\r\n" + large;
  for (const char* path : {"/metrics", "/api/v1/jobs", "/nowhere", "/livez"}) {
    const std::string post = Exchange(
        server->port(),
        fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", path, large.size(), large));
    EXPECT_TRUE(post.starts_with("HTTP/1.1 405 ")) << post;
    EXPECT_NE(post.find("\r\nConnection: close\r\n"), std::string::npos) << post;
    const std::string get =
        Exchange(server->port(), fmt::format("GET {} HTTP/1.1\r\n{}", path, chunked));
    EXPECT_TRUE(get.starts_with("HTTP/1.1 413 ")) << get;
    EXPECT_NE(get.find("\r\nConnection: close\r\n"), std::string::npos) << get;
  }
  const std::string smuggled =
      Exchange(server->port(),
               "GET /livez HTTP/1.1\r\nContent-Length: 26\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(smuggled.starts_with("HTTP/1.1 413 ")) << smuggled;
  EXPECT_EQ(smuggled.find("figures"), std::string::npos) << "a body is no request";
}

TEST_F(StatusServerTest, BytesThatAreNoRequest) {
  const auto server = Serve();
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("\x16\x03\x01\x02"), std::string("\r\n\r\n"),
        std::string("GET /livez\r\n\r\n"), std::string("GET /livez HTTP/1.1\n\n"),
        std::string("GET /livez HTTP/2.0\r\n\r\n"), std::string("GET livez HTTP/1.1\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nA\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nA: b\r\n c\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nA: b\x01\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nA: b\0c\r\n\r\n", 31),
        std::string("GET /%zz HTTP/1.1\r\n\r\n"), std::string("GET /x?a=%1 HTTP/1.1\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")}) {
    const std::string answer = Exchange(server->port(), bytes);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << bytes << answer;
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << bytes << answer;
    EXPECT_EQ(answer.find("read-only"), std::string::npos) << answer;
  }
  EXPECT_EQ(Fetch(server->url() + "/livez").body, "ok\n");
}

TEST_F(StatusServerTest, HeadsThatAreTooLarge) {
  const auto server = Serve();
  const auto first_line = [&](const std::string& request) {
    const std::string answer = Exchange(server->port(), request);
    return answer.substr(0, answer.find('\r'));
  };
  EXPECT_EQ(first_line("GET /" + std::string(1 << 20, 'x')), "HTTP/1.1 414 URI Too Long");
  EXPECT_EQ(first_line("GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\n\r\n"),
            "HTTP/1.1 414 URI Too Long");
  const std::string large = "HTTP/1.1 431 Request Header Fields Too Large";
  EXPECT_EQ(first_line("GET /livez HTTP/1.1\r\nA: " + std::string(1 << 20, 'x')), large);
  std::string many = "GET /livez HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many += fmt::format("H{}: x\r\n", i);
  EXPECT_EQ(first_line(many + "\r\n"), large);
  std::string total = "GET /livez HTTP/1.1\r\n";
  for (int i = 0; i < 3; ++i) total += fmt::format("H{}: {}\r\n", i, std::string(6'000, 'x'));
  EXPECT_EQ(first_line(total + "\r\n"), large);
  EXPECT_EQ(first_line("GET /livez HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer " +
                       std::string(10'000, 'x') + "\r\n\r\n"),
            "HTTP/1.1 200 OK")
      << "tokens are long";
  std::string parameters = "GET /api/v1/jobs?";
  for (int i = 0; i < 40; ++i) parameters += fmt::format("p{}=1&", i);
  EXPECT_EQ(first_line(parameters + " HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request");
}

TEST_F(StatusServerTest, AddressesAreDecoded) {
  StatusPages pages = Pages();
  pages.api = [](const ApiRequest& request) {
    std::string body = request.path;
    for (const auto& [name, value] : request.parameters) body += fmt::format(" {}={}", name, value);
    return ApiAnswer{.body = body};
  };
  const auto server = Serve(std::move(pages));
  const auto body = [&](const std::string& target) {
    const std::string answer = Exchange(server->port(), Get(target));
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(body("/api/v1/%6Aobs"), "/api/v1/jobs");
  EXPECT_EQ(body("/api/x?name=a%2Fb&kind=job+x&empty=&bare&name=second&&"),
            "/api/x bare= empty= kind=job x name=a/b");
  EXPECT_EQ(body("http://krafla:8080/api/y?a=b"), "/api/y a=b");
}

TEST_F(StatusServerTest, TheRootListsThePages) {
  const auto server = Serve();
  const Fetched index = Fetch(server->url() + "/");
  EXPECT_EQ(index.status, 200);
  for (const char* page : {"/healthz\n", "/readyz\n", "/metrics\n", "/api/v1/explain\n"})
    EXPECT_NE(index.body.find(page), std::string::npos) << index.body;
  const Fetched nowhere = Fetch(server->url() + "/nowhere");
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(nowhere.body, "there is no such page; / lists those there are\n");
  StatusPages health = Pages();
  health.metrics = nullptr;
  health.api = nullptr;
  const auto other = Serve(std::move(health));
  EXPECT_EQ(Fetch(other->url()).body, "krafla serve; pages:\n/healthz\n/livez\n/readyz\n");
  EXPECT_EQ(Fetch(other->url() + "/metrics").status, 404);
}

TEST_F(StatusServerTest, HeadIsGetWithoutABody) {
  const auto server = Serve();
  for (const char* path : {"/healthz", "/metrics", "/api/v1/jobs"}) {
    const std::string got = Exchange(server->port(), Get(path));
    const std::string head =
        Exchange(server->port(),
                 fmt::format("HEAD {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path));
    EXPECT_EQ(head, got.substr(0, got.find("\r\n\r\n") + 4));
  }
}

TEST_F(StatusServerTest, RequestsOnOneConnectionAreAnsweredInTheirOrder) {
  const auto server = Serve();
  RawClient client(server->port());
  client.Send(
      "GET /livez HTTP/1.1\r\n\r\nGET /metrics HTTP/1.1\r\n\r\nHEAD /livez HTTP/1.1\r\n\r\n"
      "GET /api/v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\nGET /livez HTTP/1.1\r\n\r\n");
  const std::string all = client.ReceiveAll();
  const size_t ok = all.find("\r\n\r\nok\n");
  const size_t figures = all.find("figures 1\n");
  const size_t jobs = all.find("/api/v1/jobs 127.0.0.1");
  EXPECT_LT(ok, figures) << all;
  EXPECT_LT(figures, jobs) << all;
  EXPECT_LT(jobs, all.size()) << all;
  EXPECT_EQ(all.find("HTTP/1.1", jobs), std::string::npos) << "nothing comes after close";
}

// The kernel takes about half of such a page at once; the rest keeps all of it in memory.
TEST_F(StatusServerTest, PagesThatAreNotReadAreBoundedByWhatTheyOccupy) {
  constexpr size_t kPage = 8 << 20;  // much more than the kernel takes for a client that waits
  StatusPages pages = Pages();
  pages.metrics = [] { return std::string(kPage, 'x'); };
  HttpServerLimits limits;
  limits.bytes_held = 3 * kPage + (1 << 20);
  limits.answer_time = limits.progress_time = milliseconds(120'000);
  auto server = StatusServer::Start(
      {.address = {"127.0.0.1", 0}, .pages = std::move(pages), .limits = limits});
  ASSERT_TRUE(server) << server.error().message;
  std::vector<RawClient> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back((*server)->port());
    ASSERT_TRUE(clients.back().Send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_TRUE(clients.back().Waits());
  }
  // Only when the next page is done is the one before it among those that count.
  EXPECT_EQ(Fetch((*server)->url() + "/metrics").body.size(), kPage);
  size_t whole = 0;
  for (RawClient& client : clients) whole += client.ReceiveAnswer().empty() ? 0 : 1;
  EXPECT_GE(whole, 3u);
  EXPECT_LE(whole, 4u) << "three of these pages fit, and the largest";
}

TEST_F(StatusServerTest, OneAnswerMayBeLargerThanTheBoundOfAll) {
  constexpr size_t kPage = 24 << 20;
  StatusPages pages = Pages();
  pages.api = [](const ApiRequest&) { return ApiAnswer{.body = std::string(kPage, 'x')}; };
  const auto server = Serve(std::move(pages));
  RawClient slow(server->port());
  ASSERT_TRUE(slow.Send(Get("/api/v1/jobs")));
  ASSERT_TRUE(slow.Waits());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(Fetch(server->url() + "/metrics").body, "figures 1\n") << "another page ends";
  const std::string answer = slow.ReceiveAll();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, kPage);
}

TEST_F(StatusServerTest, APageThatTakesTooLongIsAnswered) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  StatusPages pages = Pages();
  pages.api = [released](const ApiRequest&) {
    released.wait();
    return ApiAnswer{.body = "late\n"};
  };
  HttpServerLimits limits;
  limits.page_time = milliseconds(100);
  auto server = StatusServer::Start(
      {.address = {"127.0.0.1", 0}, .pages = std::move(pages), .limits = limits});
  ASSERT_TRUE(server);
  RawClient client((*server)->port());
  ASSERT_TRUE(client.Send("GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n"));
  const std::string answer = client.ReceiveAll();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: 10\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("could not be made in time"), std::string::npos) << answer;
  release.set_value();
}

TEST_F(StatusServerTest, NamedChecks) {
  std::atomic<bool> hangs = false;
  StatusPages pages = Pages();
  pages.live_checks = {{"scheduling-loop", [&]() -> std::optional<std::string> {
                          if (!hangs) return std::nullopt;
                          return "no heartbeat for 31 s";
                        }}};
  pages.ready_checks = {
      {"caches-synced", []() -> std::optional<std::string> { return "2 of 11 kinds are listed"; }},
      {"eviction-breaker", []() -> std::optional<std::string> { return {}; }}};
  const auto server = Serve(std::move(pages));
  EXPECT_EQ(Fetch(server->url() + "/livez").body, "ok\n");
  EXPECT_EQ(Fetch(server->url() + "/livez?verbose").body,
            "[+]ping ok\n[+]scheduling-loop ok\nlivez check passed\n");
  const Fetched ready = Fetch(server->url() + "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.body,
            "[+]ping ok\n[-]caches-synced failed: 2 of 11 kinds are listed\n[+]eviction-breaker "
            "ok\nreadyz check failed\n");
  hangs = true;
  for (const std::string page : {"livez", "healthz"}) {
    const Fetched dead = Fetch(server->url() + "/" + page);
    EXPECT_EQ(dead.status, 503);
    EXPECT_EQ(dead.body,
              fmt::format("[+]ping ok\n[-]scheduling-loop failed: no heartbeat for 31 s\n{} check "
                          "failed\n",
                          page));
  }
}

TEST_F(StatusServerTest, EachPageButHealthIsAuthorized) {
  StatusPages pages = Pages();
  pages.authorize = [](const ApiRequest& request, const AccessVerdictCallback&) {
    if (request.authorization == "Bearer good") return std::optional(AccessVerdict{});
    return std::optional(AccessVerdict{ApiAnswer{.status = 401,
                                                 .body = "{\"error\":\"no token\"}\n",
                                                 .content_type = "application/json",
                                                 .retry_after_s = std::nullopt,
                                                 .headers = {{"WWW-Authenticate", "Bearer"}}}});
  };
  const auto server = Serve(std::move(pages));
  for (const char* path : {"/metrics", "/api/v1/jobs", "/api/none"}) {
    const Fetched refused = Fetch(server->url() + path);
    EXPECT_EQ(refused.status, 401) << path;
    EXPECT_NE(refused.headers.find("WWW-Authenticate: Bearer\r\n"), std::string::npos);
    EXPECT_NE(refused.headers.find("X-Krafla: api/v1\r\n"), std::string::npos);
    EXPECT_EQ(Fetch(server->url() + path, {}, "Authorization: Bearer good").status, 200) << path;
  }
  for (const char* path : {"/livez", "/readyz", "/healthz", "/"})
    EXPECT_EQ(Fetch(server->url() + path).status, 200) << path;
}

// Verdicts that come later, from another thread.
class LateVerdicts {
 public:
  AuthorizeRequest Hook() {
    return [this](const ApiRequest& request,
                  AccessVerdictCallback later) -> std::optional<AccessVerdict> {
      if (request.authorization == "Bearer cached") return AccessVerdict{.user = "cached"};
      if (!later) return std::nullopt;
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(later));
      return std::nullopt;
    };
  }
  bool WaitFor(size_t count) {
    for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(milliseconds(10))) {
      const std::scoped_lock lock(mutex_);
      if (waiting_.size() >= count) return waiting_.size() == count;
    }
    return false;
  }
  void Give(const AccessVerdict& verdict) {
    std::vector<AccessVerdictCallback> waiting;
    {
      const std::scoped_lock lock(mutex_);
      waiting.swap(waiting_);
    }
    for (const AccessVerdictCallback& later : waiting) later(verdict);
  }

 private:
  std::mutex mutex_;
  std::vector<AccessVerdictCallback> waiting_;
};

TEST_F(StatusServerTest, NoWorkerWaitsForAVerdict) {
  LateVerdicts verdicts;
  StatusPages pages = Pages();
  pages.authorize = verdicts.Hook();
  pages.api = [](const ApiRequest& request) { return ApiAnswer{.body = request.user + "\n"}; };
  const auto server = Serve(std::move(pages));
  // More than there are workers and places to wait for them.
  std::vector<RawClient> clients;
  for (int i = 0; i < 60; ++i) {
    clients.emplace_back(server->port());
    clients.back().Send(Get(i % 2 == 0 ? "/metrics" : "/api/v1/jobs"));
  }
  ASSERT_TRUE(verdicts.WaitFor(60));
  EXPECT_EQ(Fetch(server->url() + "/api/v1/jobs", {}, "Authorization: Bearer cached").body,
            "cached\n");
  EXPECT_EQ(Fetch(server->url() + "/livez").status, 200);
  verdicts.Give({.refusal = ApiAnswer{.status = 403, .body = "no\n"}});
  for (RawClient& client : clients) {
    const std::string answer = client.ReceiveAll();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
    EXPECT_NE(answer.find("\r\nX-Krafla: api/v1\r\n"), std::string::npos) << answer;
  }
  RawClient one(server->port());
  one.Send(Get("/api/v1/jobs"));
  ASSERT_TRUE(verdicts.WaitFor(1));
  verdicts.Give({.user = "prometheus"});
  EXPECT_TRUE(one.ReceiveAll().ends_with("\r\n\r\nprometheus\n"));
}

TEST_F(StatusServerTest, ChecksOfCallersAreBounded) {
  LateVerdicts verdicts;
  StatusPages pages = Pages();
  pages.authorize = verdicts.Hook();
  auto server =
      StatusServer::Start({.address = {"127.0.0.1", 0},
                           .pages = std::move(pages),
                           .limits = {.checks_pending = 3, .checks_pending_of_a_peer = 1}});
  ASSERT_TRUE(server);
  const int port = (*server)->port();
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(port);
    clients.back().Send(Get("/metrics"));
  }
  ASSERT_TRUE(verdicts.WaitFor(3)) << "loopback is bounded by the total alone";
  const std::string busy = Exchange(port, Get("/metrics"));
  EXPECT_TRUE(busy.starts_with("HTTP/1.1 503 ")) << busy;
  EXPECT_NE(busy.find("\r\nRetry-After: 1\r\n"), std::string::npos) << busy;
  EXPECT_EQ(Fetch((*server)->url() + "/metrics", {}, "Authorization: Bearer cached").status, 200)
      << "a caller with a known verdict is served";
  // Those whose clients are gone count until their verdicts are there.
  clients.clear();
  EXPECT_TRUE(Exchange(port, Get("/metrics")).starts_with("HTTP/1.1 503 "));
  verdicts.Give({});
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(port);
    clients.back().Send(Get("/metrics"));
  }
  ASSERT_TRUE(verdicts.WaitFor(3));
  verdicts.Give({});
  for (RawClient& client : clients) EXPECT_TRUE(client.ReceiveAll().starts_with("HTTP/1.1 200 "));
}

TEST_F(StatusServerTest, CallersThatWereAllowedBeforeHaveChecksOfTheirOwn) {
  LateVerdicts verdicts;
  StatusPages pages = Pages();
  pages.authorize = verdicts.Hook();
  pages.was_allowed = [](const ApiRequest& request) {
    return request.authorization == "Bearer prometheus";
  };
  auto server = StatusServer::Start({.address = {"127.0.0.1", 0},
                                     .pages = std::move(pages),
                                     .limits = {.checks_pending = 3, .checks_reserved = 2}});
  ASSERT_TRUE(server);
  const int port = (*server)->port();
  const std::string scrape =
      "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer prometheus\r\nConnection: "
      "close\r\n\r\n";
  for (int round = 0; round < 2; ++round) {
    std::vector<RawClient> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(port);
      clients.back().Send(Get("/metrics"));
    }
    ASSERT_TRUE(verdicts.WaitFor(3));
    EXPECT_TRUE(Exchange(port, Get("/metrics")).starts_with("HTTP/1.1 503 "));
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back(port);
      clients.back().Send(scrape);
    }
    ASSERT_TRUE(verdicts.WaitFor(5));
    EXPECT_TRUE(Exchange(port, scrape).starts_with("HTTP/1.1 503 ")) << "bounded as well";
    verdicts.Give({});
    for (RawClient& client : clients) EXPECT_TRUE(client.ReceiveAll().starts_with("HTTP/1.1 200 "));
  }
}

TEST_F(StatusServerTest, ChecksOfOneMachineAreBoundedAndItsPlainHttpIsRefused) {
  const std::string own = testing::OwnAddress();
  if (own.empty()) GTEST_SKIP() << "this machine has loopback addresses only";
  LateVerdicts verdicts;
  StatusPages pages = Pages();
  pages.authorize = verdicts.Hook();
  pages.plain_metrics = true;
  auto server =
      StatusServer::Start({.address = {"", 0},
                           .pages = std::move(pages),
                           .limits = {.checks_pending = 10, .checks_pending_of_a_peer = 2}});
  ASSERT_TRUE(server);
  const int port = (*server)->port();
  std::vector<RawClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(port, own);
    clients.back().Send(Get("/metrics"));
  }
  ASSERT_TRUE(verdicts.WaitFor(2));
  EXPECT_TRUE(Exchange(port, Get("/metrics"), own).starts_with("HTTP/1.1 503 "));
  clients.emplace_back(port);
  clients.back().Send(Get("/metrics"));
  ASSERT_TRUE(verdicts.WaitFor(3)) << "another peer";
  const std::string plain = Exchange(port, Get("/api/v1/jobs"), own);
  EXPECT_TRUE(plain.starts_with("HTTP/1.1 403 ")) << plain;
  EXPECT_NE(plain.find("plain HTTP is answered on loopback only"), std::string::npos) << plain;
  verdicts.Give({});
}

TEST_F(StatusServerTest, AVerdictThatComesAfterTheEndIsNoMatter) {
  LateVerdicts verdicts;
  StatusPages pages = Pages();
  pages.authorize = verdicts.Hook();
  auto server = Serve(std::move(pages));
  RawClient client(server->port());
  client.Send(Get("/metrics"));
  ASSERT_TRUE(verdicts.WaitFor(1));
  server = nullptr;
  verdicts.Give({});
  EXPECT_TRUE(client.EndsWithin(milliseconds(1'000)));
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
  EXPECT_TRUE(message({good.certificate, Path("text"), good.client_authority})
                  .starts_with(fmt::format("--tls-private-key-file {}: expected the certificate's "
                                           "key in PEM, not encrypted: ",
                                           Path("text"))));
  const std::string none = Path("missing") + ": cannot be read: No such file or directory";
  EXPECT_EQ(message({Path("missing"), good.key, good.client_authority}), "--tls-cert-file " + none);
  EXPECT_EQ(message({good.certificate, Path("missing"), good.client_authority}),
            "--tls-private-key-file " + none);
  EXPECT_EQ(message({good.certificate, good.key, Path("missing")}), "--ca-cert-file " + none);
  EXPECT_TRUE(message({good.certificate, good.key, Path("text")})
                  .starts_with(fmt::format("--ca-cert-file {}: expected certificates in PEM: ",
                                           Path("text"))));
}

}  // namespace
}  // namespace krafla
