#include "kube/exec_plugin.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string Printed(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}";
}

TEST(ExecPlugin, TokensCertificatesAndTheirEnd) {
  const ExecCredential token =
      ParseExecCredential(Printed(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})"),
                          kV1)
          .value();
  EXPECT_EQ(token.token, "t");
  EXPECT_EQ(FormatRfc3339(token.expires), "2026-01-01T00:00:00Z");
  const ExecCredential certificate =
      ParseExecCredential(Printed(R"({"clientCertificateData":"c","clientKeyData":"k"})"), kV1)
          .value();
  EXPECT_EQ(certificate.client_certificate, "c");
  EXPECT_EQ(certificate.client_key, "k");
  EXPECT_FALSE(certificate.expires.Present());
}

TEST(ExecPlugin, WhatCannotBeUsedIsSaidWithoutShowingIt) {
  const auto problem = [](const std::string& text) {
    return ParseExecCredential(text, kV1).error().message;
  };
  EXPECT_EQ(problem("secret"), "printed something that is no JSON object");
  EXPECT_EQ(problem(R"({"kind":"Secret"})"), "printed something else than ExecCredential");
  EXPECT_EQ(problem(R"({"kind":"ExecCredential","apiVersion":"v9","status":{}})"),
            "printed an ExecCredential of another version than client.authentication.k8s.io/v1");
  EXPECT_EQ(problem(Printed("{}")), "gave neither a token nor a certificate");
  EXPECT_EQ(problem(Printed(R"({"clientKeyData":"k"})")),
            "gave one of certificate and key without the other");
  EXPECT_EQ(problem(Printed(R"({"token":"t","expirationTimestamp":"soon"})")),
            "its expirationTimestamp is no time");
}

ExecPlugin Shell(const std::string& script) {
  return {.api_version = std::string(kV1),
          .command = "sh",
          .args = {"-c", script},
          .env = {{"GREETING", "hello"}},
          .install_hint = "install a shell",
          .provide_cluster_info = true};
}

TEST(ExecPlugin, TheProgramIsToldWhatItIsAskedFor) {
  const KubeConnection connection{.server = "https://x"};
  const Result<ExecCredential> credential = RunExecPlugin(
      Shell(R"(case "$KUBERNETES_EXEC_INFO" in *'"server":"https://x"'*) ;; *) exit 9 ;; esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$GREETING")"),
      connection);
  ASSERT_TRUE(credential.has_value()) << credential.error().message;
  EXPECT_EQ(credential->token, "hello");
}

TEST(ExecPlugin, AProgramThatFailsIsNamedWithItsHint) {
  EXPECT_EQ(RunExecPlugin(Shell("exit 3"), {}).error().message,
            "exec plugin sh ended with code 3; hint: install a shell");
  ExecPlugin missing = Shell("");
  missing.command = "there-is-no-such-program";
  EXPECT_EQ(RunExecPlugin(missing, {}).error().message,
            "exec plugin there-is-no-such-program cannot be run: No such file or directory; hint: "
            "install a shell");
}

}  // namespace
}  // namespace krafla
