#include "kube/status_server.h"

#include <httplib.h>

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
    return {.ready = [] { return true; },
            .not_ready_because = [] { return std::string(); },
            .metrics = {},
            .health = true,
            .api = {}};
  }

  std::filesystem::path folder;
};

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
