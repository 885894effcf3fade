#include "app/explain_server.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/status_server.h"

namespace krafla {
namespace {

// A server that explains everything with the words it was asked with.
class ExplainServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             fmt::format("krafla-explain-{}-{}", ::getpid(),
                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Path(const std::string& name) const { return (folder / name).string(); }
  TlsFiles MakeCertificate(const std::string& name, const std::string& names) const {
    const std::string command = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN={0} -addext subjectAltName={1} -keyout {2} -out {3} 2>{4}",
        name, names, Path(name + ".key"), Path(name + ".crt"), Path("log"));
    EXPECT_EQ(std::system(command.c_str()), 0);
    return {Path(name + ".crt"), Path(name + ".key"), Path(name + ".crt")};
  }
  static std::unique_ptr<StatusServer> Serve(const std::optional<TlsFiles>& tls) {
    auto server = StatusServer::Start(
        {"127.0.0.1", 0},
        {.health = true,
         .live_checks = {},
         .ready_checks = {},
         .metrics = {},
         .api =
             [](const ApiRequest& request) {
               return ApiAnswer{
                   .status = 200,
                   .body = fmt::format("{} {} {}\n", request.parameters.at("kind"),
                                       request.parameters.at("name"), request.parameters.at("as"))};
             }},
        tls);
    EXPECT_TRUE(server);
    return std::move(*server);
  }
  // Exit code, what was printed, what was complained of.
  std::string Explain(
      const std::string& server, const std::string& authority = {},
      std::chrono::milliseconds patience = std::chrono::milliseconds(10'000)) const {
    std::ostringstream out;
    std::ostringstream err;
    const int code = ExplainFromServer({.kind = "job",
                                        .name = "team-a/train",
                                        .cluster = {},
                                        .server = server,
                                        .certificate_authority = authority,
                                        .compatibility = {},
                                        .server_patience = patience},
                                       out, err);
    return fmt::format("{} {}{}", code, out.str(), err.str());
  }

  std::filesystem::path folder;
};

TEST_F(ExplainServerTest, OverHttp) {
  const auto server = Serve(std::nullopt);
  EXPECT_EQ(Explain(server->url()), "0 job team-a/train text\n");
  EXPECT_EQ(Explain(server->url() + "/"), "0 job team-a/train text\n");
  EXPECT_EQ(Explain(fmt::format("127.0.0.1:{}", server->port())), "0 job team-a/train text\n");
}

TEST_F(ExplainServerTest, OverHttpsWithTheAuthorityThatIsGiven) {
  const TlsFiles tls = MakeCertificate("krafla", "IP:127.0.0.1,DNS:localhost");
  const auto server = Serve(tls);
  EXPECT_EQ(Explain(server->url(), tls.certificate), "0 job team-a/train text\n");
  EXPECT_EQ(Explain(fmt::format("https://localhost:{}", server->port()), tls.certificate),
            "0 job team-a/train text\n");
}

TEST_F(ExplainServerTest, ACertificateIsAlwaysVerified) {
  const TlsFiles tls = MakeCertificate("krafla", "IP:127.0.0.1");
  const TlsFiles others = MakeCertificate("other", "IP:127.0.0.1");
  const auto server = Serve(tls);
  const std::string begin = fmt::format("2 error: {} cannot be reached: ", server->url());
  const std::string by_system = Explain(server->url());
  EXPECT_TRUE(by_system.starts_with(
      begin + "its certificate cannot be verified with those of the system: "))
      << by_system;
  EXPECT_TRUE(
      by_system.ends_with("; --certificate-authority names others, --server-fingerprint one "
                          "certificate alone (the server logs its own at the start)\n"))
      << by_system;
  const std::string by_other = Explain(server->url(), others.certificate);
  EXPECT_TRUE(by_other.starts_with(begin + "its certificate cannot be verified with " +
                                   others.certificate + ": "))
      << by_other;
  EXPECT_EQ(Explain(fmt::format("https://localhost:{}", server->port()), tls.certificate),
            fmt::format("2 error: https://localhost:{} cannot be reached: its certificate is for "
                        "another name\n",
                        server->port()));
}

TEST_F(ExplainServerTest, TheWrongOfTheTwoProtocols) {
  const auto plain = Serve(std::nullopt);
  EXPECT_EQ(Explain(fmt::format("https://127.0.0.1:{}", plain->port())),
            fmt::format("2 error: https://127.0.0.1:{} cannot be reached: it does not speak TLS as "
                        "we do; is it http:// there?\n",
                        plain->port()));
  const auto tls = Serve(MakeCertificate("krafla", "IP:127.0.0.1"));
  EXPECT_EQ(Explain(fmt::format("http://127.0.0.1:{}", tls->port())),
            fmt::format("2 error: http://127.0.0.1:{} cannot be reached: the connection ended "
                        "without an answer; is it https:// there?\n",
                        tls->port()));
}

// Busy with another question: asked again when it says so, and not for ever.
TEST_F(ExplainServerTest, AServerThatIsBusyIsAskedAgain) {
  std::atomic<int> asked = 0;
  std::atomic<int> busy = 3;
  const auto server = StatusServer::Start(
      {"127.0.0.1", 0}, {.health = true,
                         .live_checks = {},
                         .ready_checks = {},
                         .metrics = {},
                         .api = [&](const ApiRequest&) {
                           ++asked;
                           if (busy-- > 0)
                             return ApiAnswer{
                                 .status = 503,
                                 .body = R"({"error":"busy with explaining job a/b for 1.0 s"})",
                                 .retry_after_s = 0};
                           return ApiAnswer{.status = 200, .body = "here it is\n"};
                         }});
  ASSERT_TRUE(server);
  EXPECT_EQ(Explain((*server)->url()), "0 here it is\n");
  EXPECT_EQ(asked, 4);
  asked = 0;
  busy = 1'000'000;
  EXPECT_EQ(Explain((*server)->url(), {}, std::chrono::milliseconds(250)),
            fmt::format("2 error: busy with explaining job a/b for 1.0 s ({}; asked again for 0.2 "
                        "s; try again later)\n",
                        (*server)->url()));
  EXPECT_EQ(asked, 3);
}

// A server that wants the token "good", and tells what it was sent.
class ExplainTokenTest : public ExplainServerTest {
 protected:
  void SetUp() override {
    ExplainServerTest::SetUp();
    for (const char* name : {"KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST"}) {
      const char* const value = std::getenv(name);
      before_.emplace_back(name,
                           value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
    ::setenv("HOME", folder.c_str(), 1);
    auto started = StatusServer::Start(
        {.address = {"127.0.0.1", 0},
         .pages = {.health = true,
                   .live_checks = {},
                   .ready_checks = {},
                   .metrics = {},
                   .api = [](const ApiRequest&) { return ApiAnswer{.body = "here it is\n"}; },
                   .authorize =
                       [this](const ApiRequest& request, const AccessVerdictCallback&) {
                         {
                           const std::scoped_lock lock(mutex_);
                           received_.push_back(request.authorization);
                         }
                         if (request.authorization == "Bearer good")
                           return std::optional(AccessVerdict{});
                         const int status = request.authorization == "Bearer other" ? 403 : 401;
                         return std::optional(AccessVerdict{
                             ProblemAnswer(request, status, fmt::format("refused {}", status))});
                       }},
         .transport = Transport::kBoth});
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    https = fmt::format("https://127.0.0.1:{}", server_->port());
    fingerprint = server_->fingerprint();
  }
  void TearDown() override {
    server_ = nullptr;
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name, value->c_str(), 1);
      } else {
        ::unsetenv(name);
      }
    }
    ExplainServerTest::TearDown();
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  std::string KubeConfig(const std::string& name, const std::string& user) const {
    return Write(name, fmt::format(R"({{"current-context":"c","contexts":[{{"name":"c","context":)"
                                   R"({{"cluster":"c","user":"u"}}}}],"clusters":[{{"name":"c",)"
                                   R"("cluster":{{"server":"https://127.0.0.1:1"}}}}],)"
                                   R"("users":[{{"name":"u","user":{}}}]}})",
                                   user));
  }
  static std::string Run(ExplainCommandOptions options) {
    options.kind = "job";
    options.name = "team-a/train";
    std::ostringstream out;
    std::ostringstream err;
    const int code = ExplainFromServer(options, out, err);
    return fmt::format("{} {}{}", code, out.str(), err.str());
  }
  // Over TLS, with the certificate's fingerprint.
  std::string Pinned(ExplainCommandOptions options) const {
    options.server = https;
    options.server_fingerprint = fingerprint;
    return Run(std::move(options));
  }
  std::vector<std::string> Received() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(received_, {});
  }
  int port() const { return server_->port(); }

  std::string https;
  std::string fingerprint;

 private:
  std::mutex mutex_;
  std::vector<std::string> received_;
  std::unique_ptr<StatusServer> server_;
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

using Texts = std::vector<std::string>;

TEST_F(ExplainTokenTest, ATokenFileIsSentOverTlsAndOnLoopback) {
  const std::string file = Write("token", "good\n");
  EXPECT_EQ(Pinned({.token_file = file}), "0 here it is\n");
  EXPECT_EQ(Run({.server = fmt::format("http://127.0.0.1:{}", port()), .token_file = file}),
            "0 here it is\n");
  EXPECT_EQ(Received(), (Texts{"Bearer good", "Bearer good"}));
}

TEST_F(ExplainTokenTest, NoTokenGoesToAnotherMachineWithoutTls) {
  const std::string file = Write("token", "good\n");
  for (const std::string host :
       {"192.0.2.1", "krafla", "[fd00::1]", "localhost.example", "127.0.0.1.example"}) {
    const std::string url = fmt::format("http://{}:{}", host, port());
    EXPECT_EQ(Run({.server = url, .token_file = file}),
              fmt::format("2 --token-file: error: only for an https:// server, or one on loopback: "
                          "a token is not sent to \"{}\"\n",
                          url));
    EXPECT_EQ(Run({.server = url, .kubeconfig = Path("none")}),
              fmt::format("2 --kubeconfig: error: only for an https:// server, or one on loopback: "
                          "a token is not sent to \"{}\"\n",
                          url));
  }
  // Not even on loopback, when no flag says so.
  ::setenv("KUBECONFIG", KubeConfig("conf", R"({"token":"good"})").c_str(), 1);
  const std::string url = fmt::format("http://127.0.0.1:{}", port());
  EXPECT_EQ(Run({.server = url}),
            fmt::format("2 error: refused 401 ({}; no token was sent; --token-file names one, "
                        "kubectl create token makes one)\n",
                        url));
  EXPECT_EQ(Received(), Texts{""});
}

TEST_F(ExplainTokenTest, AServerThatWantsATokenGetsTheKubeconfigs) {
  ::setenv("KUBECONFIG", KubeConfig("conf", R"({"token":"good"})").c_str(), 1);
  EXPECT_EQ(Pinned({}), "0 here it is\n");
  EXPECT_EQ(Received(), (Texts{"", "Bearer good"})) << "only when it asks for one";
  ::unsetenv("KUBECONFIG");
  std::filesystem::create_directories(folder / ".kube");
  Write("inside", "good\r\n");
  KubeConfig(".kube/config", R"({"tokenFile":"../inside"})");
  EXPECT_EQ(Pinned({}), "0 here it is\n");
  const std::string other = KubeConfig("other", R"({"token":"other"})");
  EXPECT_EQ(Pinned({.kubeconfig = other}),
            fmt::format("2 error: refused 403 ({}; the token was that of {}, context c)\n", https,
                        other));
  const std::string plugin = KubeConfig(
      "exec", R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh","args":)"
              R"(["-c","echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":)"
              R"(\"ExecCredential\",\"status\":{\"token\":\"good\"}}'"],)"
              R"("interactiveMode":"Never"}})");
  EXPECT_EQ(Pinned({.kubeconfig = plugin}), "0 here it is\n");
}

// Any host may have a certificate of an authority that the system trusts, and say 401.
TEST_F(ExplainTokenTest, AServerThatTheSystemTrustsGetsNoTokenThatNoFlagNames) {
  const std::string system = Write("system.crt", "");
  ASSERT_EQ(std::system(fmt::format("openssl s_client -connect 127.0.0.1:{} </dev/null 2>/dev/null "
                                    "| openssl x509 >{}",
                                    port(), system)
                            .c_str()),
            0);
  const std::string conf = KubeConfig("conf", R"({"token":"good"})");
  ::setenv("KUBECONFIG", conf.c_str(), 1);
  ExplainCommandOptions options{.server = fmt::format("https://localhost:{}", port())};
  options.system_certificates = system;
  EXPECT_EQ(
      Run(options),
      fmt::format("2 error: refused 401 ({}; no token was sent: its certificate is one of "
                  "many that the system trusts; --kubeconfig or --token-file names the token, "
                  "--certificate-authority or --server-fingerprint the certificate)\n",
                  options.server));
  EXPECT_EQ(Received(), Texts{""});
  options.kubeconfig = conf;
  EXPECT_EQ(Run(options), "0 here it is\n");
}

TEST_F(ExplainTokenTest, WhyNoTokenWasSentIsSaid) {
  const std::string none = Pinned({});
  EXPECT_TRUE(none.starts_with(fmt::format(
      "2 error: refused 401 ({}; no token was sent: error: no cluster to connect to: ", https)))
      << none;
  EXPECT_TRUE(none.ends_with("; --token-file names one, kubectl create token makes one)\n"))
      << none;
  const std::string basic = KubeConfig("basic", R"({"username":"a","password":"b"})");
  EXPECT_EQ(
      Pinned({.kubeconfig = basic}),
      fmt::format("2 error: refused 401 ({}; no token was sent: the user of {}, context c has "
                  "no token (a client certificate or a password is not taken here); "
                  "--token-file names one, kubectl create token makes one)\n",
                  https, basic));
  const std::string bad = Write("bad", "bad");
  EXPECT_EQ(Pinned({.token_file = bad}),
            fmt::format("2 error: refused 401 ({}; the token was that of {})\n", https, bad));
}

TEST_F(ExplainTokenTest, ATokenFileThatIsNoneIsNamed) {
  const auto problem = [&](const std::string& file, const std::string& why) {
    EXPECT_EQ(
        Pinned({.token_file = file}),
        fmt::format("2 --token-file: error: expected a file with a token: {}: {}\n", file, why));
  };
  problem(Path("missing"), "No such file or directory");
  problem(folder.string(), "it is a folder");
  problem(Write("empty", ""), "it is empty");
  problem(Write("blank", " \n\n"), "it is empty");
  const std::string several = "it holds more than one token of at most 12 KiB, without blanks";
  problem(Write("two", "a\nb\n"), several);
  problem("/dev/zero", several);
  problem(Write("header", "a\r\nX-Other: b"), several);
  problem(Write("long", std::string((12 << 10) + 1, 'x')), several);
  EXPECT_EQ(Received(), Texts{});
  EXPECT_TRUE(
      Pinned({.kubeconfig = Path("missing")}).starts_with("2 " + Path("missing") + ": error"));
  EXPECT_EQ(Pinned({.token_file = Write("token", "good"), .kubeconfig = "x"}),
            "2 --token-file: error: not together with --kubeconfig: one token is sent\n");
}

TEST_F(ExplainTokenTest, AFingerprintTrustsOneCertificateAlone) {
  const std::string file = Write("token", "good");
  std::string plain = fingerprint;
  std::erase(plain, ':');
  for (const std::string& form : {fingerprint, plain, "sha256:" + plain})
    EXPECT_EQ(Run({.server = https, .server_fingerprint = form, .token_file = file}),
              "0 here it is\n")
        << form;
  Received();
  std::string other = fingerprint;
  other[0] = other[0] == 'A' ? 'B' : 'A';
  EXPECT_EQ(
      Run({.server = https, .server_fingerprint = other, .token_file = file}),
      fmt::format("2 error: {} cannot be reached: its certificate is another one: its SHA-256 "
                  "is {}, not {}\n",
                  https, fingerprint, other));
  EXPECT_EQ(Received(), Texts{}) << "the token has not left";
  for (const std::string wrong : {"AB", "xyz", "sha256:", "AB:CD"})
    EXPECT_EQ(
        Run({.server = https, .server_fingerprint = wrong}),
        fmt::format("2 --server-fingerprint: error: expected the SHA-256 of a certificate, 32 "
                    "bytes as AB:CD:…, got \"{}\"\n",
                    wrong));
  EXPECT_EQ(Run({.server = "http://127.0.0.1:1", .server_fingerprint = fingerprint}),
            "2 --server-fingerprint: error: only for an https:// server, got "
            "\"http://127.0.0.1:1\"\n");
}

TEST_F(ExplainServerTest, AnAddressOfTheNewerKind) {
  EXPECT_EQ(Explain("http://[fd00::ab]:1").substr(0, 48),
            "2 error: http://[fd00::ab]:1 cannot be reached: ");
}

TEST_F(ExplainServerTest, MistakesAreNamed) {
  for (const char* address :
       {"ftp://x:80", "https://", "http://x/path", "https://x:99999999999", "http://x:80y",
        "http://x:0", "http://[::1", "http://[::1]80", "http://me@x:80"})
    EXPECT_EQ(Explain(address),
              fmt::format("2 --server: error: expected an address such as http://127.0.0.1:8080 or "
                          "https://krafla:8080, got \"{}\"\n",
                          address));
  EXPECT_EQ(Explain("https://x:1", Path("none")),
            fmt::format("2 --certificate-authority: error: {} cannot be read; does it exist, and "
                        "may we read it?\n",
                        Path("none")));
  std::ofstream(Path("text")) << "no certificate\n";
  EXPECT_EQ(Explain("https://x:1", Path("text")),
            fmt::format("2 --certificate-authority: error: expected certificates in PEM: {} has no "
                        "-----BEGIN CERTIFICATE----- line\n",
                        Path("text")));
  const TlsFiles tls = MakeCertificate("krafla", "IP:127.0.0.1");
  EXPECT_EQ(Explain("http://x:1", tls.certificate),
            "2 --certificate-authority: error: only for an https:// server, got \"http://x:1\"\n");
}

}  // namespace
}  // namespace krafla
