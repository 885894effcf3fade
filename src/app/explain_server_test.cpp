#include "app/explain_server.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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
  EXPECT_TRUE(by_system.ends_with("; --certificate-authority names others\n")) << by_system;
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
