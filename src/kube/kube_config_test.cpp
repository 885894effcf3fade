#include "kube/kube_config.h"

#include <gtest/gtest.h>

#include <map>

#include <fmt/format.h>

#include "base/base64.h"
#include "support/source_dir.h"

namespace krafla {
namespace {

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

// A machine that consists of these files and variables.
struct Machine {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables;
  Diagnostics diagnostics;

  KubeConnection Find(const KubeConfigFlags& flags = {}) {
    const Surroundings surroundings{
        .variable = [&](const std::string& name) -> std::optional<std::string> {
          const auto it = variables.find(name);
          if (it == variables.end()) return std::nullopt;
          return it->second;
        },
        .exists = [&](const std::string& path) { return files.contains(path); },
        .read = [&](const std::string& path) -> Result<std::string> {
          const auto it = files.find(path);
          if (it == files.end()) return Fail("cannot be read");
          return it->second;
        }};
    return FindKubeConnection(flags, surroundings, diagnostics);
  }
  std::string Problems() const {
    std::string text;
    for (const Diagnostic& d : diagnostics.items()) text += ToString(d) + "\n";
    return text;
  }
};

std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts:\n- name: c\n  context: {cluster: k, user: u}\n"
         "clusters:\n- name: k\n  cluster: " +
         cluster + "\nusers:\n- name: u\n  user: " + user + "\n";
}

TEST(KubeConfig, AFileByFlagWithCertificatesAsData) {
  Machine m;
  m.files["/etc/k.conf"] = Config(
      "{server: 'https://10.0.0.1:6443/', certificate-authority-data: " + EncodeBase64(kPem) + "}",
      "{client-certificate-data: " + EncodeBase64(kPem) +
          ", client-key-data: " + EncodeBase64(kPem) + "}");
  const KubeConnection c = m.Find({.kubeconfig = "/etc/k.conf"});
  EXPECT_EQ(m.Problems(), "");
  EXPECT_EQ(c.server, "https://10.0.0.1:6443");
  EXPECT_EQ(c.ca.data, kPem);
  EXPECT_EQ(c.client_certificate.data, kPem);
  EXPECT_EQ(c.client_key.data, kPem);
  EXPECT_FALSE(c.skip_tls_verify);
  EXPECT_EQ(c.origin, "/etc/k.conf, context c");
}

TEST(KubeConfig, PathsStartAtTheirFile) {
  Machine m;
  m.files["/etc/kube/k.conf"] =
      Config("{server: 'https://x', certificate-authority: pki/ca.crt}",
             "{client-certificate: ../a.crt, client-key: /abs/a.key, tokenFile: t}");
  for (const char* file : {"/etc/kube/pki/ca.crt", "/etc/a.crt", "/abs/a.key"})
    m.files[file] = kPem;
  m.files["/etc/kube/t"] = "token";
  const KubeConnection c = m.Find({.kubeconfig = "/etc/kube/k.conf"});
  EXPECT_EQ(m.Problems(), "");
  EXPECT_EQ(c.ca.file, "/etc/kube/pki/ca.crt");
  EXPECT_EQ(c.client_certificate.file, "/etc/a.crt");
  EXPECT_EQ(c.client_key.file, "/abs/a.key");
  EXPECT_EQ(c.token_file, "/etc/kube/t");
}

TEST(KubeConfig, AListOfFilesIsMergedAndTheFirstToSayCounts) {
  Machine m;
  m.variables["KUBECONFIG"] = "/missing:/a:/b";
  m.files["/a"] = "current-context: c\nclusters:\n- name: k\n  cluster: {server: 'https://a'}\n";
  m.files["/b"] =
      "current-context: other\n"
      "contexts:\n- name: c\n  context: {cluster: k, user: u}\n"
      "clusters:\n- name: k\n  cluster: {server: 'https://b'}\n"
      "users:\n- name: u\n  user: {token: secret}\n";
  const KubeConnection c = m.Find();
  EXPECT_EQ(m.Problems(), "");
  EXPECT_EQ(c.server, "https://a");
  EXPECT_EQ(c.token, "secret");
}

TEST(KubeConfig, AListWithoutAnyFileIsAnError) {
  Machine m;
  m.variables["KUBECONFIG"] = "/x:/y";
  m.Find();
  EXPECT_EQ(m.Problems(), "error: KUBECONFIG names no file that exists: /x:/y\n");
}

TEST(KubeConfig, APodUsesItsServiceAccount) {
  Machine m;
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  m.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  m.variables["KUBERNETES_SERVICE_PORT"] = "6443";
  m.files[folder + "/token"] = "t";
  m.files[folder + "/ca.crt"] = kPem;
  const KubeConnection c = m.Find();
  EXPECT_EQ(m.Problems(), "");
  EXPECT_EQ(c.server, "https://[fd00::1]:6443");
  EXPECT_EQ(c.token_file, folder + "/token");
  EXPECT_EQ(c.ca.file, folder + "/ca.crt");
}

TEST(KubeConfig, TheFileAtHomeIsTheLastResort) {
  Machine m;
  m.variables["HOME"] = "/h";
  m.Find();
  EXPECT_EQ(m.Problems(),
            "error: no cluster to connect to: --kubeconfig is not given, KUBECONFIG is not set, "
            "this is no pod with a service account, and there is no /h/.kube/config\n");
  m.diagnostics = {};
  m.files["/h/.kube/config"] = Config("{server: 'https://x'}", "{username: a, password: b}");
  const KubeConnection c = m.Find();
  EXPECT_EQ(m.Problems(), "");
  EXPECT_EQ(c.username, "a");
  EXPECT_EQ(c.password, "b");
}

TEST(KubeConfig, MasterReplacesTheAddress) {
  Machine m;
  m.files["/k"] = Config("{server: 'https://x'}", "{token: t}");
  EXPECT_EQ(m.Find({.kubeconfig = "/k", .master = "https://y:1/"}).server, "https://y:1");
  EXPECT_EQ(m.Problems(), "");
  Machine bare;
  EXPECT_EQ(bare.Find({.master = "localhost:8080"}).server, "http://localhost:8080");
  EXPECT_EQ(bare.Problems(),
            "--master: warning: http://localhost:8080 is not encrypted: no credentials are sent to "
            "it\n");
}

TEST(KubeConfig, AnUnencryptedServerThatIsNotOnThisMachineIsWarnedOf) {
  const auto problems = [](const std::string& server) {
    Machine m;
    m.Find({.master = server});
    return m.Problems();
  };
  for (const char* server : {"http://localhost:8001", "http://127.0.0.1",
                             "http://127.9.9.9:80/path", "http://[::1]:8001", "http://[::1]"})
    EXPECT_EQ(problems(server),
              fmt::format("--master: warning: {} is not encrypted: no credentials are sent to it\n",
                          server));
  for (const char* server :
       {"http://10.0.0.1:8080", "http://api.example.com", "http://[fd00::1]:80",
        "http://127.0.0.1.example.com", "http://localhost.example.com"})
    EXPECT_EQ(problems(server),
              fmt::format("--master: warning: {} is not encrypted and not on this machine: no "
                          "credentials are sent to it, and anyone on the network between can read "
                          "and change every answer; use https://, or http:// on a loopback "
                          "address\n",
                          server));
}

TEST(KubeConfig, SkippingVerificationIsTheFilesWishAndWarnedOf) {
  Machine m;
  m.files["/k"] = Config("{server: 'https://x', insecure-skip-tls-verify: true}", "{token: t}");
  EXPECT_TRUE(m.Find({.kubeconfig = "/k"}).skip_tls_verify);
  EXPECT_EQ(m.Problems(),
            "/k:9:60: warning: cluster k: insecure-skip-tls-verify: the server's certificate is "
            "not verified: whoever sits in between can read and change everything\n");
}

TEST(KubeConfig, AnExecPlugin) {
  Machine m;
  m.files["/d/k"] = Config("{server: 'https://x'}", R"({exec: {
    apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a, "1"],
    env: [{name: REGION, value: eu}], interactiveMode: IfAvailable, provideClusterInfo: true,
    installHint: get it}})");
  const KubeConnection c = m.Find({.kubeconfig = "/d/k"});
  EXPECT_EQ(m.Problems(), "");
  ASSERT_TRUE(c.exec.has_value());
  EXPECT_EQ(c.exec->command, "/d/login");
  EXPECT_EQ(c.exec->args, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(c.exec->env[0].second, "eu");
  EXPECT_TRUE(c.exec->provide_cluster_info);
}

// One mistake and what is said of it.
void ExpectProblem(const std::string& text, const std::string& problem) {
  Machine m;
  m.files["/k"] = text;
  m.files["/a"] = kPem;
  m.files["/empty"] = "\n";
  m.Find({.kubeconfig = "/k"});
  EXPECT_TRUE(m.diagnostics.HasErrors());
  EXPECT_EQ(m.Problems(), problem + "\n");
}

TEST(KubeConfig, MistakesAreNamedWithTheirPlace) {
  ExpectProblem("[1, 2]", "/k:1:1: error: expected a kubeconfig (a mapping), got a list");
  ExpectProblem("current-context: prod\ncontexts:\n- name: prd\n  context: {cluster: a}\n",
                "/k:1:18: error: current-context names the context \"prod\", which does not exist; "
                "did you mean \"prd\"?");
  ExpectProblem("contexts: []", "/k: error: no current-context: which of its clusters is meant?");
  ExpectProblem(Config("{server: 10.0.0.1}", "{token: t}"),
                "/k:9:21: error: server: expected an address such as https://10.0.0.1:6443, got "
                "\"10.0.0.1\"");
  ExpectProblem(Config("{server: 'https://x', certificate-authority-data: '%'}", "{}"),
                "/k:9:62: error: cluster k: certificate-authority-data: is not base64: byte 1 does "
                "not belong there");
  ExpectProblem(Config("{server: 'https://x'}", "{client-certificate: a}"),
                "/k:12:30: error: user u: client-certificate: there is no client-key beside it");
  ExpectProblem(Config("{server: 'https://x', proxy-url: 'ftp://p'}", "{}"),
                "/k:9:45: error: cluster k: proxy-url: expected an address that begins with "
                "http://, https:// or socks5://");
  ExpectProblem(Config("{server: 'https://x'}", "{auth-provider: {name: gcp}}"),
                "/k:12:25: error: user u: auth-provider: is no longer part of Kubernetes; use an "
                "exec plugin instead");
}

TEST(KubeConfig, FilesThatAreNotThereAreMistakes) {
  ExpectProblem(Config("{server: 'https://x', certificate-authority: ca.crt}", "{}"),
                "/k:9:57: error: cluster k: certificate-authority: expected a file in PEM: "
                "/ca.crt: cannot be read");
  ExpectProblem(Config("{server: 'https://x', certificate-authority: empty}", "{}"),
                "/k:9:57: error: cluster k: certificate-authority: expected a file in PEM: "
                "/empty: it has no -----BEGIN line");
  ExpectProblem(Config("{server: 'https://x'}", "{client-certificate: a, client-key: b}"),
                "/k:12:45: error: user u: client-key: expected a file in PEM: /b: cannot be read");
  ExpectProblem(Config("{server: 'https://x'}", "{tokenFile: /run/token}"),
                "/k:12:21: error: user u: tokenFile: expected a file with a token: /run/token: "
                "cannot be read");
  ExpectProblem(Config("{server: 'https://x'}", "{tokenFile: empty}"),
                "/k:12:21: error: user u: tokenFile: expected a file with a token: /empty: it is "
                "empty");
  Machine pod;
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  pod.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  pod.files[folder + "/token"] = "t";
  pod.Find();
  EXPECT_EQ(pod.Problems(), "service account: error: expected a file in PEM: " + folder +
                                "/ca.crt: cannot be read\n");
}

TEST(KubeConfig, SecretsAreNotShownInMessages) {
  Machine m;
  m.files["/k"] =
      Config("{server: 'https://x'}", "{client-key-data: " + EncodeBase64("very-secret-key") +
                                          ", client-certificate-data: " + EncodeBase64(kPem) + "}");
  m.Find({.kubeconfig = "/k"});
  EXPECT_TRUE(m.diagnostics.HasErrors());
  EXPECT_EQ(m.Problems().find("very-secret"), std::string::npos);
}

TEST(KubeConfig, AFolderIsNoFile) {
  const Result<std::string> text = ProcessSurroundings().read(testing::SourceDir());
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "expected a file, this is a folder");
}

}  // namespace
}  // namespace krafla
